-- Runs of every kind, as the core would hand them over: for the tests of the report and of the result document.
-- As a program, `luajit sample_results.lua FOLDER` writes the document of each to FOLDER/NAME.json.
local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
package.path = here .. "../../lua/?.lua;" .. here .. "?.lua;" .. package.path
local stub = require "results_stub"

local samples = {}

--- One scenario, 4,000 requests that all succeeded.
function samples.simple()
  return stub.plan(), stub.results(4000)
end

--- Nothing at all was done.
function samples.nothing()
  return stub.plan(), stub.results(0, { duration = 0, generator = { cpu = 0, threads = 1, lag = stub.hist {} }, series = {} })
end

--- Requests went out and nothing came back.
function samples.no_answer()
  local named = stub.named("GET /", 0, { started = 20, failed = 20, errors = { connect = 20 } })
  local scenario = stub.scenario("hello", 20, { total = named, connections = { opened = 0, reused = 0, closed_by_peer = 0, max_open = 0 } })
  return stub.plan(), stub.results(20, { scenarios = { scenario } })
end

--- A bit of everything that can go wrong, ended by Ctrl-C.
function samples.failures()
  local named = stub.named("GET /", 1000, { succeeded = 900, failed = 80, timed_out = 15, interrupted = 5, responses = 980, retried = 3, redirected = 2,
    errors = { status = 80, timeout = 15, interrupted = 5 }, statuses = { [200] = 900, [503] = 60, [404] = 20 }, latency = stub.steps(980, 0.001),
    connect = stub.steps(50, 0.0002) })
  local scenario = stub.scenario("hello", 1000, { total = named, latency_refused = stub.steps(80, 0.001), connections = { opened = 50, reused = 950, closed_by_peer = 12, max_open = 50 },
    iterations = { scheduled = 250, completed = 200, failed = 45, interrupted = 5, dropped = 0, expired = 0 } })
  return stub.plan { thresholds = { { expression = "http.latency: p(95) < 200ms, max < 2s" }, { expression = "http.latency{name=POST /login}: p(99) < 500ms" } } },
    stub.results(1000, {
      scenarios = { scenario }, interrupted = true, duration = 3.21, notices = { "30 users waited for free ports" },
      checks = { { name = "body is whole", passes = 1000, fails = 0 }, { name = "status is 200", passes = 900, fails = 80, why = "got 503" } },
      script_errors = { count = 42, kinds = {
        { scenario = "hello", text = "hello.lua:5: attempt to index local 'res' (a nil value)", traceback = "stack traceback:\n\thello.lua:5: in function 'run'", count = 30 },
        { scenario = "hello", text = "hello.lua:9: boom", traceback = "stack traceback:\n\thello.lua:9: in function 'run'", count = 10 } } },
      failures = { count = 3, texts = { "no token", "no session" } },
    })
end

--- Two scenarios, several names, one of which is only redirected.
function samples.several()
  local names = { stub.named("GET /", 2000), stub.named("GET /items/{id}", 900, { succeeded = 870, failed = 30, errors = { status = 30 } }),
    stub.named("POST /login", 100, { statuses = { [302] = 100 } }) }
  local browse = stub.scenario("browse", 3000, { names = names, latency_refused = stub.steps(30, 0.001), total = stub.named("", 3000, { succeeded = 2970, failed = 30, errors = { status = 30 } }) })
  local buy = stub.scenario("buy", 200, { users_max = 5, latency_refused = stub.hist {}, total = stub.named("GET /", 200, { latency = stub.steps(200, 0.05) }) })
  local plan = stub.plan { scenarios = {
    { name = "browse", model = "closed", users = 50, duration = 10, target = "http://user:secret@a.example", version = "1.1" },
    { name = "buy", model = "closed", users = 5, iterations = 200, duration = 60, ramp_up = 3, target = "http://b.example", version = "1.1" } } }
  return plan, stub.results(0, { scenarios = { browse, buy }, total = stub.named("", 3200, { succeeded = 3170, failed = 30, errors = { status = 30 } }),
    checks = { { name = "is 200", passes = 1, fails = 2 } } })
end

local function repeated(count, make)
  local list = {}
  for i = 1, count do list[i] = make(i) end
  return list
end

--- Hostile names and texts, huge numbers, many of everything.
function samples.nasty()
  local evil = "GET /\27[2J\7" .. ("日本語é\255"):rep(60)
  local most = 2 ^ 53 - 1
  local huge = { started = most, succeeded = 1, failed = most - 1, bytes_sent = most, bytes_received = most, latency = stub.hist(repeated(4000, function(i) return 129600 + i end)) }
  huge.errors, huge.statuses = {}, {}
  for i = 1, 30 do huge.errors["error_number_" .. i .. "_\27]0;x\7"] = most - i end
  for status = 100, 599 do huge.statuses[status] = most - status end
  local function named(name)
    local figures = stub.named(name, 10)
    for key, value in pairs(huge) do figures[key] = value end
    return figures
  end
  local names = repeated(120, function(i) return named(evil .. i) end)
  local scenario = stub.scenario(evil, 10, { names = names, total = named(""), iterations = { scheduled = most, completed = 1, failed = 2, interrupted = 3, dropped = 4, expired = 5 } })
  local other = stub.scenario("b" .. ("x"):rep(300), 10, { total = named("GET /") })
  local texts = repeated(20, function(i) return { scenario = evil, text = evil .. i, traceback = ("\tin \27[31m" .. evil .. "\n"):rep(30), count = most } end)
  local plan = stub.plan { script = evil, thresholds = repeated(20, function(i) return { expression = ('http.latency{name="%s"}: p(99.%d) < 1ms'):format(evil, i) } end),
    options = { text = evil, deep = { list = { 1, 2 }, limit = math.huge }, call = print },
    scenarios = { { name = evil, model = "closed", users = most, duration = most, iterations = most, iterations_per_user = most, ramp_up = most, target = evil, version = evil },
      { name = other.name, model = "closed", users = 1, target = evil:rep(3) } } }
  return plan, stub.results(0, { scenarios = { scenario, other }, total = named(""), duration = 1e-9, stopped = evil,
    checks = repeated(201, function(i) return { name = evil .. i, passes = most, fails = i > 100 and most or 0, why = evil } end),
    script_errors = { count = most, kinds = texts }, failures = { count = most, texts = repeated(10, function(i) return evil .. i end) },
    notices = { evil, "" }, machine = { cpu = evil },
    generator = { cpu = 17, cpu_seconds = most, threads = 1, lag = stub.hist { most } } })
end

--- Hardly anything: a Lua function never returned, a book does not balance.
function samples.bare()
  return { scenarios = {} }, stub.results(0, { scenarios = {}, total = stub.named("", 0), duration = 0, machine = {}, series = {},
    unbalanced = "started 3 is not 2", stuck = { scenario = "hello", where = "hello.lua:5" } })
end

local NO_ITERATIONS = { scheduled = 0, completed = 0, failed = 0, interrupted = 0, dropped = 0, expired = 0 }

--- The open model, with arrivals that waited, were dropped or given up, and a warm-up.
function samples.open()
  local named = stub.named("GET /", 4000, { latency_from_intended = stub.steps(4000, 0.002) })
  local scenario = stub.scenario("hello", 4000, { total = named, users_max = 50, user_wait = stub.steps(40, 0.01), backlog_max = 7, schedule_slip = stub.steps(4000, 1e-8),
    iterations = { scheduled = 4050, completed = 4000, failed = 0, interrupted = 0, dropped = 0, expired = 50 },
    warm_up = { iterations = { scheduled = 2000, completed = 2000, failed = 0, interrupted = 0, dropped = 0, expired = 0 },
      requests = stub.named("", 2000, { succeeded = 1990, failed = 10, errors = { connect = 10 } }) } })
  local plan = stub.plan { options = { seed = 4711 }, uses_seed = true, scenarios = {
    { name = "hello", model = "open", rate = 1000, duration = 10, arrivals = "poisson", max_users = 50, overflow = "queue", warm_up = 2, start_after = 0,
      target = "http://127.0.0.1:8080", version = "1.1" } } }
  return plan, stub.results(4000, { scenarios = { scenario }, total = named })
end

--- Users that come and go, groups, setup and teardown.
function samples.staged()
  local scenario = stub.scenario("hello", 4000, { groups = { { name = "checkout", duration = stub.steps(300, 0.01), cut = 2 }, { name = "checkout/pay", duration = stub.steps(100, 0.01), cut = 0 } },
    warm_up = { iterations = NO_ITERATIONS, requests = stub.named("", 0) } })
  local plan = stub.plan { scenarios = { { name = "hello", model = "closed", users = 50, duration = 10, warm_up = 0, target = "http://127.0.0.1:8080",
    stages = { { of = "users", level = 10, over = 5, hold = 0 }, { of = "users", level = 50, over = 0, hold = 5 } } } } }
  return plan, stub.results(4000, { scenarios = { scenario }, setup = { iterations = NO_ITERATIONS, requests = stub.named("", 3) },
    teardown = { iterations = NO_ITERATIONS, requests = stub.named("", 2, { succeeded = 1, failed = 1, errors = { status = 1 } }) } })
end

--- setup failed, so there was no load.
function samples.no_load()
  local plan, merged = samples.nothing()
  merged.setup_failed = { scenario = "hello", text = "no token" }
  merged.setup = { iterations = NO_ITERATIONS, requests = stub.named("", 1, { succeeded = 0, failed = 1, errors = { status = 1 } }) }
  return plan, merged
end

if arg and arg[0] and arg[0]:match("sample_results%.lua$") then
  stub.install()
  for _, name in ipairs { "simple", "nothing", "no_answer", "failures", "several", "nasty", "bare", "open", "staged", "no_load" } do
    local plan, merged = samples[name]()
    plan.outputs = { { path = arg[1] .. "/" .. name .. ".json", format = "json" } }
    require("luabench.finish").finish(plan, merged)
    assert(not stub.written[2], stub.written[2])
  end
end

return samples
