-- Lua's own libraries as scripts get them: copies, so that nothing a script does to them reaches our code, without what leads out of the sandbox, and with what
-- needs leave asking for it. What is not listed here does not exist for a script.
--
-- Known ways out, and where they end: ffi is loaded here first and then taken out of package.loaded, so that neither require nor a literal like 1LL (whose parser
-- loads it again) brings it back; memory pointers of string.buffer (ref, reserve) are removed; getinfo does not give functions, since those of the core are on the
-- stack; bytecode is neither written (string.dump) nor read (load takes text); metatables of strings and files are hidden and harmless.
local core = require "luabench.core"
local coroutines = require "luabench.coroutines"
local env = require "luabench.env"
local errors = require "luabench.errors"
local permissions = require "luabench.permissions"
local random = require "luabench.random"
local stage = require "luabench.stage"

local libraries = {}

local show = errors.show
local getinfo, type, unpack, open, gsub = debug.getinfo, type, unpack, io.open, string.gsub

local _, ffi = pcall(require, "ffi")
package.loaded.ffi, package.preload.ffi = nil, nil

local function copy(from, names)
  local result = {}
  if names then
    for name in names:gmatch("%S+") do result[name] = from[name] end
  else
    for key, value in pairs(from) do result[key] = value end
  end
  return result
end

local LEADS_OUT = "it leads out of what a script may do, and no option gives it"
local COMPILER = "how scripts are compiled is luabench's; there are jit.version, jit.version_num, jit.os and jit.arch"

-- What scripts do not get of Lua's libraries, and why; [1]: of all that is not there. Modules, which look what there is, find nil.
local REFUSED = {
  string = { dump = "bytecode is neither written nor read; a function goes to other places as text" },
  debug = { "debug.traceback and debug.getinfo are all there is; " .. LEADS_OUT },
  jit = { COMPILER },
  io = { stdout = "standard output is for the results; use print or log.info", stdin = "what a run needs comes with -p, -e or a file", stderr = "use print or log.info" },
}

-- Scripts share these tables between all their modules: they can be read, not written.
local function library(name, functions)
  local refused = REFUSED[name]
  if refused then
    setmetatable(functions, { __index = function(_, key)
      local why = refused[key] or refused[1]
      if why and stage.script and errors.is_in(stage.script) then errors.script("%s.%s is not available to scripts: %s", name, tostring(key), why) end
    end })
  end
  return setmetatable({}, { __index = functions, __metatable = false, __newindex = function(_, key)
    errors.script("%s.%s cannot be assigned: `%s` belongs to Lua", name, tostring(key), name)
  end })
end

local safe_string = copy(string)
safe_string.dump = nil

-- Gsub is C, and the function that it calls may call it again.
function safe_string.gsub(subject, pattern, replacement, ...)
  if type(replacement) ~= "string" then core.deeper() end
  return gsub(subject, pattern, replacement, ...)
end

-- What asks for leave when it is called.
local function with_leave(kind, name, real)
  return function(...)
    permissions.demand(kind, name)
    return real(...)
  end
end

-- io and os ------------------------------------------------------------------------------------------------------------

local function path_of(call, path)
  if type(path) ~= "string" then errors.script("%s needs a path, not %s", call, show(path)) end
  return path
end

local function script_open(path, mode)
  mode = mode or "r"
  if type(mode) ~= "string" or not mode:find("^[rwa]%+?b?$") then errors.script("io.open: %s is no mode; write \"r\" or \"rb\"", show(mode)) end
  local reads = mode == "r" or mode == "rb"
  local judge = reads and permissions.readable or permissions.writable
  local real, why = judge(path_of("io.open", path))
  if not real then errors.script("io.open(%s): %s", show(path), why) end
  local file, problem, number = open(real, mode)
  if file then return file end
  return nil, problem, number
end

local function script_lines(path, ...)
  local real, why = permissions.readable(path_of("io.lines", path))
  if not real or why then errors.script("io.lines(%s): %s", show(path), why) end
  return io.lines(real, ...)
end

local function script_remove(path)
  local real, why = permissions.writable(path_of("os.remove", path))
  if not real then errors.script("os.remove(%s): %s", show(path), why) end
  return os.remove(real)
end

local function script_rename(from, to)
  local real_from, why = permissions.writable(path_of("os.rename", from))
  if not real_from then errors.script("os.rename(%s): %s", show(from), why) end
  local real_to, why_to = permissions.writable(path_of("os.rename", to))
  if not real_to then errors.script("os.rename(%s): %s", show(to), why_to) end
  return os.rename(real_from, real_to)
end

local function instead(name, advice)
  return function() errors.script("%s is not available to scripts; %s", name, advice) end
end

local function io_library()
  local functions = {
    open = script_open, lines = script_lines, type = io.type,
    close = function(file)
      if file == nil then errors.script("io.close needs the file to close") end
      return io.close(file)
    end,
    popen = with_leave("run", "io.popen", io.popen),
    write = instead("io.write", "use print or log.info: standard output is for the results"),
    read = instead("io.read", "what a run needs comes with -p, -e or a file"),
    input = instead("io.input", "open the file with io.open"), output = instead("io.output", "open the file with io.open"),
    tmpfile = with_leave("all", "io.tmpfile", io.tmpfile),
  }
  return library("io", functions)
end

local function os_library()
  local functions = copy(os, "time date clock difftime")
  functions.execute = with_leave("run", "os.execute", os.execute)
  functions.tmpname = with_leave("all", "os.tmpname", os.tmpname)
  functions.remove, functions.rename = script_remove, script_rename
  functions.getenv = function(name) return env.get(name) end
  functions.exit = instead("os.exit", "use stop_run(\"why\")")
  functions.setlocale = instead("os.setlocale", "numbers are always written with a point")
  return library("os", functions)
end

-- debug ----------------------------------------------------------------------------------------------------------------

-- getinfo without functions: level or function, and options; a thread may stand before them.
local function safe_getinfo(...)
  local args, first = { ... }, 1
  if type(args[1]) == "thread" then first = 2 end
  local level, what = args[first], args[first + 1]
  if type(level) == "number" and first == 1 then level = level + 1 end
  if what == nil then what = "nSlu" end
  if type(what) ~= "string" then errors.script("debug.getinfo: the options are a text, not %s", show(what)) end
  what = what:gsub("[^nSlu]", "")
  local info
  if first == 2 then info = getinfo(args[1], level, what) else info = getinfo(level, what) end
  return info
end

-- string.buffer --------------------------------------------------------------------------------------------------------

local BUFFER = "put putf get set skip reset free encode decode tostring"

-- All buffers have one metatable, whose methods are its own fields: they get a table of the harmless ones.
local function buffer_library()
  local ok, buffer = pcall(require, "string.buffer")
  local meta = ok and debug.getmetatable(buffer.new())
  if type(meta) ~= "table" then return nil end
  local methods = copy(meta, BUFFER)
  methods.set = function(self, text, ...)
    if type(text) ~= "string" then errors.script("buffer:set takes a text, not %s", show(text)) end
    return meta.set(self, text, ...)
  end
  meta.__index = library("buffer", methods)
  return library("string.buffer", copy(buffer))
end

-- All ------------------------------------------------------------------------------------------------------------------

local function math_library()
  local functions = copy(math)
  functions.random = random.lua
  functions.randomseed = function() end -- --seed does it, for each user apart
  return library("math", functions)
end

--- The libraries by name, for one script's environment; string.buffer as `buffer`.
function libraries.make()
  return {
    string = library("string", safe_string), table = library("table", copy(table)), math = math_library(), bit = library("bit", copy(require "bit")),
    coroutine = library("coroutine", coroutines.library()), os = os_library(), io = io_library(),
    debug = library("debug", { traceback = debug.traceback, getinfo = safe_getinfo }),
    jit = library("jit", copy(jit, "version version_num os arch")),
  }, buffer_library()
end

--- Modules that need --allow-ffi or -A, by name; nil when they may not be used.
function libraries.ffi()
  return permissions.allows("ffi") and ffi or nil
end

local sealed = false

--- Takes string.dump away from the methods of strings, and hides the tables behind strings and files.
function libraries.seal()
  if sealed then return end
  sealed = true
  local strings = debug.getmetatable("")
  strings.__index, strings.__metatable = safe_string, false
  local files = debug.getmetatable(io.stdout)
  if type(files) == "table" then files.__metatable = false end
end

return libraries
