-- Checks a value against a JSON Schema (draft 2020-12), as far as docs/result.schema.json uses it. Keys that a schema does not know are let through: a later version
-- may have added them. Patterns are not looked at.
local core = require "luabench.core"

local validate = {}

local null = core.json_null
local check

local function kind_of(value)
  if value == null or value == nil then return "null" end
  local kind = type(value)
  if kind == "table" then return #value > 0 and "array" or next(value) == nil and "empty" or "object" end
  return kind
end

local TYPES = {
  null = function(kind) return kind == "null" end,
  string = function(kind) return kind == "string" end,
  boolean = function(kind) return kind == "boolean" end,
  number = function(kind) return kind == "number" end,
  integer = function(kind, value) return kind == "number" and value % 1 == 0 end,
  array = function(kind) return kind == "array" or kind == "empty" end,
  object = function(kind) return kind == "object" or kind == "empty" end,
}

local function has_type(value, wanted)
  local kind = kind_of(value)
  if type(wanted) == "string" then return TYPES[wanted](kind, value) end
  for _, each in ipairs(wanted) do
    if TYPES[each](kind, value) then return true end
  end
  return false
end

local function words(wanted)
  return type(wanted) == "table" and table.concat(wanted, " or ") or wanted
end

local function here(path)
  return path == "" and "it" or path
end

local function inside(path, key)
  return path == "" and tostring(key) or path .. "." .. tostring(key)
end

local function check_scalar(value, schema, path)
  if schema.type and not has_type(value, schema.type) then return ("%s must be %s"):format(here(path), words(schema.type)) end
  if schema.const ~= nil and value ~= schema.const then return ("%s must be %s"):format(here(path), tostring(schema.const)) end
  if schema.enum then
    local found = false
    for _, each in ipairs(schema.enum) do found = found or each == value end
    if not found then return ("%s is not one of those that are known"):format(here(path)) end
  end
  if type(value) ~= "number" then return nil end
  if schema.minimum and value < schema.minimum then return ("%s is less than %g"):format(here(path), schema.minimum) end
  if schema.exclusiveMinimum and value <= schema.exclusiveMinimum then return ("%s is not more than %g"):format(here(path), schema.exclusiveMinimum) end
end

local function check_object(value, schema, path, root)
  for _, key in ipairs(schema.required or {}) do
    if value[key] == nil then return ("%s is missing"):format(inside(path, key)) end
  end
  for key, each in pairs(value) do
    local of = schema.properties and schema.properties[key]
    if not of and type(schema.additionalProperties) == "table" then of = schema.additionalProperties end
    local problem = of and check(each, of, inside(path, key), root)
    if problem then return problem end
  end
end

local function check_array(value, schema, path, root)
  if schema.minItems and #value < schema.minItems then return ("%s is too short"):format(here(path)) end
  for i, each in ipairs(value) do
    local of = schema.prefixItems and schema.prefixItems[i] or schema.items
    local problem = type(of) == "table" and check(each, of, inside(path, i), root)
    if problem then return problem end
  end
end

local function check_choices(value, schema, path, root)
  if schema.anyOf then
    local problem
    for _, each in ipairs(schema.anyOf) do
      problem = check(value, each, path, root)
      if not problem then break end
    end
    if problem then return problem end
  end
  if not schema["if"] then return nil end
  local branch = schema[check(value, schema["if"], path, root) and "else" or "then"]
  return branch and check(value, branch, path, root)
end

local function definition(reference, root)
  return root["$defs"][reference:match("^#/%$defs/(.+)$")]
end

--- nil, or the first thing that is wrong, with its path.
function check(value, schema, path, root)
  local problem = schema["$ref"] and check(value, definition(schema["$ref"], root), path, root)
    or check_scalar(value, schema, path) or check_choices(value, schema, path, root)
  if problem or type(value) ~= "table" or value == null then return problem end
  return check_object(value, schema, path, root) or check_array(value, schema, path, root)
end

--- nil when `document` is as `schema` says, else the first thing that is wrong in words.
function validate.check(document, schema)
  return check(document, schema, "", schema)
end

return validate
