-- What a comparison may conclude from paired blocks. Every round (block) has measured each target once; only ratios within a block count, so a machine that drifts
-- from block to block does so for all. The estimate is Hodges and Lehmann's (the median of the Walsh averages of the log ratios), with the interval and the p-value of
-- Wilcoxon's exact signed-rank law: Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd ed., 3.1-3.3. Several comparisons: Holm 1979.
local statistics = {}

local abs, exp, floor, huge, log, max, min, sqrt = math.abs, math.exp, math.floor, math.huge, math.log, math.max, math.min, math.sqrt

local LEVEL = 0.95

-- The signed-rank law ---------------------------------------------------------------------------------------------------

local laws = {}

-- Cumulative probabilities of the sum of the ranks with a plus, for n blocks: law[t] = P(W <= t).
local function law(n)
  if laws[n] then return laws[n] end
  local most = n * (n + 1) / 2
  local ways = { [0] = 1 }
  for t = 1, most do ways[t] = 0 end
  for rank = 1, n do
    for t = most, rank, -1 do ways[t] = ways[t] + ways[t - rank] end
  end
  local result, sum = {}, 0
  for t = 0, most do
    sum = sum + ways[t]
    result[t] = sum / 2 ^ n
  end
  laws[n] = result
  return result
end

--- P(W <= t) of the signed-rank sum of `n` blocks without a difference.
function statistics.signed_rank(n, t)
  if t < 0 then return 0 end
  return law(n)[min(floor(t), n * (n + 1) / 2)]
end

-- The largest t that leaves no more than (1 - level) / 2 at or below it; -1 when even 0 leaves more.
local function critical(n, level)
  local t = -1
  while statistics.signed_rank(n, t + 1) <= (1 - level) / 2 + 1e-12 do t = t + 1 end
  return t
end

--- The fewest blocks with which `comparisons` tests can come to a result at 95%: the smallest p must pass Holm's first step.
function statistics.fewest_blocks(comparisons)
  local blocks = 2
  while 2 ^ (1 - blocks) > (1 - LEVEL) / comparisons do blocks = blocks + 1 end
  return blocks
end

local function walsh(d)
  local averages = {}
  for i = 1, #d do
    for j = i, #d do averages[#averages + 1] = (d[i] + d[j]) / 2 end
  end
  table.sort(averages)
  return averages
end

local function median_of_sorted(list)
  local middle = (#list + 1) / 2
  return (list[floor(middle)] + list[math.ceil(middle)]) / 2
end

local function p_value(averages, n)
  local above = 0
  for _, w in ipairs(averages) do above = above + (w > 0 and 1 or w == 0 and 0.5 or 0) end
  return min(1, 2 * statistics.signed_rank(n, min(above, #averages - above)))
end

--- The estimate of the centre of the differences `d`, one a block, with its interval at `level` (0.95): center, low, high, p. Without enough blocks for the level the
--- interval is infinite.
function statistics.center(d, level)
  local averages = walsh(d)
  local t = critical(#d, level or LEVEL)
  local low = t >= 0 and averages[t + 1] or -huge
  local high = t >= 0 and averages[#averages - t] or huge
  return median_of_sorted(averages), low, high, p_value(averages, #d)
end

-- Student's t, to see whether the shape matters ---------------------------------------------------------------------------

-- The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), evaluated from its end.
local function beta_fraction(a, b, x)
  local value = 1
  for m = 200, 1, -1 do
    local odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    local even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    value = 1 + even / (1 + odd / value)
  end
  return 1 / (1 - (a + b) * x / (a + 1) / value)
end

local function log_gamma(x) -- Stirling's series, after a shift to where it is exact
  local shift = 0
  while x < 12 do
    shift, x = shift + log(x), x + 1
  end
  local z = 1 / (x * x)
  return (x - 0.5) * log(x) - x + 0.5 * log(2 * math.pi) + (1 - z * (1 / 30 - z * (1 / 105 - z / 140))) / (12 * x) - shift
end

local function incomplete_beta(a, b, x)
  if x <= 0 then return 0 end
  if x >= 1 then return 1 end
  if x > (a + 1) / (a + b + 2) then return 1 - incomplete_beta(b, a, 1 - x) end
  return exp(a * log(x) + b * log(1 - x) + log_gamma(a + b) - log_gamma(a) - log_gamma(b)) / a * beta_fraction(a, b, x)
end

--- The two-sided p-value of Student's t with `df` degrees of freedom.
function statistics.student_p(t, df)
  return incomplete_beta(df / 2, 0.5, df / (df + t * t))
end

local function mean_and_deviation(d)
  local sum, squares = 0, 0
  for _, value in ipairs(d) do sum = sum + value end
  local mean = sum / #d
  for _, value in ipairs(d) do squares = squares + (value - mean) ^ 2 end
  return mean, sqrt(squares / (#d - 1))
end

--- The paired t-test on differences: p and the mean.
function statistics.paired_t(d)
  local mean, deviation = mean_and_deviation(d)
  if deviation == 0 then return mean == 0 and 1 or 0, mean end
  return statistics.student_p(mean / (deviation / sqrt(#d)), #d - 1), mean
end

-- Several comparisons ------------------------------------------------------------------------------------------------------

--- Holm's adjusted p-values: a list in the order of `ps`.
function statistics.holm(ps)
  local order, adjusted, highest = {}, {}, 0
  for i = 1, #ps do order[i] = i end
  table.sort(order, function(a, b) return ps[a] < ps[b] end)
  for rank, i in ipairs(order) do
    highest = max(highest, min(1, ps[i] * (#ps - rank + 1)))
    adjusted[i] = highest
  end
  return adjusted
end

-- Ratios -------------------------------------------------------------------------------------------------------------------

local function log_ratios(base, other)
  local d = {}
  for i = 1, #base do
    if not (base[i] and other[i] and base[i] > 0 and other[i] > 0 and base[i] < huge and other[i] < huge) then return nil end
    d[i] = log(other[i] / base[i])
  end
  return d
end

--- How a figure of one target stands to that of another, by blocks: `base` and `other` are lists of the figure, one a block. `comparisons` is how many are made at once
--- (the interval is at 1 - 0.05 / comparisons). Returns { ratio, low, high, p, blocks, least } where `least` is the smallest relative difference that would have
--- shown (0.013: 1.3%), and `sensitive` when a paired t-test comes to another result; nil when a figure is missing, zero or infinite in a block.
function statistics.ratio(base, other, comparisons)
  local d = log_ratios(base, other)
  if not d or #d < 2 then return nil end
  local level = 1 - (1 - LEVEL) / (comparisons or 1)
  local center, low, high, p = statistics.center(d, level)
  local t_p, mean = statistics.paired_t(d)
  local shown, t_shown = low > 0 or high < 0, t_p < 1 - level
  return {
    ratio = exp(center), low = exp(low), high = exp(high), p = p, blocks = #d, least = exp((high - low) / 2) - 1,
    sensitive = shown ~= t_shown or (shown and mean * center < 0) or nil,
  }
end

--- How much the share of failures of one target differs from another's, by blocks: lists of { failed, all }. Returns { low, high, difference } on the logit scale's sign and the
--- plain difference of the shares; the verdict on failures replaces that on latency when the interval excludes 0 and they differ by more than 0.1 points.
function statistics.failures(base, other, comparisons)
  local d, failed, all = {}, { 0, 0 }, { 0, 0 }
  local function logit(x)
    local share = (x[1] + 0.5) / (x[2] + 1)
    return log(share / (1 - share))
  end
  for i = 1, #base do
    d[i] = logit(other[i]) - logit(base[i])
    for k, x in ipairs { base[i], other[i] } do failed[k], all[k] = failed[k] + x[1], all[k] + x[2] end
  end
  local _, low, high = statistics.center(d, 1 - (1 - LEVEL) / (comparisons or 1))
  local difference = failed[2] / max(1, all[2]) - failed[1] / max(1, all[1])
  return { low = low, high = high, difference = difference, unequal = (low > 0 or high < 0) and abs(difference) > 0.001 or nil }
end

--- How many blocks it would have taken to show a difference of `margin` (0.02), going by the width of this interval.
function statistics.blocks_needed(result, margin)
  local half = log(result.high / result.low) / 2
  return math.ceil(result.blocks * (half / log(1 + margin)) ^ 2)
end

return statistics
