-- JSON for scripts: a thin face of the core's.
local core = require "luabench.core"
local errors = require "luabench.errors"

local json = { null = core.json_null }

--- The value as JSON. What JSON cannot hold (a function, NaN, a table that is neither list nor object) is an error at the script's line.
function json.encode(value, extra)
  if extra ~= nil then errors.script("json.encode takes one value") end
  local text, why = core.json_encode(value)
  if not text then errors.script("json.encode: %s", why) end
  return text
end

--- The value of a JSON text; or nil and what is wrong with it.
function json.decode(text, extra)
  if type(text) ~= "string" then errors.script("json.decode needs a string, got %s", errors.show(text)) end
  if extra ~= nil then errors.script("json.decode takes one text") end
  return core.json_decode(text)
end

--- Marks a table as a list, so that an empty one becomes `[]`; returns it.
function json.array(list)
  if type(list) ~= "table" then errors.script("json.array needs a table: json.array {}") end
  return core.json_array(list)
end

return json
