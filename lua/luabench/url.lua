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
    return nil, format('%s is not a URL; write "http://%s"', show(text), match(text, "^/*(%w.*)$") or "127.0.0.1:8080")
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

-- As forms are encoded (WHATWG URL 5.2): a blank becomes "+".
local function form_encode(text)
  return (gsub(gsub(text, "[^%w%-%._* ]", escape_byte), " ", "+"))
end

local function text_of(value)
  if type(value) == "string" then return value end
  if type(value) == "boolean" then return tostring(value) end
  return type(value) == "number" and units.digits(value) or nil
end

-- The table as text, keys sorted; a list gives its key several times. `what` is the table's name in messages.
local function encode_table(values, encode, what)
  local keys, parts = {}, {}
  for key in pairs(values) do
    if type(key) ~= "string" then return nil, format("%s: %s stands without a key; write %s = { name = value }", what, show(values[key]), what) end
    keys[#keys + 1] = key
  end
  sort(keys)
  for _, key in ipairs(keys) do
    local value = values[key]
    for _, one in ipairs(type(value) == "table" and value or { value }) do
      local text = text_of(one)
      if not text then return nil, format("%s: `%s` must be a string, a number or true/false, not %s", what, key, show(one)) end
      parts[#parts + 1] = encode(key) .. "=" .. encode(text)
    end
  end
  return concat(parts, "&")
end

--- A query table as text, keys sorted; a list gives its key several times. Or nil and what is wrong.
function url.query(values) return encode_table(values, url.encode, "query") end

--- A form as application/x-www-form-urlencoded; or nil and what is wrong.
function url.form(values) return encode_table(values, form_encode, "form") end

--- `{name}` in a URL filled from `values`, percent-encoded; nil and what is wrong.
function url.fill(template, values)
  local used, why = {}, nil
  local text = gsub(template, "{([%w_]+)}", function(name)
    local value = values[name]
    used[name] = true
    if type(value) == "number" then value = units.digits(value) end
    if type(value) == "string" and value ~= "" then return url.encode(value) end
    why = why or value == nil and format("path: there is nothing for {%s}", name) or value == "" and format("path: `%s` is empty", name)
      or format("path: `%s` must be a text or a number, not %s", name, show(values[name]))
  end)
  for name in pairs(values) do
    if not used[name] then why = why or format("path: %s has no {%s}", show(template), tostring(name)) end
  end
  if why then return nil, why end
  return text
end

--- The URL with more query behind it, before a fragment.
function url.add_query(text, query)
  if query == "" then return text end
  local base, fragment = match(text, "^([^#]*)(.*)$")
  local joint = find(base, "?", 1, true) and (find(base, "[?&]$") and "" or "&") or "?"
  return base .. joint .. query .. fragment
end

return url
