-- What the figures of a scenario are worth, beside the figures: intervals, what luabench itself may have added, failures counted as never answered, whether the run was
-- steady and the server kept up. Adds to the result document.
local core = require "luabench.core"
local health = require "luabench.health"
local intervals = require "luabench.intervals"
local steady = require "luabench.steady"
local summary = require "luabench.summary"

local quality = {}

local null = core.json_null
local ceil, floor, max, min = math.ceil, math.floor, math.max, math.min

local FIELDS = { "median", "p90", "p95", "p99", "p999" }
local GROWS, KEEPS_UP, LEAST_BACKLOG = 2, 0.98, 10 -- in flight at the end against a tenth of the way; iterations ended / due; iterations

local function or_null(value)
  if value == nil or value ~= value then return null end
  return value
end

-- Intervals and net quantiles ----------------------------------------------------------------------------------------------

local function intervals_of(hist, timeline, window, net)
  local list
  for field, quantile in pairs(intervals.QUANTILES) do
    if hist:count() >= summary.needed(quantile) then
      local low, high = intervals.of(hist, timeline, quantile, window, net)
      if low then
        list = list or {}
        list[field] = { low, or_null(high) }
      end
    end
  end
  return list
end

-- The quantiles without what luabench may have added: the server's part is at least so much.
local function net_of(hist, net)
  local list = {}
  if not net or net:count() ~= hist:count() or net:count() == 0 then return nil end
  for _, field in ipairs(FIELDS) do list[field] = net:quantile(summary.QUANTILES[field]) end
  return list
end

-- Failures -------------------------------------------------------------------------------------------------------------------

-- How many did not get what they came for: failed requests, and arrivals that were never started.
local function failures_of(named, iterations)
  return named.failed + named.timed_out + iterations.dropped + iterations.expired
end

--- Quantiles over all that was asked for, those that failed, or were not finished at the end, being infinitely slow: null from there on. A server cannot look better by
--- refusing quickly, nor a run by giving up. `accepted`: hist object of the accepted responses.
function quality.with_failures(accepted, failed, unfinished)
  local count = accepted:count() + failed + unfinished
  local out = { count = count, failed = failed, unfinished = unfinished }
  for _, field in ipairs(FIELDS) do
    local quantile = summary.QUANTILES[field]
    local rank = max(1, ceil(quantile * count - 1e-9))
    local there = accepted:count() > 0 and rank <= accepted:count() and count >= summary.needed(quantile)
    out[field] = there and accepted:quantile(rank / accepted:count()) or null
  end
  return out
end

local function accepted_of(hist, refused)
  if not refused or refused:count() == 0 then return hist end
  return core.hist_without(hist, refused)
end

-- Course -------------------------------------------------------------------------------------------------------------------

local function steady_of(timeline, window)
  local bins, width = steady.bins(timeline, window)
  local found = steady.classify(bins)
  if not found then return null end
  return { class = found.class, first = found.first, last = found.last, warm_up = found.discard * width, bins = #bins, width = width }
end

--- Whether iterations piled up, in an open run: due faster than they ended, and the more the longer it lasted.
function quality.overload(timeline, window)
  local slots, width = timeline:size()
  local last = min(slots, max(1, floor(window / width + 0.5)))
  local due, ended, early = 0, 0, 0
  for i = 1, last do
    local d, e = timeline:flow(i)
    due, ended = due + d, ended + e
    if i == ceil(last / 10) then early = due - ended end
  end
  local left = due - ended
  return { due = due, ended = ended, in_flight = left, overloaded = due > 0 and left >= LEAST_BACKLOG and left > GROWS * early and ended < KEEPS_UP * due }
end

-- The document -------------------------------------------------------------------------------------------------------------

local function headline_hist(named, model)
  return model == "open" and named.latency_from_intended or named.latency
end

-- Into the SUMMARY of the headline.
local function add_to_headline(out, scenario, hist, model)
  local headline = model == "open" and out.latency_from_intended or out.latency
  headline.intervals = scenario.timeline and intervals_of(hist, scenario.timeline, scenario.window, scenario.latency_net) or nil
  headline.net = net_of(hist, scenario.latency_net)
end

--- Adds to `out`, the figures of a scenario in the document, what its results say beside.
function quality.add(out, scenario, model)
  local named, hist = scenario.total, headline_hist(scenario.total, model)
  local accepted = accepted_of(hist, scenario.latency_refused)
  local window = scenario.window or scenario.duration
  out.window = or_null(window)
  add_to_headline(out, scenario, hist, model)
  out.bias = health.bias(hist, scenario.latency_net)
  out.accepted = accepted ~= hist and summary.of(accepted, true) or null
  out.with_failures = quality.with_failures(accepted, failures_of(named, scenario.iterations), scenario.unfinished and scenario.unfinished:count() or named.interrupted)
  out.unfinished = summary.of(scenario.unfinished, true)
  out.steady = scenario.timeline and steady_of(scenario.timeline, window) or null
  out.flow = model == "open" and scenario.timeline and quality.overload(scenario.timeline, window) or null
end

local function merged(scenarios, pick)
  local list = {}
  for i, scenario in ipairs(scenarios) do
    local hist = pick(scenario, i)
    if not hist then return nil end
    list[#list + 1] = hist
  end
  if #list == 0 then return nil end
  return #list == 1 and list[1] or core.hist_merge(list)
end

--- The same for all scenarios together, as far as that means something.
function quality.add_total(out, results, models)
  local scenarios = results.scenarios or {}
  local refused = merged(scenarios, function(scenario) return scenario.latency_refused end)
  local all = merged(scenarios, function(scenario, i) return headline_hist(scenario.total, models[i]) end)
  out.accepted, out.with_failures = null, null
  if not all then return end
  local accepted, failed, unfinished = accepted_of(all, refused), 0, 0
  for _, scenario in ipairs(scenarios) do
    failed = failed + failures_of(scenario.total, scenario.iterations)
    unfinished = unfinished + (scenario.unfinished and scenario.unfinished:count() or scenario.total.interrupted)
  end
  out.accepted = accepted ~= all and summary.of(accepted, true) or null
  out.with_failures = quality.with_failures(accepted, failed, unfinished)
  if #scenarios == 1 then add_to_headline(out, scenarios[1], all, models[1]) end
end

--- What health.judge is told: the core's HEALTH and the figures that it goes with. Of the open scenarios, where there are any.
function quality.facts(results, models)
  local facts = {}
  for key, item in pairs(results.health or {}) do facts[key] = item end
  local scenarios, window = {}, 0
  for i, scenario in ipairs(results.scenarios or {}) do facts.open = facts.open or models[i] == "open" end
  for i, scenario in ipairs(results.scenarios or {}) do
    if not facts.open or models[i] == "open" then
      scenarios[#scenarios + 1] = { scenario = scenario, model = models[i] }
      window = max(window, scenario.window or scenario.duration or 0)
    end
  end
  facts.latency = merged(scenarios, function(each) return headline_hist(each.scenario.total, each.model) end)
  facts.slip = facts.open and merged(scenarios, function(each) return each.scenario.schedule_slip end) or nil
  facts.bias = health.bias(facts.latency, merged(scenarios, function(each) return each.scenario.latency_net end))
  local generator = results.generator or {}
  facts.cpu, facts.errors, facts.requests = generator.cpu, results.total and results.total.errors or {}, results.total and results.total.started or 0
  facts.rate = facts.slip and window > 0 and facts.slip:count() / window / (generator.threads or 1) or nil
  return facts
end

return quality
