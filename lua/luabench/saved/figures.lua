-- Adding up parts of saved results. Counts add, histograms add and quantiles are asked of the sum; extremes, means and deviations are computed from those of the parts,
-- which are exact, where those of an encoded histogram are not. Lists of parts are never empty and may have nulls.
local core = require "luabench.core"
local summary = require "luabench.summary"

local figures = {}

local null = core.json_null

local function values_of(parts, key)
  local values = {}
  for _, part in ipairs(parts) do
    local value = summary.value(part[key])
    if value ~= nil then values[#values + 1] = value end
  end
  return values
end

--- What is there under `key` in the parts that have it.
figures.values = values_of

local function fold(values, combine)
  local result = values[1]
  for i = 2, #values do result = combine(result, values[i]) end
  return result == nil and null or result
end

local function add(a, b) return a + b end

--- The sum, the largest, the smallest under `key`; null when no part has any.
function figures.sum(parts, key) return fold(values_of(parts, key), add) end
function figures.max(parts, key) return fold(values_of(parts, key), math.max) end
function figures.min(parts, key) return fold(values_of(parts, key), math.min) end

--- The value that all parts have, else null.
function figures.common(parts, key)
  local first = parts[1][key]
  for _, part in ipairs(parts) do
    if part[key] ~= first then return null end
  end
  return first
end

--- The first that is not null.
function figures.first(parts, key)
  return fold(values_of(parts, key), function(a) return a end)
end

--- A table of sums, one for each of `keys`.
function figures.sums(parts, keys)
  local result = {}
  for _, key in ipairs(keys) do result[key] = figures.sum(parts, key) end
  return result
end

--- { NAME = count } of several.
function figures.counts(parts, key)
  local result = {}
  for _, map in ipairs(values_of(parts, key)) do
    for name, count in pairs(map) do result[name] = (result[name] or 0) + count end
  end
  return result
end

--- All names under `key`, each with the list of what the parts have there: a list of { name, parts }.
function figures.named(parts, key)
  local lists, order = {}, {}
  for _, map in ipairs(values_of(parts, key)) do
    for name, each in pairs(map) do
      if not lists[name] then lists[name], order[#order + 1] = {}, name end
      table.insert(lists[name], each)
    end
  end
  table.sort(order)
  local result = {}
  for i, name in ipairs(order) do result[i] = { name = name, parts = lists[name] } end
  return result
end

-- Mean and (population) standard deviation of all values, from those of the parts: Chan, Golub, LeVeque 1983.
local function moments(parts)
  local n, mean, squares = 0, 0, 0
  for _, part in ipairs(parts) do
    local m, delta = part.count, part.mean - mean
    n = n + m
    mean = mean + delta * m / n
    squares = squares + m * (summary.value(part.stddev) or 0) ^ 2 + delta * delta * m * (n - m) / n
  end
  return mean, math.sqrt(squares / n)
end

local function exact(result, parts)
  result.min, result.max = figures.min(parts, "min"), figures.max(parts, "max")
  result.mean, result.stddev = moments(parts)
  for field in pairs(summary.QUANTILES) do
    local value = summary.value(result[field])
    if value then result[field] = math.max(result.min, math.min(value, result.max)) end
  end
  return result
end

local function with_samples(parts)
  local some = {}
  for _, part in ipairs(parts) do
    if part.count > 0 then some[#some + 1] = part end
  end
  return some
end

--- The SUMMARY of the SUMMARYs under `key`; null when no part has one.
function figures.summary(parts, key)
  local summaries = values_of(parts, key)
  if #summaries == 0 then return null end
  return figures.of_summaries(summaries)
end

--- The SUMMARY of a list of SUMMARYs.
function figures.of_summaries(summaries)
  local hists, some = {}, with_samples(summaries)
  for i, each in ipairs(some) do hists[i] = summary.histogram(each) end
  local result = summary.of(core.hist_merge(hists))
  return #some > 0 and exact(result, some) or result
end

--- The same of SUMMARYs without histograms: of several, quantiles do not exist.
function figures.plain(summaries)
  local some = with_samples(summaries)
  if #some == 1 then return some[1] end
  local result = { count = 0, min = null, max = null, mean = null, stddev = null }
  for field in pairs(summary.QUANTILES) do result[field] = null end
  for _, each in ipairs(some) do result.count = result.count + each.count end
  return #some > 0 and exact(result, some) or result
end

--- The texts under `key` of all parts, each once, as a list for JSON.
function figures.texts(parts, key)
  local seen, list = {}, {}
  for _, texts in ipairs(values_of(parts, key)) do
    for _, text in ipairs(texts) do
      if not seen[text] then seen[text], list[#list + 1] = true, text end
    end
  end
  return #list > 0 and list or core.json_array({})
end

return figures
