-- http.get and its sisters: from a script's URL and options to a prepared request of the core, and from its answer to a response. This is the hot
-- path: a request without options costs two table look-ups, core.send and the response. Everything else is `slow`.
local core = require "luabench.core"
local errors = require "luabench.errors"
local headers = require "luabench.headers"
local options = require "luabench.options"
local response = require "luabench.response"
local stage = require "luabench.stage"
local units = require "luabench.units"
local url = require "luabench.url"

local http = {}

local scenario, send, prepare = core.scenario, core.send, core.prepare
local respond = response.new
local type, pairs, next = type, pairs, next
local upper, lower = string.upper, string.lower
local concat = table.concat

local MOST_PREPARED = 4096

-- By scenario index: what its requests have in common, { target, map (headers), lines (the same, rendered), host }.
local sites = {}
-- Prepared requests that need nothing but their URL: method → scenario index → URL as the script wrote it.
local plain = {}
-- Those with a name of their own or other headers than the scenario's: scenario index → all of it as one string.
local variants = {}
local counts = {}

--- Told once, after the script is loaded: the plan's scenarios, whose `target` and `headers` (a map, defaults merged) hold for their requests.
function http.configure(scenarios)
  sites, variants, counts = {}, {}, {}
  for method in pairs(plain) do
    for index in pairs(plain[method]) do plain[method][index] = nil end
  end
  for i, each in ipairs(scenarios) do
    local map = headers.merge(headers.defaults(), each.headers)
    local lines, host = headers.render(map)
    sites[i] = { target = each.target, map = map, lines = lines, host = host }
  end
end

-- Keeps a prepared request, in a cache that is emptied when scripts make up ever new URLs.
local function keep(cache, index, key, prepared)
  local count = counts[cache] or {}
  counts[cache] = count
  if not cache[index] or count[index] >= MOST_PREPARED then cache[index], count[index] = {}, 0 end
  cache[index][key], count[index] = prepared, count[index] + 1
  return prepared
end

local function make(index, method, absolute, lines, name, host)
  local prepared, why = prepare(index, method, absolute, lines, name or method .. " " .. url.path(absolute), host)
  if not prepared then errors.script("%s: %s", errors.show(absolute), why) end
  response.note(prepared, absolute, method)
  return prepared
end

local function resolve(site, text)
  local absolute, why = url.resolve(site.target, text)
  if not absolute then errors.script("%s", why) end
  return absolute
end

local function prepared_plain(index, method, text)
  local site, by_index = sites[index], plain[method]
  local found = by_index[index] and by_index[index][text]
  if found then return found end
  return keep(by_index, index, text, make(index, method, resolve(site, text), site.lines, nil, site.host))
end

local function prepared_variant(index, method, text, lines, name, host)
  local key = concat({ method, text, name or "", host or "", lines }, "\n")
  local found = variants[index] and variants[index][key]
  if found then return found end
  return keep(variants, index, key, make(index, method, resolve(sites[index], text), lines, name, host))
end

-- Headers of the request over those of the user; nil when there are none.
local function own_headers(of_user, of_request)
  if not of_user then return of_request end
  local merged = {}
  for name, value in pairs(of_user) do merged[headers.lower(name) or name] = { name, value } end
  for name, value in pairs(of_request or {}) do merged[headers.lower(name) or name] = { name, value } end
  local result = {}
  for _, pair in pairs(merged) do result[pair[1]] = pair[2] end
  return result
end

local parts = {} -- reused; cleared before each use

-- The lines of headers that add to the scenario's. Second result: true when one of them replaces or removes a header of the scenario's, or is
-- Host, so that the whole head must be made anew.
local function extra_lines(site, own)
  local n, conflict = 0, false
  for name, value in pairs(own) do
    local key, why = headers.lower(name)
    if not key then errors.script("%s", why) end
    if key == "host" or site.map[key] then conflict = true end
    if type(value) == "string" or type(value) == "number" then
      local text
      text, why = headers.value(name, value)
      if not text then errors.script("%s", why) end
      why = headers.refused(key)
      if why then errors.script("%s", why) end
      parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = name, ": ", text, "\r\n"
      n = n + 4
    else
      conflict = true
    end
  end
  if conflict then return nil, true end
  return n > 0 and concat(parts, "", 1, n) or nil, false
end

local function whole_head(site, own)
  local map, why = headers.of_table(own)
  if not map then errors.script("%s", why) end
  return headers.render(headers.merge(site.map, map))
end

local JSON_TYPE = "Content-Type: application/json\r\n"

local function names_content_type(own)
  for name in pairs(own or {}) do
    if type(name) == "string" and lower(name) == "content-type" then return true end
  end
  return false
end

local timeouts = {} -- text → seconds

local function read_timeout(value)
  if type(value) == "number" and value > 0 and value <= units.LONGEST then return value end
  local seconds = timeouts[value]
  if seconds then return seconds end
  local why
  seconds, why = units.positive_duration(value)
  if not seconds then errors.script("`timeout`: %s", why) end
  if type(value) == "string" then timeouts[value] = seconds end
  return seconds
end

local function read_body(opts)
  local body = opts.body
  if opts.json ~= nil then
    if body ~= nil then errors.script("`body` and `json` both give a body: use one") end
    local why
    body, why = core.json_encode(opts.json)
    if not body then errors.script("`json`: %s", why) end
    return body, true
  end
  if type(body) == "number" then return units.digits(body), false end
  if body ~= nil and type(body) ~= "string" then
    errors.script("`body` must be a string, not %s%s", errors.show(body), type(body) == "table" and "; to send it as JSON write json = { ... }" or "")
  end
  return body, false
end

local function read_name(value)
  if value ~= nil and (type(value) ~= "string" or value == "") then errors.script("`name` must be a text, not %s", errors.show(value)) end
  return value
end

local function read_headers(value)
  if value ~= nil and type(value) ~= "table" then
    errors.script('`headers` must be a table, not %s; write headers = { ["X-Name"] = "value" }', errors.show(value))
  end
  return value
end

local KNOWN = { headers = true, body = true, json = true, query = true, timeout = true, name = true }

local function check_keys(opts)
  for key, value in next, opts do
    if not KNOWN[key] then errors.script("%s", options.unknown("request", key, value)) end
  end
end

local function with_query(text, query)
  if query == nil then return text end
  if type(query) ~= "table" then errors.script("`query` must be a table, not %s; write query = { name = value }", errors.show(query)) end
  if type(text) ~= "string" then errors.script("the URL must be a string, not %s", errors.show(text)) end
  local more, why = url.query(query)
  if not more then errors.script("%s", why) end
  return url.add_query(text, more)
end

-- The prepared request and further header lines for options that may change the head.
local function choose(index, method, text, own, name, is_json)
  local site = sites[index]
  local typed = is_json and not site.map["content-type"] and not names_content_type(own)
  local lines, conflict
  if own then lines, conflict = extra_lines(site, own) end
  if conflict then
    local head, host = whole_head(site, own)
    return prepared_variant(index, method, text, head, name, host), typed and JSON_TYPE or nil
  end
  if typed then lines = (lines or "") .. JSON_TYPE end
  if name then return prepared_variant(index, method, text, site.lines, name, site.host), lines end
  return prepared_plain(index, method, text), lines
end

-- Methods that announce an empty body too (RFC 9110 8.6).
local EMPTY_BODY = { POST = "", PUT = "", PATCH = "" }

local NONE = {}

local function slow(index, state, method, text, opts)
  opts = opts or NONE
  check_keys(opts)
  local body, is_json = read_body(opts)
  local timeout = opts.timeout and read_timeout(opts.timeout)
  local own = own_headers(state and state.headers, read_headers(opts.headers))
  local prepared, lines = choose(index, method, with_query(text, opts.query), own, read_name(opts.name), is_json)
  return respond(prepared, send(prepared, lines, body or EMPTY_BODY[method], timeout))
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
  local by_index = {}
  plain[method] = by_index
  local empty_body = EMPTY_BODY[method]
  return function(text, opts, extra)
    local index, state = scenario()
    local prepared = by_index[index]
    prepared = prepared and prepared[text]
    if prepared and opts == nil and not state then
      return respond(prepared, send(prepared, nil, empty_body))
    end
    check_arguments(index, method, text, opts, extra)
    return slow(index, state, method, text, opts)
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
  local method = read_method(values.method)
  plain[method] = plain[method] or {}
  return slow(index, state, method, values.url, opts)
end

return http
