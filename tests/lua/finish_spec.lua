-- The end of a run: exit status and its precedence, files, standard output.
package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path
local stub = require "results_stub"
local samples = require "sample_results"
stub.install()
local finish = require("luabench.finish").finish

-- A run that is fine, changed by the functions named.
local CHANGES = {
  unbalanced = function(_, r) r.unbalanced = "1 is not 2" end,
  interrupted = function(_, r) r.interrupted = true end,
  stopped = function(_, r) r.stopped = "enough" end,
  stuck = function(_, r) r.stuck = { scenario = "hello", where = "hello.lua:3" } end,
  no_response = function(_, r)
    local named = r.total
    named.succeeded, named.failed, named.errors, named.statuses, named.responses, named.latency = 0, named.started, { connect = named.started }, {}, 0, stub.hist {}
  end,
  all_script_errors = function(_, r)
    local iterations = r.scenarios[1].iterations
    iterations.completed, iterations.failed = 0, iterations.scheduled
    r.script_errors = { count = iterations.scheduled, kinds = {} }
  end,
  some_script_errors = function(_, r)
    local iterations = r.scenarios[1].iterations
    iterations.completed, iterations.failed = 1, iterations.scheduled - 1
    r.script_errors = { count = iterations.scheduled - 1, kinds = {} }
  end,
  all_fail = function(_, r)
    local iterations = r.scenarios[1].iterations
    iterations.completed, iterations.failed = 0, iterations.scheduled
    r.failures = { count = iterations.scheduled, texts = { "no" } }
  end,
  all_500 = function(_, r)
    local named = r.total
    named.succeeded, named.failed, named.errors, named.statuses = 0, named.started, { status = named.started }, { [500] = named.started }
  end,
  no_setup = function(_, r) r.setup_failed = { scenario = "hello", text = "no token" } end,
  untrusted = function(_, r) r.generator.trusted = false end,
  lenient = function(plan) plan.lenient = true end,
  threshold = function(plan) plan.thresholds = { { expression = "http.latency: max < 1ms" } } end,
  failed_checks = function(_, r) r.checks = { { name = "x", passes = 0, fails = 3 } } end,
  unwritable = function(plan) plan.outputs = { { path = "/nonexistent/folder/x.json", format = "json" } } end,
  unprintable = function() stub.broken[1] = "No space left on device" end,
}

local function status_of(...)
  stub.written, stub.broken, stub.terminals = {}, {}, {}
  local plan, results = samples.simple()
  for _, change in ipairs { ... } do CHANGES[change](plan, results) end
  return finish(plan, results)
end

describe("the exit status", function()
  for _, case in ipairs {
    { 0 }, { 0, "failed_checks" }, { 0, "all_500" }, { 0, "all_fail" }, { 0, "untrusted", "lenient" },
    { 1, "threshold" }, { 1, "some_script_errors" },
    { 3, "no_response" }, { 3, "all_script_errors" }, { 3, "stopped" }, { 3, "stuck" }, { 3, "no_setup" }, { 3, "unwritable" }, { 3, "unprintable" },
    { 4, "untrusted" }, { 70, "unbalanced" }, { 130, "interrupted" },
    -- when several hold: 130, 3, 4, 1; a bug of ours before all
    { 4, "untrusted", "threshold" }, { 3, "stopped", "untrusted" }, { 3, "no_response", "threshold" }, { 3, "unwritable", "threshold" }, { 3, "unwritable", "untrusted" },
    { 3, "all_script_errors", "threshold" }, { 130, "interrupted", "stopped" }, { 130, "interrupted", "stuck" }, { 130, "interrupted", "no_response" }, { 130, "interrupted", "no_setup" }, { 3, "no_setup", "threshold" },
    { 130, "interrupted", "untrusted" }, { 130, "interrupted", "threshold" }, { 130, "interrupted", "unwritable" }, { 130, "interrupted", "unprintable" },
    { 70, "unbalanced", "interrupted" }, { 70, "unbalanced", "stopped" }, { 70, "unbalanced", "threshold" },
  } do
    local changes = { unpack(case, 2) }
    it(("is %d: %s"):format(case[1], table.concat(changes, " + ")), function() assert.equal(case[1], status_of(unpack(changes))) end)
  end

  it("is 0 when nothing was to be done", function()
    stub.written = {}
    assert.equal(0, finish(samples.nothing()))
  end)

  it("is in the report, with its reason", function()
    status_of("stopped")
    assert.truthy(stub.written[1]:find("exit         status 3: the run was stopped\n", 1, true))
    status_of()
    assert.is_nil(stub.written[1]:find("exit ", 1, true))
  end)

  it("mixes script errors with fail(): not every iteration died of a script error", function()
    stub.written = {}
    local plan, results = samples.simple()
    results.scenarios[1].iterations = { scheduled = 10, completed = 0, failed = 10, interrupted = 0, dropped = 0, expired = 0 }
    results.script_errors, results.failures = { count = 9, kinds = {} }, { count = 1, texts = { "no" } }
    assert.equal(1, finish(plan, results))
  end)
end)

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

describe("files", function()
  local path

  before_each(function()
    path = os.tmpname()
    stub.written, stub.broken, stub.terminals = {}, {}, {}
  end)
  after_each(function() os.remove(path) end)

  local function run(outputs, json)
    local plan, results = samples.simple()
    plan.outputs, plan.json = outputs, json
    return finish(plan, results)
  end

  it("are written whole, and nothing is left beside them", function()
    assert.equal(0, run { { path = path, format = "json" } })
    local text = read(path)
    assert.equal('{"checks":{}', text:sub(1, 12))
    assert.equal("}\n", text:sub(-2))
    assert.is_nil(read(path .. ".part"))
    assert.truthy(stub.written[1]:find("requests     started 4,000", 1, true))
  end)

  it("replace what was there, and are made where nothing was", function()
    local file = io.open(path, "wb")
    file:write(("x"):rep(1e6))
    file:close()
    assert.equal(0, run { { path = path, format = "json" } })
    local text = read(path)
    os.remove(path)
    assert.equal(0, run { { path = path, format = "json" } })
    assert.equal(text, read(path))
  end)

  it("that cannot be written are named; the report and the other files are there all the same", function()
    assert.equal(3, run { { path = "/nonexistent/x.json", format = "json" }, { path = path, format = "json" } })
    assert.truthy(stub.written[2]:find("luabench: cannot write the result to /nonexistent/x.json: /nonexistent/x.json: No such file or directory\n", 1, true),
      stub.written[2])
    assert.truthy(stub.written[1]:find("requests     started 4,000", 1, true))
    assert.truthy(stub.written[1]:find("exit         status 3: a result could not be written\n", 1, true))
    assert.truthy(read(path):find('"version":1', 1, true))
  end)

  it("on a full device are not written", function()
    assert.equal(3, run { { path = "/dev/full", format = "json" } })
    assert.truthy(stub.written[2]:find("cannot write the result to /dev/full: ", 1, true), stub.written[2])
    assert.truthy(stub.written[2]:find("No space left on device", 1, true), stub.written[2])
  end)

  it("are not written, either, when the device is full only at the end", function()
    local ok, problem = require("luabench.outputs").write_file("/dev/full", "x")
    assert.is_nil(ok)
    assert.truthy(problem:find("/dev/full: No space left on device", 1, true), problem)
  end)

  it("may be devices and pipes, which stay what they are", function()
    assert.equal(0, run { { path = "/dev/null", format = "json" } })
    os.remove(path)
    assert.equal(0, os.execute("mkfifo " .. path))
    local reader = io.popen("timeout 20 cat " .. path, "r")
    assert.equal(0, run { { path = path, format = "json" } })
    assert.truthy(reader:read("*a"):find('"version":1', 1, true))
    reader:close()
    assert.equal(0, os.execute("test -p " .. path))
  end)
end)

describe("--json", function()
  it("prints the document and nothing else", function()
    stub.written, stub.broken, stub.terminals = {}, {}, {}
    local plan, results = samples.failures()
    plan.json = true
    assert.equal(130, finish(plan, results))
    assert.equal("{", stub.written[1]:sub(1, 1))
    assert.equal("}\n", stub.written[1]:sub(-2))
    assert.is_nil(stub.written[1]:find("iterations   scheduled", 1, true))
    assert.is_nil(stub.written[2])
  end)

  it("says when standard output cannot be written", function()
    stub.written, stub.broken, stub.terminals = {}, { [1] = "Broken pipe" }, {}
    local plan, results = samples.simple()
    plan.json = true
    assert.equal(3, finish(plan, results))
    assert.equal("luabench: cannot print the results: Broken pipe\n", stub.written[2])
  end)
end)
