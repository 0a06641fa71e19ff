-- The objects `latency` and `requests` that done() gets: figures by name, :percentile(p), s(i) for the i-th different value and how often it came, #s for how
-- many of these there are, and s[i] for the value at i/#s of all. A key that they do not have is its own name, as wrk has it.
local stats = {}

local floor, sqrt, max, min = math.floor, math.sqrt, math.max, math.min

-- The smallest value that `share` (0..1) of the samples do not exceed.
local function at_share(own, share)
  local wanted, seen = max(1, math.ceil(share * own.count - 1e-9)), 0
  for i = 1, #own.values do
    seen = seen + own.times[i]
    if seen >= wanted then return own.values[i] end
  end
  return own.values[#own.values] or 0
end

local function object_of(own, figures)
  local object = newproxy(true)
  local meta = debug.getmetatable(object)
  function figures.percentile(_, p)
    p = tonumber(p) or 0
    if p >= 100 then return figures.max end
    return max(figures.min, min(at_share(own, max(p, 0) / 100), figures.max))
  end
  meta.__index = function(_, key)
    if figures[key] ~= nil then return figures[key] end
    local index = tonumber(key)
    if index and #own.values > 0 then return at_share(own, min(max(index / #own.values, 0), 1)) end
    return key
  end
  meta.__call = function(_, index)
    index = tonumber(index) or 0
    if own.values[index] then return own.values[index], own.times[index] end
    return 0, #own.values
  end
  meta.__len = function() return #own.values end
  meta._NAME = "wrk.stats"
  return object
end

-- Values that are equal after `convert` are one.
local function gather(values, times, convert)
  local own = { values = {}, times = {}, count = 0 }
  for i, value in ipairs(values) do
    local converted, n = convert(value), #own.values
    if own.values[n] == converted then
      own.times[n] = own.times[n] + times[i]
    else
      own.values[n + 1], own.times[n + 1] = converted, times[i]
    end
    own.count = own.count + times[i]
  end
  return own
end

local function to_us(seconds) return floor(seconds * 1e6) end

--- Of a hist object: in microseconds.
function stats.of_hist(hist)
  local values, times = hist:counters()
  local own = gather(values, times, to_us)
  return object_of(own, {
    min = to_us(hist:min() or 0), max = to_us(hist:max() or 0), mean = (hist:mean() or 0) * 1e6, stdev = (hist:stddev() or 0) * 1e6,
  })
end

local function moments(list)
  local sum, squares = 0, 0
  for _, value in ipairs(list) do sum = sum + value end
  local mean = #list > 0 and sum / #list or 0
  for _, value in ipairs(list) do squares = squares + (value - mean) ^ 2 end
  return mean, #list > 1 and sqrt(squares / (#list - 1)) or 0
end

--- Of a list of numbers.
function stats.of_list(list)
  local sorted, ones = { unpack(list) }, {}
  table.sort(sorted)
  for i = 1, #sorted do ones[i] = 1 end
  local mean, stdev = moments(sorted)
  return object_of(gather(sorted, ones, floor), { min = floor(sorted[1] or 0), max = floor(sorted[#sorted] or 0), mean = mean, stdev = stdev })
end

--- Requests a second of one thread, of each second of the run but a last short one.
function stats.rates(results)
  local list, before = {}, 0
  for _, second in ipairs(results.series or {}) do
    local length = second.time - before
    before = second.time
    if length >= 0.5 or #results.series == 1 then list[#list + 1] = second.requests / length / max(1, results.generator.threads or 1) end
  end
  if #list == 0 and results.duration > 0 then list[1] = (results.total.responses or 0) / results.duration / max(1, results.generator.threads or 1) end
  return list
end

--- The share in percent of samples within one standard deviation of the mean; nil without samples.
function stats.within(values, times, mean, stdev)
  local inside, all = 0, 0
  for i, value in ipairs(values) do
    local n = times and times[i] or 1
    all = all + n
    if value >= mean - stdev and value <= mean + stdev then inside = inside + n end
  end
  return all > 0 and inside / all * 100 or nil
end

--- Of a list: mean and standard deviation (divisor n - 1, as wrk's).
stats.moments = moments

--- The histogram that `latency` is made of: what wrk measures, from the first byte sent; in the open model from when the request was due.
function stats.latency_hist(model, results)
  return model == "open" and results.total.latency_from_intended or results.total.service
end

local CONNECT = { "connect", "connect_timeout", "dns", "tls", "no_ports", "no_descriptors" }
local READ = { "reset", "closed", "protocol", "too_large", "refused_stream" }

local function sum_of(errors, names)
  local sum = 0
  for _, name in ipairs(names) do sum = sum + (errors[name] or 0) end
  return sum
end

--- The table `summary` of done(): times in microseconds.
function stats.summary(results)
  local total = results.total
  local errors, bad = total.errors or {}, 0
  for status, count in pairs(total.statuses or {}) do
    if tonumber(status) > 399 then bad = bad + count end
  end
  return {
    duration = floor(results.duration * 1e6 + 0.5), requests = total.responses or 0, bytes = total.bytes_received or 0,
    errors = { connect = sum_of(errors, CONNECT), read = sum_of(errors, READ), write = 0, status = bad, timeout = total.timed_out or errors.timeout or 0 },
  }
end

return stats
