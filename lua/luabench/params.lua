-- params { users = { 50, "concurrent users" }, path = "/" }: what `-p NAME=VALUE` can set, typed by the defaults.
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local secrets = require "luabench.secrets"
local stage = require "luabench.stage"
local units = require "luabench.units"

local params = {}

local show = errors.show
local given = {}    -- name → text, of -p
local declared = {} -- name → { name, default, help, choices, secret, value }

--- Told before the script is loaded: a table of -p options, name → text.
function params.configure(texts)
  given, declared = texts or {}, {}
end

local TRUE = { ["true"] = true, yes = true, on = true, ["1"] = true }
local FALSE = { ["false"] = true, no = true, off = true, ["0"] = true }

local function read_number(text)
  local number = units.number(text)
  if number then return number end
  number = text:match("[kMG]%s*$") and units.count(text, -units.MOST)
  if number then return number end
  return nil, show(text) .. " is not a number"
end

local function read_boolean(text)
  if TRUE[text] then return true end
  if FALSE[text] then return false end
  return nil, show(text) .. " is neither true nor false"
end

local function read(row, text)
  if type(row.default) == "number" then return read_number(text) end
  if type(row.default) == "boolean" then return read_boolean(text) end
  return text
end

local function among(choices, value)
  for _, choice in ipairs(choices) do
    if choice == value then return true end
  end
  return false
end

local function list_of(choices)
  local texts = {}
  for i, choice in ipairs(choices) do texts[i] = tostring(choice) end
  return table.concat(texts, ", ")
end

local ROW_KEYS = { choices = "table", secret = "boolean" }

local function check_row(name, row)
  for key, value in pairs(row) do
    if type(key) == "string" then
      if not ROW_KEYS[key] then errors.script("params: `%s`: unknown key `%s`%s", name, key, nearest.hint(key, ROW_KEYS)) end
      if type(value) ~= ROW_KEYS[key] then errors.script("params: `%s`: `%s` must be a %s, not %s", name, key, ROW_KEYS[key], show(value)) end
    end
  end
  if row[2] ~= nil and type(row[2]) ~= "string" then errors.script("params: `%s`: the second value is the help text; %s is none", name, show(row[2])) end
end

local function make_row(name, spec)
  if type(name) ~= "string" or not name:find("^[%a_][%w_%-]*$") then
    errors.script('params: %s is no name; write params { users = { 50, "concurrent users" }, path = "/" }', show(name))
  end
  local row = type(spec) == "table" and spec or { spec }
  check_row(name, row)
  local kind = type(row[1])
  if kind ~= "string" and kind ~= "number" and kind ~= "boolean" then
    errors.script("params: `%s` needs a default: a text, a number or true/false, not %s", name, show(row[1]))
  end
  if row.choices and not among(row.choices, row[1]) then
    errors.script("params: `%s`: its default %s is not among its choices: %s", name, show(row[1]), list_of(row.choices))
  end
  return { name = name, default = row[1], help = row[2], choices = row.choices, secret = row.secret or false }
end

local function value_of(row)
  local text = given[row.name]
  if text == nil then return row.default end
  local value, why = read(row, text)
  if value == nil then errors.usage("-p %s: %s (its default is %s)", row.name, why, show(row.default)) end
  if row.choices and not among(row.choices, value) then errors.usage("-p %s: %s is not among its choices: %s", row.name, show(value), list_of(row.choices)) end
  return value
end

local Values = {}
function Values.__index(values, name)
  errors.script("there is no parameter %s%s", show(name), nearest.hint(name, values))
end

--- Declares parameters; returns their values. May be called several times, in modules too.
function params.declare(specs, extra)
  stage.demand_loading("params")
  if type(specs) ~= "table" or extra ~= nil then errors.script('params needs one table: params { users = { 50, "concurrent users" } }') end
  local values = {}
  for name, spec in pairs(specs) do
    local row = make_row(name, spec)
    local before = declared[name]
    if before and before.default ~= row.default then
      errors.script("params: `%s` is declared twice, with the defaults %s and %s", name, show(before.default), show(row.default))
    end
    row.value = value_of(row)
    if row.secret then secrets.add(tostring(row.value)) end
    declared[name], values[name] = row, row.value
  end
  return setmetatable(values, Values)
end

--- All that were declared, sorted by name.
function params.list()
  local rows = {}
  for _, row in pairs(declared) do rows[#rows + 1] = row end
  table.sort(rows, function(a, b) return a.name < b.name end)
  return rows
end

--- After the script is loaded: ends the command when -p names something that was not declared.
function params.check_given(script)
  for name in pairs(given) do
    if not declared[name] then
      if not next(declared) then errors.usage("-p %s: %s has no parameters", name, script) end
      local names = {}
      for _, row in ipairs(params.list()) do names[#names + 1] = row.name end
      errors.usage("-p %s: %s has no such parameter%s\nIts parameters: %s", name, script, nearest.hint(name, declared), table.concat(names, ", "))
    end
  end
end

local function describe(row)
  local default = row.secret and "" or row.default == "" and "" or (" (default %s)"):format(tostring(row.default))
  local choices = row.choices and (": " .. list_of(row.choices)) or ""
  return (row.help or "") .. choices .. default
end

--- The parameters as lines of a help text; "" when there are none.
function params.help()
  local rows, lines, width = params.list(), {}, 8
  for _, row in ipairs(rows) do width = math.max(width, #row.name) end
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("  %-" .. width .. "s  %s"):format(row.name, (describe(row):gsub("^%s+", "")))
  end
  return table.concat(lines, "\n")
end

return params
