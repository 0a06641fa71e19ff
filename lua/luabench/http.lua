-- http.get and its sisters, as scripts call them. This is the hot path: a request without options, of a user who has nothing of its own or cookies alone, costs two table
-- look-ups, core.send and the response. Everything else is request.lua's.
local core = require "luabench.core"
local cookies = require "luabench.cookies"
local errors = require "luabench.errors"
local request = require "luabench.request"
local response = require "luabench.response"
local site = require "luabench.site"
local stage = require "luabench.stage"
local tasks = require "luabench.tasks"

local http = {}

local scenario, send, send_request = core.scenario, core.send, request.send
local respond = response.new
local type, pairs = type, pairs
local upper, lower = string.upper, string.lower

--- Told once, after the script is loaded: the plan's scenarios.
http.configure = site.configure

-- An answer sets cookies: they go into the jar of the running user, which is made with the first of them.
function response.on_cookies(prepared, head)
  local index, state = scenario()
  if not site.of[index].keeps_cookies then return end
  local jar = state and state.cookies or {}
  cookies.take(jar, head, response.place(prepared))
  if #jar > 0 then core.state().cookies = jar elseif state then state.cookies = nil end
end

local function jar_line(jar, prepared)
  local text = jar and cookies.header(jar, response.place(prepared))
  return text and "Cookie: " .. text .. "\r\n" or nil
end

local function check_arguments(index, method, text, opts, extra)
  local call = "http." .. lower(method)
  if not index then stage.refuse(call) end
  if type(text) == "table" then errors.script('%s(url, opts): the URL comes first; to give all in one table write http.request { method = "%s", url = ... }', call, method) end
  if extra ~= nil then errors.script("%s(url, opts) takes two arguments; a third one is %s", call, errors.show(extra)) end
  if opts ~= nil and type(opts) ~= "table" then
    errors.script('%s(url, opts): opts must be a table, not %s; a body is { body = "..." } or { json = { ... } }', call, errors.show(opts))
  end
end

local function define(method)
  local by_index = site.plain_of(method)
  local empty_body = request.EMPTY_BODY[method]
  return function(text, opts, extra)
    local index, state = scenario()
    local prepared = by_index[index]
    prepared = prepared and prepared[text]
    if prepared and opts == nil then
      if not state then
        if not empty_body then return respond(prepared, send(prepared)) end
        return respond(prepared, send(prepared, nil, empty_body))
      end
      if state.headers == nil and state.auth == nil then return respond(prepared, send(prepared, jar_line(state.cookies, prepared), empty_body)) end
    end
    check_arguments(index, method, text, opts, extra)
    return send_request(index, state, method, text, opts)
  end
end

for _, name in ipairs { "get", "head", "post", "put", "patch", "delete", "options" } do
  http[name] = define(upper(name))
end

local STANDARD = { get = true, head = true, post = true, put = true, patch = true, delete = true, options = true, trace = true }

local function read_method(method)
  if method == nil then return "GET" end
  if type(method) ~= "string" or method == "" or method:find("[^%w!#$%%&'*+%-.^_`|~]") then
    errors.script("`method` must be a word such as PURGE, not %s", errors.show(method))
  end
  if STANDARD[lower(method)] then method = upper(method) end
  if upper(method) == "CONNECT" then errors.script("CONNECT opens a tunnel and cannot be sent as a request") end
  return method
end

--- http.request { method = "PURGE", url = "/x", ... }: any method, everything in one table.
function http.request(values, extra)
  if type(values) ~= "table" or extra ~= nil then errors.script('write http.request { method = "GET", url = "/", ... }: one table') end
  local index, state = scenario()
  if not index then stage.refuse("http.request") end
  if values.url == nil then errors.script("http.request: `url` is missing") end
  local opts = {}
  for key, value in pairs(values) do
    if key ~= "method" and key ~= "url" then opts[key] = value end
  end
  return send_request(index, state, read_method(values.method), values.url, opts)
end

--- http.batch(list, { limit = 6 }): several requests at the same time; their answers in the same order.
http.batch = tasks.batch(http.get, http.request)

return http
