-- -o FILE.hgrm: the percentile distribution of latency (from the intended start in the open model), in milliseconds, as HdrHistogram's
-- outputPercentileDistribution writes it and its plotter reads it: five rows for each halving of what is left above.
local results = require "luabench.results"
local summary = require "luabench.summary"

local TICKS = 5 -- rows a halving

local HEADER = ("%12s %14s %10s %14s\n\n"):format("Value", "Percentile", "TotalCount", "1/(1-Percentile)")
local FOOTER = "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n#[Max     = %12.3f, Total count    = %12d]\n#[Buckets = %12d, SubBuckets     = %12d]\n"
local BUCKETS, SUB_BUCKETS = 37, 2048

-- The percentile of the row after that of `level`.
local function next_level(level)
  local halvings = math.floor(math.log(100 / (100 - level)) / math.log(2)) + 1
  return level + 100 / (TICKS * 2 ^ halvings)
end

-- Rows of a histogram that is not empty.
local function rows(hist)
  local _, highs, counts = hist:buckets()
  local total, lines = hist:count(), {}
  local level, upto, last = 0, 0, #highs
  for i = 1, last do
    upto = upto + counts[i]
    while i < last and 100 * upto / total >= level do
      local share = level / 100
      lines[#lines + 1] = ("%12.3f %2.12f %10d %14.2f\n"):format(highs[i] / 1e6, share, upto, 1 / (1 - share))
      level = next_level(level)
    end
  end
  -- the largest value is reached at all levels that are left: the first of them and 100 %
  if level < 100 then lines[#lines + 1] = ("%12.3f %2.12f %10d %14.2f\n"):format(highs[last] / 1e6, level / 100, total, 1 / (1 - level / 100)) end
  lines[#lines + 1] = ("%12.3f %2.12f %10d\n"):format(highs[last] / 1e6, 1, total)
  return table.concat(lines)
end

return function(document)
  local latency = results.headline(document.total)
  local hist = summary.histogram(latency)
  if not hist then return nil, "the result has no histogram" end
  local body = latency.count > 0 and rows(hist) or ""
  local function ms(field) return (summary.value(latency[field]) or 0) * 1e3 end
  return HEADER .. body .. FOOTER:format(ms "mean", ms "stddev", ms "max", latency.count, BUCKETS, SUB_BUCKETS)
end
