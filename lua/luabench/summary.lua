-- A histogram as the SUMMARY of the result file, and when a percentile exists.
--
-- Quantiles are the nearest rank's as soon as there is one sample, so that every saved result can be reported again and merged;
-- whether there were enough samples to believe one is asked of `summary.needed` by whoever shows it.

local core = require "luabench.core"

local summary = {}

local null = core.json_null

--- The quantiles of a SUMMARY, by field.
summary.QUANTILES = { q1 = 0.25, median = 0.5, q3 = 0.75, p90 = 0.9, p95 = 0.95, p99 = 0.99, p999 = 0.999 }

-- the histogram that a SUMMARY was made of: for what needs more than the SUMMARY says
local histograms = setmetatable({}, { __mode = "k" })

local function or_null(value)
  -- NaN would not be JSON
  if value == nil or value ~= value then return null end
  return value
end

--- nil for nil and for the null of JSON, else the value.
function summary.value(value)
  if value == nil or value == null then return nil end
  return value
end

--- The SUMMARY of a hist object; figures that do not exist are null. nil gives null.
--- @param plain boolean? leave the histogram itself out
function summary.of(hist, plain)
  if hist == nil then return null end
  local result = { count = hist:count(), min = or_null(hist:min()), mean = or_null(hist:mean()), max = or_null(hist:max()), stddev = or_null(hist:stddev()) }
  for field, quantile in pairs(summary.QUANTILES) do
    result[field] = or_null(hist:quantile(quantile))
  end
  if not plain then
    result.histogram = result.count > 0 and or_null(hist:encode()) or null
  end
  histograms[result] = hist
  return result
end

--- The hist object behind a SUMMARY: what it was made of or, of a saved one, what it has saved; nil when there is none.
function summary.histogram(of)
  local encoded = not histograms[of] and summary.value(of.histogram)
  if encoded then histograms[of] = core.hist_decode(encoded) end
  return histograms[of]
end

--- Samples below which a quantile (0..1) has no 95 % confidence interval, that is, below which it is not shown:
--- n >= ln(0.025) / ln(max(q, 1 - q)); 6 for the median, 368 for p99, 3,688 for p99.9. 1 for the extremes.
function summary.needed(quantile)
  local q = math.max(quantile, 1 - quantile)
  if q >= 1 then return 1 end
  return math.ceil(math.log(0.025) / math.log(q))
end

--- A figure of a SUMMARY that may be shown: nil where it does not exist or has too few samples behind it.
--- @param field string "min", "q1", "p99", ...
function summary.shown(of, field)
  of = summary.value(of)
  if not of then return nil end
  local needed = 1
  if summary.QUANTILES[field] then
    needed = summary.needed(summary.QUANTILES[field])
  elseif field == "stddev" then
    needed = 2
  end
  if of.count < needed then return nil end
  return summary.value(of[field])
end

return summary
