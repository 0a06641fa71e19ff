-- The globals of a script of wrk's: Lua's own, with the same permissions as other scripts have, in tables of their own that it may write to; what it
-- prints; and `require`, whose path begins in the current folder.
local core = require "luabench.core"
local errors = require "luabench.errors"
local files = require "luabench.files"
local json = require "luabench.json"
local libraries = require "luabench.libraries"
local permissions = require "luabench.permissions"
local stage = require "luabench.stage"

local environment = {}

local show = errors.show
local load, type, tostring, select, concat = load, type, tostring, select, table.concat

local BASIC = "assert error getmetatable ipairs next pairs pcall rawequal rawget rawset select setmetatable tonumber tostring type unpack xpcall collectgarbage _VERSION"

-- Output ---------------------------------------------------------------------------------------------------------------

-- The control state prints where wrk does, unless that is the place of a result (--json). What workers print in a run are lines of the log; what they print
-- while the script is loaded has been printed by the control state.
local output = { descriptor = 1, pending = "" }

--- Before the run nothing stands in the way of what a thread prints, either.
function environment.print_directly(on) output.direct = on end

--- Where prints go to: standard output, or with --json standard error.
function environment.configure(given)
  output.descriptor = given.json and 2 or 1
end

local function write(text)
  if stage.role == "control" or output.direct then
    core.write(output.descriptor, text)
  elseif not stage.loading then
    local lines = output.pending .. text
    for line in lines:gmatch("([^\n]*)\n") do core.log("print", line) end
    output.pending = lines:match("[^\n]*$")
  end
end

local function print_values(...)
  local texts = { ... }
  for i = 1, select("#", ...) do texts[i] = tostring(texts[i]) end
  write(concat(texts, "\t", 1, select("#", ...)) .. "\n")
end

-- A file object that is a stream of the process.
local function stream(put)
  local file = {}
  function file.write(self, ...)
    for i = 1, select("#", ...) do put(tostring((select(i, ...)))) end
    return self
  end
  function file.flush() return true end
  function file.setvbuf() return true end
  function file.close() return nil, "cannot close standard file" end
  return setmetatable(file, { __tostring = function() return "file (standard)" end })
end

local function put_error(text)
  if stage.role == "control" or output.direct then core.write(2, text) else write(text) end
end

-- Libraries ------------------------------------------------------------------------------------------------------------

-- A table of the script's own over the library, which cannot be written to.
local function own(library)
  return setmetatable({}, { __index = library })
end

-- Functions that a script adds to `string` are methods of strings, too, but never in place of Lua's own.
local function own_string(library)
  local added = own(library)
  local methods = debug.getmetatable("").__index
  setmetatable(methods, { __index = function(_, name) return rawget(added, name) end })
  return added
end

local function io_library(library)
  local io = own(library)
  io.stdout, io.stderr = stream(write), stream(put_error)
  io.write = function(...) return io.stdout:write(...) end
  io.flush = io.stdout.flush
  local close = library.close
  io.close = function(file)
    if file == nil then return nil end
    return close(file)
  end
  return io
end

local function os_library(library)
  local os = own(library)
  os.exit = function(status)
    if status == nil or status == true then status = 0 end
    core.quit(type(status) == "number" and status or 1)
  end
  return os
end

-- Files of Lua ---------------------------------------------------------------------------------------------------------

local function load_file(env, path)
  if type(path) ~= "string" then errors.script("loadfile needs a path, not %s", show(path)) end
  local real, why = permissions.readable(path)
  if not real then errors.script("%s: %s", path, why) end
  local text
  text, why = files.read(real)
  if not text then return nil, "cannot open " .. path .. ": " .. why end
  return load(text, "@" .. path, "t", env)
end

local function run_file(env, path)
  local chunk, why = load_file(env, path)
  if not chunk then error(why, 0) end
  return chunk()
end

local function search(package, name)
  local part, tried = name:gsub("%.", "/"), {}
  for template in tostring(package.path):gmatch("[^;]+") do
    local path = template:gsub("%?", (part:gsub("%%", "%%%%")))
    if files.exists(path) then return path end
    tried[#tried + 1] = path
  end
  errors.script("module `%s` is not found; looked for it as:\n  %s", name, concat(tried, "\n  "))
end

local function require_function(env, package)
  return function(name)
    if type(name) ~= "string" then errors.script("require needs the name of a module, not %s", show(name)) end
    local known = package.loaded[name]
    if known ~= nil then return known end
    if name == "ffi" then permissions.demand("ffi", 'require "ffi"') end
    local chunk = package.preload[name]
    local why
    if not chunk then
      local path = search(package, name)
      local text
      text, why = files.read(path)
      if text then chunk, why = load(text, "@" .. path, "t", env) end
    end
    if not chunk then errors.script("module `%s`: %s", name, why) end
    local value = chunk(name)
    if value ~= nil then package.loaded[name] = value end
    if package.loaded[name] == nil then package.loaded[name] = true end
    return package.loaded[name]
  end
end

-- cjson, and of socket what tells the time ---------------------------------------------------------------------------

local function decode(text)
  local value, why = json.decode(text)
  if value == nil and why then error(why, 2) end
  return value
end

local function no_setting() return true end

local function cjson(safe)
  local own_decode = safe and function(text) return json.decode(text) end or decode
  return {
    encode = json.encode, decode = own_decode, null = json.null, empty_array = json.array {}, _NAME = "cjson", _VERSION = "luabench " .. core.VERSION,
    encode_sparse_array = no_setting, encode_max_depth = no_setting, decode_max_depth = no_setting, encode_number_precision = no_setting,
    encode_keep_buffer = no_setting, encode_invalid_numbers = no_setting, decode_invalid_numbers = no_setting, decode_array_with_array_mt = no_setting,
    array_mt = {}, empty_array_mt = {},
  }
end

local function socket()
  return setmetatable({ gettime = core.time }, { __index = function(_, name)
    errors.script("socket.%s is not there: a script of wrk's has socket.gettime alone; anything that waits would stop all connections of its thread", tostring(name))
  end })
end

-- All ------------------------------------------------------------------------------------------------------------------

local PATH = "./?.lua;./?/init.lua;%s/?.lua;%s/?/init.lua;/usr/local/share/lua/5.1/?.lua;/usr/local/share/lua/5.1/?/init.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"

local function packages(env, folder)
  local loaded = { _G = env, cjson = cjson(), ["cjson.safe"] = cjson(true), socket = socket(), ffi = libraries.ffi(), bit = env.bit }
  for _, name in ipairs { "string", "table", "math", "io", "os", "debug", "coroutine", "jit" } do loaded[name] = env[name] end
  loaded["table.new"], loaded["table.clear"] = require "table.new", require "table.clear"
  return { path = PATH:gsub("%%s", (folder:gsub("%%", "%%%%"))), cpath = "", loaded = loaded, preload = {}, config = package.config }
end

--- The environment of a script whose file is in `folder`.
function environment.new(folder)
  local env = {}
  for name in BASIC:gmatch("%S+") do env[name] = _G[name] end
  local made, buffer = libraries.make()
  libraries.seal()
  for name, library in pairs(made) do env[name] = own(library) end
  env.string, env.io, env.os = own_string(made.string), io_library(made.io), os_library(made.os)
  env._G, env.print = env, print_values
  env.load = function(text, name, _, other) return load(text, name, "t", other or env) end
  env.loadstring = function(text, name) return load(text, name, "t", env) end
  env.loadfile = function(path) return load_file(env, path) end
  env.dofile = function(path) return run_file(env, path) end
  env.package = packages(env, folder)
  env.package.loaded["string.buffer"] = buffer
  env.require = require_function(env, env.package)
  return env
end

return environment
