-- thresholds { ... } of scripts and of scenarios: collected while the script is loaded, read when it is, since a metric of the script's own may be defined after
-- the threshold that names it.
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local stage = require "luabench.stage"
local thresholds = require "luabench.thresholds"
local units = require "luabench.units"

local limits = {}

local show = errors.show

local EXAMPLE = 'thresholds { "http.latency: p(95) < 200ms", { "http.errors: rate < 50%", abort = true, after = "10s" } }'
local KEYS = { [1] = "string", abort = "boolean", after = "duration", empty = "string" }

local list = {} -- { expression, where, abort, after, empty, scenario }

--- Forgets what was collected; called before a script is loaded.
function limits.reset()
  list = {}
end

-- One entry as a table; or nil and what is wrong with it.
local function read_entry(entry)
  if type(entry) == "string" then return { expression = entry } end
  if type(entry) ~= "table" then return nil, show(entry) .. " is no threshold; write " .. EXAMPLE end
  for key, value in pairs(entry) do
    local kind = KEYS[key]
    if not kind then return nil, ("unknown key `%s`%s"):format(tostring(key), nearest.hint(tostring(key), { "abort", "after", "empty" })) end
    if kind ~= "duration" and type(value) ~= kind then return nil, ("`%s` must be a %s, not %s"):format(tostring(key), kind, show(value)) end
  end
  if entry[1] == nil then return nil, "the text of the threshold is missing; write " .. EXAMPLE end
  if entry.empty ~= nil and entry.empty ~= "ok" and entry.empty ~= "fail" then return nil, ('`empty` is "ok" or "fail", not %s'):format(show(entry.empty)) end
  local after, why
  if entry.after ~= nil then
    after, why = units.duration(entry.after)
    if not after then return nil, "`after`: " .. why end
    if not entry.abort then return nil, "`after` says from when on `abort` ends the run, and there is no abort = true" end
  end
  return { expression = entry[1], abort = entry.abort, after = after, empty = entry.empty }
end

local function read_entries(values)
  if type(values) ~= "table" then return nil, ("must be a table of texts, not %s: %s"):format(show(values), EXAMPLE) end
  local entries = {}
  for key, value in pairs(values) do
    if type(key) ~= "number" then
      return nil, ("`%s` stands without its braces; write { \"...\", %s = %s }"):format(tostring(key), tostring(key), show(value))
    end
  end
  for i, value in ipairs(values) do
    local entry, why = read_entry(value)
    if not entry then return nil, why end
    entries[i] = entry
  end
  return entries
end

local function add(entries, where, scenario)
  for _, entry in ipairs(entries) do
    entry.where, entry.scenario = where, scenario
    list[#list + 1] = entry
  end
end

--- The global `thresholds`.
function limits.declare(values, extra)
  stage.demand_loading("thresholds")
  if type(values) == "string" and extra == nil then values = { values } end
  if extra ~= nil then errors.script("thresholds takes one table: %s", EXAMPLE) end
  local entries, why = read_entries(values)
  if not entries then errors.script("thresholds: %s", why) end
  add(entries, errors.where() or "?")
end

--- A reader of the key `thresholds` of a scenario, for options.lua.
limits.read = read_entries

--- After the script is loaded: all thresholds, with those of the scenarios that run. Ends the command when one cannot be read.
function limits.finish(scenarios)
  for _, each in ipairs(scenarios) do
    if each.values.thresholds then add(each.values.thresholds, each.where, each.name) end
  end
  for _, entry in ipairs(list) do
    local parsed, why = thresholds.parse(entry.expression)
    local scenario = entry.scenario and (' scenario "%s":'):format(entry.scenario) or ""
    if not parsed then errors.usage("%s:%s thresholds: %s: %s", entry.where, scenario, show(entry.expression), why) end
  end
  return list
end

return limits
