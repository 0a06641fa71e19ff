-- What a script can name. Its globals are a white list; a name that is not on it is an error with the nearest one, for reading and for assigning,
-- so that users share nothing by accident. Nothing of the list, nor any field of it, can be assigned. The names in the script's text are checked
-- before it runs, so that its environment can be a plain table, which is read fast; what is made up while it runs (_G[name], load) is checked then.
local errors = require "luabench.errors"
local compare = require "luabench.compare"
local core = require "luabench.core"
local globals_of = require "luabench.globals"
local env_values = require "luabench.env"
local file = require "luabench.file"
local http = require "luabench.http"
local json = require "luabench.json"
local libraries = require "luabench.libraries"
local limits = require "luabench.limits"
local metric = require "luabench.metric"
local nearest = require "luabench.nearest"
local params = require "luabench.params"
local random = require "luabench.random"
local report_hook = require "luabench.report.hook"
local scenario = require "luabench.scenario"
local tasks = require "luabench.tasks"
local text = require "luabench.text"
local vu = require "luabench.vu"

local sandbox = {}

local setmetatable, rawget, type, load = setmetatable, rawget, type, load
local format = string.format

-- Functions as other tools name them.
local FOREIGN_FUNCTIONS = {
  http = { del = "delete", send = "request", asyncRequest = "request", async_request = "request" },
  json = { parse = "decode", loads = "decode", load = "decode", stringify = "encode", dumps = "encode", dump = "encode" },
  random = { randint = "int", integer = "int", number = "int", choice = "pick", sample = "pick", uuid4 = "uuid" },
  file = { open = "text", read = "text", load = "text" },
  metric = { histogram = "trend", summary = "trend" },
}

-- A face of `functions` that cannot be written to, and says so for fields that do not exist.
local function read_only(name, functions)
  local foreign = FOREIGN_FUNCTIONS[name] or {}
  setmetatable(functions, { __index = function(_, key)
    local ours = rawget(foreign, key)
    errors.script("%s has no function `%s`%s", name, tostring(key), ours and format("; here it is called `%s`", ours) or nearest.hint(key, functions))
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

local BASIC = "assert error getmetatable ipairs next pairs pcall rawequal rawget rawset select setmetatable tonumber tostring type unpack xpcall collectgarbage _VERSION"

-- Objects of C have metatables whose functions, __gc above all, are not for scripts.
local function safe_getmetatable(...)
  local kind = type((...))
  if kind == "userdata" or kind == "cdata" then return false end
  return getmetatable(...)
end

local function lua_globals()
  local globals = copy(_G, BASIC)
  globals.getmetatable = safe_getmetatable
  local own, buffer = libraries.make()
  for name, functions in pairs(own) do globals[name] = functions end
  return globals, buffer
end

-- `random` is called, too.
local function callable(proxy, call)
  local meta = debug.getmetatable(proxy)
  meta.__call = function(_, ...) return call(...) end
  return proxy
end

local function env_global()
  return setmetatable({}, { __index = function(_, name) return env_values.get(name) end, __metatable = false, __newindex = function(_, name)
    errors.script("env.%s cannot be assigned; -e %s=VALUE sets it", tostring(name), tostring(name))
  end })
end

local function luabench_globals()
  return {
    thresholds = limits.declare, report = report_hook.declare, metric = read_only("metric", copy(metric, "counter gauge rate trend")),
    scenario = scenario.define, compare = compare.define, defaults = scenario.defaults, params = params.declare,
    http = read_only("http", copy(http, "get head post put patch delete options request batch")),
    json = read_only("json", copy(json)),
    log = read_only("log", copy(vu.log)),
    file = read_only("file", copy(file, "csv json lines text")),
    random = callable(read_only("random", copy(random, "int pick exp string bytes uuid")), random.uniform),
    text = read_only("text", copy(text)), env = env_global(),
    check = vu.check, must = vu.must, fail = vu.fail, sleep = vu.sleep, pace = vu.pace, now = vu.now, print = vu.print,
    group = vu.group, spawn = tasks.spawn, stop_user = vu.stop_user, stop_run = vu.stop_run,
  }
end

-- Names of Lua that a script does not get, and why.
local WITHHELD = {
  dofile = "use require", loadfile = "use require", package = "use require", module = "return a table from the file",
  setfenv = "", getfenv = "", newproxy = "", ffi = 'require "ffi" gives it, with --allow-ffi', gcinfo = 'use collectgarbage("count")', arg = "what follows -- on the command line is `...`",
}

-- What other tools have as globals, and where it is here.
local OF_RUN = "it is %s, of the parameter of run: run = function(user)"
local FOREIGN = {
  vu = "here it is called `user`, the parameter of run", __VU = OF_RUN:format "user.id", __ITER = OF_RUN:format "user.iteration", __ENV = "it is called env here",
  client = "here it is called http", session = "here it is called http", requests = "here it is called http", request = "write http.request { ... } in `run`",
  wrk = "the smallest script of luabench: scenario \"name\" { target = ..., run = function() http.get(\"/\") end }",
  open = "files are read with file.csv, file.lines, file.json and file.text", SharedArray = "file.json and file.csv read a file once for all users",
  Counter = "it is metric.counter here", Gauge = "it is metric.gauge here", Rate = "it is metric.rate here", Trend = "it is metric.trend here",
  uuidv4 = "it is random.uuid here", randomItem = "it is random.pick here", randomIntBetween = "it is random.int here", exec = "see `user`, the parameter of run",
  setTimeout = "write sleep(1)", wait = "write sleep(1)", expect = "write check(\"name\", condition)", assertEquals = "write check(\"name\", a == b)",
  console = "write print or log.info", time = "write sleep(1), and now() for seconds", async = "write spawn(function() ... end)", await = "every call waits; spawn(f) and task:wait() do two things at once",
  vars = "it is user.vars, of the parameter of run: run = function(user)", crypto = "write text.sha256 or text.hmac", encoding = "write text.base64",
  stop = 'write stop_user() or stop_run("why")', abort = 'write fail("why") or stop_run("why")', exit = 'write stop_user() or stop_run("why")',
  res = 'it is what a request returns: local res = http.get("/")', response = 'it is what a request returns: local res = http.get("/")',
}

local function all_names(globals)
  local names = {}
  for name in pairs(globals) do names[#names + 1] = name end
  return names
end

-- Why a name cannot be read, in words.
local function unreadable(globals, name)
  if type(name) ~= "string" then return format("a global needs a name, not %s", errors.show(name)) end
  local withheld = WITHHELD[name]
  if withheld then return format("`%s` is not available to scripts%s", name, withheld ~= "" and "; " .. withheld or "") end
  if name == "user" then return "`user` is not defined; it is the parameter of run: run = function(user) ... end" end
  return format("`%s` is not defined%s", name, FOREIGN[name] and "; " .. FOREIGN[name] or nearest.hint(name, all_names(globals)))
end

-- Why a name of ours or of Lua's cannot be assigned, or nil when it is neither.
local function protected(globals, name)
  if rawget(globals, name) == nil then return nil end
  local owner = _G[name] ~= nil and name ~= "print" and "Lua" or "luabench"
  return format("`%s` cannot be assigned: it belongs to %s; choose another name, with local", tostring(name), owner)
end

-- Why a name cannot be assigned.
local function unassignable(globals, name, is_function)
  local form = is_function and "local function %s(...)" or "local %s = ..."
  return protected(globals, name) or format("`%s` is assigned without `local`; write %s (all users of a thread share it; what belongs to one user goes into user.vars)",
    tostring(name), format(form, tostring(name)))
end

-- What is wrong with the names in a compiled chunk that will run in `env`: "line: text", or nil.
local function wrong_name(chunk, env)
  for _, use in ipairs(globals_of.uses(chunk)) do
    local why
    if use.assigns then
      why = unassignable(env, use.name, use.is_function)
    elseif rawget(env, use.name) == nil then
      why = unreadable(env, use.name)
    end
    if why then return use.line .. ": " .. why end
  end
end

-- load of a script: text alone, in its environment unless another is given, and its names checked like those of the script itself.
local function load_function(env)
  return function(text, name, _, other)
    if type(text) ~= "string" and type(text) ~= "function" then errors.script("load takes a text, not %s", errors.show(text)) end
    if name ~= nil and type(name) ~= "string" then errors.script("load: the name of a chunk is a text, not %s", errors.show(name)) end
    if other ~= nil and type(other) ~= "table" then errors.script("load: the environment is a table, not %s", errors.show(other)) end
    if type(text) == "function" then core.deeper() end
    local chunk, why = load(text, name, "t", other or env)
    if not chunk or other then return chunk, why end
    why = wrong_name(chunk, env)
    if why then return nil, format('[string "%s"]:%s', tostring(name or "load"), why) end
    return chunk
  end
end

local function strict(env)
  local function refuse(_, name, value) errors.script("%s", unassignable(env, name, type(value) == "function")) end
  env._G = setmetatable({}, { __index = env, __newindex = refuse, __metatable = false })
  setmetatable(env, { __index = function(_, name) errors.script("%s", unreadable(env, name)) end, __newindex = refuse, __metatable = false })
end

-- For files that a script requires: the same names, and globals of their own, as older Lua modules have them.
local function lenient(globals)
  return setmetatable({}, {
    __index = function(_, name) return rawget(globals, name) end,
    __newindex = function(env, name, value)
      local why = protected(globals, name)
      if why then errors.script("%s", why) end
      rawset(env, name, value)
    end,
    __metatable = false,
  })
end

--- The environment of a script, that of the modules it requires, and string.buffer as both may use it. `require_function` is the `require` that both see.
function sandbox.environments(require_function)
  local env, buffer = lua_globals()
  for name, value in pairs(luabench_globals()) do env[name] = value end
  env.require = require_function
  env.load = load_function(env)
  env.loadstring = function(text, name) return env.load(text, name) end
  local module = lenient(env)
  rawset(module, "_G", module)
  strict(env)
  return env, module, buffer
end

--- A script's text as a chunk in its environment; or nil and what is wrong with it, with its line.
function sandbox.compile(path, text, env)
  local chunk, why = load(text, "@" .. path, "t", env)
  if not chunk then return nil, why end
  why = wrong_name(chunk, env)
  if why then return nil, path .. ":" .. why end
  return chunk
end

--- Modules of ours and of Lua that `require` gives to a script, by name.
function sandbox.modules(env, buffer)
  return {
    ["luabench.http"] = env.http, ["luabench.json"] = env.json, ["luabench.log"] = env.log, ["luabench.file"] = env.file, ["luabench.random"] = env.random,
    ["luabench.text"] = env.text, ["luabench.metric"] = env.metric, ["luabench.env"] = env.env, io = env.io, ffi = libraries.ffi(),
    string = env.string, table = env.table, math = env.math, bit = env.bit, coroutine = env.coroutine, os = env.os, debug = env.debug, jit = env.jit,
    ["table.new"] = require "table.new", ["table.clear"] = require "table.clear", ["string.buffer"] = buffer, _G = env._G,
  }
end

return sandbox
