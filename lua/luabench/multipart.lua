-- multipart/form-data (RFC 7578): a list of parts as a body made of texts and files, for core.upload or to be joined.
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local units = require "luabench.units"

local multipart = {}

local show = errors.show
local find, format, gsub, match = string.find, string.format, string.gsub, string.match

local FORM = 'write multipart = { { "name", "value" }, { "name", file = "PATH" } }'
local KEYS = { file = true, value = true, filename = true, type = true }

-- As browsers do (WHATWG HTML 4.10.21.8): the three bytes that would end the quoted text.
local ESCAPES = { ['"'] = "%22", ["\r"] = "%0D", ["\n"] = "%0A" }

local function quoted(text) return '"' .. gsub(text, '["\r\n]', ESCAPES) .. '"' end

local function check_keys(part, i)
  for key in pairs(part) do
    if type(key) == "string" and not KEYS[key] then return format("part %d: unknown key `%s`%s; %s", i, key, nearest.hint(key, KEYS), FORM) end
    if type(key) == "number" and key ~= 1 and key ~= 2 then return format("part %d: %s is one value too many; %s", i, show(part[key]), FORM) end
  end
end

local function text_of(value)
  if type(value) == "number" then return units.digits(value) end
  if type(value) == "boolean" then return tostring(value) end
  return type(value) == "string" and value or nil
end

local function read_value(part, i)
  local given = part[2]
  if given == nil then given = part.value elseif part.value ~= nil then return nil, format("part %d: two values; %s", i, FORM) end
  if part.file ~= nil then
    if given ~= nil then return nil, format("part %d: `file` and a value; %s", i, FORM) end
    return nil
  end
  local text = text_of(given)
  if not text then return nil, format("part %d: the value must be a text or a number, not %s; %s", i, show(given), FORM) end
  return text
end

local function check_line(part, key, i)
  local value = part[key]
  if value == nil then return nil end
  if type(value) ~= "string" or value == "" then return format("part %d: `%s` must be a text, not %s", i, key, show(value)) end
  if key == "type" and (find(value, "%c") or not find(value, "^[^/%s]+/[^/%s]+")) then return format("part %d: %s is no media type such as text/plain", i, show(value)) end
end

-- Name, text (nil: a file), filename, type; or nil and what is wrong.
local function read_part(part, i)
  if type(part) ~= "table" then return nil, format("part %d must be a table, not %s; %s", i, show(part), FORM) end
  local why = check_keys(part, i)
  if why then return nil, why end
  if type(part[1]) ~= "string" or part[1] == "" then return nil, format("part %d: the name must be a text, not %s; %s", i, show(part[1]), FORM) end
  local text
  text, why = read_value(part, i)
  why = why or check_line(part, "filename", i) or check_line(part, "type", i)
  if why then return nil, why end
  if not text and (type(part.file) ~= "string" or part.file == "") then return nil, format("part %d: `file` must be a path, not %s", i, show(part.file)) end
  local filename = part.filename or (not text and match(part.file, "[^/]*$")) or nil
  return { name = part[1], text = text, path = part.file, filename = filename, type = part.type or (filename and "application/octet-stream") or nil }
end

local function head_of(part)
  local lines = { "Content-Disposition: form-data; name=" .. quoted(part.name) .. (part.filename and "; filename=" .. quoted(part.filename) or "") }
  if part.type then lines[2] = "Content-Type: " .. part.type end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

--- A list of parts, read; or nil and what is wrong.
function multipart.read(list)
  if type(list) ~= "table" then return nil, format("must be a list, not %s; %s", show(list), FORM) end
  for key in pairs(list) do
    if type(key) ~= "number" then return nil, format("`%s` stands outside of a part; %s", tostring(key), FORM) end
  end
  if #list == 0 then return nil, "is empty; " .. FORM end
  local parts = {}
  for i, part in ipairs(list) do
    local read, why = read_part(part, i)
    if not read then return nil, why end
    parts[i] = read
  end
  return parts
end

local function occurs(boundary, parts)
  for _, part in ipairs(parts) do
    if part.text and find(part.text, boundary, 1, true) then return true end
  end
  return false
end

local function random_boundary()
  return format("luabench-%08x%08x%08x", math.random(0, 2 ^ 31 - 1), math.random(0, 2 ^ 31 - 1), math.random(0, 2 ^ 31 - 1))
end

local kept

--- A boundary that is in no text of the parts: mostly the same one, so that heads repeat. Of files it is as good as certain.
function multipart.boundary(parts)
  kept = kept or random_boundary()
  while occurs(kept, parts) do kept = random_boundary() end
  return kept
end

--- The body of parts that were read: a list of texts and, where `open` (path → file) was called, files. Neighbouring texts are one.
function multipart.body(parts, boundary, open)
  local pieces, text = {}, ""
  for _, part in ipairs(parts) do
    text = text .. "--" .. boundary .. "\r\n" .. head_of(part)
    if part.text then
      text = text .. part.text
    else
      pieces[#pieces + 1] = text
      pieces[#pieces + 1] = open(part.path)
      text = ""
    end
    text = text .. "\r\n"
  end
  pieces[#pieces + 1] = text .. "--" .. boundary .. "--\r\n"
  return pieces
end

return multipart
