-- URLs as the script side needs them: is it one, which target, joined how. The engine parses them again, and strictly.
local core = require "luabench.core"
local errors = require "luabench.errors"
local units = require "luabench.units"

local url = {}

local show = errors.show
local find, match, gsub, format, byte = string.find, string.match, string.gsub, string.format, string.byte
local concat, sort = table.concat, table.sort

--- True for SCHEME://... and HOST:PORT, the forms in which a URL stands on the command line.
function url.looks_like(text)
  return find(text, "://", 1, true) ~= nil
    or find(text, "^[%w%.%-_]+:%d+$") ~= nil or find(text, "^[%w%.%-_]+:%d+[/?]") ~= nil
    or find(text, "^%[[%x:%.]+%]") ~= nil
end

--- A URL of the command line with its scheme: HOST:PORT/path becomes http://HOST:PORT/path.
function url.with_scheme(text)
  return find(text, "://", 1, true) and text or "http://" .. text
end

--- The URL, or nil and what is wrong with it. Tells what can be told without asking the network.
function url.absolute(text)
  if type(text) ~= "string" then return nil, format("must be a URL as a string, not %s", show(text)) end
  local scheme = match(text, "^(%a[%w+.-]*)://")
  if not scheme then
    return nil, format('%s is not a URL; write "http://%s"', show(text), text ~= "" and match(text, "^/*(.-)$") or "127.0.0.1:8080")
  end
  scheme = scheme:lower()
  if scheme ~= "http" and scheme ~= "https" then return nil, format("%s: only http:// and https:// URLs can be requested", show(text)) end
  local why = core.check_url(text)
  if why then return nil, format("%s: %s", show(text), why) end
  return text
end

--- A base URL, without slashes at its end.
function url.target(text)
  local base, why = url.absolute(text)
  if not base then return nil, why end
  if find(base, "[?#]") then return nil, format("%s: a target has no query; put it into the requests", show(text)) end
  return (gsub(base, "/+$", ""))
end

--- A script's URL made absolute: one that begins with "/" is appended to the target. Or nil and what is wrong.
function url.resolve(target, text)
  if type(text) ~= "string" then return nil, format("the URL must be a string, not %s", show(text)) end
  local first = byte(text, 1)
  if first == 47 then -- "/"
    if target then return target .. text end
    return nil, format('%s needs a target; give the scenario target = "http://127.0.0.1:8080", or --target URL on the command line', show(text))
  end
  if find(text, "^%a[%w+.-]*://") then
    local absolute, why = url.absolute(text)
    return absolute, why
  end
  return nil, format("%s is not a URL; one begins with http:// or, to be appended to the target, with /", show(text))
end

--- The path of an absolute URL without query and fragment: the default name of a request's figures.
function url.path(absolute)
  local path = match(absolute, "^%a[%w+.-]*://[^/?#]*([^?#]*)")
  return path ~= "" and path or "/"
end

local function escape_byte(char) return format("%%%02X", byte(char)) end

--- Percent-encodes everything but the unreserved characters of RFC 3986.
function url.encode(text)
  return (gsub(text, "[^%w%-%._~]", escape_byte))
end

local function query_value(key, value)
  if type(value) == "string" then return url.encode(value) end
  if type(value) == "boolean" then return tostring(value) end
  local digits = type(value) == "number" and units.digits(value)
  if digits then return (gsub(digits, "+", "%%2B")) end
  return nil, format("query: `%s` must be a string, a number or true/false, not %s", tostring(key), show(value))
end

local function add_pair(parts, key, value)
  local text, why = query_value(key, value)
  if not text then return nil, why end
  parts[#parts + 1] = url.encode(key) .. "=" .. text
  return true
end

--- A query table as text, keys sorted; a list gives its key several times. Or nil and what is wrong.
function url.query(values)
  local keys, parts = {}, {}
  for key in pairs(values) do
    if type(key) ~= "string" then return nil, format("query: %s stands without a key; write query = { name = value }", show(values[key])) end
    keys[#keys + 1] = key
  end
  sort(keys)
  for _, key in ipairs(keys) do
    local value = values[key]
    for _, one in ipairs(type(value) == "table" and value or { value }) do
      local ok, why = add_pair(parts, key, one)
      if not ok then return nil, why end
    end
  end
  return concat(parts, "&")
end

--- The URL with more query behind it, before a fragment.
function url.add_query(text, query)
  if query == "" then return text end
  local base, fragment = match(text, "^([^#]*)(.*)$")
  local joint = find(base, "?", 1, true) and (find(base, "[?&]$") and "" or "&") or "?"
  return base .. joint .. query .. fragment
end

return url
