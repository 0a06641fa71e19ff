-- Writes the files of -o. A file appears whole or not at all: it is written beside and renamed, unless what is there already is no plain file (a device, a pipe).
-- A symbolic link at the path is replaced by the file.

local core = require "luabench.core"
local errors = require "luabench.errors"
local format = require "luabench.format"
local formats = require "luabench.output.formats"

local outputs = {}

local function write_to(path, text)
  local file, problem = io.open(path, "wb")
  if not file then return nil, problem end
  local written, write_problem = file:write(text)
  local closed, close_problem = file:close()
  if not written then return nil, path .. ": " .. tostring(write_problem) end
  if not closed then return nil, path .. ": " .. tostring(close_problem) end
  return true
end


local function replace(path, text)
  local beside = path .. ".part"
  local ok, problem = write_to(beside, text)
  if not ok then
    os.remove(beside)
    return nil, problem
  end
  ok, problem = os.rename(beside, path)
  if not ok then os.remove(beside) end
  return ok, problem
end

--- Writes `text` to `path`. Returns true, or nil and a message that names the file.
function outputs.write_file(path, text)
  if core.file_kind(path) == "other" then return core.write_device(path, text) end -- a device, a pipe: opened once, never replaced
  if replace(path, text) then return true end
  return write_to(path, text) -- the folder may not be ours to write in, though the file is
end

-- The path without symbolic links and dots; that of a file which is not there yet by its folder.
local function real(path)
  local folder, name = path:match("^(.*/)([^/]*)$")
  local whole = core.realpath(path)
  if whole then return whole end
  local real_folder = core.realpath(folder or ".")
  return real_folder and real_folder .. "/" .. (name or path) or path
end

--- Ends the command when two outputs are one file: the second would destroy the first.
function outputs.check(list)
  local seen = {}
  for _, output in ipairs(list or {}) do
    local path = real(output.path)
    if seen[path] then
      local other = seen[path] ~= output.path and (" (once as %s)"):format(errors.path(seen[path])) or ""
      errors.usage("-o %s is given twice%s", errors.path(output.path), other)
    end
    if core.file_kind(path) ~= "other" then seen[path] = output.path end
  end
end

-- The text of a file, or nil and why it cannot be made.
local function text_of(output, document, context)
  local row = formats.named(output.format)
  if not row or not row.module then return nil, ("unknown format %s"):format(tostring(output.format)) end
  return require(row.module)(document, context)
end

--- Writes every output of the plan that the core has not written already. Returns the list of messages about those that could not be written.
--- @param context table? what the document does not say: see output/formats.lua
function outputs.write(plan, document, context)
  local problems = {}
  for _, output in ipairs(plan.outputs or {}) do
    local text, problem = text_of(output, document, context or {})
    if text then problem = select(2, outputs.write_file(output.path, text)) end
    if problem then problems[#problems + 1] = ("cannot write the result to %s: %s"):format(output.path, problem) end
  end
  return problems
end

--- Of the files that the core has written (`journals` of docs/core.md): adds to `problems` what went wrong, and returns a list of remarks about what is missing.
function outputs.journals(journals, problems)
  local notices = {}
  for _, file in ipairs(journals or {}) do
    local missing = format.counted(file.missing, "request")
    if file.problem then
      problems[#problems + 1] = ("cannot write the requests to %s: %s; %s missing in it"):format(file.path, file.problem, missing .. (file.missing == 1 and " is" or " are"))
    elseif file.missing > 0 then
      notices[#notices + 1] = ("%s missing in %s: writing it did not keep up"):format(missing .. (file.missing == 1 and " is" or " are"), file.path)
    end
  end
  return notices
end

return outputs
