-- Coroutines of scripts, in which calls of the core wait. The core is played by the test: a strand is a coroutine of Lua's own, and what waits yields core.WAITS.
local stub = require "core_stub"

local core, co, held
before_each(function()
  core, held = stub.install(), 0
  function core.hold(n) held = held + n end
  function core.deeper() end
  co = require("luabench.coroutines").library()
end)

-- Runs f as the core runs a user: each wait is answered with what `answers` gives next. Returns what f returned, and how often it waited.
local function strand(f, answers)
  local base, waits = coroutine.create(f), 0
  local result = { coroutine.resume(base) }
  while coroutine.status(base) ~= "dead" do
    waits = waits + 1
    result = { coroutine.resume(base, answers[waits]) }
  end
  assert.message(tostring(result[2])).is_true(result[1])
  return waits, unpack(result, 2, 10)
end

-- What core.send does: at the bottom it yields anything, in a coroutine of the script's own the mark first.
local function wait() return coroutine.yield(core.WAITS, "arguments that stay") end

describe("what waits in a coroutine of the script's own", function()
  it("passes through resume", function()
    local waits, first, second = strand(function()
      local inner = co.create(function(x)
        local a = wait()
        local b = co.yield(x .. a)
        return b .. wait()
      end)
      local good, text = co.resume(inner, "x")
      assert.is_true(good)
      local _, last = co.resume(inner, "y")
      return text, last
    end, { "1", "2" })
    assert.same({ 2, "x1", "y2" }, { waits, first, second })
  end)
  it("passes through wrap, as an iterator, at any depth", function()
    local waits, sum = strand(function()
      local function numbers()
        return co.wrap(function()
          for value in co.wrap(function() for _ = 1, 3 do co.yield(wait()) end end) do co.yield(value * 10 + wait()) end
        end)
      end
      local total = 0
      for value in numbers() do total = total + value end
      return total
    end, { 1, 2, 3, 4, 5, 6 })
    assert.same({ 6, 12 + 34 + 56 }, { waits, sum })
  end)
  it("passes through pcall and metamethods", function()
    local waits, value, good, text = strand(function()
      local lazy = setmetatable({}, { __index = function() return wait() end })
      local read = co.wrap(function() return lazy.field end)()
      return read, co.wrap(function() return pcall(function() error(wait(), 0) end) end)()
    end, { "a", "b" })
    assert.same({ 2, "a", false, "b" }, { waits, value, good, text })
  end)
  it("leaves errors alone", function()
    strand(function()
      local good, text = co.resume(co.create(function() error(wait(), 0) end))
      assert.same({ false, "x" }, { good, text })
      good, text = pcall(co.wrap(function() error(wait(), 0) end))
      assert.same({ false, "y" }, { good, text })
    end, { "x", "y" })
  end)
end)

describe("coroutines", function()
  it("that wait cannot be resumed by another", function()
    local inner
    local first = coroutine.create(function() return co.resume(inner) end)
    inner = co.create(function() return wait() end)
    coroutine.resume(first)
    local good, text = co.resume(inner)
    assert.is_false(good)
    assert.truthy(text:find("cannot resume a coroutine that waits", 1, true))
    assert.same({ true, true, "answer" }, { coroutine.resume(first, "answer") })
    assert.equal("dead", co.status(inner))
  end)
  it("are resumed inside of table.sort with waiting forbidden", function()
    strand(function()
      local seen
      table.sort({ 2, 1 }, function(a, b)
        seen = { co.resume(co.create(function() return held end)) }
        return a < b
      end)
      assert.same({ true, 1 }, seen)
      assert.equal(0, held)
    end, {})
  end)
  it("yield only where a script has made them", function()
    strand(function()
      local good, text = pcall(co.yield, 1)
      assert.is_false(good)
      assert.truthy(text:find("attempt to yield outside of a coroutine", 1, true))
    end, {})
  end)
  it("behave as ever when nothing waits", function()
    local gen = co.wrap(function(a) return "end", a, co.yield("x", a) end)
    assert.same({ "x", 1 }, { gen(1) })
    assert.same({ "end", 1, "in" }, { gen("in") })
    assert.is_false(pcall(gen))
    assert.same({ false, "cannot resume dead coroutine" }, { co.resume((function() local c = co.create(type) co.resume(c, "") return c end)()) })
  end)
end)
