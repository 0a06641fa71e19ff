-- Results that were saved with -o FILE.json, read again: whole, or a message that says what is wrong with the file. What is read has been checked against
-- docs/result.schema.json, so that nobody who uses it needs to.
local core = require "luabench.core"
local errors = require "luabench.errors"
local files = require "luabench.files"
local summary = require "luabench.summary"
local validate = require "luabench.saved.validate"

local saved = {}

local VERSION = 1

local schema

local function result_schema()
  schema = schema or assert(core.json_decode(require "luabench.result_schema"))
  return schema
end

-- A SUMMARY whose histogram is not what its figures are of, by its path; nil when there is none.
local function damaged_histogram(value, path)
  if type(value) ~= "table" then return nil end
  if type(value.histogram) == "string" then
    local hist = core.hist_decode(value.histogram)
    if not hist or hist:count() ~= value.count then return path end
    return nil
  end
  for key, each in pairs(value) do
    local found = damaged_histogram(each, path == "" and tostring(key) or path .. "." .. tostring(key))
    if found then return found end
  end
end

-- What is wrong with the text of a file, or nil and the document.
local function wrong(text)
  if text == "" then return "it is empty" end
  local document, why = core.json_decode(text)
  if document == nil then return "it is not JSON" .. (why and ": " .. why or "") end
  if type(document) ~= "table" or document.luabench == nil then return "it is no result of luabench" end
  if document.version ~= VERSION then
    return ("it is a result of version %s, and this luabench reads version %d"):format(errors.show(document.version), VERSION)
  end
  local problem = validate.check(document, result_schema())
  if problem then return "it is damaged, or of another luabench: " .. problem end
  local path = damaged_histogram(document, "")
  if path then return ("it is damaged: the histogram of %s is not of its figures"):format(path) end
  return nil, document
end

--- The document of a file; ends the command when there is none in it.
function saved.read(path)
  local text, why = files.read(path)
  if not text then errors.usage("cannot read %s: %s", errors.path(path), why) end
  local problem, document = wrong(text)
  if problem then errors.usage("%s: %s", errors.path(path), problem) end
  return document
end

--- True for the result of comparisons between servers, which has no scenarios.
function saved.is_comparison(document)
  return next(document.compare) ~= nil and summary.value(document.compare) ~= nil
end

return saved
