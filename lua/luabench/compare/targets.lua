-- The targets of a comparison: what a script says of each, checked.
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local units = require "luabench.units"
local url = require "luabench.url"

local targets = {}

local show = errors.show

local function text(value)
  if type(value) == "string" and value ~= "" and not value:find("%z") then return value end
  return nil, ("must be a text, not %s"):format(show(value))
end

local function line(value)
  if type(value) == "string" and value ~= "" and not value:find("%c") then return value end
  return nil, ("must be a line of text, not %s"):format(show(value))
end

local function number_up_to(most)
  return function(value)
    local number, why = units.count(value)
    if number and number > most then return nil, ("%s is more than %d"):format(show(value), most) end
    return number, why
  end
end

local function in_list(word)
  local words = {}
  for part in word:gmatch("%S+") do words[#words + 1] = show(part) end
  return "{ " .. table.concat(words, ", ") .. " }"
end

local function command(value)
  if type(value) == "string" then return nil, ("is a list of words, since no shell reads it: command = %s"):format(in_list(value)) end
  if type(value) ~= "table" or #value == 0 then return nil, ('must be a list of words, not %s: command = { "node", "server.js" }'):format(type(value) == "table" and "an empty table" or show(value)) end
  local words = {}
  for i, word in ipairs(value) do
    if type(word) == "number" then word = units.digits(word) end
    if type(word) ~= "string" or word:find("%z") then return nil, ("word %d must be a text, not %s"):format(i, show(word)) end
    words[i] = word
  end
  if words[1] == "" then return nil, "begins with the program, not with an empty text" end
  for key in pairs(value) do
    if not words[key] then return nil, ("is a list; %s is no part of it"):format(show(key)) end
  end
  return words
end

local function environment(value)
  if type(value) ~= "table" then return nil, ('must be a table, not %s: env = { PORT = "3000" }'):format(show(value)) end
  local result = {}
  for name, each in pairs(value) do
    local kind = type(each)
    if type(name) ~= "string" or name == "" or name:find("[=%z]") then return nil, ("%s is no name of a variable"):format(show(name)) end
    if kind ~= "string" and kind ~= "number" and kind ~= "boolean" then return nil, ("`%s` must be a text, not %s"):format(name, show(each)) end
    result[#result + 1] = name .. "=" .. (kind == "number" and units.digits(each) or tostring(each))
  end
  table.sort(result)
  return result
end

local function boolean(value)
  if type(value) == "boolean" then return value end
  return nil, ("must be true or false, not %s"):format(show(value))
end

local function path(value)
  if type(value) == "string" and value:find("^/[^%c%s]*$") then return value end
  return nil, ('must be a path, not %s: ready = "/"'):format(show(value))
end

local READERS = {
  name = line, url = url.target, command = command, env = environment, cwd = text, ready = path, ready_timeout = units.positive_duration, stop_timeout = units.duration,
  restart = boolean, pid = number_up_to(4194304), port = number_up_to(65535),
}

local NEEDS_COMMAND = { "env", "cwd", "stop_timeout", "restart" }

local function wrong(target)
  if not target.name then return '`name` is missing: { name = "node", url = "http://127.0.0.1:3000" }' end
  if not target.url then return '`url` is missing: where does it listen? url = "http://127.0.0.1:3000"' end
  if target.command and (target.pid or target.port) then return "`pid` and `port` are for a server that is there already; `command` starts one: use one" end
  if target.pid and target.port then return "`pid` and `port` both say which process to watch: use one" end
  for _, key in ipairs(NEEDS_COMMAND) do
    if target[key] ~= nil and not target.command then return ("`%s` is for a server that is started: `command` is missing"):format(key) end
  end
end

local function with_defaults(target)
  target.ready, target.ready_timeout, target.stop_timeout = target.ready or "/", target.ready_timeout or 30, target.stop_timeout or 5
  if target.restart == nil then target.restart = true end
  return target
end

--- Reads one target; `seen` are the names of those before. Returns it with its defaults, or nil and what is wrong.
function targets.read(value, seen)
  if type(value) ~= "table" then return nil, ('must be a table, not %s: { name = "node", url = "http://127.0.0.1:3000" }'):format(show(value)) end
  local result = {}
  for key, each in pairs(value) do
    local read = READERS[key]
    if not read then return nil, ("unknown key `%s`%s"):format(tostring(key), nearest.hint(tostring(key), READERS)) end
    local why
    result[key], why = read(each)
    if result[key] == nil then return nil, ("`%s`: %s"):format(key, why) end
  end
  local why = wrong(result)
  if why then return nil, why end
  if seen[result.name] then return nil, ("there are two targets %s"):format(show(result.name)) end
  seen[result.name] = true
  return with_defaults(result)
end

return targets
