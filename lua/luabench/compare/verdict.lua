-- What a comparison says in words. Five verdicts, and none of them is "the same": an interval that holds 1 shows no difference, which is not to show that there is none.
-- With a margin below which a difference does not matter, equivalence can be shown (two one-sided tests, Schuirmann 1987).
local statistics = require "luabench.compare.statistics"

local verdict = {}

local format, log = string.format, math.log

local SIGNIFICANT = 0.05
local MANY = 100 -- rounds

--- The figures that targets are compared by: what it is called, whether more is better, and the relative difference that does not matter.
verdict.METRICS = {
  rate = { label = "requests/s", more_is_better = true, margin = 0.02 },
  time = { label = "time taken", margin = 0.02 },
  p50 = { label = "median latency", margin = 0.02 },
  p90 = { label = "p90 latency", margin = 0.05 },
  p99 = { label = "p99 latency", margin = 0.05 },
  cpu = { label = "CPU time a request", margin = 0.02 },
  memory = { label = "memory", margin = 0.05 },
}

local function percent(ratio)
  return format("%.1f%%", math.abs(ratio - 1) * 100)
end

local function signed(ratio)
  return format("%+.1f%%", (ratio - 1) * 100)
end

local function interval(result)
  return format("[%s, %s]", signed(result.low), signed(result.high))
end

-- "requests/s 4.1% higher [+2.2%, +6.0%]"
local function figure(metric, result)
  local way = result.ratio >= 1 and "higher" or "lower"
  return format("%s %s %s %s", metric.label, percent(result.ratio), way, interval(result))
end

local SPEEDS = { rate = true, time = true, p50 = true, p90 = true, p99 = true }

local function better_word(key, good)
  if SPEEDS[key] then return good and "faster" or "slower" end
  return good and "better" or "worse"
end

local function inside(result, margin)
  return result.high <= 1 + margin and result.low >= 1 / (1 + margin)
end

local function kind_of(metric, result, p)
  local within = inside(result, metric.margin)
  if p > SIGNIFICANT then return within and "equivalent" or "no_difference" end
  if within then return "differs_little" end
  return (result.ratio > 1) == (metric.more_is_better or false) and "better" or "worse"
end

local function advice(metric, result)
  if result.high == math.huge or result.low == 0 then return "" end
  local needed = statistics.blocks_needed(result, metric.margin)
  local rounds = needed > MANY and format("it would take more than %d rounds", MANY) or format("about %d rounds would do", needed)
  local more = needed > result.blocks and format("; %s to settle %g%%", rounds, metric.margin * 100) or ""
  return format("; a difference of %.1f%% would have shown%s", result.least * 100, more)
end

local function words(kind, key, metric, names, result)
  local said = figure(metric, result)
  if kind == "better" or kind == "worse" then
    return format("%s is %s than %s: %s", names.other, better_word(key, kind == "better"), names.base, said)
  end
  local margin = format("%g%%", metric.margin * 100)
  if kind == "differs_little" then return format("%s differs from %s, but by less than %s: %s", names.other, names.base, margin, said) end
  if kind == "equivalent" then return format("%s and %s are equivalent within %s: %s", names.other, names.base, margin, said) end
  return format("no difference shown between %s and %s: %s%s", names.other, names.base, said, advice(metric, result))
end

--- The verdict on one figure: `key` of METRICS, `names` { base, other }, `result` of statistics.ratio, `p` adjusted for all comparisons (nil: the result's own).
--- Returns { kind, text, metric, ratio, low, high, p, least, blocks, sensitive }; kind is better, worse, differs_little, equivalent or no_difference.
function verdict.of(key, names, result, p)
  local metric = verdict.METRICS[key]
  p = p or result.p
  local kind = kind_of(metric, result, p)
  local text = words(kind, key, metric, names, result)
  if result.sensitive then text = text .. " (a t-test says otherwise: look at the single rounds)" end
  return { kind = kind, text = text, metric = key, base = names.base, other = names.other, ratio = result.ratio, low = result.low, high = result.high, p = p,
    least = result.least, blocks = result.blocks, sensitive = result.sensitive }
end

--- The verdict where nothing can be said, with the reason.
function verdict.invalid(key, names, why)
  return { kind = "invalid", text = format("%s against %s cannot be judged: %s", names.other, names.base, why), metric = key, base = names.base, other = names.other }
end

--- The verdict on the shares of failures (statistics.failures), which stands in for all others when they are unequal; nil when they are not.
function verdict.failures(names, result)
  if not result.unequal then return nil end
  local more = result.difference > 0
  return { kind = more and "worse" or "better", metric = "failures", base = names.base, other = names.other, difference = result.difference,
    text = format("%s fails %s than %s: %+.2f points of all requests; its other figures are not to be compared", names.other, more and "more" or "less", names.base,
      result.difference * 100) }
end

--- What a target against itself says of the machine: the sentence, and whether it shows a difference where there can be none.
function verdict.noise(said)
  if said.kind == "invalid" or not said.low then return said.text, true end
  local floor = (math.exp(log(said.high / said.low) / 2) - 1) * 100
  local measure = verdict.METRICS[said.metric].label
  if said.low <= 1 and said.high >= 1 then return format("%s against itself: no difference in %s, to within %.1f%%: the noise of this machine", said.base, measure, floor) end
  return format("%s against itself differs in %s %s: the order or the warm-up matters here, so no verdict is to be trusted", said.base, measure, interval(said)), true
end

return verdict
