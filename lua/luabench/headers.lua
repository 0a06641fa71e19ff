-- Header lines. A set of headers is a map: name in lower case → { name, value, ... } as they are sent; several values are several lines; false
-- in place of a list removes a header.
local core = require "luabench.core"
local errors = require "luabench.errors"
local units = require "luabench.units"

local headers = {}

local show = errors.show
local find, format, lower = string.find, string.format, string.lower
local concat, sort = table.concat, table.sort

-- Lower-case forms of the names that have been found valid. Scripts use few names; the bound guards against those that make them up.
local valid, valid_count = {}, 0

--- The lower-case form of a header's name, or nil and what is wrong with it.
function headers.lower(name)
  local known = valid[name]
  if known then return known end
  if type(name) ~= "string" then return nil, format('header %s stands without a name; write ["X-Name"] = "value"', show(name)) end
  if name == "" or find(name, "[^%w!#$%%&'*+%-.^_`|~]") then return nil, format("%s is not a header name", show(name)) end
  if valid_count >= 1000 then valid, valid_count = {}, 0 end
  valid[name], valid_count = lower(name), valid_count + 1
  return valid[name]
end

--- A header's value as it is sent, or nil and what is wrong with it.
function headers.value(name, value)
  if type(value) == "number" then value = units.digits(value) or "nan" end
  if type(value) ~= "string" then return nil, format("header `%s` must be a string, not %s", name, show(value)) end
  if find(value, "[\r\n%z]") then return nil, format("header `%s`: its value %s contains a line break or a zero byte", name, show(value)) end
  return value
end

-- Framing is made from the body; a second, different word on it would only desynchronise the connection.
local MADE_BY_US = {
  ["content-length"] = "is made from the body",
  ["transfer-encoding"] = "cannot be set: a body is sent with Content-Length",
}

--- Why this header cannot be given by a script, or nil.
function headers.refused(name_in_lower_case)
  local why = MADE_BY_US[name_in_lower_case]
  return why and format("header `%s` %s", name_in_lower_case, why)
end

local function values_of(name, value)
  if value == false then return false end
  local entry = { name }
  for _, one in ipairs(type(value) == "table" and value or { value }) do
    local text, why = headers.value(name, one)
    if not text then return nil, why end
    entry[#entry + 1] = text
  end
  return entry
end

--- A script's table of headers as a map, or nil and what is wrong.
function headers.of_table(values)
  local map = {}
  for name, value in pairs(values) do
    local key, why = headers.lower(name)
    if not key then return nil, why end
    why = headers.refused(key)
    if why then return nil, why end
    local entry
    entry, why = values_of(name, value)
    if entry == nil then return nil, why end
    map[key] = entry
  end
  return map
end

--- `-H 'Name: value'` into a map: repeated names are several lines, `Name:` removes, `Name;` sends it empty. nil and what is wrong.
function headers.add_option(map, text)
  local name, value = text:match("^([^:;%s]+)%s*:%s*(.-)%s*$")
  if not name then
    name, value = text:match("^([^:;%s]+);%s*$"), ""
    if not name then return nil, format("%s is no header; write 'Name: value'", show(text)) end
  elseif value == "" then
    value = false
  end
  local key, why = headers.lower(name)
  if not key then return nil, why end
  why = headers.refused(key)
  if why then return nil, why end
  if value == false then
    map[key] = false
    return map
  end
  value, why = headers.value(name, value)
  if not value then return nil, why end
  map[key] = map[key] or { name }
  map[key][#map[key] + 1] = value
  return map
end

--- The first map with the entries of the second over it: a new map.
function headers.merge(under, over)
  local map = {}
  for key, entry in pairs(under or {}) do map[key] = entry end
  for key, entry in pairs(over or {}) do map[key] = entry end
  return map
end

--- What goes with every request unless the script says otherwise.
function headers.defaults()
  return { ["user-agent"] = { "User-Agent", "luabench/" .. core.VERSION }, accept = { "Accept", "*/*" } }
end

--- Header lines of a map, sorted by name, each ended by CRLF, Host left out; and the value for Host or nil.
function headers.render(map)
  local keys, lines = {}, {}
  for key, entry in pairs(map) do
    if entry and key ~= "host" then keys[#keys + 1] = key end
  end
  sort(keys)
  for _, key in ipairs(keys) do
    local entry = map[key]
    for i = 2, #entry do lines[#lines + 1] = entry[1] .. ": " .. entry[i] .. "\r\n" end
  end
  return concat(lines), map.host and map.host[2] or nil
end

return headers
