-- The result document: figures of known samples, nulls, names. (That every document fits the schema is test_schema.py's.)
package.path = "lua/?.lua;tests/lua/?.lua;" .. package.path
local stub = require "results_stub"
local samples = require "sample_results"
local core = stub.install()
local results = require "luabench.results"
local summary = require "luabench.summary"
local thresholds = require "luabench.thresholds"

local null = core.json_null

local function document(plan, merged)
  return results.document(plan, merged, thresholds.evaluate(plan, merged))
end

describe("a SUMMARY", function()
  it("has the figures of the samples", function()
    -- 1 .. 1000 ms: nearest rank, and for 1..n mean (n + 1) / 2, variance (n^2 - 1) / 12
    local found = summary.of(stub.steps(1000, 0.001))
    for field, value in pairs { count = 1000, min = 0.001, q1 = 0.25, median = 0.5, mean = 0.5005, q3 = 0.75, p90 = 0.9, p95 = 0.95, p99 = 0.99, p999 = 0.999, max = 1,
      stddev = math.sqrt((1000 ^ 2 - 1) / 12) / 1000 } do
      assert.near(value, found[field], 1e-9, field)
    end
    assert.equal("HISTF1000", found.histogram)
  end)

  it("has nearest-rank values from the first sample on", function()
    local found = summary.of(stub.hist { 0.5 })
    for _, field in ipairs { "min", "q1", "median", "mean", "q3", "p90", "p95", "p99", "p999", "max" } do assert.equal(0.5, found[field], field) end
    assert.equal(0, found.stddev)
  end)

  it("is null in every figure without samples", function()
    local found = summary.of(stub.hist {})
    assert.equal(0, found.count)
    found.count = nil
    for field, value in pairs(found) do assert.equal(null, value, field) end
    assert.equal(null, summary.of(nil))
  end)

  it("has no NaN", function()
    local broken = setmetatable({ mean = function() return 0 / 0 end }, { __index = stub.hist { 1 } })
    broken.samples = { 1 }
    assert.equal(null, summary.of(broken).mean)
  end)

  it("can leave the histogram out", function()
    assert.is_nil(summary.of(stub.hist { 1 }, true).histogram)
  end)
end)

describe("the samples that a percentile needs", function()
  for quantile, needed in pairs { [0.5] = 6, [0.25] = 13, [0.75] = 13, [0.9] = 36, [0.95] = 72, [0.99] = 368, [0.01] = 368, [0.999] = 3688, [0.9999] = 36887,
    [0] = 1, [1] = 1 } do
    it(("are %d for %g"):format(needed, quantile), function()
      assert.equal(needed, summary.needed(quantile))
      if quantile > 0.5 and quantile < 1 then
        -- by definition: the chance that all n samples lie below the quantile is at most 2.5 %
        assert.is_true(quantile ^ needed <= 0.025 and quantile ^ (needed - 1) > 0.025)
      end
    end)
  end

  it("decide what is shown", function()
    local found = summary.of(stub.steps(367, 1))
    assert.is_nil(summary.shown(found, "p99"))
    assert.equal(349, summary.shown(found, "p95"))
    assert.equal(368 * 0.99 - 368 * 0.99 % 1 + 1, summary.shown(summary.of(stub.steps(368, 1)), "p99"))
    assert.is_nil(summary.shown(summary.of(stub.hist { 1 }), "stddev"))
    assert.is_nil(summary.shown(null, "min"))
    assert.is_nil(summary.shown(summary.of(stub.hist {}), "max"))
  end)
end)

describe("the document", function()
  it("has the books, rates, statuses and errors", function()
    local found = document(samples.failures())
    local hello = found.scenarios.hello
    assert.same({ started = 1000, succeeded = 900, failed = 80, timed_out = 15, interrupted = 5, retried = 3, redirected = 2 }, hello.requests)
    assert.same({ scheduled = 250, completed = 200, failed = 45, interrupted = 5, dropped = 0, expired = 0 }, hello.iterations)
    assert.same({ ["200"] = 900, ["503"] = 60, ["404"] = 20 }, hello.status)
    assert.same({ status = 80, timeout = 15, interrupted = 5 }, hello.errors)
    assert.equal(90, hello.rate)
    assert.near(900 / 3.21, found.total.rate, 1e-9)
    assert.equal(null, hello.latency_from_intended)
    assert.equal(980, hello.latency.count)
    assert.equal(900, hello.by_name["GET /"].requests.succeeded)
    assert.same({ index = 2, passes = 900, fails = 80, why = "got 503" }, found.checks["status is 200"])
    assert.is_true(found.interrupted)
    assert.equal("2026-01-02T03:04:05.250Z", found.started)
    assert.equal("closed", found.model)
    assert.equal(4, #found.thresholds)
    assert.same({ metric = "http.latency", expression = "p(95) < 200ms", ok = false, value = 0.931, unit = "time", scenario = null, implicit = false, text = null,
      warning = null }, found.thresholds[1])
  end)

  it("has no rate without time", function()
    assert.equal(null, document(samples.nothing()).total.rate)
  end)

  it("hides passwords in URLs", function()
    local found = document(samples.several())
    assert.equal("http://user:***@a.example", found.scenarios.browse.target)
    local load = found.scenarios.buy.load
    assert.same({ 5, 200, 60, 3, null, null, null, null }, { load.users, load.iterations, load.duration, load.ramp_up, load.iterations_per_user, load.rate, load.stages, load.warm_up })
  end)

  it("keeps what the open model has", function()
    local found = document(samples.open())
    local scenario = found.scenarios.hello
    assert.same({ "open", 1000, "poisson", 50, 2, null }, { scenario.model, scenario.load.rate, scenario.load.arrivals, scenario.load.max_users, scenario.load.warm_up, scenario.load.users })
    assert.equal(4000, scenario.latency_from_intended.count)
    assert.same({ 40, 7 }, { scenario.user_wait.count, scenario.backlog_max })
    assert.equal(4000, found.generator.schedule_slip.count)
    assert.same({ 2000, 1990 }, { scenario.warm_up.iterations.scheduled, scenario.warm_up.requests.succeeded })
    assert.same({ connect = 10 }, scenario.warm_up.errors)
    assert.equal(results.headline(scenario), scenario.latency_from_intended)
  end)

  it("has nothing of the open model in the closed one", function()
    local found = document(samples.simple())
    local scenario = found.scenarios.hello
    assert.same({ null, null, null, null, null }, { scenario.latency_from_intended, scenario.user_wait, scenario.backlog_max, scenario.warm_up, found.generator.schedule_slip })
    assert.same({ null, null, null }, { found.setup, found.teardown, found.setup_failed })
  end)

  it("keeps groups, setup and teardown", function()
    local found = document(samples.staged())
    assert.same({ 300, 2, 1 }, { found.groups.checkout.count, found.groups.checkout.cut, found.groups.checkout.index })
    assert.equal(100, found.groups["checkout/pay"].count)
    assert.same({ 3, 2, { status = 1 } }, { found.setup.requests.started, found.teardown.requests.started, found.teardown.errors })
    assert.same({ { users = 10, over = 5, hold = 0 }, { users = 50, over = 0, hold = 5 } }, found.scenarios.hello.load.stages)
  end)

  it("says why there was no load", function()
    assert.same({ scenario = "hello", text = "no token" }, document(samples.no_load()).setup_failed)
  end)

  it("knows the order of the scenarios", function()
    local names = {}
    for i, entry in ipairs(results.scenarios(document(samples.several()))) do names[i] = entry.name end
    assert.same({ "browse", "buy" }, names)
  end)

  it("keeps names apart that look alike when they are made fit for JSON", function()
    local plan, merged = samples.simple()
    merged.scenarios[1].names = { stub.named("a\\xff", 1), stub.named("a\255", 2) }
    local by_name = document(plan, merged).scenarios.hello.by_name
    assert.equal(1, by_name["a\\xff"].requests.started)
    assert.equal(2, by_name["a\\xff (2)"].requests.started)
  end)

  it("knows the open model", function()
    local plan, merged = samples.simple()
    plan.scenarios[1].model = "open"
    merged.total.latency_from_intended = stub.hist { 7 }
    local found = document(plan, merged)
    assert.equal("open", found.model)
    assert.equal(7, results.headline(found.total).max)
    plan.scenarios[2] = { model = "closed" }
    assert.equal("mixed", document(plan, merged).model)
  end)

  it("can always be written: options of any kind become JSON", function()
    local plan, merged = samples.nasty()
    local found = document(plan, merged)
    assert.equal(null, found.options.deep.limit)
    assert.equal(null, found.options.call)
    assert.same({ 1, 2 }, found.options.deep.list)
    assert.truthy(results.encode(found))
  end)

  it("does not change the plan or the results", function()
    local plan, merged = samples.failures()
    plan.options = { list = { "a" } }
    document(plan, merged)
    local again_plan, again = samples.failures()
    again_plan.options = { list = { "a" } }
    assert.same(again_plan, plan)
    assert.same(again, merged)
  end)
end)
