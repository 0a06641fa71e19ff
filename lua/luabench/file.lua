-- file.csv, file.lines, file.json: rows of a file that all users draw from; file.text: a file as one text. Rows are C's (core.rows_open); what stands here is
-- where the file is, whether it may be read, and what is wrong with a call.
local core = require "luabench.core"
local errors = require "luabench.errors"
local files = require "luabench.files"
local nearest = require "luabench.nearest"
local permissions = require "luabench.permissions"
local stage = require "luabench.stage"

local file = {}

local show = errors.show

local MODES = { circular = true, random = true, unique = true }
local KEYS = {
  csv = { header = "boolean", mode = "string" },
  lines = { mode = "string" },
  json = { mode = "string" },
}

local opened = {} -- "format header path" → how many times in this state

--- Forgets what was opened; called before a script is loaded.
function file.reset()
  opened = {}
end

local function check_options(call, options, keys)
  if options == nil then return {} end
  if type(options) ~= "table" then errors.script('%s: after the path comes a table: %s("PATH", { mode = "unique" })', call, call) end
  for key, value in pairs(options) do
    if not keys[key] then errors.script("%s: unknown key `%s`%s", call, tostring(key), nearest.hint(tostring(key), keys)) end
    if type(value) ~= keys[key] then errors.script("%s: `%s` must be a %s, not %s", call, key, keys[key], show(value)) end
  end
  if options.mode and not MODES[options.mode] then
    errors.script('%s: `mode` is "circular", "random" or "unique", not %s%s', call, show(options.mode), nearest.hint(options.mode, MODES))
  end
  return options
end

local function check_call(call, path, extra)
  stage.demand_loading(call)
  if extra ~= nil then errors.script("%s takes a path and a table", call) end
  if type(path) ~= "string" or path == "" then errors.script('%s needs a path: %s("PATH"), not %s', call, call, show(path)) end
end

local function find(call, path)
  local real, why = permissions.readable(path)
  if not real or why then errors.script("%s(%s): %s", call, show(path), why) end
  return real
end

local function source(format)
  local call = "file." .. format
  return function(path, options, extra)
    check_call(call, path, extra)
    options = check_options(call, options, KEYS[format])
    local real = find(call, path)
    local header = format == "csv" and options.header ~= false
    local key = format .. tostring(header) .. real
    opened[key] = (opened[key] or 0) + 1
    local rows, why = core.rows_open(real, path, format, options.mode or "circular", header, opened[key])
    if not rows then errors.script("%s(%s): %s", call, show(path), why) end
    return rows
  end
end

--- Rows of a CSV: tables by column name, or lists of cells with header = false.
file.csv = source "csv"

--- Rows that are the lines of a file.
file.lines = source "lines"

--- Rows that are the elements of a JSON array.
file.json = source "json"

--- The whole file as a text.
function file.text(path, extra)
  check_call("file.text", path, extra)
  local text, why = files.read(find("file.text", path))
  if not text then errors.script("file.text(%s): %s", show(path), why) end
  return text
end

--- What is to be said at the end: sources in which users found no row left.
function file.notices()
  local list = {}
  for _, each in ipairs(core.rows_exhausted()) do
    list[#list + 1] = ("%.0f %s ended for want of a row: %s has %.0f, and each is used once (mode = \"unique\")"):format(each.users,
      each.users == 1 and "user" or "users", files.base(each.path), each.rows)
  end
  return list
end

return file
