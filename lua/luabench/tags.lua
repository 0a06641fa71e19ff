-- Tags of samples: names and texts, { page = "cart" }.
local errors = require "luabench.errors"
local units = require "luabench.units"

local tags = {}

local show = errors.show
local type, next, pairs, find, format = type, next, pairs, string.find, string.format

local LONGEST = 1000
local TOO_LONG = format("they are longer than %d characters", LONGEST)

-- What selectors know beside tags.
local TAKEN = { scenario = true, name = true, method = true, status = true, error = true, group = true, check = true, phase = true, target = true, case = true }

local function line(name, value)
  local text = value
  if type(value) == "number" then text = units.digits(value) elseif type(value) == "boolean" then text = tostring(value) end
  if type(name) ~= "string" or not find(name, "^[%a_][%w_.-]*$") or type(text) ~= "string" or find(text, "%c") then
    return nil, format('tags are names and texts: { page = "cart" }, not %s = %s', show(name), show(value))
  end
  if TAKEN[name] then return nil, format("`%s` is no tag: figures have it by themselves", name) end
  if #name + #text > LONGEST then return nil, TOO_LONG end
  return name .. "=" .. text
end

--- A table of tags in the form of the core: "NAME=VALUE" a line, sorted; or nil and what is wrong.
function tags.text(given)
  if type(given) ~= "table" then return nil, format('must be a table, not %s; write tags = { page = "cart" }', show(given)) end
  local name, value = next(given)
  if name == nil then return "" end
  if next(given, name) == nil then return line(name, value) end
  local lines = {}
  for key, each in pairs(given) do
    local text, why = line(key, each)
    if not text then return nil, why end
    lines[#lines + 1] = text
  end
  table.sort(lines)
  local text = table.concat(lines, "\n")
  if #text > LONGEST then return nil, TOO_LONG end
  return text
end

--- The table that such a text stands for.
function tags.table(text)
  local result = {}
  for name, value in text:gmatch("([^=\n]+)=([^\n]*)") do result[name] = value end
  return result
end

return tags
