-- The table `wrk` as wrk and wrk2 give it to scripts, one for each Lua state. What a script may replace (wrk.init, wrk.setup, wrk.resolve, wrk.format) is
-- called through the table.
local core = require "luabench.core"

local api = {}

local raw_format = core.raw_format
local format, find, concat = string.format, string.find, table.concat
local pairs, tostring, type, error, newproxy, getmetatable = pairs, tostring, type, error, newproxy, debug.getmetatable

-- Addresses: values without methods, which show as "address:port". -----------------------------------------------------

local places = setmetatable({}, { __mode = "k" }) -- address object → { address, port }

--- An address object.
function api.address(host, port)
  local object = newproxy(true)
  places[object] = { host, port }
  getmetatable(object).__tostring = function() return host .. ":" .. port end
  return object
end

--- Address and port of an address object; nil when it is none.
function api.place(object)
  local place = object and places[object]
  if place then return place[1], place[2] end
end

-- Names ----------------------------------------------------------------------------------------------------------------

local function lookup(host, service)
  service = tostring(service or "http")
  local found, why = core.lookup(tostring(host), service)
  if not found then error(format("unable to resolve %s:%s %s", host, service, why), 0) end
  local list = {}
  for i, place in ipairs(found) do list[i] = api.address(place[1], place[2]) end
  return list
end

local function connect(address)
  local host, port = api.place(address)
  if not host then error("wrk.connect takes an address of wrk.lookup", 2) end
  return (core.can_connect(host, port))
end

local function resolve(wrk, host, service)
  local list, why = {}, nil
  for _, address in ipairs(wrk.lookup(host, service)) do
    local place, port = api.place(address)
    local connects
    if place then connects, why = core.can_connect(place, port) end
    if connects then list[#list + 1] = address end
  end
  if #list == 0 then error(format("unable to connect to %s:%s %s", host, service, why or "no address"), 0) end
  wrk.addrs = list
end

-- Requests -------------------------------------------------------------------------------------------------------------

-- Changes the table of headers that it is given, as scripts expect: Host and Content-Length are set in it.
local function make_request(wrk, method, path, headers, body)
  method, path, headers, body = method or wrk.method, path or wrk.path, headers or wrk.headers, body or wrk.body
  if not headers.Host then headers.Host = wrk.headers.Host end
  headers["Content-Length"] = body and #tostring(body) or nil
  local text = raw_format(method, path, headers, body or nil)
  if text then return text end
  local parts = { format("%s %s HTTP/1.1", method, path) }
  local n = 1
  for name, value in pairs(headers) do
    n = n + 1
    parts[n] = name .. ": " .. (type(value) == "string" and value or tostring(value))
  end
  parts[n + 1] = ""
  parts[n + 2] = body or ""
  return concat(parts, "\r\n")
end

local function host_header(wrk)
  local host = find(wrk.host, ":", 1, true) and "[" .. wrk.host .. "]" or wrk.host
  return wrk.port and host .. ":" .. wrk.port or host
end

local function init(wrk, env, args)
  if not wrk.headers.Host then wrk.headers.Host = host_header(wrk) end
  if type(env.init) == "function" then env.init(args) end
  local text = wrk.format()
  wrk.request = function() return text end
end

local function setup(wrk, env, thread)
  if type(env.setup) == "function" then env.setup(thread) end
end

-- Threads --------------------------------------------------------------------------------------------------------------

--- A thread object; `own` has get(name), set(name, value), stop(), address() and move(address).
function api.thread(own)
  local object = newproxy(true)
  local methods = {}
  function methods.get(_, name) return own.get(name) end
  function methods.set(_, name, value)
    local ok, why = pcall(core.check_plain, value)
    if not ok then error(why, 2) end
    own.set(name, value)
  end
  function methods.stop() own.stop() end
  local meta = getmetatable(object)
  meta.__index = function(_, key)
    if key == "addr" then return own.address() end
    return methods[key] or key -- as wrk has it: a key that does not exist is its own name
  end
  meta.__newindex = function(_, key, value)
    if key ~= "addr" or not api.place(value) then error(format("cannot set '%s' on thread", type(value)), 2) end
    own.move(value)
  end
  return object
end

-- The table ------------------------------------------------------------------------------------------------------------

--- The table for a script in `env`, about `target` (of api.target), with the headers of -H, a list of { name, value }.
function api.new(env, target, headers)
  local wrk = { scheme = target.scheme, host = target.host, port = target.port, method = "GET", path = target.path, headers = {} }
  for _, pair in ipairs(headers) do wrk.headers[pair[1]] = pair[2] end
  wrk.format = function(...) return make_request(wrk, ...) end
  wrk.lookup, wrk.connect = lookup, connect
  wrk.resolve = function(host, service) return resolve(wrk, host, service) end
  wrk.init = function(args) return init(wrk, env, args) end
  wrk.setup = function(thread) return setup(wrk, env, thread) end
  wrk.time_us = function() return core.time() * 1e6 end
  return wrk
end

--- An absolute URL as wrk takes it apart: scheme, host without brackets, port as text or nil, and as path everything behind, query and fragment included.
function api.target(absolute)
  local scheme, authority, path = absolute:match("^(%a[%w+.-]*)://([^/?#]*)(.*)$")
  authority = authority:gsub("^.*@", "")
  local host, port = authority:match("^%[(.*)%]:?(%d*)$")
  if not host then host, port = authority:match("^([^:]*):?(%d*)$") end
  return { scheme = scheme:lower(), host = host, port = port ~= "" and port or nil, path = path:sub(1, 1) == "/" and path or "/" .. path, url = absolute }
end

return api
