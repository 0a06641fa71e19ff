-- spawn, tasks, groups and http.batch: what reaches the core, and the errors for wrong calls. In the stub a task runs at once.
local stub = require "core_stub"

local core, tasks, vu
before_each(function()
  core = stub.install()
  tasks, vu = require "luabench.tasks", require "luabench.vu"
  require("luabench.stage").loading = false
end)

local function has(text, part) assert.message(text).truthy(text:find(part, 1, true)) end

local function refused(call)
  local ok, text = pcall(call)
  assert.is_false(ok)
  assert.message(text).truthy(text:find("^tests/lua/tasks_spec.lua:%d+: "))
  return text
end

describe("spawn", function()
  it("gives a task that is waited for", function()
    local task = tasks.spawn(function(a, b) return a + b, "more" end, 1, 2)
    assert.same({ 3, "more" }, { task:wait() })
    task:wait("250ms")
    assert.equal(0.25, stub.calls(core, "task_wait")[2][2])
    assert.is_true(task.done)
    task:cancel()
    assert.equal(1, #stub.calls(core, "task_cancel"))
  end)
  it("raises a task's error where it is waited for", function()
    local failure = { "an error" }
    local task = tasks.spawn(function() error(failure) end)
    assert.same({ false, failure }, { pcall(task.wait, task) })
  end)
  it("says when the time was over", function()
    local task = tasks.spawn(function() end)
    core.outcome = { nil, "timeout" }
    assert.same({ n = 2, nil, "timeout" }, { n = select("#", task:wait(1)), task:wait(1) })
  end)
  it("refuses wrong calls", function()
    has(refused(function() tasks.spawn(5) end), "spawn(f, ...) takes a function and its arguments, not 5")
    local task = tasks.spawn(function() end)
    has(refused(function() task.wait() end), "task:wait() is called with a colon")
    has(refused(function() task:wait(1, 2) end), "takes one duration")
    has(refused(function() task:wait("soon") end), 'task:wait: "soon" is not a duration')
    has(refused(function() task:cancel(1) end), "takes no argument")
    has(refused(function() return task.dnoe end), "a task has no field `dnoe`; did you mean `done`?")
    has(refused(function() task.x = 1 end), "task.x cannot be assigned")
    require("luabench.stage").loading = true
    has(refused(function() tasks.spawn(print) end), "spawn is called while the script is loaded")
  end)
end)

describe("group", function()
  it("returns what its function returns, and ends good", function()
    assert.same({ 1, nil, 3 }, { vu.group("a", function() return 1, nil, 3 end) })
    assert.same({ { "a" } }, stub.calls(core, "group_begin"))
    assert.same({ { 1, true } }, stub.calls(core, "group_end"))
  end)
  it("ends cut by an error, which goes on", function()
    local failure = {}
    local ok, problem = pcall(vu.group, "a", function() error(failure) end)
    assert.same({ false, failure }, { ok, problem })
    assert.same({ { 1, false } }, stub.calls(core, "group_end"))
  end)
  it("refuses wrong calls", function()
    for _, call in ipairs { function() vu.group("a") end, function() vu.group(print) end, function() vu.group("", print) end, function() vu.group("a", print, 1) end } do
      has(refused(call), 'group takes a name and a function: group("checkout", function() ... end)')
    end
  end)
end)

describe("http.batch", function()
  local batch
  before_each(function()
    batch = tasks.batch(function(url) return "GET " .. url end, function(values) return values.method .. " " .. values.url end)
  end)
  it("answers in the order of the list", function()
    assert.same({ "GET /a", "POST /b", "GET /c" }, batch { "/a", { method = "POST", url = "/b" }, "/c" })
    assert.same({}, batch {})
  end)
  it("has a limit", function()
    batch({ "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9" })
    assert.equal(6, #stub.calls(core, "spawn"))
    batch({ "/1", "/2", "/3" }, { limit = 2 })
    assert.equal(8, #stub.calls(core, "spawn"))
  end)
  it("gives the script's line to what is wrong with a request", function()
    local wrong = tasks.batch(function() error("the URL must be a string", 0) end)
    has(refused(function() wrong { "/a" } end), "http.batch: the URL must be a string")
  end)
  it("refuses wrong calls", function()
    has(refused(function() batch("/a") end), "http.batch takes a list of requests and options")
    has(refused(function() batch { url = "/a" } end), "http.batch takes a list")
    has(refused(function() batch { "/a", x = 1 } end), '"x" is no part of the list')
    has(refused(function() batch { 5 } end), "request 1 must be a URL or a table, not 5")
    has(refused(function() batch({}, 5) end), "write { limit = 6 }")
    has(refused(function() batch({}, { limt = 5 }) end), "unknown key `limt`; did you mean `limit`?")
    has(refused(function() batch({}, { limit = 0 }) end), "`limit`: must be 1 or more")
  end)
end)
