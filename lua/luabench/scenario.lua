-- scenario "name" { ... } and defaults { ... }: collects what a script defines while it is loaded, checks it at once, merges the defaults in at
-- the end.
local errors = require "luabench.errors"
local headers = require "luabench.headers"
local load_keys = require "luabench.load"
local nearest = require "luabench.nearest"
local options = require "luabench.options"
local stage = require "luabench.stage"

local scenario = {}

local list = {}     -- of { name, where, values }
local names = {}    -- name → where
local pending       -- { name, where } of a scenario "name" without its table
local defaults      -- { where, values }

--- Forgets what was defined; called before a script is loaded.
function scenario.reset()
  list, names, pending, defaults = {}, {}, nil, nil
end

local FORM = 'scenario "name" { run = function() ... end }'

local function check_name(name)
  if type(name) == "table" then errors.script("a scenario needs a name before its table: %s", FORM) end
  if type(name) ~= "string" then errors.script("a scenario's name must be a text, not %s: %s", errors.show(name), FORM) end
  if name == "" or name:find("[%c]") then errors.script("a scenario's name must be a line of text, not %s", errors.show(name)) end
end

local function check_pending()
  if pending then errors.usage('%s: scenario "%s" has no table behind its name: %s', pending.where, pending.name, FORM) end
end

local function add(name, values, where, extra)
  pending = nil
  local subject = ('scenario "%s"'):format(name)
  if type(values) ~= "table" or extra ~= nil then errors.script("%s must be followed by one table: %s", subject, FORM) end
  if names[name] then errors.script('there are two scenarios "%s"; the first is at %s', name, names[name]) end
  local read, why = options.read("scenario", values)
  if not read then errors.usage("%s: %s: %s", where, subject, why) end
  names[name] = where
  list[#list + 1] = { name = name, where = where, values = read }
end

--- The global `scenario`.
function scenario.define(...)
  stage.demand_loading("scenario")
  local name, values, extra = ...
  check_name(name)
  check_pending()
  local where = errors.where() or "?"
  if select("#", ...) > 1 then return add(name, values, where, extra) end
  pending = { name = name, where = where }
  return function(table_of_it, more)
    stage.demand_loading("scenario")
    return add(name, table_of_it, where, more)
  end
end

--- The global `defaults`.
function scenario.defaults(values, extra)
  stage.demand_loading("defaults")
  if type(values) ~= "table" or extra ~= nil then errors.script('defaults needs one table: defaults { target = "http://127.0.0.1:8080" }') end
  if defaults then errors.script("defaults is used twice; the first is at %s", defaults.where) end
  local where = errors.where() or "?"
  local read, why = options.read("scenario", values)
  if not read then errors.usage("%s: defaults: %s", where, why) end
  defaults = { where = where, values = read }
end

local function merged_http(under, over)
  local http = {}
  for key, value in pairs(under or {}) do http[key] = value end
  for key, value in pairs(over or {}) do http[key] = value end
  if under and under.headers and over and over.headers then http.headers = headers.merge(under.headers, over.headers) end
  return http
end

--- The values of a scenario with those in `under` where it has none of its own.
function scenario.merged(under, values)
  local result = load_keys.compatible(under, values)
  for key, value in pairs(values) do result[key] = value end
  result.http = merged_http(under.http, values.http)
  if under.tags and values.tags then result.tags = headers.merge(under.tags, values.tags) end
  return result
end

--- The same with what `defaults` says.
function scenario.with_defaults(values)
  return scenario.merged(defaults and defaults.values or {}, values)
end

--- What is missing from the values of a scenario, or does not go together, in words; nil when they are whole.
function scenario.incomplete(values)
  if not values.run then return "`run` is missing: what is one iteration? write run = function() ... end" end
  if values.http.auth and values.http.headers and values.http.headers.authorization then return "http: `auth` and the header Authorization: use one" end
  return load_keys.wrong(values)
end

local function check_whole(each)
  local why = scenario.incomplete(each.values)
  if why then errors.usage("%s: scenario \"%s\": %s", each.where, each.name, why) end
end

--- True when one was defined.
function scenario.any()
  return pending ~= nil or #list > 0
end

--- After the script is loaded: its scenarios with the defaults merged in, { name, where, values }. Ends the command when something is missing.
function scenario.finish(script)
  check_pending()
  if #list == 0 then errors.usage("%s defines no scenario. The smallest script:\n\n%s", script, errors.SMALLEST) end
  for _, each in ipairs(list) do
    each.values = scenario.with_defaults(each.values)
    check_whole(each)
  end
  return list
end

--- The scenarios that `--only NAME` leaves, in the script's order. Ends the command when a name is not known.
function scenario.only(scenarios, wanted)
  if not wanted then return scenarios end
  local by_name, chosen, result = {}, {}, {}
  for _, each in ipairs(scenarios) do by_name[each.name] = true end
  for _, name in ipairs(wanted) do
    if not by_name[name] then errors.usage("--only: there is no scenario %s%s\n%s", errors.show(name), nearest.hint(name, by_name), scenario.listing(scenarios)) end
    chosen[name] = true
  end
  for _, each in ipairs(scenarios) do
    if chosen[each.name] then result[#result + 1] = each end
  end
  return result
end

--- "Its scenarios: ..." for messages.
function scenario.listing(scenarios)
  local texts = {}
  for i, each in ipairs(scenarios) do texts[i] = errors.show(each.name) end
  return "The scenarios of the script: " .. table.concat(texts, ", ")
end

return scenario
