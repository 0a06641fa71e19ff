-- The fields of `user` that are Lua's: the core asks here for what it does not know. What they keep lies in the user's state, a table that exists for users who have
-- something in it alone.
local core = require "luabench.core"
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"

local user = {}

local format = string.format

local readers, writers = {}, {}

function readers.headers(state) return state and state.headers end

function writers.headers(value)
  if value ~= nil and type(value) ~= "table" then
    errors.script('user.headers must be a table, not %s; write user.headers = { ["X-Name"] = "value" }', errors.show(value))
  end
  return value
end

local NAMES = { "id", "iteration", "sequence", "scenario", "vars", "headers" }

local function read(object, key)
  local reader = readers[key]
  if reader then return reader(core.state(object, false), object) end
  local near = type(key) == "string" and nearest.name(key, NAMES)
  errors.script("user has no field `%s`%s; your own values belong into user.vars, as user.vars.%s", tostring(key),
    near and format(", did you mean `%s`?", near) or "", tostring(key))
end

local function write(object, key, value)
  local writer = writers[key]
  if not writer then errors.script("user.%s cannot be assigned; use user.vars.%s", tostring(key), tostring(key)) end
  core.state(object, true)[key] = writer(value)
end

core.user_fields(read, write)

return user
