-- Thresholds: the text, and the judgement on results of known samples.
package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path
local stub = require "results_stub"
stub.install()
local thresholds = require "luabench.thresholds"

describe("thresholds.parse", function()
  local function first(text)
    local parsed, problem = thresholds.parse(text)
    assert(parsed, problem)
    return parsed.conditions[1], parsed
  end

  it("reads metric, selector and conditions", function()
    local _, parsed = first("http.latency{name=POST /login, scenario=buy}: p(95) < 200ms, max<2s ,mean >= 1m30s")
    assert.equal("http.latency", parsed.metric.name)
    assert.same({ name = "POST /login", scenario = "buy" }, parsed.selector)
    assert.equal(3, #parsed.conditions)
    assert.equal("quantile", parsed.conditions[1].aggregate)
    assert.near(0.95, parsed.conditions[1].quantile, 1e-12)
    assert.near(0.2, parsed.conditions[1].number, 1e-12)
    assert.equal("max < 2s", parsed.conditions[2].text)
    assert.equal(90, parsed.conditions[3].number)
    assert.equal(">=", parsed.conditions[3].operator)
  end)

  it("reads values in double quotes", function()
    local _, parsed = first('http.latency{name="GET /items/{id}, \\"all\\""}: p99.9 < 1s')
    assert.equal('GET /items/{id}, "all"', parsed.selector.name)
    assert.near(0.999, parsed.conditions[1].quantile, 1e-12)
    assert.equal('http.latency{name="GET /items/{id}, \\"all\\""}', parsed.name)
  end)

  for text, number in pairs {
    ["http.latency: p(50) < 200us"] = 2e-4, ["http.latency: p(50) < 200µs"] = 2e-4, ["http.latency: p(50) < 1.5ms"] = 1.5e-3,
    ["http.latency: p(50) < 2 m"] = 120, ["http.latency: count > 10k"] = 10000, ["http.errors: rate < 1%"] = 0.01, ["http.errors: rate < 0.01"] = 0.01,
    ["http.errors: rate == 0"] = 0, ["checks: rate >= 100%"] = 1, ["http.requests: count > 5M"] = 5e6, ["http.requests: rate > 100"] = 100,
    ["http.requests: rate > 600/m"] = 10, ["http.requests: rate > 2k/s"] = 2000, ["http.bytes_received: count < 5MB"] = 5e6,
    ["http.bytes_sent: rate < 1KiB/s"] = 1024, ["script_errors: count == 0"] = 0, ["iterations: count > 1e3"] = 1000,
  } do
    it("reads the number of " .. text, function() assert.near(number, first(text).number, 1e-9) end)
  end

  -- text, what the message says
  for _, case in ipairs {
    { "http.latency: p(95) < 200", "200 what? write 200ms" },
    { "http.latency: max < 1.5", "1.5 what? write 1.5ms" },
    { "http.errors: rate < 50", "50 what? write 50%" },
    { "http.errors: rate < 150%", "150% is more than everything" },
    { "http.latency: p(95) < 5%", 'has the unit "%"; here it is us, ms, s or m' },
    { "http.errors: rate < 5ms", 'has the unit "ms"; here it is %' },
    { "http.requests: count > 5s", 'here it is none, k or M' },
    { "http.latncy: p(95) < 1s", 'unknown metric "http.latncy", did you mean "http.latency"?' },
    { "http.latncy: p(95) < 1s", "there are http.requests, http.errors, http.latency, http.service, http.wait" },
    { "http_req_duration: p(95) < 1s", 'did you mean "http.latency"?' },
    { "nonsense: p(95) < 1s", 'unknown metric "nonsense"; there are' },
    { "http.latency: avg < 1s", 'has no "avg", did you mean "mean"?' },
    { "http.latency: rate < 1s", 'is a trend and has no "rate"' },
    { "http.requests: p(95) < 1s", 'is a counter and has no "p(95)"; it has count, rate' },
    { "http.latency: p(101) < 1s", "percentiles go from 0 to 100" },
    { "http.latency: p(95) = 1s", 'unknown operator "=": write ==' },
    { "http.latency: p(95) => 1s", 'unknown operator "=>": write >=' },
    { "http.latency: p(95) <> 1s", "write !=" },
    { "http.latency: p(95) 1s", "is no condition" },
    { "http.latency: < 1s", "is no condition" },
    { "http.latency: p(95) <", "a number is missing" },
    { "http.latency: p(95) < fast", '"fast" is not a number' },
    { "http.latency: p(95) < -1ms", '"-1ms" is not a number' },
    { "http.latency:", "a condition is missing" },
    { "http.latency: p(95) < 1s,", "a condition is missing" },
    { "http.latency p(95) < 1s", 'a ":" is missing after http.latency' },
    { "", "a threshold looks like" },
    { "http.latency{nam=x}: max < 1s", 'cannot be narrowed by "nam", did you mean "name"?; it can by scenario, name' },
    { "http.latency{check=x}: max < 1s", 'cannot be narrowed by "check"; it can by scenario, name, method, status, error, group, phase' },
    { "checks{status=200}: rate < 1%", 'cannot be narrowed by "status"; it can by scenario, check' },
    { "http.latency{method=post}: max < 1s", "method=post: write POST" },
    { "http.latency{phase=start}: max < 1s", 'unknown phase "start"; there are run, on_start, on_stop' },
    { "iterations{name=x}: count > 1", 'cannot be narrowed by "name"; it can by scenario' },
    { "http.latency{name}: max < 1s", "write {key=value}" },
    { "http.latency{name=x: max < 1s", "is not closed by }" },
    { 'http.latency{name="x}: max < 1s', "a double quote is not closed" },
    { "http.latency{name=}: max < 1s", "name= needs a value" },
    { "http.latency{name=x,name=y}: max < 1s", "name is given twice" },
    { "http.requests{status=2000}: count > 1", "write a status like 503 or a class like 5xx" },
    { "http.errors{error=timout}: rate < 1%", 'unknown error "timout", did you mean "timeout"?' },
  } do
    it(("refuses %q: %s"):format(case[1], case[2]), function()
      local parsed, problem = thresholds.parse(case[1])
      assert.is_nil(parsed)
      assert.truthy(problem:find(case[2], 1, true), problem)
    end)
  end

  it("refuses what is no text", function()
    local parsed, problem = thresholds.parse(12)
    assert.is_nil(parsed)
    assert.truthy(problem:find("not a number", 1, true))
  end)
end)

describe("thresholds.kinds", function()
  local function kinds(...)
    local list = {}
    for i, text in ipairs { ... } do list[i] = { expression = text } end
    return thresholds.kinds(list)
  end

  it("are what has to be kept apart, each once", function()
    assert.same({}, kinds("http.latency: max < 1s", "http.requests{status=503}: count < 1", "http.errors{error=timeout}: rate < 1%", "http.latency{name=x,phase=run}: max < 1s",
      "iterations: count > 1", "group.duration{group=a}: max < 1s"))
    assert.same({ { key = "POST\n\n5xx\n", method = "POST", first = 500, last = 599 }, { key = "\na/b\n\ntimeout", group = "a/b", error = "timeout" } },
      kinds("http.wait{method=POST,status=5xx}: max < 1s", "http.requests{status=5xx,method=POST,name=x}: count < 1", "http.requests{group=a/b,error=timeout}: count < 1"))
    assert.same({ { key = "\n\n503\n", first = 503, last = 503 } }, kinds("http.errors{status=503}: rate < 1%"))
    assert.same(2, #kinds("http.errors{status=503,method=GET}: rate < 1%"))
  end)

  it("are not too many", function()
    local texts = {}
    for i = 1, 65 do texts[i] = ("http.latency{group=%d}: max < 1s"):format(i) end
    local list, why = kinds(unpack(texts))
    assert.is_nil(list)
    assert.equal("thresholds: they narrow by 65 different sets of method, group, status and error; there can be 64", why)
  end)
end)

describe("thresholds.evaluate", function()
  -- 1000 requests of 1..1000 ms: 900 accepted, 70 with status 503, 20 timed out, 10 interrupted
  local function results(over)
    local named = stub.named("GET /", 1000, { succeeded = 900, failed = 70, timed_out = 20, interrupted = 10, errors = { status = 70, timeout = 20, interrupted = 10 },
      statuses = { [200] = 890, [201] = 10, [503] = 70 }, bytes_sent = 2e6 })
    local groups = { { name = "buy", duration = stub.steps(100, 0.001), cut = 1 }, { name = "buy/pay", duration = stub.steps(50, 0.01), cut = 0 } }
    local scenario = stub.scenario("hello", 1000, { total = named, groups = groups })
    local all = stub.results(1000, { scenarios = { scenario }, checks = { { name = "is 200", passes = 99, fails = 1 }, { name = "whole", passes = 100, fails = 0 } } })
    for key, value in pairs(over or {}) do all[key] = value end
    return all
  end

  local function outcome(threshold, over, plan)
    if type(threshold) == "string" then threshold = { expression = threshold } end
    return thresholds.evaluate(stub.plan { thresholds = { threshold }, scenarios = plan }, results(over))[1]
  end

  -- threshold, does it hold, the value
  for _, case in ipairs {
    { "http.latency: p(95) < 951ms", true, 0.95 }, { "http.latency: p(95) < 950ms", false, 0.95 }, { "http.latency: p(95) <= 950ms", true, 0.95 },
    { "http.latency: median == 500ms", true, 0.5 }, { "http.latency: min < 2ms", true, 0.001 }, { "http.latency: max > 1s", false, 1 },
    { "http.latency: mean < 501ms", true, 0.5005 }, { "http.latency: stddev < 289ms", true, math.sqrt((1000 ^ 2 - 1) / 12) / 1000 },
    { "http.latency: count == 1000", true, 1000 }, { "http.latency: p(0) > 0.5ms", true, 0.001 }, { "http.latency: p(100) < 1s", false, 1 },
    { "http.service: max < 901ms", true, 0.9 }, { "http.wait: max < 801ms", true, 0.8 }, { "iteration.duration: median != 500ms", false, 0.5 },
    { "http.requests: count == 1000", true, 1000 }, { "http.requests: rate > 99/s", true, 100 }, { "http.requests{status=503}: count < 71", true, 70 },
    { "http.requests{status=2xx}: count == 900", true, 900 }, { "http.requests{status=404}: count == 0", true, 0 },
    { "http.requests{error=timeout}: count <= 20", true, 20 },
    { "http.errors: rate < 10%", true, 90 / 990 }, { "http.errors{error=timeout}: rate < 2%", false, 20 / 990 }, { "http.errors{error=reset}: rate == 0%", true, 0 },
    { "http.errors{name=GET /}: rate < 9%", false, 90 / 990 }, { "http.bytes_sent: count < 2MB", false, 2e6 }, { "http.bytes_sent: rate <= 200kB/s", true, 2e5 },
    { "iterations: count == 1000", true, 1000 }, { "dropped: count == 0", true, 0 }, { "script_errors: count == 0", true, 0 },
    { "group.duration{group=buy}: max < 101ms, count == 100", true, 0.1 }, { "group.duration{group=buy/pay}: median > 300ms", false, 0.25 },
    { "group.duration{scenario=hello}: count == 150", true, 150 }, { "users: value == 50", true, 50 }, { "users: max < 50", false, 50 },
    { "checks: rate > 99%", true, 199 / 200 }, { "checks{check=is 200}: rate > 99%", false, 0.99 }, { "http.latency{scenario=hello}: max <= 1s", true, 1 },
  } do
    it(("%s: %s"):format(case[1], tostring(case[2])), function()
      local found = outcome(case[1])
      assert.equal(case[2], found.ok)
      assert.near(case[3], found.value, 1e-9)
    end)
  end

  describe("by tags", function()
    -- two scenarios, of which one is tagged, with requests that are tagged too
    local function tagged()
      local names = { stub.named("GET /", 10), stub.named("GET / {page=a}", 20, { base = "GET /", tags = { page = "a" } }),
        stub.named("GET / {lang=de, page=b}", 40, { base = "GET /", tags = { page = "b", lang = "de" } }) }
      local one = stub.scenario("one", 70, { names = names, total = stub.named("", 70) })
      local two = stub.scenario("two", 5, { names = { stub.named("GET /", 5) }, total = stub.named("", 5) })
      local plan = { scenarios = { { name = "one", model = "closed" }, { name = "two", model = "closed", tags = { page = "c", env = "test" } } } }
      return plan, stub.results(75, { scenarios = { one, two }, total = stub.named("", 75) })
    end
    local function count(expression)
      local plan, all = tagged()
      plan.thresholds = { { expression = expression } }
      local outcome = thresholds.evaluate(plan, all)[1]
      return outcome.value or outcome.text
    end
    it("of requests and of scenarios", function()
      for expression, expected in pairs {
        ["http.requests: count > 0"] = 75, ["http.requests{page=a}: count > 0"] = 20, ["http.requests{page=b,lang=de}: count > 0"] = 40, ["http.requests{page=c}: count > 0"] = 5,
        ["http.requests{env=test,name=GET /}: count > 0"] = 5, ["http.requests{name=GET /}: count > 0"] = 75, ['http.requests{name="GET / {page=a}"}: count > 0'] = 20,
        ["http.requests{scenario=one,page=a}: count > 0"] = 20, ["iterations{env=test}: count >= 0"] = count "iterations{scenario=two}: count >= 0",
      } do
        assert.message(expression).equal(expected, count(expression))
      end
    end)
    it("that nothing has", function()
      assert.equal("no data: pages seen: a, b, c", count "http.requests{page=x}: count > 0")
      assert.equal("no data: no colour was seen", count "http.requests{colour=x}: count > 0")
      assert.equal("no data: no scenario has these tags", count "iterations{env=prod}: count > 0")
    end)
  end)

  it("fails without data, unless that is ok", function()
    for _, expression in ipairs { "http.connect: max < 1s", "http.tls: max < 1s" } do
      local found = outcome(expression)
      assert.is_false(found.ok)
      assert.is_nil(found.value)
      assert.equal("no data", found.text)
      assert.is_true(outcome { expression = expression, empty = "ok" }.ok)
    end
    assert.is_false(outcome("checks: rate > 1%", { checks = {} }).ok)
    assert.is_false(outcome({ expression = "http.latency: max < 1ms", empty = "ok" }).ok)
  end)

  it("lists what was seen when a selector met nothing", function()
    assert.equal("no data: names seen: GET /", outcome("http.latency{name=GET /x}: max < 1s").text)
    assert.equal("no data: names seen: GET /", outcome("http.requests{name=GET /x}: count == 0").text)
    assert.equal("no data: scenarios seen: hello", outcome("http.latency{scenario=bye}: max < 1s").text)
    assert.equal("no data: checks seen: is 200, whole", outcome("checks{check=is 201}: rate > 1%").text)
  end)

  it("shortens a long list of what was seen, and escapes it", function()
    local names = {}
    for i = 1, 12 do names[i] = stub.named("GET /" .. i .. "\27", 1) end
    local text = outcome("http.latency{name=x}: max < 1s", { scenarios = { stub.scenario("hello", 12, { names = names }) } }).text
    assert.truthy(text:find("GET /10\\x1b and 2 more", 1, true), text)
  end)

  it("warns when a percentile has too few samples", function()
    assert.equal("too few samples: 1,000, where p99.9 needs 3,688", outcome("http.latency: p(99.9) < 2s").warning)
    assert.is_nil(outcome("http.latency: p(99) < 2s").warning)
    assert.is_nil(outcome("http.latency: max < 2s").warning)
  end)

  it("adds script_errors: count == 0 unless a threshold is about them", function()
    local errors = { script_errors = { count = 3, kinds = { { scenario = "hello", count = 3 } } } }
    local list = thresholds.evaluate(stub.plan(), results(errors))
    assert.equal(1, #list)
    assert.same({ "script_errors", "count == 0", false, 3, true }, { list[1].metric, list[1].expression, list[1].ok, list[1].value, list[1].implicit })
    list = thresholds.evaluate(stub.plan { thresholds = { { expression = "script_errors: count < 5" } } }, results(errors))
    assert.equal(1, #list)
    assert.is_true(list[1].ok)
  end)

  it("judges each condition by itself", function()
    local list = thresholds.evaluate(stub.plan { thresholds = { { expression = "http.latency: min < 1s, max < 1ms" } } }, results())
    assert.same({ true, false, true }, { list[1].ok, list[2].ok, list[3].ok })
  end)

  it("does not let a text that cannot be read pass", function()
    local found = outcome("http.latency: fast")
    assert.is_false(found.ok)
    assert.truthy(found.text:find("is no condition", 1, true))
  end)

  describe("over several scenarios", function()
    local function two()
      return { stub.scenario("a", 100), stub.scenario("b", 300, { total = stub.named("GET /", 300, { latency = stub.steps(300, 1), errors = { reset = 3 } }), duration = 20,
        iterations = { scheduled = 300, completed = 290, failed = 10, interrupted = 0, dropped = 4, expired = 0 } }) }
    end
    local over = function() return { scenarios = two(), total = stub.named("", 400, { latency = stub.steps(400, 5) }) } end
    local planned = { { name = "a", model = "closed" }, { name = "b", model = "closed" } }

    it("takes all, one, or a name in all of them by added counts", function()
      assert.equal(2000, outcome("http.latency: max < 1s", over(), planned).value)
      assert.equal(300, outcome("http.latency{scenario=b}: max < 1s", over(), planned).value)
      -- 100 samples of 1..100 ms and 300 of 1..300 s: the 200th smallest is 100 s
      assert.equal(100, outcome("http.latency{name=GET /}: median < 1s", over(), planned).value)
      assert.equal(400, outcome("http.requests{name=GET /}: count > 1", over(), planned).value)
    end)

    it("divides by the time of the scenario", function()
      assert.equal(15, outcome("http.requests{scenario=b}: rate > 1", over(), planned).value)
      assert.equal(40, outcome("http.requests: rate > 1", over(), planned).value)
    end)

    it("holds a scenario's own threshold against its own samples", function()
      local found = outcome({ expression = "iterations: count == 290", scenario = "b" }, over(), planned)
      assert.is_true(found.ok)
      assert.equal("b", found.scenario)
      assert.equal(4, outcome({ expression = "dropped: count < 5", scenario = "b" }, over(), planned).value)
    end)

    it("counts the checks of a scenario", function()
      local all = over()
      all.checks = { { name = "x", passes = 30, fails = 10, scenarios = { { passes = 10, fails = 10 }, { passes = 20, fails = 0 } } } }
      assert.equal(0.75, outcome("checks: rate > 1%", all, planned).value)
      assert.equal(1, outcome({ expression = "checks: rate > 1%", scenario = "b" }, all, planned).value)
      assert.equal(0.5, outcome("checks{scenario=a, check=x}: rate > 1%", all, planned).value)
    end)

    it("counts the script errors of a scenario, and those of unknown kinds for each", function()
      local all = over()
      all.script_errors = { count = 10, kinds = { { scenario = "a", count = 3 }, { scenario = "b", count = 5 } } }
      assert.equal(10, outcome("script_errors: count < 1", all, planned).value)
      assert.equal(5, outcome("script_errors{scenario=a}: count < 1", all, planned).value)
      assert.equal(7, outcome("script_errors{scenario=b}: count < 1", all, planned).value)
    end)

    it("takes the intended start for the headline of an open scenario", function()
      local all = over()
      all.scenarios[2].total.latency_from_intended = stub.hist { 7 }
      assert.equal(7, outcome("http.latency{scenario=b}: max < 1s", all, { planned[1], { name = "b", model = "open" } }).value)
    end)
  end)
end)
