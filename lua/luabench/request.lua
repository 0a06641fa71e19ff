-- A request with options, or of a user who has headers, credentials or cookies of its own: from what the script says to what core.send gets. What takes more than one
-- send, or a judgement of the script's, goes on in call.lua.
local core = require "luabench.core"
local auth = require "luabench.auth"
local body = require "luabench.body"
local call = require "luabench.call"
local connection = require "luabench.connection"
local cookies = require "luabench.cookies"
local errors = require "luabench.errors"
local headers = require "luabench.headers"
local options = require "luabench.options"
local reference = require "luabench.reference"
local response = require "luabench.response"
local schema = require "luabench.schema"
local site = require "luabench.site"
local statuses = require "luabench.statuses"
local tags = require "luabench.tags"
local units = require "luabench.units"
local url = require "luabench.url"

local request = {}

local send = core.send
local type, pairs, next = type, pairs, next
local find = string.find
local show = errors.show

--- Methods that announce an empty body too (RFC 9110 8.6).
request.EMPTY_BODY = { POST = "", PUT = "", PATCH = "" }
local EMPTY_BODY = request.EMPTY_BODY

-- Reading options --------------------------------------------------------------------------------------------------------

local KNOWN = {}
for _, row in ipairs(schema.request) do KNOWN[row[1]] = true end

local function check_keys(opts)
  for key, value in next, opts do
    if not KNOWN[key] then errors.script("%s", options.unknown("request", key, value)) end
  end
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

local function read_name(value)
  if value ~= nil and (type(value) ~= "string" or value == "" or find(value, "%c")) then errors.script("`name` must be a text, not %s", show(value)) end
  return value
end

local function read_headers(value)
  if value ~= nil and type(value) ~= "table" then
    errors.script('`headers` must be a table, not %s; write headers = { ["X-Name"] = "value" }', show(value))
  end
  return value
end

local function read_redirects(value)
  local count, why = units.count(value, 0)
  if not count then errors.script("`redirects`: %s", type(value) == "boolean" and "how many? write redirects = 10" or why) end
  return count
end

local function read_flag(name, value)
  if value ~= nil and type(value) ~= "boolean" then errors.script("`%s` must be true or false, not %s", name, show(value)) end
  return value
end

local function read_expect(value)
  if type(value) ~= "function" then errors.script("`expect` must be a function, not %s; write expect = function(res) return res.body ~= \"\" end", show(value)) end
  return value
end

local function read_accept(value)
  local text, why = statuses.read(value)
  if not text then errors.script("`expect_status`: %s", why) end
  return text
end

local function read_version(value)
  local version, why = connection.readers.http_version(value)
  if not version then errors.script("`version`: %s", why) end
  return version
end

local function with_tags(name, given)
  local text, why = tags.text(given)
  if not text then errors.script("`tags`: %s", why) end
  return text == "" and name or name .. "\n" .. text
end

-- The URL, and the template that it was made of or nil.
local function fill_path(text, values)
  if type(values) ~= "table" then errors.script("`path` must be a table, not %s; write path = { id = 1 } for /items/{id}", show(values)) end
  if type(text) ~= "string" then errors.script("the URL must be a string, not %s", show(text)) end
  local filled, why = url.fill(text, values)
  if not filled then errors.script("%s", why) end
  return filled, text
end

local function with_query(text, query)
  if type(query) ~= "table" then errors.script("`query` must be a table, not %s; write query = { name = value }", show(query)) end
  if type(text) ~= "string" then errors.script("the URL must be a string, not %s", show(text)) end
  local more, why = url.query(query)
  if not more then errors.script("%s", why) end
  return url.add_query(text, more)
end

-- Headers and credentials ------------------------------------------------------------------------------------------------

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

local function has_authorization(own)
  return own and site.header(own, "authorization") ~= nil
end

local function read_auth(value, what)
  local credentials, why = auth.read(value)
  if credentials == nil then errors.script("`%s`: %s", what, why) end
  return credentials
end

-- What holds of `auth` and the header Authorization: credentials, false for none, nil when a header says it or nothing does. Request beats user beats scenario.
local function choose_auth(of_user, opts)
  if opts.auth ~= nil then
    if has_authorization(opts.headers) then errors.script("`auth` and the header Authorization: use one") end
    return read_auth(opts.auth, "auth")
  end
  if has_authorization(opts.headers) or not of_user then return nil end
  if of_user.auth ~= nil then
    if has_authorization(of_user.headers) then errors.script("user.auth and the header Authorization in user.headers: use one") end
    return read_auth(of_user.auth, "user.auth")
  end
end

-- Those of a URL with user and password in it.
local function credentials_in(text)
  if type(text) ~= "string" or not find(text, "@", 1, true) then return nil end
  local user, password = reference.userinfo(text)
  return user and read_auth({ user, password }, "the URL")
end

-- The headers with Authorization as the credentials want it: a copy.
local function with_authorization(own, credentials)
  local result = {}
  for name, value in pairs(own or {}) do
    if type(name) ~= "string" or name:lower() ~= "authorization" then result[name] = value end
  end
  result.Authorization = credentials and credentials.value or false
  return result
end

-- Sending ----------------------------------------------------------------------------------------------------------------

local NONE = {}

-- The line for the jar's cookies in front of the others.
local function with_cookies(state, prepared, own, lines)
  if own and site.header(own, "cookie") ~= nil then return lines end
  local text = cookies.header(state.cookies, response.place(prepared))
  if not text then return lines end
  return "Cookie: " .. text .. "\r\n" .. (lines or "")
end

--- Sends a request of the scenario `index`, whose user has that state or none, and returns the response.
function request.send(index, state, method, text, opts)
  opts = opts or NONE
  check_keys(opts)
  local this = site.of[index]
  local content, type_line = body.read(opts)
  local name, template, accept = read_name(opts.name), nil, nil
  if opts.path ~= nil then text, template = fill_path(text, opts.path) end
  if opts.query ~= nil then text = with_query(text, opts.query) end
  if template and not name then name = site.name(index, method, template) end
  if opts.tags ~= nil then name = with_tags(name or site.name(index, method, text), opts.tags) end
  if opts.expect_status ~= nil then accept = read_accept(opts.expect_status) end
  local version = opts.version ~= nil and read_version(opts.version) or nil
  local own = own_headers(state and state.headers, read_headers(opts.headers))
  local credentials = choose_auth(state, opts)
  if credentials == nil and not has_authorization(own) then credentials = credentials_in(text) end
  if credentials ~= nil then own = with_authorization(own, credentials) end
  local digest = credentials and credentials.scheme == "digest" and credentials or (credentials == nil and not has_authorization(own) and this.digest) or nil
  local timeout = opts.timeout and read_timeout(opts.timeout)
  local redirects = opts.redirects == nil and this.redirects or opts.redirects ~= nil and read_redirects(opts.redirects)
  local has_jar = read_flag("cookies", opts.cookies) ~= false
  content = content or EMPTY_BODY[method]
  if redirects > 0 or digest or opts.expect ~= nil then
    return call.run {
      index = index, method = method, url = text, own = own, name = name or site.name(index, method, text), accept = accept, type_line = type_line, version = version, body = content, timeout = timeout,
      redirects = redirects, digest = digest, expect = opts.expect ~= nil and read_expect(opts.expect) or nil,
      keeps_cookies = has_jar, sends_cookies = has_jar and this.sends_cookies,
    }
  end
  local prepared, lines = site.choose(index, method, text, own, name, accept, type_line, version)
  if not has_jar then return response.without_cookies(prepared, send(prepared, lines, content, timeout)) end
  if state and state.cookies and this.sends_cookies then lines = with_cookies(state, prepared, own, lines) end
  return response.new(prepared, send(prepared, lines, content, timeout))
end

return request
