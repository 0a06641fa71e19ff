-- How well a figure of a run is known: 95 % intervals of quantiles, rates and shares, and of their differences between two runs.
local summary = require "luabench.summary"

local intervals = {}

local Z = 1.959964  -- of the normal law
local BATCHES = 10 -- or fewer, when there are fewer seconds
-- Student's t at 97.5 % by degrees of freedom
local T = { [3] = 3.182446, [4] = 2.776445, [5] = 2.570582, [6] = 2.446912, [7] = 2.364624, [8] = 2.306004, [9] = 2.262157 }
local MOST_CORRELATION = 0.8

--- The interval of a quantile of a SUMMARY: that of the result, which knows how much latency swings, where it has one; else by Woodruff's inversion of the binomial
--- law, which takes each response for independent. low, high; nil when there are too few samples.
function intervals.quantile(of, field)
  local known = summary.value(of.intervals) and of.intervals[field]
  if summary.value(known) then return known[1], summary.value(known[2]) or math.huge end
  local quantile, hist = summary.QUANTILES[field], summary.histogram(of)
  if not hist or of.count < summary.needed(quantile) then return nil end
  local delta = Z * math.sqrt(quantile * (1 - quantile) / of.count)
  return hist:quantile(math.max(quantile - delta, 0)), hist:quantile(math.min(quantile + delta, 1))
end

local function mean_of(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  return sum / #list
end

-- Standard deviation and lag-1 correlation.
local function spread(list)
  local mean, squares, products = mean_of(list), 0, 0
  for i, value in ipairs(list) do
    squares = squares + (value - mean) ^ 2
    if i > 1 then products = products + (value - mean) * (list[i - 1] - mean) end
  end
  return math.sqrt(squares / (#list - 1)), squares > 0 and products / squares or 0
end

-- The requests a second of batches of equal length, which are made of whole seconds; nil when there are fewer than four.
local function batches(series)
  local seconds = #series - 1 -- the last one may be cut
  local count = math.min(BATCHES, seconds)
  if not T[count - 1] then return nil end
  local each, list = math.floor(seconds / count), {}
  for b = 1, count do
    local sum = 0
    for i = (b - 1) * each + 1, b * each do sum = sum + series[i].requests end
    list[b] = sum / each
  end
  return list
end

--- The interval of the rate of a run, by the means of batches of its seconds; nil for runs of less than four seconds.
function intervals.rate(document)
  local list = batches(document.series)
  local rate = summary.value(document.total.rate)
  if not list or not rate then return nil end
  local deviation, correlation = spread(list)
  correlation = math.max(0, math.min(correlation, MOST_CORRELATION))
  local half = T[#list - 1] * deviation * math.sqrt((1 + correlation) / (1 - correlation)) / math.sqrt(#list)
  return math.max(rate - half, rate / 1e6), rate + half
end

--- The ratio b / a, and its interval from those of both, in logarithms (Donner and Zou 2010, "MOVER"): ratio, low, high.
--- @param a table { value, low, high }, as b
function intervals.ratio(a, b)
  local d = math.log(b.value / a.value)
  if not (a.low and b.low) then return math.exp(d) end
  local low = d - math.sqrt(math.log(b.value / b.low) ^ 2 + math.log(a.high / a.value) ^ 2)
  local high = d + math.sqrt(math.log(b.high / b.value) ^ 2 + math.log(a.value / a.low) ^ 2)
  return math.exp(d), math.exp(low), math.exp(high)
end

-- Wilson's interval of k in n.
local function wilson(k, n)
  local p, z2 = k / n, Z * Z
  local middle, half = p + z2 / (2 * n), Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
  return (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
end

--- The difference of two shares, kb / nb - ka / na, with its interval (Newcombe 1998, method 10): difference, low, high; nil without trials.
function intervals.share_difference(ka, na, kb, nb)
  if na == 0 or nb == 0 then return nil end
  local pa, pb = ka / na, kb / nb
  local la, ha = wilson(ka, na)
  local lb, hb = wilson(kb, nb)
  local d = pb - pa
  return d, d - math.sqrt((pb - lb) ^ 2 + (ha - pa) ^ 2), d + math.sqrt((hb - pb) ^ 2 + (pa - la) ^ 2)
end

return intervals
