-- Reads the text of a threshold: `METRIC{selector}: AGGREGATE OPERATOR NUMBER[unit], ...`. Which metrics there are, and what can be asked of
-- them, is in thresholds/metrics.lua; this file knows the grammar, the units and the mistakes people make.

local metrics = require "luabench.thresholds.metrics"
local nearest = require "luabench.nearest"

local parser = {}

local EXAMPLE = 'a threshold looks like "http.latency: p(95) < 200ms, max < 2s"'

local OPERATORS = { ["<"] = true, ["<="] = true, [">"] = true, [">="] = true, ["=="] = true, ["!="] = true }
local MEANT_OPERATORS = { ["="] = "==", ["=<"] = "<=", ["=>"] = ">=", ["~="] = "!=", ["<>"] = "!=", ["==="] = "==" }
local MEANT_AGGREGATES = { avg = "mean", average = "mean", med = "median", minimum = "min", maximum = "max", sd = "stddev", stdev = "stddev", ["p(50)"] = "median" }

-- what a number's unit multiplies it by, for each kind of figure
local UNITS = {
  time = { ns = 1e-9, us = 1e-6, ["µs"] = 1e-6, ["μs"] = 1e-6, ms = 1e-3, s = 1, m = 60, min = 60, h = 3600 },
  share = { ["%"] = 0.01 },
  count = { k = 1e3, K = 1e3, M = 1e6 },
  number = { k = 1e3, K = 1e3, M = 1e6 },
  rate = { ["/s"] = 1, ["/m"] = 1 / 60, ["/h"] = 1 / 3600, k = 1e3, M = 1e6, ["k/s"] = 1e3, ["M/s"] = 1e6 },
  size = { B = 1, kB = 1e3, KB = 1e3, MB = 1e6, GB = 1e9, KiB = 1024, MiB = 1024 ^ 2, GiB = 1024 ^ 3, k = 1e3, M = 1e6 },
  size_rate = { ["B/s"] = 1, ["kB/s"] = 1e3, ["KB/s"] = 1e3, ["MB/s"] = 1e6, ["GB/s"] = 1e9, ["KiB/s"] = 1024, ["MiB/s"] = 1024 ^ 2, ["GiB/s"] = 1024 ^ 3 },
}
local UNIT_NAMES = { time = "us, ms, s or m", share = "% (or a share of 0..1)", count = "none, k or M", number = "none, k or M", rate = "/s, /m or none", size = "B, kB, MB, GB, KiB, MiB or GiB",
  size_rate = "B/s, kB/s, MB/s or MiB/s" }

local function trim(text)
  return (text:gsub("^%s+", ""):gsub("%s+$", ""))
end

-- A message is thrown as a table, so that errors of the program itself are not taken for mistakes in the text.
local function refuse(message, ...)
  error({ refused = message:format(...) }, 0)
end

-- Values --------------------------------------------------------------------------------------------------------------

local function plain_number(text)
  return text:match("^%d+%.?%d*$") or text:match("^%.%d+$") or text:match("^%d+%.?%d*[eE][+-]?%d+$")
end

-- "1m30s": a sequence of numbers with units of time.
local function read_time(text)
  local total, rest = 0, text
  while rest ~= "" do
    local number, unit, after = rest:match("^([%d.]+)%s*([a-z\194\181\206\188]+)%s*(.*)$")
    local factor = number and tonumber(number) and UNITS.time[unit]
    if not factor then return nil end
    total, rest = total + tonumber(number) * factor, after
  end
  return text ~= "" and total or nil
end

local function read_without_unit(text, number, unit_class)
  if unit_class == "time" then
    refuse("%s what? write %sms", text, text)
  elseif unit_class == "share" and number > 1 then
    refuse("%s what? write %s%%", text, text)
  end
  return number
end

local function read_number(text, unit_class)
  if text == "" then refuse("a number is missing; %s", EXAMPLE) end
  if plain_number(text) then return read_without_unit(text, tonumber(text), unit_class) end
  if unit_class == "time" then
    local time = read_time(text)
    if time then return time end
  end
  local number, unit = text:match("^([%d.]+)%s*(%S+)$")
  if not tonumber(number) then refuse('"%s" is not a number', text) end
  local factor = UNITS[unit_class][unit]
  if not factor then refuse('"%s" has the unit "%s"; here it is %s', text, unit, UNIT_NAMES[unit_class]) end
  local value = tonumber(number) * factor
  if unit_class == "share" and value > 1 then refuse("%s is more than everything: a share goes from 0%% to 100%%", text) end
  return value
end

-- Conditions ----------------------------------------------------------------------------------------------------------

local function read_quantile(name)
  local percent = name:match("^p%s*%(%s*([%d.]+)%s*%)$") or name:match("^p([%d.]+)$")
  percent = tonumber(percent)
  if not percent then return nil end
  if percent > 100 then refuse("%s: percentiles go from 0 to 100", name) end
  return percent / 100
end

local function refuse_aggregate(metric, name)
  local allowed = metrics.aggregates(metric)
  local meant = MEANT_AGGREGATES[name] or nearest.name(name, allowed)
  refuse('%s is a %s and has no "%s"%s; it has %s', metric.name, metric.kind, name, meant and (', did you mean "%s"?'):format(meant) or "",
    table.concat(allowed, ", "))
end

local function read_aggregate(metric, name)
  local quantile = metric.kind == "trend" and read_quantile(name)
  if quantile then return { aggregate = "quantile", quantile = quantile, unit = metrics.unit(metric, "median") } end
  local unit = metrics.unit(metric, name)
  if not unit then refuse_aggregate(metric, name) end
  return { aggregate = name, unit = unit }
end

local function read_condition(metric, text)
  local name, operator, number = text:match("^([^<>=!~]-)%s*([<>=!~]+)%s*(.-)$")
  if not name or name == "" then refuse('"%s" is no condition: write AGGREGATE OPERATOR NUMBER; %s', text, EXAMPLE) end
  if not OPERATORS[operator] then
    refuse('unknown operator "%s"%s', operator, MEANT_OPERATORS[operator] and (": write %s"):format(MEANT_OPERATORS[operator]) or "; there are < <= > >= == !=")
  end
  local condition = read_aggregate(metric, name)
  condition.operator = operator
  condition.number = read_number(number, condition.unit)
  condition.text = ("%s %s %s"):format(name, operator, number)
  return condition
end

local function read_conditions(metric, text)
  local conditions = {}
  for part in (text .. ","):gmatch("([^,]*),") do
    part = trim(part)
    if part == "" then refuse("a condition is missing; %s", EXAMPLE) end
    conditions[#conditions + 1] = read_condition(metric, part)
  end
  return conditions
end

-- Metric and selector -------------------------------------------------------------------------------------------------

local function read_quoted(text, start)
  local value, i = {}, start + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == '"' then return table.concat(value), i + 1 end
    if c == "\\" then
      i = i + 1
      c = text:sub(i, i)
    end
    value[#value + 1] = c
    i = i + 1
  end
  refuse("a double quote is not closed in %s", text)
end

local function read_value(text, i)
  if text:sub(i, i) == '"' then return read_quoted(text, i) end
  local value, after = text:match("^([^,}]*)()", i)
  return trim(value), after
end

local function check_selector(metric, key, value)
  local allowed = metric.selectors
  local near = nearest.name(key, allowed)
  if not metric.any_tag and not metrics.has(allowed, key) and (near or not metrics.is_tag(key)) then
    refuse('%s cannot be narrowed by "%s"%s%s', metric.name, key, near and (', did you mean "%s"?'):format(near) or "",
      #allowed > 0 and "; it can by " .. table.concat(allowed, ", ") or "")
  end
  local complaint = metrics.check_value(key, value)
  if complaint then refuse("%s", complaint) end
end

-- Reads `{key=value, ...}` at `i`, where text has the opening brace; returns the selector and the index after the closing one.
local function read_selector(metric, text, i)
  local selector = {}
  i = text:match("^{%s*()", i)
  while text:sub(i, i) ~= "}" do
    local key, at = text:match("^([%w_.-]+)%s*=%s*()", i)
    if not key then refuse("write {key=value} after the metric, like {name=POST /login}") end
    local value, after = read_value(text, at)
    check_selector(metric, key, value)
    if selector[key] then refuse("%s is given twice", key) end
    selector[key] = value
    i = text:match("^%s*()", after)
    local separator = text:sub(i, i)
    if separator == "," then
      i = text:match("^,%s*()", i)
    elseif separator ~= "}" then
      refuse("the selector is not closed by }")
    end
  end
  return selector, i + 1
end

local function refuse_metric(name)
  local names = metrics.names()
  local meant = metrics.foreign(name) or nearest.name(name, names)
  refuse('unknown metric "%s"%s; there are %s', name, meant and (', did you mean "%s"?'):format(meant) or "", table.concat(names, ", "))
end

local function read(text)
  local name, i = text:match("^([%w_][%w_.-]*)%s*()")
  if not name then refuse("%s", EXAMPLE) end
  local metric = metrics.find(name)
  if not metric then refuse_metric(name) end
  local selector, selector_text = {}, ""
  if text:sub(i, i) == "{" then
    local after
    selector, after = read_selector(metric, text, i)
    selector_text = text:sub(i, after - 1)
    i = after
  end
  local conditions = text:match("^%s*:(.*)$", i)
  if not conditions then refuse('a ":" is missing after %s; %s', name .. selector_text, EXAMPLE) end
  return { expression = text, metric = metric, selector = selector, name = name .. selector_text, conditions = read_conditions(metric, conditions) }
end

--- Reads a threshold. Returns { expression, metric, selector, name, conditions }, or nil and what is wrong with the text, in words.
function parser.parse(expression)
  if type(expression) ~= "string" then return nil, "a threshold is a text, not a " .. type(expression) .. "; " .. EXAMPLE end
  local ok, result = pcall(read, trim(expression))
  if ok then return result end
  if type(result) == "table" and result.refused then return nil, result.refused end
  error(result, 0)
end

return parser
