-- What a slot has measured, taken out of the results of its run (which end with it), and what the slots of a target come to together.
local core = require "luabench.core"
local health = require "luabench.health"
local quality = require "luabench.quality"

local figures = {}

local POINTS = 40 -- of a server's CPU and memory over time that are kept of a slot
local max = math.max

-- Servers ---------------------------------------------------------------------------------------------------------------

-- CPU seconds used until `time`, between two samples.
local function cpu_at(samples, time)
  local before = samples[1]
  for _, sample in ipairs(samples) do
    if sample.time >= time then
      local span = sample.time - before.time
      return span > 0 and before.cpu + (sample.cpu - before.cpu) * (time - before.time) / span or sample.cpu
    end
    before = sample
  end
  return before.cpu
end

local function memory_of(samples, start)
  local sum, count, highest = 0, 0, 0
  for _, sample in ipairs(samples) do
    if sample.time >= start then
      sum, count, highest = sum + sample.memory, count + 1, max(highest, sample.memory)
    end
  end
  return highest, count > 0 and sum / count or highest
end

-- { time from the start, share of one core, bytes } at a few points.
local function series_of(samples, start, duration)
  local points, step = {}, max(duration / POINTS, 0.1)
  for at = step, duration + 1e-9, step do
    local _, memory = 0, nil
    for _, sample in ipairs(samples) do
      if sample.time <= start + at then memory = sample.memory end
    end
    points[#points + 1] = { time = at, cpu = (cpu_at(samples, start + at) - cpu_at(samples, start + at - step)) / step, rss = memory or samples[1].memory }
  end
  return points
end

--- What the server used in the last `duration` seconds. Samples are 100 ms apart, the kernel's count of CPU time 10 ms.
function figures.server(process, duration)
  local samples = process:samples()
  local finish = samples[#samples]
  local start = finish.time - duration
  local cpu = finish.cpu - cpu_at(samples, start)
  local rss_max, rss_mean = memory_of(samples, start)
  return { cpu_seconds = cpu, cpu_share = duration > 0 and cpu / duration or 0, rss_max = rss_max, rss_mean = rss_mean, pss_end = process:proportional(),
    series = series_of(samples, start, duration) }
end

-- Slots -----------------------------------------------------------------------------------------------------------------

local REQUESTS = { "started", "succeeded", "failed", "timed_out", "interrupted" }

local function copy(hist)
  return core.hist_merge(hist and { hist } or {})
end

local function checks_of(checks)
  local all = { passes = 0, fails = 0 }
  for _, check in ipairs(checks or {}) do
    all.passes, all.fails = all.passes + check.passes, all.fails + check.fails
    if check.fails > 0 and not all.failed then all.failed = check.name end
  end
  return all
end

-- Why the figures of a run are not to be trusted: luabench could not keep up with itself; nil when they are.
local function distrust(results, model)
  local found = health.judge(quality.facts(results, { model }))
  return not found.valid and (found.warnings[1] or "luabench was the bottleneck") or nil
end

--- Takes what is to be kept of a run: seconds, counts, histograms of its own. `model` is that of the case; `process` the server's, or nil.
function figures.take(results, model, process)
  local scenario = results.scenarios[1]
  local total, duration = scenario.total, results.duration
  local slot = { model = model, duration = duration, requests = {}, errors = {}, latency = copy(model == "open" and total.latency_from_intended or total.latency),
    service = copy(total.service), generator = results.generator.cpu, checks = checks_of(results.checks) }
  for _, field in ipairs(REQUESTS) do slot.requests[field] = total[field] end
  for name, count in pairs(total.errors) do slot.errors[name] = count > 0 and count or nil end
  local window = results.window or duration
  slot.rate = window > 0 and (total.in_window or total.succeeded) / window or 0
  slot.outlasting = scenario.warm_up and scenario.warm_up.outlasting or 0
  slot.server = process and figures.server(process, duration)
  slot.distrust = distrust(results, model)
  return slot
end

-- Samples below which a quantile is not compared.
local NEEDED = { [0.5] = 6, [0.9] = 36, [0.99] = 368 }

-- How soon a server refuses everybody is no latency.
local function quantile(slot, q)
  if slot.requests.succeeded == 0 or slot.latency:count() < NEEDED[q] then return nil end
  return slot.latency:quantile(q)
end

local MEASURES = {
  rate = function(slot) return slot.rate end,
  time = function(slot) return slot.duration end,
  p50 = function(slot) return quantile(slot, 0.5) end,
  p90 = function(slot) return quantile(slot, 0.9) end,
  p99 = function(slot) return quantile(slot, 0.99) end,
  cpu = function(slot) return slot.server and slot.requests.succeeded > 0 and slot.server.cpu_seconds / slot.requests.succeeded or nil end,
  memory = function(slot) return slot.server and slot.server.rss_max or nil end,
}

--- A figure of a slot by the name of verdict.METRICS; nil when it has none, or too few samples for it.
function figures.measure(slot, key)
  return MEASURES[key](slot)
end

local QUANTILES = { p50 = 0.5, p90 = 0.9, p99 = 0.99 }

--- Why two lists of slots cannot be compared by a figure, in words.
function figures.why_not(base, other, key)
  local needed, least = NEEDED[QUANTILES[key]], math.huge
  for i = 1, needed and #base or 0 do least = math.min(least, base[i].latency:count(), other[i].latency:count()) end
  if needed and least < needed then return ("%s takes %d answers in each slot, and one has %d: let it take longer"):format(key, needed, least) end
  return "a slot has no such figure: nothing succeeded in it"
end

--- How many requests did not end well, and how many there were.
function figures.failures(slot)
  return { slot.requests.failed + slot.requests.timed_out, slot.requests.started }
end

-- Together ----------------------------------------------------------------------------------------------------------------

local function sums(list)
  local all = { duration = 0, outlasting = 0, requests = {}, errors = {}, checks = { passes = 0, fails = 0 } }
  for _, field in ipairs(REQUESTS) do all.requests[field] = 0 end
  for _, slot in ipairs(list) do
    all.duration, all.outlasting = all.duration + slot.duration, all.outlasting + slot.outlasting
    for _, field in ipairs(REQUESTS) do all.requests[field] = all.requests[field] + slot.requests[field] end
    for name, count in pairs(slot.errors) do all.errors[name] = (all.errors[name] or 0) + count end
    all.checks.passes, all.checks.fails = all.checks.passes + slot.checks.passes, all.checks.fails + slot.checks.fails
    all.checks.failed = all.checks.failed or slot.checks.failed
  end
  return all
end

local function add_servers(all, list)
  local rss, count = 0, 0
  for _, slot in ipairs(list) do
    local server = slot.server
    if server then
      all.cpu_seconds = (all.cpu_seconds or 0) + server.cpu_seconds
      all.rss_max = max(all.rss_max or 0, server.rss_max)
      all.pss_end = server.pss_end
      rss, count = rss + server.rss_mean, count + 1
    end
  end
  if count > 0 then all.rss_mean, all.cpu_share = rss / count, all.duration > 0 and all.cpu_seconds / all.duration or 0 end
end

--- The slots of one target and case together: counts and times are added, histograms merged (percentiles are never averaged).
function figures.together(list)
  local all, latencies, services = sums(list), {}, {}
  for i, slot in ipairs(list) do latencies[i], services[i] = slot.latency, slot.service end
  all.latency, all.service = core.hist_merge(latencies), core.hist_merge(services)
  all.rate = all.duration > 0 and all.requests.succeeded / all.duration or nil
  all.slots = list
  add_servers(all, list)
  return all
end

return figures
