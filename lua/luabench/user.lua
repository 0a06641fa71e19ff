-- The fields of `user` that are Lua's: the core asks here for what it does not know. What they keep lies in the user's state, a table that exists for users who have
-- something in it alone.
local auth = require "luabench.auth"
local cookies = require "luabench.cookies"
local core = require "luabench.core"
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local site = require "luabench.site"
local units = require "luabench.units"
local url = require "luabench.url"

local user = {}

local show = errors.show
local format = string.format

-- user.cookies -----------------------------------------------------------------------------------------------------------

local Cookies = {}
local methods = {}

local SET_KEYS = { url = true, domain = true, path = true, secure = true, max_age = true }

local function check_self(object, name)
  if getmetatable(object) ~= Cookies then errors.script("user.cookies.%s is called with a colon: user.cookies:%s(...)", name, name) end
end

local function check_name(name, call)
  if type(name) ~= "string" or name == "" or name:find("[%c;=]") then errors.script("%s: a cookie's name is a text without ; and =, not %s", call, show(name)) end
end

-- Where a cookie is from or for: a URL as requests have it, or the target.
local function place_of(text, call)
  local index = core.scenario()
  local absolute = site.of[index].target
  if text ~= nil then
    local why
    absolute, why = url.resolve(absolute, text)
    if not absolute then errors.script("%s: %s", call, why) end
  end
  if not absolute then errors.script('%s: of which host? the scenario has no target; name it with url = "http://..."', call) end
  return cookies.place(absolute)
end

local function jar_of(object)
  local state = core.state(object.user, false)
  return state and state.cookies or {}
end

--- The value of the cookie that would be sent to a URL (the target unless given), or nil.
function methods.get(object, name, to, extra)
  check_self(object, "get")
  check_name(name, "user.cookies:get(name)")
  if extra ~= nil then errors.script("user.cookies:get takes a name and a URL") end
  return cookies.get(jar_of(object), name, place_of(to, "user.cookies:get"))
end

local function check_options(opts)
  if opts == nil then return {} end
  if type(opts) ~= "table" then errors.script('user.cookies:set: after the value comes a table: user.cookies:set("name", "value", { path = "/" }), not %s', show(opts)) end
  for key in pairs(opts) do
    if not SET_KEYS[key] then errors.script("user.cookies:set: unknown key `%s`%s", tostring(key), nearest.hint(key, SET_KEYS)) end
  end
  for _, key in ipairs { "domain", "path" } do
    if opts[key] ~= nil and type(opts[key]) ~= "string" then errors.script("user.cookies:set: `%s` must be a text, not %s", key, show(opts[key])) end
  end
  if opts.path and opts.path:sub(1, 1) ~= "/" then errors.script("user.cookies:set: `path` begins with /, not %s", show(opts.path)) end
  return opts
end

local function max_age_of(opts)
  if opts.max_age == nil then return nil end
  local seconds, why = units.duration(opts.max_age)
  if not seconds then errors.script("user.cookies:set: `max_age`: %s", why) end
  return seconds
end

--- Puts a cookie into the jar, as if `url` (the target unless given) had set it. `opts`: url, domain, path (default "/"), secure, max_age.
function methods.set(object, name, value, opts, extra)
  check_self(object, "set")
  check_name(name, "user.cookies:set(name, value)")
  if type(value) == "number" then value = units.digits(value) end
  if type(value) ~= "string" or value:find("[%c;]") then errors.script("user.cookies:set: the value is a text without ;, not %s", show(value)) end
  if extra ~= nil then errors.script("user.cookies:set takes a name, a value and a table") end
  opts = check_options(opts)
  if not site.of[core.scenario()].keeps_cookies then errors.script("user.cookies:set: the scenario has http = { cookies = false }") end
  local place = place_of(opts.url, "user.cookies:set")
  local jar = jar_of(object)
  local said = { domain = opts.domain and opts.domain:lower():gsub("^%.", "") or nil, path = opts.path or "/", secure = opts.secure or nil, max_age = max_age_of(opts) }
  if not cookies.put(jar, { name = name, value = value, said = said }, place) then
    errors.script("user.cookies:set: %s cannot set a cookie for the domain %s", place.host, show(opts.domain))
  end
  core.state(object.user, true).cookies = jar
end

--- Removes the cookies of that name, all without one.
function methods.clear(object, name, extra)
  check_self(object, "clear")
  if name ~= nil then check_name(name, "user.cookies:clear(name)") end
  if extra ~= nil then errors.script("user.cookies:clear takes a name, or nothing") end
  cookies.clear(jar_of(object), name)
end

function Cookies.__index(_, key)
  local method = methods[key]
  if not method then errors.script("user.cookies has no `%s`%s; a cookie's value is user.cookies:get(%s)", tostring(key), nearest.hint(key, methods), show(key)) end
  return method
end

function Cookies.__newindex(_, key)
  errors.script("user.cookies.%s cannot be assigned; write user.cookies:set(%s, value)", tostring(key), show(key))
end

-- The fields -------------------------------------------------------------------------------------------------------------

local readers, writers = {}, {}

function readers.headers(state) return state and state.headers end
function readers.auth(state) return state and state.auth end
function readers.cookies(_, object) return setmetatable({ user = object }, Cookies) end

function writers.headers(value)
  if value ~= nil and type(value) ~= "table" then
    errors.script('user.headers must be a table, not %s; write user.headers = { ["X-Name"] = "value" }', show(value))
  end
  return value
end

function writers.auth(value)
  if value == nil then return nil end
  local read, why = auth.read(value)
  if read == nil then errors.script("user.auth: %s", why) end
  return value
end

function writers.cookies()
  errors.script("user.cookies cannot be assigned; write user.cookies:set(name, value)")
end

local NAMES = { "id", "iteration", "sequence", "scenario", "vars", "headers", "auth", "cookies" }

local function read(object, key)
  local reader = readers[key]
  if reader then return reader(core.state(object, false), object) end
  local near = type(key) == "string" and nearest.name(key, NAMES)
  errors.script("user has no field `%s`%s; your own values belong into user.vars, as user.vars.%s", tostring(key),
    near and format(", did you mean `%s`?", near) or "", tostring(key))
end

local function write(object, key, value)
  if key == "vars" then errors.script("user.vars is a table of your own values, not %s; write user.vars.NAME = %s", show(value), show(value)) end
  local writer = writers[key]
  if not writer and not tostring(key):find("^[%a_][%w_]*$") then errors.script("user[%s] cannot be assigned; use user.vars[%s]", show(key), show(key)) end
  if not writer then errors.script("user.%s cannot be assigned; use user.vars.%s", key, key) end
  value = writer(value)
  core.state(object, true)[key] = value
end

core.user_fields(read, write)

return user
