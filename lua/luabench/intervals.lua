-- The 95% interval of a quantile, from one run. Responses are not independent: a queue that is long now is long a moment later, and the binomial interval, which takes them
-- to be, covers the truth in 26 to 30% of runs against an M/M/1 queue at load 0.7. So the share of responses at or below the estimate is looked at in ten batches of the
-- window, and its spread over them gives the error: Woodruff's inversion (J. Amer. Statist. Assoc. 47, 1952) with the variance of batch means, widened for what is left of
-- autocorrelation between batches.
local intervals = {}

local floor, huge, max, min, sqrt = math.floor, math.huge, math.max, math.min, math.sqrt

local BATCHES = 10
local Z = 1.959964 -- of the normal law, 97.5%
local T = 2.262157 -- of Student's with 9 degrees of freedom
local MOST_CORRELATED = 0.8

--- The quantiles that have one, by field of a SUMMARY.
intervals.QUANTILES = { median = 0.5, p90 = 0.9, p99 = 0.99, p999 = 0.999 }

-- In each batch, how many responses, and which share of them took at most `value`. Nil when the run is too short for batches.
local function batches(timeline, value, last)
  local list = {}
  if last < BATCHES then return nil end
  for i = 1, BATCHES do
    local from, to = floor((i - 1) * last / BATCHES) + 1, floor(i * last / BATCHES)
    local count = timeline:responses(from, to)
    if count > 0 then list[#list + 1] = { count = count, share = timeline:upto(from, to, value) / count } end
  end
  return #list == BATCHES and list or nil
end

local function weighted_mean(list)
  local sum, count = 0, 0
  for _, batch in ipairs(list) do sum, count = sum + batch.share * batch.count, count + batch.count end
  return sum / count, count
end

-- By how much the standard error grows because neighbours resemble each other: an autoregressive process of first order.
local function inflation(list, mean)
  local products, squares = 0, 0
  for i, batch in ipairs(list) do
    squares = squares + (batch.share - mean) ^ 2
    if i > 1 then products = products + (batch.share - mean) * (list[i - 1].share - mean) end
  end
  local r = squares > 0 and min(max(products / squares, 0), MOST_CORRELATED) or 0
  return sqrt((1 + r) / (1 - r))
end

-- Half the width of the interval of the share at or below `value`, by the batches; 0 when there are none.
local function spread(timeline, value, last)
  local list = timeline and batches(timeline, value, last)
  if not list then return nil end
  local mean, count = weighted_mean(list)
  local sum = 0
  for _, batch in ipairs(list) do sum = sum + batch.count / count * BATCHES * (batch.share - mean) ^ 2 end
  local s = sqrt(sum / (BATCHES - 1))
  return T * s * inflation(list, mean) / sqrt(BATCHES)
end

--- The interval of the latency at `quantile`: lowest and highest value, the latter nil when it lies beyond the largest value there was; and the design effect: by how
--- many times the responses are fewer than they look. Nil when the run was too short to tell.
--- @param hist table hist object of the latencies
--- @param timeline table timeline object of the same
--- @param window number? seconds; what was due later is in no batch
--- @param net table? hist object of the latencies without luabench's own part: the lowest value is looked for there
function intervals.of(hist, timeline, quantile, window, net)
  local count = hist:count()
  local slots, width = timeline:size()
  local last = min(slots, window and max(1, floor(window / width + 0.5)) or huge)
  local by_batches = spread(timeline, hist:quantile(quantile), last)
  if not by_batches then return nil end
  local binomial = Z * sqrt(quantile * (1 - quantile) / count)
  local half = max(binomial, by_batches)
  local low, high = max(quantile - half, 0), quantile + half
  local lowest = hist:quantile(low)
  if net and net:count() == count then lowest = min(lowest, net:quantile(low)) end
  return lowest, high < 1 and hist:quantile(high) or nil, max(1, (by_batches / binomial) ^ 2)
end

return intervals
