-- What a user does besides HTTP: checks, outcome, time, log lines. Thin functions over the core that say what is wrong with a call; check and must are the core's own.
local core = require "luabench.core"
local errors = require "luabench.errors"
local stage = require "luabench.stage"
local terminal = require "luabench.terminal"
local units = require "luabench.units"

local vu = {}

local show = errors.show
local core_fail, core_sleep, core_pace = core.fail, core.sleep, core.pace
local type, select, tostring, random = type, select, tostring, core.random
local concat = table.concat

--- check(name, value, why): counts whether `value` is true, under `name`; returns it. `why` is shown with the failures.
vu.check = core.check

--- must(name, value, why): the same, and a failure ends the iteration.
vu.must = core.must

local function expect_text(call, value, extra, optional)
  if stage.loading then stage.refuse(call) end
  if extra ~= nil or (type(value) ~= "string" and not (optional and value == nil)) then errors.script('%s takes one text: %s("...")', call, call) end
end

--- Ends the iteration as failed.
function vu.fail(text, extra)
  expect_text("fail", text, extra)
  core_fail(text)
end

--- Ends this user; the others go on.
function vu.stop_user(extra)
  if extra ~= nil then errors.script("stop_user() takes no argument") end
  if stage.loading then stage.refuse("stop_user") end
  core.stop_user()
end

--- Ends the whole run, with exit status 3.
function vu.stop_run(text, extra)
  expect_text("stop_run", text, extra, true)
  core.stop_run(text)
end

local seconds_of = {} -- text → seconds

local function seconds(call, value)
  if type(value) == "number" and value >= 0 and value <= units.LONGEST then return value end
  local known = seconds_of[value]
  if known then return known end
  local read, why = units.duration(value)
  if not read then errors.script("%s: %s", call, value == nil and "how long? write " .. call .. '(1) or ' .. call .. '("250ms")' or why) end
  if type(value) == "string" then seconds_of[value] = read end
  return read
end

--- Waits: sleep(1), sleep("250ms"), or a random time between two: sleep(1, 3).
function vu.sleep(least, most, extra)
  if stage.loading then stage.refuse("sleep") end
  if extra ~= nil then errors.script("sleep takes one duration, or two to choose between: sleep(1, 3)") end
  local from = seconds("sleep", least)
  if most == nil then return core_sleep(from) end
  local to = seconds("sleep", most)
  if to < from then errors.script("sleep(%s, %s): the shorter time comes first", show(least), show(most)) end
  return core_sleep(from + (to - from) * random())
end

--- Waits until this long after the iteration was due.
function vu.pace(period, extra)
  if stage.loading then stage.refuse("pace") end
  if extra ~= nil then errors.script("pace takes one duration") end
  local read = seconds("pace", period)
  if read == 0 then errors.script("pace: must be more than 0, not %s", show(period)) end
  return core_pace(read)
end

local group_begin, group_end, note_error = core.group_begin, core.group_end, core.note_error

local function end_group(number, good, ...)
  group_end(number, good)
  if good then return ... end
  error((...), 0)
end

--- group(name, f): a transaction of its own, timed without sleep and pace; returns what f returns. Groups in groups are `outer/inner`.
function vu.group(name, f, extra)
  if stage.loading then stage.refuse("group") end
  if type(name) ~= "string" or name == "" or type(f) ~= "function" or extra ~= nil then
    errors.script('group takes a name and a function: group("checkout", function() ... end)')
  end
  return end_group(group_begin(name), xpcall(f, note_error))
end

--- Seconds of a clock that only goes forward.
function vu.now(extra)
  if extra ~= nil then errors.script("now() takes no argument") end
  return core.now()
end

local function joined(...)
  local count = select("#", ...)
  if count == 1 then return tostring((...)) end
  local texts = { ... }
  for i = 1, count do texts[i] = tostring(texts[i]) end
  return concat(texts, "\t", 1, count)
end

-- What a script says while it is loaded is shown once, by the control state.
local function say(level, text)
  if not stage.loading then return core.log(level, text) end
  if stage.role == "control" then core.write(2, terminal.lines(text .. "\n")) end
end

--- Goes to standard error, with standard output kept for the results.
function vu.print(...) say("print", joined(...)) end

vu.log = {
  info = function(...) say("info", joined(...)) end,
  warn = function(...) say("warn", joined(...)) end,
  error = function(...) say("error", joined(...)) end,
  debug = function(...)
    if stage.debug then say("debug", joined(...)) end -- heard with --debug alone
  end,
}

return vu
