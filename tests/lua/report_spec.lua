-- The text report: whole pages that were looked at, figures of known samples, and what must never happen to a terminal.
package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path
local stub = require "results_stub"
local samples = require "sample_results"
stub.install()
local finish = require("luabench.finish").finish
local terminal = require "luabench.terminal"

local function report(plan, results)
  stub.written = {}
  finish(plan, results)
  assert.is_nil(stub.written[2])
  return stub.written[1]
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
  return lines
end

local function has(text, part)
  assert.truthy(text:find(part, 1, true), ("%q is missing in\n%s"):format(part, text))
end

local function has_not(text, part)
  assert.is_nil(text:find(part, 1, true), ("%q is in\n%s"):format(part, text))
end

local SIMPLE = [[
examples/hello.lua                       luabench 0.1.0, 2026-01-02 03:04:05 UTC

target       http://127.0.0.1:8080, HTTP/1.1
load         closed: 50 users for 10 s, 2 threads

iterations   scheduled 4,000 = completed 4,000
requests     started 4,000 = succeeded 4,000
rate         400 requests/s, over 10.0 s
status       200 × 4,000
errors       none
bytes        4.00 MB received (400 kB/s), 400 kB sent (40.0 kB/s)
connections  50 opened, 3,950 requests on a reused one
generator    busy 41.0%, woke sleeping users at most 1.20 ms late

latency of 4,000 responses  closed model: from the call to the last byte
     min     q1 median   mean     q3    p90    p95    p99  p99.9    max stddev
  1.00ms  1.00s  2.00s  2.00s  3.00s  3.60s  3.80s  3.96s  4.00s  4.00s  1.15s
]]

local FAILURES = [[
examples/hello.lua                       luabench 0.1.0, 2026-01-02 03:04:05 UTC

target       http://127.0.0.1:8080, HTTP/1.1
load         closed: 50 users for 10 s, 2 threads
ended        interrupted after 3.21 s: the figures are of that time

iterations   scheduled 250 = completed 200 + failed 45 + interrupted 5
requests     started 1,000 = succeeded 900 + failed 80 + timed out 15 +
             interrupted 5 (retried 3, redirects followed 2)
rate         280 requests/s succeeded, 62.3 iterations/s, over 3.21 s
status       200 × 900 (91.8%), 503 × 60 (6.12%), 404 × 20 (2.04%)
errors       status 80 (8.00%), timeout 15 (1.50%), interrupted 5 (0.50%)
bytes        1.00 MB received (312 kB/s), 100 kB sent (31.2 kB/s)
connections  50 opened, 950 requests on a reused one, 12 closed by the server
generator    busy 41.0%, woke sleeping users at most 1.20 ms late

latency of 900 accepted  closed model: from the call to the last byte
     min     q1 median   mean     q3    p90    p95    p99  p99.9    max stddev
  81.0ms  305ms  530ms  531ms  755ms  890ms  935ms  971ms    n/a  980ms  260ms
failures     100 of 1,000 failed or were unfinished; counted as never answered:
             median 580 ms, p90 980 ms, p95 never, p99 never

checks       ✗ status is 200  80 of 980 failed (8.16%)
               got 503
             ✓ body is whole  1,000 passed
thresholds   ✗ http.latency: p(95) < 200ms  931 ms
             ✓ http.latency: max < 2s       980 ms
             ✗ http.latency{name=POST /login}: p(99) < 500ms
               no data: names seen: GET /
             ✗ script_errors: count == 0    42
script       42 Lua errors in iterations
             ✗ 30 × hello.lua:5: attempt to index local 'res' (a nil value)
               stack traceback:
                   hello.lua:5: in function 'run'
             ✗ 10 × hello.lua:9: boom
               stack traceback:
                   hello.lua:9: in function 'run'
             and 2 of other kinds
failed       3 iterations ended by fail() or must()
             ✗ no token
             ✗ no session

remarks      ! 80 checks failed, and no threshold looks at checks: the exit
               status does not tell; add "checks: rate > 99%"
             ! too few responses for some percentiles (980): p99.9 needs 3,688
             ! 30 users waited for free ports
exit         status 130: interrupted
]]

local SEVERAL = [[
examples/hello.lua                       luabench 0.1.0, 2026-01-02 03:04:05 UTC

load         browse: closed, 50 users for 10 s, http://user:***@a.example,
             HTTP/1.1
             buy: closed, 5 users, 200 iterations in all, for at most 1 min,
             ramped up over 3 s, http://b.example, HTTP/1.1
             2 threads

iterations   scheduled 3,200 = completed 3,200
requests     started 3,200 = succeeded 3,170 + failed 30
rate         317 requests/s succeeded, 320 iterations/s, over 10.0 s
status       200 × 3,200
errors       status 30 (0.94%)
bytes        3.20 MB received (320 kB/s), 320 kB sent (32.0 kB/s)
connections  100 opened, 3,100 requests on a reused one
generator    busy 41.0%, woke sleeping users at most 1.20 ms late

latency of 3,170 accepted  closed model: from the call to the last byte
     min     q1 median   mean     q3    p90    p95    p99  p99.9    max stddev
  31.0ms  807ms  1.58s  1.74s  2.36s  2.83s  2.98s  8.45s    n/a  10.0s  1.39s
failures     30 of 3,200 failed; counted as never answered: median 1.60 s, p90
             2.85 s, p95 3.50 s, p99 9.90 s

  scenario           requests  ok/s  failed  median     p95    p99    max
  browse                3,000   297   1.00%   1.50s   2.85s  2.97s  3.00s
    GET /               2,000   200      0%   1.00s   1.90s  1.98s  2.00s
    GET /items/{id}       900  87.0   3.33%   450ms   855ms  891ms  900ms
    POST /login           100  10.0      0%  50.0ms  95.0ms    n/a  100ms
  buy                     200  20.0      0%   5.00s   9.50s    n/a  10.0s
    GET /                 200  20.0      0%   5.00s   9.50s    n/a  10.0s

checks       ✗ is 200  2 of 3 failed (66.7%)

remarks      ! all 100 answers of POST /login were redirects that were not
               followed: redirects = 10 follows them
             ! 2 checks failed, and no threshold looks at checks: the exit
               status does not tell; add "checks: rate > 99%"
             ! too few responses for some percentiles (3,200): p99.9 needs 3,688
]]

local OPEN = [[
examples/hello.lua                       luabench 0.1.0, 2026-01-02 03:04:05 UTC

target       http://127.0.0.1:8080, HTTP/1.1
load         open: 1,000/s Poisson for 10 s, at most 50 users at a time, reused,
             the first 2 s left out, 2 threads, seed 4711
left out     warm-up 2,000 requests (10 failed)

iterations   scheduled 4,050 = completed 4,000 + expired 50
requests     started 4,000 = succeeded 4,000
rate         400 requests/s, over 10.0 s
status       200 × 4,000
errors       none
bytes        4.00 MB received (400 kB/s), 400 kB sent (40.0 kB/s)
connections  50 opened, 3,950 requests on a reused one
waiting      40 arrivals waited for a free user, at most 7 at a time; p50 200
             ms, p99 n/a, max 400 ms
generator    busy 41.0%,
             started arrivals p50 20.0 µs, p99 39.6 µs, max 40.0 µs late,
             woke sleeping users at most 1.20 ms late

latency of 4,000 responses  open model: from the intended start to the last byte
     min     q1 median   mean     q3    p90    p95    p99  p99.9    max stddev
  2.00ms  2.00s  4.00s  4.00s  6.00s  7.20s  7.60s  7.92s  7.99s  8.00s  2.31s
failures     50 of 4,050 failed; counted as never answered: median 4.05 s, p90
             7.29 s, p95 7.70 s, p99 never
from call    median 2.00 s, p95 3.80 s, p99 3.96 s, max 4.00 s

remarks      ! 50 arrivals (1.23%) were not started: no user was free within the
               timeout (max_users)
]]

describe("what is beside the load", function()
  it("is said: setup, teardown, stages, groups", function()
    local page = report(samples.staged())
    has(page, "load         closed: up to 50 users for 10 s in 2 stages, 2 threads\n")
    has(page, "left out     setup 3 requests, teardown 2 requests (1 failed)\n")
    has(page, "groups       checkout: median 1.50 s, p95 2.85 s, max 3.00 s, of 300, 2 cut\n             checkout/pay: median 500 ms")
  end)
  it("is why there was no load", function()
    local page = report(samples.no_load())
    has(page, 'ended        before the load: setup of scenario "hello" failed: no token\n')
    has(page, "exit         status 3: setup failed\n")
  end)
end)

describe("whole pages", function()
  before_each(function() stub.terminals = {} end)

  it("a simple run, within one screen of 24 lines", function()
    local text = report(samples.simple())
    assert.equal(SIMPLE, text)
    assert.is_true(#lines_of(text) <= 24)
  end)

  it("a simple run with checks and a threshold is one screen, too", function()
    local plan, results = samples.simple()
    plan.thresholds = { { expression = "http.latency: p(95) < 2s" } }
    results.checks = { { name = "status is 200", passes = 4000, fails = 0 }, { name = "body is whole", passes = 4000, fails = 0 } }
    local text = report(plan, results)
    assert.is_true(#lines_of(text) <= 24)
    has(text, "checks       ✓ status is 200  4,000 passed\n             ✓ body is whole  4,000 passed\n")
    has(text, "thresholds   ✗ http.latency: p(95) < 2s  3.80 s\n")
    has(text, "exit         status 1: 1 threshold failed\n")
  end)

  it("failures of all kinds", function() assert.equal(FAILURES, report(samples.failures())) end)
  it("the open model: from the intended start, and what waited for users", function() assert.equal(OPEN, report(samples.open())) end)
  it("several scenarios and names", function() assert.equal(SEVERAL, report(samples.several())) end)
end)

describe("without data", function()
  before_each(function() stub.terminals = {} end)

  it("nothing is n/a, and nothing is NaN", function()
    local text = report(samples.nothing())
    has(text, "requests     started 0\n")
    has(text, "rate         n/a requests/s")
    has(text, "     n/a    n/a    n/a    n/a    n/a    n/a    n/a    n/a    n/a    n/a    n/a\n")
    has(text, "! no iteration was started")
    assert.is_nil(text:lower():find("nan[%s,]"))
    has_not(text, "inf")
  end)

  it("says that no answer came", function()
    local text = report(samples.no_answer())
    has(text, "errors       connect 20\n")
    has(text, "status       none\n")
    has(text, "! no whole response came to any request")
    has(text, "exit         status 3: requests were started and no whole response came")
  end)

  it("says that no request was made", function()
    local scenario = stub.scenario("hello", 5, { total = stub.named("", 0), names = {} })
    has(report(stub.plan(), stub.results(0, { scenarios = { scenario } })), "! no request was made")
  end)

  it("shows a percentile from the number of samples on that it needs", function()
    local function p99(count)
      return lines_of(report(stub.plan(), stub.results(count)))[17]
    end
    local function column(line, n)
      local cells = {}
      for cell in line:gmatch("%S+") do cells[#cells + 1] = cell end
      return cells[n]
    end
    -- ln(0.025) / ln(q): 6 for the median, 36 for p90, 72 for p95, 368 for p99, 3,688 for p99.9
    for _, case in ipairs { { 3, 6 }, { 2, 13 }, { 5, 13 }, { 6, 36 }, { 7, 72 }, { 8, 368 }, { 9, 3688 }, { 11, 2 } } do
      assert.equal("n/a", column(p99(case[2] - 1), case[1]), "column " .. case[1])
      assert.not_equal("n/a", column(p99(case[2]), case[1]), "column " .. case[1])
    end
    assert.equal("1.00ms", column(p99(1), 1))
    assert.equal("1.00ms", column(p99(1), 10))
  end)
end)

describe("hostile names, huge numbers, many of everything", function()
  for _, columns in ipairs { 80, 20, 90, 1000 } do
    it(("stay within the page on a terminal of %d columns"):format(columns), function()
      stub.terminals = { [1] = columns }
      local plan, results = samples.nasty()
      plan.latency = true
      local text = report(plan, results)
      local widest = math.max(40, math.min(columns, 100))
      for _, line in ipairs(lines_of(text)) do
        assert.is_true(terminal.width(line) <= widest, line)
        assert.equal(line, terminal.escape(line), "nothing that a terminal obeys")
      end
      has(text, "\\x1b[2J")
      local flowing = text:gsub("%s+", " ")
      has(flowing, "and 191 more, 91 of them failed")
      has(flowing, "and 492 more")
      has(flowing, "and 22 more")
    end)
  end
end)

describe("names of requests", function()
  local function names(count)
    stub.terminals = {}
    local list = {}
    for i = 1, count do list[i] = stub.named("GET /" .. i, 10 * i) end
    return report(stub.plan(), stub.results(0, { scenarios = { stub.scenario("hello", 10, { names = list }) } }))
  end

  it("have no table when there is one", function() has_not(names(1), "request ") end)

  it("are the ten with most requests, and the rest counted", function()
    local text = names(15)
    local lines = lines_of(text:match("\n(  request .-)\n\n"))
    assert.equal("  request           requests  ok/s  failed  median     p95  p99     max", lines[1])
    assert.equal("  GET /15                150  15.0      0%  75.0ms   143ms  n/a   150ms", lines[2])
    has(lines[11], "GET /6 ")
    -- 10 + 20 + 30 + 40 + 50
    has(text, "\n  and 5 more names       150\n")
  end)

  it("are shortened in the middle", function()
    local long = "GET /api/v1/" .. ("x"):rep(80)
    local list = { stub.named(long .. "/first", 10), stub.named(long .. "/second", 10) }
    local text = report(stub.plan(), stub.results(0, { scenarios = { stub.scenario("hello", 10, { names = list }) } }))
    has(text, "  GET /api/v…x")
    has(text, "x/first  ")
    has(text, "x/second  ")
  end)
end)

describe("color", function()
  it("is there only when it is wanted and standard output is a terminal", function()
    for _, case in ipairs { { true, 80, true }, { true, nil, false }, { false, 80, false } } do
      stub.terminals = { [1] = case[2] }
      local plan, results = samples.failures()
      plan.color = case[1]
      assert.equal(case[3], report(plan, results):find("\27", 1, true) ~= nil)
    end
  end)

  it("does not change the text", function()
    stub.terminals = { [1] = 80 }
    for _, name in ipairs { "simple", "failures", "several", "nasty" } do
      local plan, results = samples[name]()
      local plain = report(plan, results)
      plan.color = true
      -- what is painted keeps its padding: only spaces at the ends of lines may differ
      assert.equal(plain, (report(plan, results):gsub("\27%[%d*m", ""):gsub(" +\n", "\n")))
    end
  end)
end)

describe("the percentile table", function()
  it("has the quantiles of the samples", function()
    stub.terminals = {}
    local plan, results = samples.simple()
    plan.latency = true
    local text = report(plan, results)
    has(text, "  percentile  latency  service    wait  slower\n")
    -- of 1 ms, 2 ms, ... 4000 ms the nearest rank of q is 4000 q ms
    has(text, "  p1           40.0ms   36.0ms  32.0ms   3,960\n")
    has(text, "  p97.5         3.90s    3.51s   3.12s     100\n")
    has(text, "  p99.9         4.00s    3.60s   3.20s       4\n")
    has(text, "  max           4.00s    3.60s   3.20s       0\n")
    has_not(text, "p99.95")
  end)
end)

describe("remarks", function()
  local function remark(change)
    stub.terminals = {}
    local plan, results = samples.simple()
    change(results, plan)
    return (report(plan, results):gsub("\n +", " "))
  end

  it("say that luabench itself was busy", function()
    has(remark(function(r) r.generator.cpu = 0.97 end), "! luabench itself was busy 97%: throughput is a lower bound, latency an upper one")
    has_not(remark(function(r) r.generator.cpu = 0.9 end), "remarks")
  end)

  -- A timeline of 10 s in 100 slots: `due` and `ended` iterations in each, and responses whose median is level(slot).
  local function timeline(due, ended, level)
    return { size = function() return 100, 0.1 end, flow = function() return due, ended end, responses = function(_, a, b) return (b - a + 1) * due end,
      quantile = function(_, a) return level(a) end, upto = function(_, a, b) return (b - a + 1) * due * 0.5 end }
  end
  local function opened(slots, slips)
    return remark(function(r, plan)
      local open_plan, open_results = samples.open()
      plan.scenarios, r.scenarios = open_plan.scenarios, open_results.scenarios
      r.scenarios[1].timeline, r.scenarios[1].schedule_slip = slots, stub.steps(4000, slips or 1e-8)
    end)
  end

  it("say that the server was overloaded, or luabench late", function()
    local function level() return 0.01 end
    has(opened(timeline(100, 50, level)), "! overloaded: of 10,000 iterations due only 5,000 had ended when the last was due, and 5,000 were in flight; the latency depends on")
    has(opened(timeline(100, 50, level), 0.001), "! luabench could not keep its schedule: of 10,000 iterations due only 5,000 had ended")
    has_not(opened(timeline(100, 99, level)), "overloaded")
    has_not(opened(timeline(100, 100, level)), "overloaded")
  end)

  it("say that the run was not steady", function()
    has(opened(timeline(100, 100, function(i) return i > 50 and 0.02 or 0.01 end)), "! the server became slower: the median was 10.0 ms at first and 20.0 ms at the end")
    has(opened(timeline(100, 100, function(i) return i > 80 and 0.02 or 0.01 end)), "the latency changed in the last part of the run, the median from 10.0 ms at first to 20.0 ms")
    has(opened(timeline(100, 100, function(i) return i > 15 and 0.01 or 0.03 end)), "! the server was still warming up: the median was 30.0 ms at first and 10.0 ms at the end")
    has(opened(timeline(100, 100, function(i) return 0.01 * (1 + i / 50) end)), "the latency drifted all along, the median from ")
    has_not(opened(timeline(100, 100, function(i) return 0.01 + (i % 3) * 0.0002 end)), "the median")
  end)

  it("say that all answers were redirects", function()
    local text = remark(function(r) r.scenarios[1].names[1].statuses = { [301] = 3990, [308] = 10 } end)
    has(text, "! all 4,000 answers of GET / were redirects that were not followed: redirects = 10 follows them")
    has_not(remark(function(r) r.scenarios[1].names[1].statuses = { [301] = 3999, [200] = 1 } end), "redirects")
    has_not(remark(function(r) r.scenarios[1].names[1].statuses = { [304] = 4000 } end), "redirects")
    has_not(remark(function(r) r.scenarios[1].names[1].statuses, r.scenarios[1].names[1].errors = { [302] = 4000 }, { unexpected = 4000 } end), "redirects")
  end)

  it("say that the server sent more than it was asked for", function()
    has(remark(function(r) r.scenarios[1].connections.unasked = 1200 end), "! 1,200 connections were given up: the server sent bytes that answer no request")
    has(remark(function(r) r.scenarios[1].connections.unasked = 1 end), "! 1 connection was given up")
    has_not(remark(function(r) r.scenarios[1].connections.unasked = 0 end), "given up")
  end)

  it("say that failed checks do not fail the run, unless a threshold looks at them", function()
    local failed = { { name = "x", passes = 1, fails = 3 } }
    has(remark(function(r) r.checks = failed end), "! 3 checks failed, and no threshold looks at checks")
    has_not(remark(function(r, plan)
      r.checks, plan.thresholds = failed, { { expression = "checks{check=x}: rate > 20%" } }
    end), "no threshold looks")
  end)

  it("say that there were too few responses, until there are enough", function()
    has(report(stub.plan(), stub.results(3687)), "! too few responses for some percentiles (3,687): p99.9 needs 3,688")
    has_not(report(stub.plan(), stub.results(3688)), "remarks")
  end)

  it("say that iterations outlived graceful_stop", function()
    local function interrupt(r) r.scenarios[1].iterations = { scheduled = 4000, completed = 3959, failed = 0, interrupted = 41, dropped = 0, expired = 0 } end
    has(remark(interrupt), "! 41 iterations still ran when graceful_stop was over and were interrupted")
    has_not(remark(function(r)
      interrupt(r)
      r.interrupted = true
    end), "graceful_stop")
  end)

  it("say that not all users ran", function()
    has(remark(function(r) r.scenarios[1].users_max = 3 end), '! at most 3 of 50 users of "hello" ran at once')
  end)

  it("say that everything failed", function()
    has(remark(function(r)
      for key, value in pairs { succeeded = 0, failed = 4000, statuses = { [500] = 4000 }, errors = { status = 4000 } } do r.total[key] = value end
    end), "! not one request succeeded: the latencies are those of failures")
  end)

  it("show a book that does not balance", function()
    local text = remark(function(r) r.total.failed, r.unbalanced = 1, "started 4000 is not 4001" end)
    has(text, "started 4,000 ≠ succeeded 4,000 + failed 1")
    has(text, "! the books do not balance: started 4000 is not 4001. This is a bug of luabench; please report it")
  end)

  it("pass on what the core noticed", function()
    has(remark(function(r) r.notices = { "the limit of open files is low\27" } end), "! the limit of open files is low\\x1b")
  end)
end)

describe("how it ended", function()
  local function ended(over)
    stub.terminals = {}
    local plan, results = samples.simple()
    for key, value in pairs(over) do results[key] = value end
    return (report(plan, results):gsub("\n +", " "))
  end

  it("is said", function()
    has(ended { interrupted = true }, "ended        interrupted after 10 s: the figures are of that time")
    has(ended { stopped = "enough\n" }, "ended        stopped after 10 s: enough\\n")
    has(ended { stuck = { scenario = "hello", where = "hello.lua:7", text = "in function 'run'" } },
      "ended        stuck after 10 s: a function of scenario hello never returned, at hello.lua:7: in function 'run'")
    has_not(ended {}, "ended")
  end)
end)

describe("the load in words", function()
  local function words(planned)
    stub.terminals = {}
    planned.name, planned.target = "hello", "http://h"
    return report(stub.plan { scenarios = { planned } }, stub.results(10)):match("load +(.-), 2 threads")
  end

  it("names users, end and ramp", function()
    assert.equal("closed: 1 user for 10 s", words { users = 1, duration = 10 })
    assert.equal("closed: 50 users, 100,003 iterations in all", words { users = 50, iterations = 100003 })
    assert.equal("closed: 50 users, 1 iteration each", words { users = 50, iterations_per_user = 1, ramp_up = 0 })
    assert.equal("closed: 2 users, 9 iterations in all, for at most 1 min 30 s, ramped up over 250 ms",
      (words { users = 2, iterations = 9, duration = 90, ramp_up = 0.25 }:gsub("\n +", " ")))
  end)

  it("does not say the URL of quick mode twice", function()
    local plan, results = samples.simple()
    plan.script, plan.url, plan.scenarios[1].target, plan.scenarios[1].version = nil, "http://h/x", "http://h/x", nil
    local text = report(plan, results)
    has(text, "http://h/x      ")
    has_not(text, "target ")
  end)
end)
