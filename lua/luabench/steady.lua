-- Whether a run has come to a steady state: from the medians of its bins of time, in which short stalls do not show.
--
-- The warm-up is cut off by MSER-5 (White 1997; Franklin and White 2008): the cut that leaves the smallest standard error of the mean. Then the series is split where its
-- level changes (optimal partitioning, Jackson et al. 2005, with a penalty for each change), and tested for a trend (Mann and Kendall; slope after Theil and Sen). The
-- names of the classes are those of Barrett et al., Virtual machine warmup blows hot and cold, OOPSLA 2017.
local steady = {}

local abs, exp, floor, huge, log, max, min, sqrt = math.abs, math.exp, math.floor, math.huge, math.log, math.max, math.min, math.sqrt

local LEAST_WIDTH, LEAST_RESPONSES = 0.1, 50 -- of a bin: seconds, responses on average
local LEAST_BINS = 20 -- fewer say nothing
local GROUP = 5 -- bins that MSER-5 averages
local LEAST_SEGMENT = 5
local PENALTY = 8 -- times the variance of the noise and ln n, for a change
local DIFFERS, ERRORS = 0.05, 3 -- a segment that differs by this share, and by so many standard errors
local LATE = 0.6 -- a change after this share of the window is one that has not come to rest
local MOST_WARM = 0.3 -- of the window: the longest warm-up that is believed
local TREND = 2.576 -- of the normal law: p < 0.01

-- Bins -----------------------------------------------------------------------------------------------------------------------

--- The median latency of bins of equal time, at least 100 ms and about 50 responses each; bins without responses are left out. Seconds of a bin.
function steady.bins(timeline, window)
  local slots, width = timeline:size()
  local last = min(slots, window and max(1, floor(window / width + 0.5)) or huge)
  local responses = last > 0 and timeline:responses(1, last) or 0
  local each = max(1, math.ceil(LEAST_WIDTH / width - 1e-9), responses > 0 and math.ceil(LEAST_RESPONSES * last / responses) or 1)
  local list = {}
  for first = 1, last - each + 1, each do list[#list + 1] = timeline:quantile(first, first + each - 1, 0.5) end
  return list, each * width
end

-- Truncation -----------------------------------------------------------------------------------------------------------------

local function means_of_groups(y)
  local list = {}
  for i = 1, floor(#y / GROUP) do
    local sum = 0
    for k = 1, GROUP do sum = sum + y[(i - 1) * GROUP + k] end
    list[i] = sum / GROUP
  end
  return list
end

--- MSER-5: how many of the first values belong to the warm-up. The second result is false when no cut in the first half is the best one, so that there is no end to it.
function steady.truncation(y)
  local z = means_of_groups(y)
  local n, best, at = #z, huge, 0
  local sum, squares = 0, 0
  for i = n, 1, -1 do
    sum, squares = sum + z[i], squares + z[i] * z[i]
    local left, d = n - i + 1, i - 1
    if d <= n / 2 and left >= 2 then
      local error = max(squares - sum * sum / left, 0) / (left * left)
      if error <= best then best, at = error, d end
    end
  end
  return at * GROUP, at < floor(n / 2)
end

-- Changes of level -----------------------------------------------------------------------------------------------------------

local function median(list)
  local sorted = {}
  for i, value in ipairs(list) do sorted[i] = value end
  table.sort(sorted)
  local n = #sorted
  return n % 2 == 1 and sorted[(n + 1) / 2] or (sorted[n / 2] + sorted[n / 2 + 1]) / 2
end

-- The variance of the noise around the level: from differences of neighbours, which a change of level hardly touches; more where neighbours resemble each other.
local function noise(y)
  local steps, wide = {}, {}
  for i = 2, #y do steps[i - 1] = abs(y[i] - y[i - 1]) end
  for i = 4, #y do wide[i - 3] = abs(y[i] - y[i - 3]) end
  local near, far = median(steps) / 0.6745 / sqrt(2), median(wide) / 0.6745 / sqrt(2)
  local rho = far > 0 and min(max(1 - (near / far) ^ 2, 0), 0.8) or 0
  return max(far * far, near * near) * (1 + rho) / (1 - rho)
end

--- Segments { first, last, mean } of equal level of a list of numbers.
function steady.segments(y)
  local n, variance = #y, noise(y)
  local penalty = max(PENALTY * variance * log(n), 1e-12)
  local sums, squares = { [0] = 0 }, { [0] = 0 }
  for i = 1, n do sums[i], squares[i] = sums[i - 1] + y[i], squares[i - 1] + y[i] * y[i] end
  local cost, from = { [0] = -penalty }, {}
  for last = 1, n do
    cost[last] = huge
    for first = 1, last - LEAST_SEGMENT + 1 do
      local sum, count = sums[last] - sums[first - 1], last - first + 1
      local this = cost[first - 1] + (squares[last] - squares[first - 1] - sum * sum / count) + penalty
      if this < cost[last] then cost[last], from[last] = this, first end
    end
  end
  local list, last = {}, n
  while last > 0 do
    local first = from[last] or 1
    table.insert(list, 1, { first = first, last = last, mean = (sums[last] - sums[first - 1]) / (last - first + 1) })
    last = first - 1
  end
  return list, variance
end

local function differ(a, b, variance)
  local difference = abs(a.mean - b.mean)
  local error = sqrt(variance / (a.last - a.first + 1) + variance / (b.last - b.first + 1))
  return difference > log(1 + DIFFERS) and difference > ERRORS * error
end

-- Trend ----------------------------------------------------------------------------------------------------------------------

-- A list of at most `most` means of neighbours.
local function thinned(y, most)
  local each = math.ceil(#y / most)
  if each <= 1 then return y end
  local list = {}
  for i = 1, floor(#y / each) do
    local sum = 0
    for k = 1, each do sum = sum + y[(i - 1) * each + k] end
    list[i] = sum / each
  end
  return list
end

-- Mann and Kendall's statistic as a normal deviate, and the change over the whole by Theil and Sen's slope. Of at most 40 means, between which what is left of
-- autocorrelation is small.
local function trend(all)
  local y = thinned(all, 40)
  local n, s, slopes = #y, 0, {}
  for i = 1, n - 1 do
    for j = i + 1, n do
      s = s + (y[j] > y[i] and 1 or y[j] < y[i] and -1 or 0)
      slopes[#slopes + 1] = (y[j] - y[i]) / (j - i)
    end
  end
  local deviation = sqrt(n * (n - 1) * (2 * n + 5) / 18)
  local r, mean, squares = 0, 0, 0
  for i = 1, n do mean = mean + y[i] / n end
  local slope = median(slopes)
  for i = 1, n do
    local rest = y[i] - mean - slope * (i - (n + 1) / 2)
    local before = i > 1 and y[i - 1] - mean - slope * (i - 1 - (n + 1) / 2) or 0
    r, squares = r + rest * before, squares + rest * rest
  end
  r = squares > 0 and min(max(r / squares, 0), 0.8) or 0
  local z = s == 0 and 0 or (abs(s) - 1) / deviation / sqrt((1 + r) / (1 - r))
  return z, slope * (n - 1)
end

-- The verdict ----------------------------------------------------------------------------------------------------------------

-- Logarithms, each the median of three neighbours: one bin that a stall has taken whole is no change of level.
local function logarithms(bins)
  local y, smooth = {}, {}
  for i, value in ipairs(bins) do y[i] = log(max(value, 1e-9)) end
  for i = 1, #y do
    local middle = max(2, min(i, #y - 1))
    local a, b, c = y[middle - 1], y[middle], y[middle + 1]
    smooth[i] = max(min(a, b), min(max(a, b), c))
  end
  return smooth
end

local function rest_of(y, from)
  local list = {}
  for i = from + 1, #y do list[#list + 1] = y[i] end
  return list
end

-- How earlier segments differ from the last one: whether one was slower, one was faster, and whether it came to rest only late.
local function changes(segments, variance)
  local final, slower, faster, late = segments[#segments], false, false, false
  for i = 1, #segments - 1 do
    if differ(segments[i], final, variance) then
      slower, faster = slower or segments[i].mean > final.mean, faster or segments[i].mean < final.mean
      late = late or segments[i].last > LATE * final.last
    end
  end
  return slower, faster, late
end

local function has_trend(y)
  local z, change = trend(y)
  return z > TREND and abs(change) > log(1 + DIFFERS), change
end

local function class_of(slower, faster, late, drifts, segments)
  if drifts and segments > 2 then return "drifting" end
  if late then return "unsteady" end
  if faster then return "slowdown" end
  if slower then return "warm-up" end
  return drifts and "drifting" or "flat"
end

--- What has become of the level of a list of medians (seconds) of equal bins: class "flat", "warm-up" (it was slower at first), "slowdown" (it was faster before), "drifting"
--- (a trend all along) or "unsteady" (it changed in the last part); `discard` bins at the start that a warm-up would take; the first and the last level in seconds. Nil when
--- there are too few.
function steady.classify(bins)
  if #bins < LEAST_BINS then return nil end
  local y = logarithms(bins)
  local segments, variance = steady.segments(y)
  local slower, faster, late = changes(segments, variance)
  local cut = slower and min((steady.truncation(y)), floor(MOST_WARM * #y)) or 0
  local drifts, change = has_trend(rest_of(y, cut))
  return { class = class_of(slower, faster, late, drifts, #segments), discard = cut, first = exp(segments[1].mean), last = exp(segments[#segments].mean),
    change = exp(change) - 1 }
end

--- warm_up = "auto", while the run goes on: true when the medians so far say that the warm-up is over. MSER-5 has found an end to it in the first half, and what followed
--- has no trend. The decision is made from responses that are then left out, so that no result depends on it.
function steady.settled(bins)
  if #bins < LEAST_BINS then return false end
  local y = logarithms(bins)
  local cut, found = steady.truncation(y)
  if not found then return false end
  local rest = rest_of(y, cut)
  local segments, variance = steady.segments(rest)
  local slower, faster = changes(segments, variance)
  return not (slower or faster) and not has_trend(rest)
end

return steady
