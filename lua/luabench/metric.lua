-- metric.counter, gauge, rate, trend: a script's own metrics. They are defined while the script is loaded; values are the core's to keep (core.metric_add),
-- apart for every scenario and set of tags.
local core = require "luabench.core"
local errors = require "luabench.errors"
local stage = require "luabench.stage"

local metric = {}

local show = errors.show
local metric_add = core.metric_add
local type, next, pairs, sort, concat, huge = type, next, pairs, table.sort, table.concat, math.huge

local KINDS = { counter = 0, gauge = 1, rate = 2, trend = 3 } -- as the core has them
local BUILT_IN = { "http", "iterations", "iteration", "dropped", "script_errors", "checks", "users", "group" }
local THOUSANDTHS = 1e3 -- a trend without a unit of time is kept so
local MOST_TAGS_TEXT = 1000

local defined = {} -- name → { name, kind, unit, object }

--- Forgets what was defined; called before a script is loaded.
function metric.reset()
  defined = {}
end

--- The definition of a metric, { name, kind, unit }, or nil.
function metric.find(name)
  return defined[name]
end

--- The names of all that are defined, sorted.
function metric.names()
  local names = {}
  for name in pairs(defined) do names[#names + 1] = name end
  sort(names)
  return names
end

local function tag_text(definition, name, value)
  local kind = type(value)
  if kind == "number" then value = require("luabench.units").digits(value) end
  if kind == "boolean" then value = tostring(value) end
  if type(name) ~= "string" or not name:find("^[%a_][%w_.-]*$") or type(value) ~= "string" or value:find("%c") then
    errors.script('%s: tags are names and texts: { page = "cart" }, not %s = %s', definition.name, show(name), show(value))
  end
  return name .. "=" .. value
end

-- Tags in the form of the core: sorted, one a line.
local function tags_of(definition, tags)
  if tags == nil then return "" end
  if type(tags) ~= "table" then errors.script('%s: the last argument is a table of tags: { page = "cart" }, not %s', definition.name, show(tags)) end
  local name, value = next(tags)
  if name == nil then return "" end
  local first = tag_text(definition, name, value)
  if next(tags, name) == nil then return first end
  local list = {}
  for key, each in pairs(tags) do list[#list + 1] = tag_text(definition, key, each) end
  sort(list)
  local text = concat(list, "\n")
  if #text > MOST_TAGS_TEXT then errors.script("%s: these tags are too long", definition.name) end
  return text
end

local function check_call(definition, object, verb, self, extra)
  if self ~= object then errors.script("call it with a colon: %s:%s(...)", definition.name, verb) end
  if stage.loading then errors.script("%s:%s is called while the script is loaded, when there are no users yet; call it in `run`", definition.name, verb) end
  if extra ~= nil then errors.script("%s:%s takes a value and a table of tags", definition.name, verb) end
end

local function number(definition, verb, value, least)
  if type(value) ~= "number" or value ~= value or value == huge or value == -huge then
    errors.script("%s:%s takes a number, not %s", definition.name, verb, show(value))
  end
  if least and value < least then errors.script("%s:%s takes a number from %d, not %s", definition.name, verb, least, show(value)) end
  return value
end

local VERBS = { counter = "add", gauge = "set", rate = "add", trend = "add" }

-- How each kind reads its arguments: value and tags.
local READ = {
  counter = function(definition, value, tags)
    if value == nil then return 1, tags end
    if type(value) == "table" and tags == nil then return 1, value end
    return number(definition, "add", value, 0), tags
  end,
  gauge = function(definition, value, tags) return number(definition, "set", value), tags end,
  rate = function(definition, value, tags)
    if type(value) ~= "boolean" then errors.script("%s:add takes true or false, not %s", definition.name, show(value)) end
    return value and 1 or 0, tags
  end,
  trend = function(definition, value, tags) return number(definition, "add", value, 0), tags end,
}

local function make_object(definition)
  local kind, verb, read, name = KINDS[definition.kind], VERBS[definition.kind], READ[definition.kind], definition.name
  local scale = definition.unit == "s" and 1e9 or THOUSANDTHS
  local methods = {}
  local object = setmetatable({}, {
    __index = function(_, key)
      if methods[key] then return methods[key] end
      errors.script("a %s has %s:%s(), and no %s", definition.kind, name, verb, show(key))
    end,
    __newindex = function() errors.script("a metric cannot be assigned to; write %s:%s(...)", name, verb) end,
    __tostring = function() return ("metric.%s(%q)"):format(definition.kind, name) end,
    __metatable = false,
  })
  methods[verb] = function(self, given, given_tags, extra)
    check_call(definition, object, verb, self, extra)
    local value, tags = read(definition, given, given_tags)
    metric_add(name, kind, value, tags_of(definition, tags), scale)
  end
  return object
end

local function check_name(call, name)
  if type(name) ~= "string" or not name:find("^[%a_][%w_.-]*$") then
    errors.script('%s needs a name of letters, digits, points and dashes: %s("shop.checkout"), not %s', call, call, show(name))
  end
  local first = name:match("^[^.]*")
  for _, taken in ipairs(BUILT_IN) do
    if first == taken then errors.script("%s: names that begin with `%s` are those of luabench; choose another one", call, taken) end
  end
end

local function unit_of(options)
  local call = "metric.trend"
  if options == nil then return nil end
  if type(options) ~= "table" then errors.script('%s: after the name comes a table: %s("name", { unit = "s" }), not %s', call, call, show(options)) end
  for key in pairs(options) do
    if key ~= "unit" then errors.script("%s: unknown key `%s`%s", call, tostring(key), require("luabench.nearest").hint(tostring(key), { "unit" })) end
  end
  local unit = options.unit
  if unit ~= nil and (type(unit) ~= "string" or not unit:find("^[%w%%/ ]+$") or #unit > 20) then
    errors.script('%s: `unit` is a text like "s" or "bytes", not %s', call, show(unit))
  end
  if unit == "ms" or unit == "us" then errors.script('%s: times are in seconds everywhere: { unit = "s" }', call) end
  return unit
end

local function define(kind)
  local call = "metric." .. kind
  return function(name, options, extra)
    stage.demand_loading(call)
    check_name(call, name)
    if extra ~= nil or (kind ~= "trend" and options ~= nil) then errors.script("%s takes %s", call, kind == "trend" and "a name and a table" or "a name") end
    local unit = unit_of(options)
    local before = defined[name]
    if before and (before.kind ~= kind or before.unit ~= unit) then
      errors.script("%s(%s): it is a %s%s already", call, show(name), before.kind, before.unit and " in " .. before.unit or "")
    end
    if before then return before.object end
    local definition = { name = name, kind = kind, unit = unit }
    definition.object = make_object(definition)
    defined[name] = definition
    return definition.object
  end
end

--- Counts: :add() adds 1, :add(n) adds n.
metric.counter = define "counter"

--- A value that is set: its last, least and greatest are kept.
metric.gauge = define "gauge"

--- A share: :add(true) or :add(false).
metric.rate = define "rate"

--- A distribution: :add(value); with { unit = "s" } of times.
metric.trend = define "trend"

-- Figures ----------------------------------------------------------------------------------------------------------------

-- A hist object of thousandths, read as one of numbers: those of the core speak of nanoseconds as seconds.
local function scaled(hist)
  local factor = 1e9 / THOUSANDTHS
  local function read(method)
    return function(_, ...)
      local value = hist[method](hist, ...)
      return value and value * factor
    end
  end
  return {
    count = function() return hist:count() end, encode = function() return hist:encode() end,
    min = read "min", max = read "max", mean = read "mean", stddev = read "stddev", quantile = read "quantile",
  }
end

local function add_series(sum, series)
  if series.count == 0 then return end
  sum.min = math.min(sum.min or huge, series.min)
  sum.max = math.max(sum.max or -huge, series.max)
  if series.last_at >= (sum.last_at or -huge) then sum.last, sum.last_at = series.last, series.last_at end
  sum.count, sum.sum = sum.count + series.count, sum.sum + series.sum
  sum.hists[#sum.hists + 1] = series.hist
end

--- The sum over those series of a metric of the results that `wanted(series)` accepts: { count, sum, last, min, max, hist }.
function metric.sum(name, all, wanted)
  local sum = { count = 0, sum = 0, hists = {} }
  for _, series in ipairs(all) do
    if wanted(series) then add_series(sum, series) end
  end
  local definition = defined[name] or {}
  if definition.kind == "trend" and sum.hists[1] then
    local hist = sum.hists[2] and core.hist_merge(sum.hists) or sum.hists[1]
    sum.hist = definition.unit == "s" and hist or scaled(hist)
  end
  return sum
end

return metric
