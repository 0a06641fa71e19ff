-- How much load and when: the keys of both models, what goes together, what the command line makes of them, and the effective values that the core reads.
--
-- Stages are read into a list of { level, over, hold } with the field `of`: "users" or "rate", which says which model it is.
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local units = require "luabench.units"

local load = {}

local show = errors.show
local format, max, min, floor = string.format, math.max, math.min, math.floor

local MOST_WARM = 0.3 -- of the duration: the longest warm_up = "auto"
local FOREVER = 1e10 -- seconds; to the core: no end

-- Reading -------------------------------------------------------------------------------------------------------------

local STAGE_KEYS = { users = true, rate = true, over = true, hold = true }
local STAGE_FOREIGN = { target = "users` or `rate", duration = "over", vus = "users", time = "over", ramp = "over", level = "users` or `rate" }
local STAGE_FORM = '{ users = 50, over = "30s", hold = "1m" } or { rate = 100, over = "30s", hold = "1m" }'

local function level_of(of, value)
  if of == "users" then return units.count(value, 0) end
  if value == 0 then return 0 end
  return units.rate(value)
end

local function check_stage_keys(stage)
  for key, value in pairs(stage) do
    if not STAGE_KEYS[key] then
      if type(key) ~= "string" then return format("%s stands without a key; write %s", show(value), STAGE_FORM) end
      local ours = STAGE_FOREIGN[key]
      return format("unknown key `%s`%s", key, ours and "; here it is called `" .. ours .. "`" or nearest.hint(key, STAGE_KEYS))
    end
  end
end

-- One stage; or nil and what is wrong with it.
local function read_stage(stage)
  if type(stage) ~= "table" then return nil, format("must be a table, not %s; write %s", show(stage), STAGE_FORM) end
  local wrong = check_stage_keys(stage)
  if wrong then return nil, wrong end
  local of = stage.users ~= nil and "users" or "rate"
  if stage[of] == nil or (stage.users ~= nil and stage.rate ~= nil) then return nil, "needs `users` or `rate`, one of the two" end
  local level, why = level_of(of, stage[of])
  if not level then return nil, format("`%s`: %s", of, why) end
  local result = { of = of, level = level }
  for _, key in ipairs { "over", "hold" } do
    result[key], why = units.duration(stage[key] == nil and 0 or stage[key])
    if not result[key] then return nil, format("`%s`: %s", key, why) end
  end
  return result
end

local function total(stages)
  local sum = 0
  for _, stage in ipairs(stages) do sum = sum + stage.over + stage.hold end
  return sum
end

local function highest(stages)
  local most = 0
  for _, stage in ipairs(stages) do most = max(most, stage.level) end
  return most
end

local function check_stages(list)
  if #list == 0 then return "is empty; write stages = { " .. STAGE_FORM:match("^%b{}") .. " }" end
  for i, stage in ipairs(list) do
    if stage.of ~= list[1].of then return format("stage %d has `%s` and stage 1 `%s`: one scenario has one model", i, stage.of, list[1].of) end
  end
  if total(list) == 0 then return "they take no time; give `over` or `hold`" end
  if highest(list) == 0 then return format("there is no stage with more than 0 %s", list[1].of == "users" and "users" or "iterations") end
end

--- Reads `stages`; nil and what is wrong.
function load.stages(value)
  if type(value) ~= "table" or value.users ~= nil or value.rate ~= nil then
    return nil, format("must be a list of stages, not %s; write stages = { %s }", type(value) == "table" and "one stage" or show(value), STAGE_FORM:match("^%b{}"))
  end
  local list = {}
  for i, stage in ipairs(value) do
    local read, why = read_stage(stage)
    if not read then return nil, format("stage %d: %s", i, why) end
    list[i] = read
  end
  for key, item in pairs(value) do
    if type(key) ~= "number" or not list[key] then return nil, format("%s is no part of the list", show(type(key) == "string" and key or item)) end
  end
  list.of = list[1] and list[1].of
  local wrong = check_stages(list)
  if wrong then return nil, wrong end
  return list
end

local function one_of(...)
  local words = { ... }
  local known, list = {}, {}
  for i, word in ipairs(words) do known[word], list[i] = true, show(word) end
  return function(value)
    if known[value] then return value end
    return nil, format("must be %s, not %s%s", table.concat(list, " or "), show(value), type(value) == "string" and nearest.hint(value, known) or "")
  end
end

local function warm_up(value)
  if value == "auto" then return value end
  return units.duration(value)
end

local function hook(value)
  if type(value) == "function" then return value end
  return nil, format("must be a function, not %s", show(value))
end

load.readers = {
  stages = load.stages, rate = units.rate, arrivals = one_of("constant", "poisson", "poisson_exact"), overflow = one_of("queue", "drop"), warm_up = warm_up, hook = hook,
}

--- Stages as they stand on the command line: "10/30s,100/5m", each a level that is ramped to over a time. `of` is "users" or "rate".
function load.stages_option(of, text)
  local list, example = { of = of }, of == "users" and "10/30s,100/5m" or "100/30s,1000/5m"
  for part in (text .. ","):gmatch("([^,]*),") do
    local level_text, time = part:match("^%s*(.-)%s*/%s*([^/]*)%s*$")
    if not level_text then return nil, format("%s is not LEVEL/TIME; write %s", show(part), example) end
    local level, why = units.count(level_text, 0)
    if not level and of == "rate" then level, why = level_of(of, tonumber(level_text) or level_text) end
    if not level then return nil, format("%s: %s", show(part), why) end
    local over
    over, why = units.duration(time)
    if not over then return nil, format("%s: %s", show(part), why) end
    list[#list + 1] = { of = of, level = level, over = over, hold = 0 }
  end
  local wrong = check_stages(list)
  if wrong then return nil, format("%s: %s", show(text), wrong:gsub("; give .*", "")) end
  return list
end

-- What goes together ---------------------------------------------------------------------------------------------------

local CLOSED_ONLY = { "users", "ramp_up", "iterations_per_user" }
local OPEN_ONLY = { "rate", "arrivals", "min_users", "max_users", "overflow" }

--- "open" or "closed", by the keys.
function load.model(values)
  return (values.rate ~= nil or (values.stages and values.stages.of == "rate")) and "open" or "closed"
end

local INSTEAD = { users = "; `max_users` limits how many run at once", ramp_up = "; a rate that grows is stages = { { rate = 100, over = \"30s\" } }",
  iterations_per_user = "; `iterations` counts all" }

local function wrong_open(values)
  for _, key in ipairs(CLOSED_ONLY) do
    if values[key] ~= nil then
      return format("`%s` belongs to the closed model, and `rate` is the open one, in which iterations begin whatever the server does%s", key, INSTEAD[key])
    end
  end
  if values.rate and values.stages then return "`rate` and `stages` both say how many iterations begin: use one of the two" end
  if values.rate and not values.duration and not values.iterations then return '`rate` needs an end: duration = "30s" or iterations = 1000' end
  if values.min_users and values.min_users > (values.max_users or load.MAX_USERS) then
    return format("`min_users` (%d) is more than `max_users` (%d)", values.min_users, values.max_users or load.MAX_USERS)
  end
end

local function wrong_closed(values)
  for _, key in ipairs(OPEN_ONLY) do
    if values[key] ~= nil then return format("`%s` belongs to the open model: add `rate`, or stages of rates", key) end
  end
  for _, key in ipairs { "users", "ramp_up" } do
    if values.stages and values[key] ~= nil then return format("`stages` say how many users there are and when: take `%s` away", key) end
  end
end

load.MAX_USERS = 10000

--- What does not go together in the values of a scenario, in words; nil when all does.
function load.wrong(values)
  local wrong = load.model(values) == "open" and wrong_open(values) or load.model(values) == "closed" and wrong_closed(values)
  if wrong then return wrong end
  if values.stages and values.duration then return "`stages` say how long it takes: take `duration` away" end
  if values.iterations and values.iterations_per_user then
    return "`iterations` counts all users together and `iterations_per_user` each of them: use one of the two"
  end
  local length = values.duration or (values.stages and total(values.stages))
  if values.warm_up == "auto" then
    return (not length or length >= FOREVER / 2 or values.iterations) and '`warm_up = "auto"` needs a `duration`, and no `iterations`: it is at most the first 30% of that' or nil
  end
  if values.warm_up and values.warm_up > 0 and length and values.warm_up >= length then
    return format("`warm_up` (%s) leaves nothing of the %s that it is the first part of", units.show_duration(values.warm_up), units.show_duration(length))
  end
end

local function drop(values, ...)
  for _, key in ipairs { ... } do values[key] = nil end
end

--- `under`, the defaults of a script, without what the scenario's own keys in `over` stand against: another model, or another way to say how many and how long.
function load.compatible(under, over)
  local result = {}
  for key, value in pairs(under) do result[key] = value end
  local of = over.stages and over.stages.of
  if over.rate or of == "rate" then drop(result, "users", "ramp_up", "iterations_per_user") end
  if over.users or over.ramp_up or of == "users" then drop(result, unpack(OPEN_ONLY)) end
  if over.stages then drop(result, "users", "ramp_up", "rate", "duration") end
  if over.users or over.rate or over.ramp_up or over.duration then drop(result, "stages") end
  if over.iterations then drop(result, "iterations_per_user") end
  if over.iterations_per_user then drop(result, "iterations") end
  return result
end

-- The command line -----------------------------------------------------------------------------------------------------

--- Options that change the load of one scenario: key and flag.
load.OPTIONS = { { "users", "-c" }, { "duration", "-d" }, { "iterations", "-n" }, { "rate", "-R" }, { "stages", "--stages" }, { "rate_stages", "--rate-stages" },
  { "arrivals", "--arrivals" }, { "ramp_up", "--ramp-up" }, { "warm_up", "--warm-up" }, { "graceful_stop", "--graceful-stop" } }

local CONTRADICTIONS = {
  { "stages", "--stages", "users", "-c" }, { "stages", "--stages", "duration", "-d" }, { "stages", "--stages", "ramp_up", "--ramp-up" },
  { "stages", "--stages", "rate", "-R" }, { "stages", "--stages", "rate_stages", "--rate-stages" }, { "rate_stages", "--rate-stages", "rate", "-R" },
  { "rate_stages", "--rate-stages", "duration", "-d" }, { "ramp_up", "--ramp-up", "rate", "-R" }, { "ramp_up", "--ramp-up", "rate_stages", "--rate-stages" },
}

--- What load.wrong says, with the options in place of the keys that they have set.
function load.in_options(why, given)
  return (why:gsub("`([%l_]+)`", function(key)
    for _, option in ipairs(load.OPTIONS) do
      local sets = option[1] == "rate_stages" and "stages" or option[1]
      if sets == key and given[option[1]] ~= nil then return option[2] end
    end
  end))
end

--- Ends the command when two options of the load contradict each other.
function load.check_given(given)
  for _, pair in ipairs(CONTRADICTIONS) do
    if given[pair[1]] and given[pair[3]] then errors.usage("%s and %s contradict each other: use one", pair[2], pair[4]) end
  end
end

-- What the script's stages lasted is how long it lasts without them, unless something else ends it.
local function forget_stages(values)
  if values.stages and not values.duration and not values.iterations then values.duration = total(values.stages) end
  values.stages = nil
end

local function become_open(values)
  if load.model(values) == "closed" then forget_stages(values) end
  drop(values, unpack(CLOSED_ONLY))
end

local function become_closed(values)
  if load.model(values) == "open" then forget_stages(values) end
  drop(values, unpack(OPEN_ONLY))
end

local function override_level(values, given)
  if given.rate or given.rate_stages then
    become_open(values)
    forget_stages(values)
    values.rate, values.max_users = given.rate, given.users or values.max_users
    if values.min_users then values.min_users = min(values.min_users, values.max_users or load.MAX_USERS) end
  elseif given.users or given.ramp_up or given.stages then
    become_closed(values)
    if given.users or given.stages then
      forget_stages(values)
      values.users, values.ramp_up = given.users, nil
    end
  end
  if given.stages or given.rate_stages then
    drop(values, "duration", "iterations", "iterations_per_user")
    values.stages = given.stages or given.rate_stages
  end
end

-- The stages up to `length`; longer than they are, the last one goes on.
local function cut(stages, length)
  local result, at, level = { of = stages.of }, 0, 0
  for _, stage in ipairs(stages) do
    local left = length - at
    if left <= 0 then break end
    local over = min(stage.over, left)
    local reached = over < stage.over and level + (stage.level - level) * over / stage.over or stage.level
    if stages.of == "users" then reached = floor(reached) end
    result[#result + 1] = { of = stage.of, level = reached, over = over, hold = min(stage.hold, left - over) }
    at, level = at + stage.over + stage.hold, stage.level
  end
  local last = result[#result]
  if length > at then last.hold = last.hold + length - at end
  return result
end

local function override_end(values, given)
  if not given.duration and not given.iterations then return end
  values.duration, values.iterations, values.iterations_per_user = given.duration, given.iterations, nil
  if not values.stages then return end
  values.stages = cut(values.stages, given.duration or FOREVER)
  values.duration = nil
end

--- Changes the values of a scenario as the options say. Ends the command when the result makes no sense.
function load.override(values, given)
  override_level(values, given)
  override_end(values, given)
  values.ramp_up = given.ramp_up or values.ramp_up
  values.arrivals = given.arrivals or values.arrivals
  values.warm_up = given.warm_up or values.warm_up
  values.graceful_stop = given.graceful_stop or values.graceful_stop
  if not values.duration and not values.iterations and not values.iterations_per_user and not values.stages and load.model(values) == "closed" then
    values.iterations_per_user = 1
  end
  return load.wrong(values)
end

--- How many users there are at most.
function load.most_users(values)
  if load.model(values) == "open" then return values.max_users or load.MAX_USERS end
  return values.stages and highest(values.stages) or values.users or 1
end

-- The plan -------------------------------------------------------------------------------------------------------------

--- The fields of the plan (docs/core.md) that say how much and when.
function load.effective(values, defaults)
  local function of(key)
    if values[key] ~= nil then return values[key] end
    return defaults[key]
  end
  local open = load.model(values) == "open"
  local length = values.stages and total(values.stages)
  local auto, warm_up = values.warm_up == "auto", of "warm_up"
  if auto then warm_up = MOST_WARM * (values.duration or length) end
  return {
    model = open and "open" or "closed", stages = values.stages, iterations = values.iterations, iterations_per_user = values.iterations_per_user,
    duration = values.duration or (length and length < FOREVER / 2 and length) or nil, start_after = of "start_after", warm_up = warm_up, warm_up_auto = auto or nil,
    graceful_stop = of "graceful_stop", fresh = of "fresh", users = not open and load.most_users(values) or nil,
    ramp_up = not open and not values.stages and of "ramp_up" or nil, rate = values.rate, arrivals = open and of "arrivals" or nil,
    min_users = open and values.min_users or nil, max_users = open and load.most_users(values) or nil, overflow = open and of "overflow" or nil,
    run = values.run, on_start = values.on_start, on_stop = values.on_stop, setup = values.setup, teardown = values.teardown,
  }
end

return load
