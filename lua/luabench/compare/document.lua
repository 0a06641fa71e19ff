-- The end of a comparison: its part of the result document (docs/result.schema.json), the files, the report and the exit status.
local core = require "luabench.core"
local figures = require "luabench.compare.figures"
local hook = require "luabench.report.hook"
local judge = require "luabench.compare.judge"
local compare = require "luabench.compare"
local load_keys = require "luabench.load"
local outputs = require "luabench.outputs"
local report = require "luabench.compare.report"
local results = require "luabench.results"
local secrets = require "luabench.secrets"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local document = {}

local null = core.json_null
local SCRIPT_ERRORS, BROKEN, NOT_TRUSTED = 1, 3, 4

local function or_null(value)
  if value == nil or value ~= value or value == math.huge or value == -math.huge then return null end
  return value
end

local function as_list(list)
  return #list == 0 and core.json_array({}) or list
end

-- The parts of the document ---------------------------------------------------------------------------------------------

local function errors_of(errors)
  local copy = {}
  for name, count in pairs(errors) do copy[name] = count end
  return copy
end

local function round_of(number, slot)
  local server = slot.server or {}
  return { round = number, time_taken = slot.duration, rate = or_null(slot.rate), requests = slot.requests, errors = errors_of(slot.errors), outlasting = slot.outlasting, latency = summary.of(slot.latency, true),
    cpu_seconds = or_null(server.cpu_seconds), cpu_share = or_null(server.cpu_share), rss_max = or_null(server.rss_max), rss_mean = or_null(server.rss_mean),
    generator_cpu = or_null(slot.generator), series = as_list(server.series or {}) }
end

local function checks_of(checks)
  return { passes = checks.passes, fails = checks.fails, failed = or_null(checks.failed) }
end

local function target_of(case, t)
  local list, rounds = {}, {}
  for number, round in ipairs(case.rounds) do
    if round[t] then list[#list + 1], rounds[#rounds + 1] = round[t], round_of(number, round[t]) end
  end
  if #list == 0 then return nil end
  local all = figures.together(list)
  return { time_taken = all.duration, rate = or_null(all.rate), requests = all.requests, errors = all.errors, outlasting = all.outlasting, checks = checks_of(all.checks), latency = summary.of(all.latency), service = summary.of(all.service),
    cpu_seconds = or_null(all.cpu_seconds), cpu_share = or_null(all.cpu_share), rss_max = or_null(all.rss_max), rss_mean = or_null(all.rss_mean), pss_end = or_null(all.pss_end),
    rounds = as_list(rounds) }
end

local function verdict_of(said)
  return { a = said.base, b = said.other, measure = said.metric, verdict = said.kind, text = said.text, primary = said.primary or false, ratio = or_null(said.ratio),
    low = or_null(said.low), high = or_null(said.high), p = or_null(said.p), least = or_null(said.least), rounds = or_null(said.blocks) }
end

local function load_of(values)
  local open = load_keys.model(values) == "open"
  return { model = open and "open" or "closed", users = open and null or load_keys.most_users(values), rate = or_null(values.rate), duration = or_null(values.duration),
    iterations = or_null(values.iterations), warm_up = or_null(values.warm_up) }
end

local function case_of(comparison, index, case)
  local part = { index = index, load = load_of(case.values), targets = {}, verdicts = {} }
  for t, target in ipairs(comparison.targets) do
    local said = target_of(case, t)
    if said then
      said.index = t
      part.targets[target.name] = said
    end
  end
  local model = load_keys.model(case.values)
  for i, said in ipairs(judge.noise(judge.case(case.rounds or {}, comparison.targets, compare.pairs(comparison), model), comparison.twin)) do part.verdicts[i] = verdict_of(said) end
  part.verdicts = as_list(part.verdicts)
  return part
end

local function command_of(target)
  return target.command and table.concat(target.command, " ") or null
end

local function part_of(comparison, index)
  local part = { index = index, rounds = comparison.rounds, baseline = comparison.targets[comparison.baseline].name, twin = or_null(comparison.twin), targets = {}, cases = {} }
  for t, target in ipairs(comparison.targets) do
    part.targets[target.name] = { index = t, url = target.url, command = command_of(target), lost = or_null(target.lost) }
  end
  for k, case in ipairs(comparison.cases) do
    case.rounds = case.rounds or {}
    part.cases[case.name] = case_of(comparison, k, case)
  end
  return part
end

-- The whole -------------------------------------------------------------------------------------------------------------

local function add_counts(total, slot)
  for field, count in pairs(slot.requests) do total[field] = (total[field] or 0) + count end
  for name, count in pairs(slot.errors) do total.errors[name] = (total.errors[name] or 0) + count end
end

-- Everything that was sent, as the figures of one run.
local function total_of(run)
  local none = core.hist_merge {}
  local total = { errors = {}, statuses = {}, latency = none, service = none, wait = none, blocked = none, connect = none, tls = none }
  local latencies = {}
  for _, comparison in ipairs(run.comparisons) do
    for _, case in ipairs(comparison.cases) do
      for _, round in ipairs(case.rounds or {}) do
        for t = 1, #comparison.targets do
          local slot = round[t]
          if slot then
            add_counts(total, slot)
            latencies[#latencies + 1] = slot.latency
          end
        end
      end
    end
  end
  total.latency = core.hist_merge(latencies)
  return total
end

local function whole(run)
  local params = {}
  for _, row in ipairs(require("luabench.params").list()) do params[row.name] = row.secret and secrets.value(row.value) or row.value end
  local plan = { script = run.script, options = { seed = run.seed, params = params }, scenarios = {} }
  local merged = { started = run.started, duration = core.time() - run.started, machine = run.machine, total = total_of(run), interrupted = run.status == 130,
    script_errors = { count = run.script_errors, kinds = {} } }
  local made = results.document(plan, merged, {})
  for i, comparison in ipairs(run.comparisons) do made.compare[comparison.name] = part_of(comparison, i) end
  return secrets.mask_all(made)
end

local function doubtful(made)
  for _, comparison in pairs(made.compare) do
    for _, case in pairs(comparison.cases) do
      for _, said in ipairs(case.verdicts) do
        if said.primary and said.verdict == "invalid" then return true end
      end
    end
  end
end

local function status_of(run, made, problems)
  if run.status ~= 0 then return run.status end
  if #problems > 0 or run.lost_any then return BROKEN end
  if doubtful(made) then return NOT_TRUSTED end
  return run.script_errors > 0 and SCRIPT_ERRORS or 0
end

-- What goes to standard output; nil and a message when it cannot be made.
local function standard_output(run, made)
  if run.given.json then return results.encode(made) end
  return report.render(made, { color = not run.given.no_color and core.terminal(1) ~= nil, script_error = run.script_error })
end

--- Ends the comparisons of `run`: writes the files, prints the report, returns the exit status; `status` when the program has to end with that.
function document.finish(run, status)
  if status then run.status = status end
  local made, given = whole(run), run.given
  local problems = outputs.write({ outputs = given.outputs }, made)
  hook.run(made, problems, given.script_timeout or 10, function() return standard_output(run, made) end)
  local text, problem = standard_output(run, made)
  if text then text, problem = core.write(1, text) end
  if problem then problems[#problems + 1] = "cannot print the results: " .. tostring(problem) end
  for _, each in ipairs(problems) do core.write(2, "luabench: " .. terminal.escape(each) .. "\n") end
  return status_of(run, made, problems)
end

return document
