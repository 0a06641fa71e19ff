-- report(function(summary) ... end): what a script makes of the results, once, at the end, in the control state.
local core = require "luabench.core"
local errors = require "luabench.errors"
local permissions = require "luabench.permissions"
local stage = require "luabench.stage"

local hook = {}

local show = errors.show

local listener -- { call, where }

--- Forgets the function; called before a script is loaded.
function hook.reset()
  listener = nil
end

--- The global `report`.
function hook.declare(call, extra)
  stage.demand_loading("report")
  if type(call) ~= "function" or extra ~= nil then errors.script("report takes one function: report(function(summary) ... end), not %s", show(call)) end
  if listener then errors.script("report is used twice; the first is at %s", listener.where) end
  listener = { call = call, where = errors.where() or "?" }
end

-- The document as a script reads it: what does not exist is nil.
local function without_nulls(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, each in pairs(value) do
    if each ~= core.json_null then result[key] = without_nulls(each) end
  end
  return result
end

local function write_file(name, text)
  if type(name) ~= "string" or type(text) ~= "string" then
    return ("report returns a table of texts by file name: return { [\"summary.txt\"] = \"...\" }, not %s = %s"):format(show(name), show(text))
  end
  local path, why = permissions.writable(name)
  if not path then return ("report: %s: %s"):format(show(name), why) end
  local file, problem = io.open(path, "wb")
  local written = file and file:write(text)
  if file then written = file:close() and written end
  return not written and ("report: cannot write %s"):format(problem or name) or nil
end

--- Calls the function with the document, and writes the files that it returns. Adds to `problems` what went wrong. A function that has not returned after `seconds` ends the
--- program with status 3, what words() returns being printed on standard output.
function hook.run(document, problems, seconds, words)
  if not listener then return end
  core.deadline(seconds, 3, "luabench: report() did not return within --script-timeout; is there an endless loop?\n", words())
  local ok, files = xpcall(function() return listener.call(without_nulls(document)) end, function(value) return debug.traceback(tostring(value), 2) end)
  core.deadline()
  if not ok then
    problems[#problems + 1] = "report: " .. files
  elseif type(files) == "table" then
    for name, text in pairs(files) do problems[#problems + 1] = write_file(name, text) end
  elseif files ~= nil then
    problems[#problems + 1] = ("report returns nothing or a table of files, not %s"):format(show(files))
  end
end

return hook
