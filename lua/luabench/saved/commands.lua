-- The commands on saved results: report, diff, merge. Each takes its argv and returns a command (docs/core.md).
local cli = require "luabench.cli"
local core = require "luabench.core"
local errors = require "luabench.errors"
local outputs = require "luabench.outputs"
local saved = require "luabench.saved"
local terminal = require "luabench.terminal"

local commands = {}

local CANNOT_WRITE = 3

local HELP = {
  report = "luabench report RESULT.json [-o FILE]: the report again, of a saved result, or\nanother of its forms\n\n%s\n",
  diff = "luabench diff A.json B.json: what has changed from A to B, with intervals\n\n%s\n",
  merge = "luabench merge R1.json R2.json ... -o FILE.json: one result out of several.\nCounts and histograms add; percentiles are never averaged.\n\n%s\n",
}

local function say(text, status)
  core.write(1, text)
  return { action = "exit", status = status or 0 }
end

local function help(name)
  return say(HELP[name]:format(cli.options_help(name)))
end

local function color_of(given)
  local no_color = os.getenv("NO_COLOR")
  return not given.no_color and (no_color == nil or no_color == "") and core.terminal(1) ~= nil
end

local function check_outputs(given)
  outputs.check(given.outputs)
  for _, output in ipairs(given.outputs or {}) do
    if output.live then errors.usage("-o %s: its lines are of single requests, which a saved result does not have", errors.path(output.path)) end
  end
end

-- Writes the files; the exit status.
local function write(given, document)
  local status = 0
  for _, problem in ipairs(outputs.write({ outputs = given.outputs }, document)) do
    core.write(2, "luabench: " .. terminal.escape(problem) .. "\n")
    status = CANNOT_WRITE
  end
  return { action = "exit", status = status }
end

local function text_of(document, given)
  local options = { width = math.max(80, math.min(core.terminal(1) or 80, 100)), color = color_of(given), latency = given.latency }
  if saved.is_comparison(document) then return require("luabench.compare.report").render(document, options) end
  return require("luabench.report.text").render(document, options)
end

function commands.report(argv)
  local given = cli.parse_saved("report", argv)
  if given.help then return help "report" end
  if #given.words ~= 1 then errors.usage("report takes one result: luabench report RESULT.json") end
  check_outputs(given)
  local document = saved.read(given.words[1])
  if given.outputs and given.outputs[1] then return write(given, document) end
  return say(text_of(document, given))
end

function commands.diff(argv)
  local given = cli.parse_saved("diff", argv)
  if given.help then return help "diff" end
  if #given.words ~= 2 then errors.usage("diff takes two results: luabench diff A.json B.json") end
  given.color = color_of(given)
  return say(require("luabench.diff").run(given))
end

function commands.merge(argv)
  local given = cli.parse_saved("merge", argv)
  if given.help then return help "merge" end
  if #given.words < 2 then errors.usage("merge takes two results or more: luabench merge R1.json R2.json -o ALL.json") end
  if not (given.outputs and given.outputs[1]) then errors.usage("merge: where to? luabench merge %s ... -o ALL.json", errors.path(given.words[1])) end
  check_outputs(given)
  return write(given, require("luabench.saved.merge").files(given.words))
end

return commands
