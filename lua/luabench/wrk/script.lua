-- A script of wrk's in this Lua state: its environment, its table `wrk`, and how its functions are called so that their errors say where they are.
local api = require "luabench.wrk.api"
local core = require "luabench.core"
local environment = require "luabench.wrk.env"
local errors = require "luabench.errors"
local files = require "luabench.files"
local url = require "luabench.url"

local script = {}

local unpack, xpcall, tostring = unpack, xpcall, tostring

--- The script of this state: { env, wrk, path, target, args }; nil before it is loaded.
script.current = nil

local function calls(text)
  local frames = errors.script_frames(debug.traceback("", 3))
  if #frames == 0 or (#frames == 1 and text:find("^[^\n]-:%d+: ")) then return "" end
  return "\n" .. table.concat(frames, "\n")
end

local function on_error(value)
  local text = core.error_text(value)
  return text .. calls(text)
end

--- Calls a function of the script: nil, or its error as text, with the calls that led to it.
function script.try(f, ...)
  local args, count = { ... }, select("#", ...)
  local ok, why = xpcall(function() f(unpack(args, 1, count)) end, on_error)
  if not ok then return why end
end

local function header_list(given)
  local list = {}
  for i, text in ipairs(given.headers or {}) do
    local name, value = text:match("^([^:]+):%s*(.-)%s*$")
    if not name then errors.usage("-H %s: with a script of wrk's write 'Name: value'", errors.show(text)) end
    list[i] = { name, value }
  end
  return list
end

-- args[0] is the URL, args[1] and so on are the words behind it.
local function arguments(address, given)
  local args = { [0] = address }
  for i = 2, #given.words do args[#args + 1] = given.words[i] end
  for _, word in ipairs(given.args) do args[#args + 1] = word end
  return args
end

-- The script may read below its own folder and below the current one, in which paths begin.
local function configure(path, given)
  local folders = { files.script_folder(path) }
  for _, folder in ipairs(given.allow_read or {}) do folders[#folders + 1] = folder end
  require("luabench.secrets").reset(given.show_secrets)
  require("luabench.env").configure(given.env)
  require("luabench.params").configure({})
  require("luabench.permissions").configure(".", setmetatable({ allow_read = folders }, { __index = given }))
  core.random_seed(given.seed or 0)
  environment.configure(given)
end

--- Loads the script that `given` names. What is wrong with it ends the command.
function script.load(given)
  local path, address = given.script == "-" and "/dev/stdin" or given.script, given.words[1]
  local text, why = files.source(path)
  if not text then errors.usage("cannot read the script %s: %s", errors.path(path), why) end
  local absolute
  absolute, why = url.absolute(url.with_scheme(address))
  if not absolute then errors.usage("%s", why) end
  configure(path, given)
  local target = api.target(absolute)
  local env = environment.new(files.script_folder(path))
  env.wrk = api.new(env, target, header_list(given))
  env.package.loaded.wrk = env.wrk
  script.current = { env = env, wrk = env.wrk, path = path, target = target, args = arguments(address, given) }
  local chunk
  chunk, why = load(text, "@" .. path, "t", env)
  if not chunk then errors.usage("%s", errors.not_compiled(text, path, why)) end
  why = script.try(chunk)
  if why then errors.usage("%s", why) end
  return script.current
end

return script
