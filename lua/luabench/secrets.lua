-- Values that must not be seen in results, reports and logs: those of -e and of secret parameters. What is shown goes through mask.
local secrets = {}

local SHORTEST = 3 -- shorter values would make *** of every other word

local values = {}
local shown = false

--- Told before a script is loaded; `show`: --show-secrets.
function secrets.reset(show)
  values, shown = {}, show == true
end

--- Makes a text a secret.
function secrets.add(text)
  if type(text) ~= "string" or #text < SHORTEST then return end
  values[#values + 1] = text
  table.sort(values, function(a, b) return #a > #b end) -- one may contain another
end

--- The text with *** in place of every secret in it.
function secrets.mask(text)
  if shown then return text end
  for _, value in ipairs(values) do
    if text:find(value, 1, true) then text = text:gsub(value:gsub("%p", "%%%0"), "***") end
  end
  return text
end

--- The texts that mask hides, the longer ones first.
function secrets.list()
  if shown then return {} end
  local list = {}
  for i, value in ipairs(values) do list[i] = value end
  return list
end

--- A value for a report: *** unless --show-secrets is given.
function secrets.value(value)
  if shown then return value end
  return "***"
end

local function masked(value, mask)
  if type(value) == "string" then return mask(value) end
  if type(value) ~= "table" then return value end
  local renamed
  for key, each in pairs(value) do
    local new = masked(each, mask)
    if new ~= each then value[key] = new end
    if type(key) == "string" and mask(key) ~= key then
      renamed = renamed or {}
      renamed[key] = mask(key)
    end
  end
  for from, to in pairs(renamed or {}) do
    value[to], value[from] = value[from], nil
  end
  return value
end

--- Masks every text in a document, in place; returns it.
function secrets.mask_all(document)
  if shown or #values == 0 then return document end
  return masked(document, secrets.mask)
end

return secrets
