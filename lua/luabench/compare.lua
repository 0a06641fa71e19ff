-- compare "name" { targets = ..., cases = ..., rounds = 10, run = ... }: collects the comparisons that a script defines while it is loaded, and checks them at once. What is
-- beside the keys of this module belongs to scenarios: given here it holds for all cases, in a case for that one.
local choose = require "luabench.compare.choose"
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local options = require "luabench.options"
local scenario = require "luabench.scenario"
local stage = require "luabench.stage"
local statistics = require "luabench.compare.statistics"
local targets = require "luabench.compare.targets"
local units = require "luabench.units"

local compare = {}

local FORM = 'compare "name" { targets = { ... }, cases = { ... }, run = function() ... end }'
local ROUNDS, WARM_UP = 10, 2

local show = errors.show
local list, names, pending = {}, {}, nil

--- Forgets what was defined; called before a script is loaded.
function compare.reset()
  list, names, pending = {}, {}, nil
end

-- Reading -----------------------------------------------------------------------------------------------------------------

local function name_of(value)
  if type(value) == "string" and value ~= "" and not value:find("%c") then return value end
  return nil, ("a name must be a line of text, not %s"):format(show(value))
end

-- The part of `values` that describes a scenario; `own` are the keys that do not.
local function load_of(values, own)
  local part = {}
  for key, value in pairs(values) do
    if not own[key] then part[key] = value end
  end
  if part.target ~= nil then return nil, "`target`: the targets say where requests go: targets = { { name = ..., url = ... } }" end
  local read, why = options.read("scenario", part)
  if read or not why:find("^unknown key") then return read, why end
  for key in pairs(part) do
    local hint = type(key) == "string" and nearest.hint(key, own)
    if hint and hint ~= "" and why:find("`" .. key .. "`", 1, true) then return nil, ("unknown key `%s`%s"):format(key, hint) end
  end
  return nil, why
end

local CASE_KEYS = { name = true }

local function read_case(value, seen)
  if type(value) ~= "table" then return nil, ('must be a table, not %s: { name = "10 connections", users = 10, iterations = 10000 }'):format(show(value)) end
  local name, why = name_of(value.name)
  if not name then return nil, "`name`: " .. why end
  if seen[name] then return nil, ("there are two cases %s"):format(show(name)) end
  seen[name] = true
  local values
  values, why = load_of(value, CASE_KEYS)
  return values and { name = name, values = values }, why
end

local function read_list(values, read, what, least)
  if type(values) ~= "table" or #values == 0 then return nil, ("`%s` must be a list of tables, not %s"):format(what, type(values) == "table" and "an empty table" or show(values)) end
  local result, seen = {}, {}
  for i, value in ipairs(values) do
    local item, why = read(value, seen)
    if not item then return nil, ("%s, number %d: %s"):format(what, i, why) end
    result[i] = item
  end
  for key in pairs(values) do
    if not result[key] then return nil, ("`%s` is a list; %s is no part of it"):format(what, show(key)) end
  end
  if #result < least then return nil, ("`%s` needs at least %d"):format(what, least) end
  return result
end

local OWN = { targets = true, cases = true, rounds = true, baseline = true, pairs = true }

local function baseline_of(values, read)
  if values.baseline == nil then return 1 end
  local known = {}
  for i, target in ipairs(read) do known[target.name] = i end
  if known[values.baseline] then return known[values.baseline] end
  return nil, ("`baseline`: there is no target %s%s"):format(show(values.baseline), type(values.baseline) == "string" and nearest.hint(values.baseline, known) or "")
end

local function read_all(values)
  local result, why = {}, nil
  result.targets, why = read_list(values.targets, targets.read, "targets", 2)
  if not result.targets then return nil, why end
  result.cases, why = read_list(values.cases, read_case, "cases", 1)
  if not result.cases then return nil, why end
  result.rounds, why = units.count(values.rounds == nil and ROUNDS or values.rounds)
  if not result.rounds then return nil, "`rounds`: " .. why end
  result.baseline, why = baseline_of(values, result.targets)
  if not result.baseline then return nil, why end
  if values.pairs ~= nil and values.pairs ~= "all" then return nil, ('`pairs` can be "all", not %s'):format(show(values.pairs)) end
  result.all_pairs = values.pairs == "all"
  result.values, why = load_of(values, OWN)
  return result.values and result, why
end

-- Defining ----------------------------------------------------------------------------------------------------------------

local function add(name, values, where, extra)
  pending = nil
  local subject = ('compare "%s"'):format(name)
  if type(values) ~= "table" or extra ~= nil then errors.script("%s must be followed by one table: %s", subject, FORM) end
  if names[name] then errors.script('there are two comparisons "%s"; the first is at %s', name, names[name]) end
  local read, why = read_all(values)
  if not read then errors.usage("%s: %s: %s", where, subject, why) end
  read.name, read.where = name, where
  names[name] = where
  list[#list + 1] = read
end

--- The global `compare`.
function compare.define(...)
  stage.demand_loading("compare")
  local name, values, extra = ...
  if not name_of(name) then errors.script("a comparison's name must be a line of text, not %s: %s", show(name), FORM) end
  if pending then errors.usage('%s: compare "%s" has no table behind its name: %s', pending.where, pending.name, FORM) end
  local where = errors.where() or "?"
  if select("#", ...) > 1 then return add(name, values, where, extra) end
  pending = { name = name, where = where }
  return function(table_of_it, more) return add(name, table_of_it, where, more) end
end

-- Using -------------------------------------------------------------------------------------------------------------------

--- True when the script has defined a comparison.
function compare.defined()
  return pending ~= nil or #list > 0
end

--- The pairs of indexes of targets that are compared: { { base, other }, ... }.
function compare.pairs(comparison)
  local result = {}
  for i = 1, #comparison.targets do
    for k = i + 1, #comparison.targets do
      if comparison.all_pairs then
        result[#result + 1] = { i, k }
      elseif i == comparison.baseline or k == comparison.baseline then
        result[#result + 1] = { comparison.baseline, i == comparison.baseline and k or i }
      end
    end
  end
  return result
end

local function check_rounds(comparison)
  local count = #compare.pairs(comparison)
  local least = statistics.fewest_blocks(count)
  if comparison.rounds >= least then return end
  errors.usage('%s: compare "%s": %d round%s cannot lead to a verdict on %d comparison%s, whatever they measure: rounds = %d is the least', comparison.where, comparison.name,
    comparison.rounds, comparison.rounds == 1 and "" or "s", count, count == 1 and "" or "s", least)
end

-- The values of each case, with those of the comparison and of `defaults` below it.
local function complete(comparison)
  for _, case in ipairs(comparison.cases) do
    case.values = scenario.with_defaults(scenario.merged(comparison.values, case.values))
    if case.values.warm_up == nil then case.values.warm_up = WARM_UP end
    local why = scenario.incomplete(case.values)
    if case.values.thresholds then why = "`thresholds` judge a run; a comparison has verdicts instead" end
    if case.values.warm_up == "auto" then why = "`warm_up` of a comparison is a time, the same for all targets and rounds" end
    if not why and not case.values.duration and not case.values.iterations then why = "`duration` or `iterations` is missing: how long is the case, or how many iterations?" end
    if why then errors.usage('%s: compare "%s": case "%s": %s', comparison.where, comparison.name, case.name, why) end
  end
end

-- The baseline a second time, under another name: what differs between the two is the noise of the machine, or a mistake of the method.
local function add_twin(comparison)
  local twin = {}
  for key, value in pairs(comparison.targets[comparison.baseline]) do twin[key] = value end
  twin.name = twin.name .. " again"
  if twin.command then comparison.targets[comparison.baseline].restart, twin.restart = true, true end -- they take turns at one port
  for _, target in ipairs(comparison.targets) do
    if target.name == twin.name then errors.usage('%s: compare "%s": --aa needs the name "%s" for itself', comparison.where, comparison.name, twin.name) end
  end
  table.insert(comparison.targets, comparison.baseline + 1, twin)
  comparison.twin = twin.name
end

--- After the script is loaded: its comparisons, whole and checked: { name, where, targets, cases = { { name, values } }, rounds, baseline, all_pairs }. Ends the command when
--- one makes no sense. `rounds` is what the command line says instead, or nil; with `aa` the
--- baseline of each is compared with itself, too; `only`: names of comparisons, targets and cases, or nil.
function compare.finish(rounds, aa, only)
  if pending then errors.usage('%s: compare "%s" has no table behind its name: %s', pending.where, pending.name, FORM) end
  if only and only[1] then list = choose.only(list, only, aa) end
  for _, comparison in ipairs(list) do
    comparison.rounds = rounds or comparison.rounds
    if aa then add_twin(comparison) end
    check_rounds(comparison)
    complete(comparison)
  end
  return list
end

return compare
