-- `env`: the environment variables that -e gives to the script, and no others.
local core = require "luabench.core"
local errors = require "luabench.errors"
local secrets = require "luabench.secrets"
local stage = require "luabench.stage"
local terminal = require "luabench.terminal"

local env = {}

local getenv = os.getenv
local given, warned = {}, {}

--- Told before a script is loaded: the texts of -e, NAME or NAME=VALUE.
function env.configure(list)
  given, warned = {}, {}
  for _, text in ipairs(list or {}) do
    local name, value = text:match("^([%a_][%w_]*)=(.*)$")
    name = name or text
    if given[name] ~= nil then errors.usage("-e %s is given twice", name) end
    value = value or getenv(name)
    if value == nil then errors.usage("-e %s: there is no such variable in the environment; give it a value: -e %s=VALUE", name, name) end
    given[name] = value
    secrets.add(value)
  end
end

--- The value that was given, or nil. One that is set but was not passed gets a warning.
function env.get(name)
  local value = given[name]
  if value ~= nil or type(name) ~= "string" then return value end
  if not warned[name] and getenv(name) ~= nil and stage.role == "control" then
    warned[name] = true
    core.write(2, terminal.lines(("luabench: warning: the variable %s is set, but scripts see none unless it is passed on: -e %s\n"):format(name, name)))
  end
  return nil
end

return env
