-- What has changed between two saved results: for each scenario that both have, its rate, its latencies and its failures, with intervals on the differences.
local intervals = require "luabench.diff.intervals"
local results = require "luabench.results"
local summary = require "luabench.summary"

local compare = {}

local QUANTILES = { "median", "p90", "p99" }
local LEAST_FAILURES = 0.001 -- a difference of shares below this is nobody's concern

local function direction(low, high, more_is_worse)
  if not low then return "unknown" end
  if low > 1 then return more_is_worse and "worse" or "better" end
  if high < 1 then return more_is_worse and "better" or "worse" end
  return "none"
end

-- { a, b (values, or nil), ratio, low, high, verdict }
local function measure(name, a, b, more_is_worse)
  local out = { name = name, a = a.value, b = b.value, verdict = "unknown", time = more_is_worse }
  if not (a.value and b.value and a.value > 0 and b.value > 0) then return out end
  out.ratio, out.low, out.high = intervals.ratio(a, b)
  out.verdict = direction(out.low, out.high, more_is_worse)
  -- by how much it is worse: of a rate the loss, of a time the gain
  out.worse = more_is_worse and out.ratio - 1 or 1 - out.ratio
  return out
end

local function quantile_of(part, field)
  local latency = results.headline(part)
  local low, high = intervals.quantile(latency, field)
  return { value = summary.shown(latency, field), low = low, high = high }
end

-- The interval of the whole run's rate, in proportion.
local function rate_of(document, part)
  local whole, rate = summary.value(document.total.rate), summary.value(part.rate)
  local low, high = intervals.rate(document)
  if not (low and rate and whole and whole > 0) then return { value = rate } end
  return { value = rate, low = rate * low / whole, high = rate * high / whole }
end

local function failed(part)
  return part.requests.failed + part.requests.timed_out
end

local function finished(part)
  return part.requests.started - part.requests.interrupted
end

local function failures(a, b)
  local difference, low, high = intervals.share_difference(failed(a), finished(a), failed(b), finished(b))
  local out = { name = "failed", a = finished(a) > 0 and failed(a) / finished(a) or nil, b = finished(b) > 0 and failed(b) / finished(b) or nil,
    difference = difference, low = low, high = high, verdict = "none" }
  if difference and math.abs(difference) > LEAST_FAILURES then
    out.verdict = low > 0 and "worse" or high < 0 and "better" or "none"
  end
  return out
end

local function measures_of(a, b, part_a, part_b)
  local list = { measure("rate", rate_of(a, part_a), rate_of(b, part_b), false) }
  for _, field in ipairs(QUANTILES) do list[#list + 1] = measure(field, quantile_of(part_a, field), quantile_of(part_b, field), true) end
  list[#list + 1] = failures(part_a, part_b)
  return list
end

local function names_of(a, b)
  local list = {}
  for name, part in pairs(a.by_name) do
    local other = b.by_name[name]
    if other then
      list[#list + 1] = { name = name, median = measure("median", quantile_of(part, "median"), quantile_of(other, "median"), true),
        p99 = measure("p99", quantile_of(part, "p99"), quantile_of(other, "p99"), true), requests = other.requests.started }
    end
  end
  table.sort(list, function(x, y)
    if x.requests ~= y.requests then return x.requests > y.requests end
    return x.name < y.name
  end)
  return list
end

-- Scenarios of one place in the scripts are the same when names differ: a URL may have another port.
local function pairs_of(a, b)
  local list, only_a, only_b = {}, {}, {}
  local of_a, of_b = results.scenarios(a), results.scenarios(b)
  if #of_a == 1 and #of_b == 1 then return { { name = of_a[1].name, a = of_a[1].figures, b = of_b[1].figures } }, {}, {} end
  for _, each in ipairs(of_a) do
    local other = b.scenarios[each.name]
    if other then list[#list + 1] = { name = each.name, a = each.figures, b = other } else only_a[#only_a + 1] = each.name end
  end
  for _, each in ipairs(of_b) do
    if not a.scenarios[each.name] then only_b[#only_b + 1] = each.name end
  end
  return list, only_a, only_b
end

--- { scenarios = { { name, model, measures, names }, ... }, only_a, only_b (names of scenarios that one alone has) }
function compare.documents(a, b)
  local list, only_a, only_b = pairs_of(a, b)
  local out = { scenarios = {}, only_a = only_a, only_b = only_b }
  for i, pair in ipairs(list) do
    out.scenarios[i] = { name = pair.name, model_a = pair.a.model, model_b = pair.b.model, measures = measures_of(a, b, pair.a, pair.b), names = names_of(pair.a, pair.b) }
  end
  return out
end

local JUDGED = { rate = true, median = true, p99 = true, failed = true }

--- The measures that are worse by more than `limit` (0.05: 5 %), with an interval that excludes no change: list of { scenario, measure }. More failures always are.
function compare.slower(compared, limit)
  local list = {}
  for _, scenario in ipairs(compared.scenarios) do
    for _, each in ipairs(scenario.measures) do
      if JUDGED[each.name] and each.verdict == "worse" and (each.worse or 1) > limit then list[#list + 1] = { scenario = scenario.name, measure = each.name } end
    end
  end
  return list
end

return compare
