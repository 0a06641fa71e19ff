-- What a script can name. Its globals are a white list; a name that is not on it is an error with the nearest one, for reading and for assigning,
-- so that users share nothing by accident. Nothing of the list, nor any field of it, can be assigned.
local errors = require "luabench.errors"
local http = require "luabench.http"
local json = require "luabench.json"
local later = require "luabench.later"
local nearest = require "luabench.nearest"
local params = require "luabench.params"
local scenario = require "luabench.scenario"
local vu = require "luabench.vu"

local sandbox = {}

local setmetatable, rawget, type, load = setmetatable, rawget, type, load
local format = string.format

-- A face of `functions` that cannot be written to, and says so for fields that do not exist.
local function read_only(name, functions, later_fields)
  setmetatable(functions, { __index = function(_, key)
    if type(key) == "string" and later_fields and later_fields[key] then errors.script("%s.%s %s", name, key, later.TEXT) end
    errors.script("%s has no function `%s`%s", name, tostring(key), nearest.hint(key, functions))
  end })
  return setmetatable({}, { __index = functions, __metatable = false, __newindex = function(_, key)
    errors.script("%s.%s cannot be assigned: `%s` belongs to luabench", name, tostring(key), name)
  end })
end

local function copy(from, names)
  local result = {}
  if names then
    for name in names:gmatch("%S+") do result[name] = from[name] end
  else
    for key, value in pairs(from) do result[key] = value end
  end
  return result
end

-- Lua's own libraries are shared by all code of the state: a script gets copies, in which a missing field is nil, as modules expect.
local function library(name, functions)
  return setmetatable({}, { __index = functions, __metatable = false, __newindex = function(_, key)
    errors.script("%s.%s cannot be assigned: `%s` belongs to Lua", name, tostring(key), name)
  end })
end

local safe_string = copy(string)
safe_string.dump = nil

local BASIC = "assert error getmetatable ipairs next pairs pcall rawequal rawget rawset select setmetatable tonumber tostring type unpack xpcall collectgarbage _VERSION"

local function lua_globals()
  local globals = copy(_G, BASIC)
  globals.string = library("string", safe_string)
  globals.table = library("table", copy(table))
  globals.math = library("math", copy(math))
  globals.bit = library("bit", copy(require "bit"))
  globals.coroutine = library("coroutine", copy(coroutine))
  globals.os = library("os", copy(os, "time date clock difftime"))
  globals.debug = library("debug", copy(debug, "traceback getinfo"))
  globals.jit = library("jit", copy(jit, "version version_num os arch"))
  return globals
end

local function luabench_globals()
  return {
    scenario = scenario.define, defaults = scenario.defaults, params = params.declare,
    http = read_only("http", copy(http, "get head post put patch delete options request"), later.http_functions),
    json = read_only("json", copy(json)),
    log = read_only("log", copy(vu.log)),
    check = vu.check, must = vu.must, fail = vu.fail, sleep = vu.sleep, pace = vu.pace, now = vu.now, print = vu.print,
    stop_user = vu.stop_user, stop_run = vu.stop_run,
  }
end

-- Names of Lua that a script does not get, and why.
local WITHHELD = {
  io = "a script cannot open files", dofile = "use require", loadfile = "use require", package = "use require", module = "return a table from the file",
  setfenv = "", getfenv = "", newproxy = "", ffi = "", gcinfo = 'use collectgarbage("count")', arg = "what follows -- on the command line is `...`",
}

local function all_names(globals)
  local names = {}
  for name in pairs(globals) do names[#names + 1] = name end
  return names
end

local function explain_missing(globals, name, verb)
  if type(name) ~= "string" then errors.script("a global needs a name, not %s", errors.show(name)) end
  if later.globals[name] then errors.script("`%s` %s", name, later.TEXT) end
  if WITHHELD[name] and verb == "read" then
    errors.script("`%s` is not available to scripts%s", name, WITHHELD[name] ~= "" and "; " .. WITHHELD[name] or "")
  end
  return nearest.hint(name, all_names(globals))
end

local function strict_index(globals)
  return function(_, name)
    errors.script("`%s` is not defined%s", tostring(name), explain_missing(globals, name, "read"))
  end
end

local function refuse_known(globals, name)
  if rawget(globals, name) ~= nil then
    errors.script("`%s` cannot be assigned: it belongs to %s; choose another name, with local", tostring(name), _G[name] ~= nil and name ~= "print" and "Lua" or "luabench")
  end
end

local function strict_newindex(globals)
  return function(_, name, value)
    refuse_known(globals, name)
    if later.globals[name] then errors.script("`%s` cannot be assigned: it belongs to luabench", name) end
    local form = type(value) == "function" and format("local function %s(...)", tostring(name)) or format("local %s = ...", tostring(name))
    errors.script("`%s` is assigned without `local`; write %s (all users of a thread share it; what belongs to one user goes into user.vars)", tostring(name), form)
  end
end

local function refuse_bytecode_loader(env, globals)
  globals.load = function(chunk, name, _, other) return load(chunk, name, "t", other or env) end
  globals.loadstring = function(chunk, name) return load(chunk, name, "t", env) end
end

--- Two environments over the same globals: `script`, strict, for the main script; `module`, for files that it requires, which may have globals of
--- their own, as older Lua modules do. `require` is the function that both see.
function sandbox.environments(require_function)
  local globals = lua_globals()
  for name, value in pairs(luabench_globals()) do globals[name] = value end
  globals.require = require_function
  local script = setmetatable({}, { __index = globals, __newindex = strict_newindex(globals), __metatable = false })
  local module = setmetatable({}, { __index = function(_, name) return rawget(globals, name) end, __metatable = false,
    __newindex = function(env, name, value)
      refuse_known(globals, name)
      rawset(env, name, value)
    end })
  refuse_bytecode_loader(script, globals)
  globals._G = script
  rawset(module, "_G", module)
  setmetatable(globals, { __index = strict_index(globals) })
  return script, module
end

--- Takes string.dump away from the methods of strings, and hides the table behind them.
function sandbox.seal()
  local strings = getmetatable("")
  if type(strings) ~= "table" then return end
  strings.__index = safe_string
  strings.__metatable = false
end

--- Modules of ours and of Lua that `require` gives to a script, by name.
function sandbox.modules(env)
  local buffer_ok, buffer = pcall(require, "string.buffer")
  return {
    ["luabench.http"] = env.http, ["luabench.json"] = env.json, ["luabench.log"] = env.log,
    string = env.string, table = env.table, math = env.math, bit = env.bit, coroutine = env.coroutine, os = env.os, debug = env.debug, jit = env.jit,
    ["table.new"] = require "table.new", ["table.clear"] = require "table.clear", ["string.buffer"] = buffer_ok and buffer or nil, _G = env,
  }
end

return sandbox
