-- Which statuses a request accepts: a number, a class "2xx", or a list of them.
local errors = require "luabench.errors"

local statuses = {}

local show = errors.show
local FORM = 'write 404, "2xx" or { "2xx", 404 }'

local texts = {} -- of single values that were read

local function read_one(value)
  local known = texts[value]
  if known then return known end
  local text = type(value) == "number" and value == math.floor(value) and ("%.0f"):format(value) or value
  if type(text) ~= "string" or not (text:find("^[1-5]%d%d$") or text:find("^[1-5]xx$")) then return nil, show(value) .. " is no status; " .. FORM end
  texts[value] = text
  return text
end

--- In the form of the core, "2xx 404"; or nil and what is wrong.
function statuses.read(value)
  if type(value) ~= "table" then return read_one(value) end
  local list = {}
  for i, each in ipairs(value) do
    local text, why = read_one(each)
    if not text then return nil, why end
    list[i] = text
  end
  for key in pairs(value) do
    if type(key) ~= "number" or not list[key] then return nil, ("it is a list, and %s is no place in one; %s"):format(show(key), FORM) end
  end
  if #list == 0 then return nil, "it is empty; " .. FORM end
  return table.concat(list, " ")
end

return statuses
