-- Checks a table of options against rows of schema.lua: unknown keys with the nearest one, keys in the wrong place with their place, names of
-- other tools with ours, wrong types. Returns the values as plain numbers, strings and functions.
local connection = require "luabench.connection"
local auth = require "luabench.auth"
local errors = require "luabench.errors"
local headers = require "luabench.headers"
local limits = require "luabench.limits"
local load_keys = require "luabench.load"
local nearest = require "luabench.nearest"
local schema = require "luabench.schema"
local tags = require "luabench.tags"
local units = require "luabench.units"
local url = require "luabench.url"

local options = {}

local show = errors.show
local find, format = string.find, string.format

local function index_of(rows)
  local index = {}
  for _, row in ipairs(rows) do index[row[1]] = row end
  return index
end

-- A set of keys: its rows by name, and the names of other tools.
local SETS = {
  scenario = { rows = index_of(schema.scenario), foreign = schema.foreign },
  http = { rows = index_of(schema.http), foreign = schema.foreign_http },
  request = { rows = index_of(schema.request), foreign = schema.foreign_request },
}

local PLACES = {
  scenario = { { "http", "it belongs into the `http` table: http = { %s = ... }" },
               { "request", "it belongs to a request: http.post(url, { %s = ... })" } },
  http = { { "scenario", "it belongs to the scenario, outside of `http`" },
           { "request", "it belongs to a request: http.post(url, { %s = ... })" } },
  request = { { "http", "it belongs to the scenario: http = { %s = ... }" }, { "scenario", "it belongs to the scenario: %s = ..." } },
}

local function place_of(kind, key)
  for _, place in ipairs(PLACES[kind]) do
    if SETS[place[1]].rows[key] then return "; " .. format(place[2], key) end
  end
end

local function names_of(set)
  local names = {}
  for name in pairs(set.rows) do names[#names + 1] = name end
  return names
end

local function foreign(set, key)
  local ours = set.foreign[key]
  if not ours then return nil end
  if not find(ours, "[ {]") then return "; here it is called `" .. ours .. "`" end
  return "; " .. ours
end

--- What is wrong with a key that has no row, in words; `value` is what was given for it.
function options.unknown(kind, key, value)
  local set = SETS[kind]
  if type(key) == "number" then return format("%s stands without a key; write NAME = %s", show(value), type(value) == "table" and "{ ... }" or show(value)) end
  if type(key) ~= "string" then return format("%s cannot be a key", show(key)) end
  local why = place_of(kind, key) or foreign(set, key) or nearest.hint(key, names_of(set))
  return format("unknown key `%s`%s", key, why)
end

local function expect(kind)
  return function(value)
    if type(value) == kind then return value end
    return nil, format("must be a %s, not %s", kind, show(value))
  end
end

local function boolean(value)
  if type(value) == "boolean" then return value end
  return nil, format("must be true or false, not %s", show(value))
end

local function run_function(value)
  if type(value) == "function" then return value end
  return nil, format("must be a function, not %s; write run = function() ... end", show(value))
end

local function header_table(value)
  if type(value) ~= "table" then return nil, format('must be a table, not %s; write headers = { ["X-Name"] = "value" }', show(value)) end
  local result, why = headers.of_table(value)
  return result, why
end

local READERS = {
  any = function(value) return value end,
  boolean = boolean,
  count = units.count,
  duration = units.duration,
  positive_duration = units.positive_duration,
  size = units.size,
  string = expect "string",
  table = expect "table",
  ["function"] = run_function,
  headers = header_table,
  auth = auth.read,
  hops = function(value)
    if type(value) == "boolean" then return nil, "how many? write redirects = 10" end
    return units.count(value, 0)
  end,
  tags = function(value)
    local text, why = tags.text(value)
    if not text then return nil, why end
    return tags.table(text)
  end,
  target = url.target,
  thresholds = function(value) return limits.read(value) end,
}

for kind, read in pairs(connection.readers) do READERS[kind] = read end
for kind, read in pairs(load_keys.readers) do READERS[kind] = read end

local function read_value(row, value)
  local read, why = READERS[row.kind](value)
  if read == nil then return nil, why end
  if row.most and read > row.most then return nil, format("%s is more than %s", show(value), units.show_count(row.most)) end
  return read
end

--- Reads `values` by the rows of `kind` ("scenario", "http", "request"). Returns a table of plain values, or nil and what is wrong.
function options.read(kind, values)
  if type(values) ~= "table" then return nil, format("`%s` must be a table, not %s", kind, show(values)) end
  local rows, result = SETS[kind].rows, {}
  for key, value in pairs(values) do
    local row = rows[key]
    if not row then return nil, options.unknown(kind, key, value) end
    local read, why
    if row.kind == "http" then
      read, why = options.read("http", value)
      if not read then return nil, "http: " .. why end
    else
      read, why = read_value(row, value)
      if read == nil then return nil, format("`%s`: %s", key, why) end
    end
    result[key] = read
  end
  return result
end

--- Fills in the defaults of `kind` for keys that are absent.
function options.fill(kind, values)
  for name, row in pairs(SETS[kind].rows) do
    if values[name] == nil then values[name] = row.default end
  end
  return values
end

return options
