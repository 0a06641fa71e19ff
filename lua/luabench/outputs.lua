-- Writes the files of -o. A file appears whole or not at all: it is written beside and renamed, unless what is there already is no plain file (a device, a pipe).
-- A symbolic link at the path is replaced by the file.

local core = require "luabench.core"
local results = require "luabench.results"

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
  if core.file_kind(path) == "other" then return write_to(path, text) end -- a device, a pipe: opened once, never replaced
  if replace(path, text) then return true end
  return write_to(path, text) -- the folder may not be ours to write in, though the file is
end

local ENCODERS = { json = results.encode }

--- Writes every output of the plan. Returns the list of messages about those that could not be written.
function outputs.write(plan, document)
  local problems = {}
  for _, output in ipairs(plan.outputs or {}) do
    local encode = ENCODERS[output.format]
    local text, problem
    if encode then
      text, problem = encode(document)
    else
      problem = ("unknown format %s"):format(tostring(output.format))
    end
    if text then problem = select(2, outputs.write_file(output.path, text)) end
    if problem then problems[#problems + 1] = ("cannot write the result to %s: %s"):format(output.path, problem) end
  end
  return problems
end

return outputs
