-- The end of a run: thresholds are judged, files written, the report printed, the exit status found. Called once, in the control state.

local core = require "luabench.core"
local file = require "luabench.file"
local format = require "luabench.format"
local hook = require "luabench.report.hook"
local outputs = require "luabench.outputs"
local remarks = require "luabench.report.remarks"
local report = require "luabench.report.text"
local results = require "luabench.results"
local secrets = require "luabench.secrets"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"
local thresholds = require "luabench.thresholds"

local STDOUT, STDERR = 1, 2
local NARROWEST, WIDEST = 40, 100 -- columns of the page

-- Exit status ---------------------------------------------------------------------------------------------------------

local function sum_iterations(document, field)
  local sum = 0
  for _, scenario in pairs(document.scenarios) do sum = sum + scenario.iterations[field] end
  return sum
end

-- Every iteration that ended was ended by a Lua error (not by fail or must).
local function only_script_errors(document)
  local failed = sum_iterations(document, "failed")
  return document.script_errors.count > 0 and failed > 0 and document.script_errors.count >= failed
    and sum_iterations(document, "completed") == 0 and sum_iterations(document, "interrupted") == 0
end

-- Why the run could not be carried through, or nil.
local function broken(document)
  if summary.value(document.setup_failed) then return "setup failed" end
  if summary.value(document.stopped) then return "the run was stopped" end
  if summary.value(document.stuck) then return "a Lua function never returned" end
  if document.total.requests.started > 0 and document.total.latency.count == 0 then return "requests were started and no whole response came" end
  if only_script_errors(document) then return "every iteration died of a script error" end
end

local function failed_thresholds(document)
  local failed = 0
  for _, threshold in ipairs(document.thresholds) do failed = failed + (threshold.ok and 0 or 1) end
  return failed
end

--- The exit status of a document (cli: "Exit status") and its reason in words, nil when it is 0. When several hold: 70, 130, 3, 4, 1.
--- @param problems table messages of files that could not be written
local function status_of(plan, document, problems)
  if summary.value(document.unbalanced) then return 70, "the books do not balance: a bug of luabench" end
  if document.interrupted then return 130, "interrupted" end
  local reason = broken(document)
  if reason then return 3, reason end
  if #problems > 0 then return 3, "a result could not be written" end
  if not document.generator.trusted and not plan.lenient then return 4, "the figures are not to be trusted" end
  local failed = failed_thresholds(document)
  if failed > 0 then return 1, format.counted(failed, "threshold") .. " failed" end
  return 0
end

-- Printing ------------------------------------------------------------------------------------------------------------

local function page_width()
  local columns = tonumber((os.getenv("COLUMNS") or ""):match("^%d+$")) or core.terminal(STDOUT) or 80
  return math.max(NARROWEST, math.min(columns, WIDEST))
end

local function text_report(plan, document, status, reason)
  return report.render(document, {
    width = page_width(),
    color = plan.color and core.terminal(STDOUT) ~= nil,
    latency = plan.latency,
    seed = plan.uses_seed,
    verdict = reason and ("status %d: %s"):format(status, reason),
  })
end

local function complain(message)
  core.write(STDERR, "luabench: " .. terminal.escape(message) .. "\n")
end

local function document_of(plan, merged, problems)
  merged.notices = merged.notices or {}
  for _, notice in ipairs(outputs.journals(merged.journals, problems)) do table.insert(merged.notices, notice) end
  if plan.aborted then table.insert(merged.notices, plan.aborted) end
  for _, notice in ipairs(file.notices()) do table.insert(merged.notices, notice) end
  local document = results.document(plan, merged, thresholds.evaluate(plan, merged))
  remarks.add(document, plan)
  return secrets.mask_all(document)
end

-- What goes to standard output; nil and a message when it cannot be made.
local function standard_output(plan, merged, document, status, reason)
  if plan.json then return results.encode(document) end
  if plan.report == "wrk" then return require("luabench.report.wrk").render(plan, merged) end
  return text_report(plan, document, status, reason)
end

--- Ends a run: writes its files, prints its report on standard output, returns the exit status.
--- @param plan table the plan of docs/core.md and the front's own fields
--- @param merged table the results of docs/core.md
--- @return integer
local function finish(plan, merged)
  local problems = {}
  local document = document_of(plan, merged, problems)
  local _, failure = status_of(plan, document, problems)
  for _, problem in ipairs(outputs.write(plan, document, { reason = failure })) do problems[#problems + 1] = problem end
  hook.run(document, problems, plan.script_timeout, function() return standard_output(plan, merged, document, 3, "report() never returned") end)
  local status, reason = status_of(plan, document, problems)
  local text, problem = standard_output(plan, merged, document, status, reason)
  if text then text, problem = core.write(STDOUT, text) end
  if problem then problems[#problems + 1] = "cannot print the results: " .. tostring(problem) end
  for _, message in ipairs(problems) do complain(message) end
  return (status_of(plan, document, problems))
end

return { finish = finish }
