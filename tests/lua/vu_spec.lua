-- fail, sleep, pace, log: what reaches the core, and the errors for wrong calls.
local stub = require "core_stub"

local core, vu, stage

before_each(function()
  core = stub.install()
  vu = require "luabench.vu"
  stage = require "luabench.stage"
  stage.loading = false
end)

local function refused(call)
  local ok, text = pcall(call)
  assert.is_false(ok)
  assert.message(text).truthy(text:find("^tests/lua/vu_spec.lua:%d+: "))
  return text
end

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

describe("fail, stop_user, stop_run", function()
  it("raise what ends", function()
    assert.same({ ending = "fail", text = "t" }, select(2, pcall(vu.fail, "t")))
    assert.same({ ending = "stop_user" }, select(2, pcall(vu.stop_user)))
    assert.same({ ending = "stop_run", text = "t" }, select(2, pcall(vu.stop_run, "t")))
  end)
  it("refuse wrong arguments", function()
    has(refused(function() vu.fail() end), 'fail("...")')
    has(refused(function() vu.fail("a", "b") end), "one text")
    has(refused(function() vu.stop_user(1) end), "no argument")
  end)
end)

describe("sleep and pace", function()
  it("take seconds and durations", function()
    vu.sleep(1)
    vu.sleep("250ms")
    vu.sleep("250ms")
    vu.sleep(0)
    vu.pace("2s")
    assert.same({ { 1 }, { 0.25 }, { 0.25 }, { 0 } }, stub.calls(core, "sleep"))
    assert.same({ { 2 } }, stub.calls(core, "pace"))
  end)
  it("choose between two, all over the range", function()
    local least, most = math.huge, 0
    for _ = 1, 500 do vu.sleep("1s", 3) end
    for _, call in ipairs(stub.calls(core, "sleep")) do
      least, most = math.min(least, call[1]), math.max(most, call[1])
    end
    assert.is_true(least >= 1 and least < 1.2 and most <= 3 and most > 2.8)
  end)
  it("refuse wrong arguments", function()
    has(refused(function() vu.sleep() end), "how long?")
    has(refused(function() vu.sleep(-1) end), "must be 0 or more")
    has(refused(function() vu.sleep("1 parsec") end), '1 what? "parsec"')
    has(refused(function() vu.sleep(3, 1) end), "the shorter time comes first")
    has(refused(function() vu.sleep(1, 2, 3) end), "one duration, or two")
    has(refused(function() vu.sleep(0 / 0) end), "not a usable number")
    has(refused(function() vu.pace(0) end), "must be more than 0")
    has(refused(function() vu.pace(1, 2) end), "one duration")
    has(refused(function() vu.now(1) end), "no argument")
    assert.equal(12.5, vu.now())
  end)
end)

describe("print and log", function()
  it("go to the core in a run", function()
    vu.print("a", 1, nil)
    vu.log.warn("b")
    vu.log.debug("nobody listens")
    assert.same({ { "print", "a\t1\tnil" }, { "warn", "b" } }, stub.calls(core, "log"))
  end)
end)

describe("while loading", function()
  it("none of them can be called", function()
    stage.loading = true
    for _, call in ipairs { function() vu.sleep(1) end, function() vu.pace(1) end, function() vu.fail("x") end,
                            function() vu.stop_run("x") end } do
      has(refused(call), "is called while the script is loaded")
    end
  end)
end)
