-- Thresholds: what must hold at the end of a run for it to pass. Their text is read before the run (parse) and judged after it (evaluate).

local format = require "luabench.format"
local metrics = require "luabench.thresholds.metrics"
local parser = require "luabench.thresholds.parser"
local summary = require "luabench.summary"

local thresholds = {}

-- A script that is broken does not end with exit status 0.
local IMPLICIT = "script_errors: count == 0"

--- Reads the text of a threshold: an object for evaluate, or nil and what is wrong with it, in words.
thresholds.parse = parser.parse

local COMPARE = {
  ["<"] = function(a, b) return a < b end,
  ["<="] = function(a, b) return a <= b end,
  [">"] = function(a, b) return a > b end,
  [">="] = function(a, b) return a >= b end,
  ["=="] = function(a, b) return a == b end,
  ["!="] = function(a, b) return a ~= b end,
}

-- The value of a trend's aggregate and a warning, or nil without samples.
local function trend_value(condition, hist)
  local count = hist and hist:count() or 0
  if condition.aggregate == "count" then return count end
  if count == 0 then return nil end
  if condition.aggregate == "quantile" or condition.aggregate == "median" then
    local quantile = condition.quantile or 0.5
    local needed = summary.needed(quantile)
    local warning = count < needed and ("too few samples: %s, where %s needs %s"):format(format.count(count), format.percentile(quantile), format.count(needed)) or nil
    return hist:quantile(quantile), warning
  end
  return hist[condition.aggregate](hist)
end

local function value_of(kind, condition, first, second)
  if kind == "trend" then return trend_value(condition, first) end
  if kind == "gauge" then return first and first[condition.aggregate] end
  if kind == "rate" then return second > 0 and first / second or nil end
  if condition.aggregate == "count" then return first end
  return second and second > 0 and first / second or nil
end

-- The value of a condition and a warning; or nil and why there is none.
local function measure(plan, results, parsed, condition, only)
  local scope, nothing = metrics.scope(plan, results, parsed.selector, only, parsed.metric)
  if not scope then return nil, nil, nothing end
  local first, second = parsed.metric.read(scope)
  if first == nil and type(second) == "string" then return nil, nil, second end
  return value_of(parsed.metric.kind, condition, first, second)
end

local function judge(plan, results, parsed, condition, threshold)
  local outcome = { metric = parsed.name, expression = condition.text, unit = condition.unit, scenario = threshold.scenario, implicit = threshold.implicit or false }
  local value, warning, nothing = measure(plan, results, parsed, condition, threshold.scenario)
  outcome.value, outcome.warning = value, warning
  if value == nil then
    outcome.ok = threshold.empty == "ok"
    outcome.text = nothing and "no data: " .. nothing or "no data"
  else
    outcome.ok = COMPARE[condition.operator](value, condition.number)
  end
  return outcome
end

local function with_implicit(list)
  local all = {}
  for i, threshold in ipairs(list) do
    local parsed, problem = parser.parse(threshold.expression)
    all[i] = { threshold, parsed, problem }
  end
  for _, entry in ipairs(all) do
    if entry[2] and entry[2].metric.name == "script_errors" then return all end
  end
  all[#all + 1] = { { implicit = true }, (parser.parse(IMPLICIT)) }
  return all
end

--- Judges the thresholds of the plan, and `script_errors: count == 0` unless one of them is about script_errors.
--- @return table list of { metric, expression, ok, value, unit, scenario, implicit, text, warning }, one for each condition
function thresholds.evaluate(plan, results)
  local outcomes = {}
  for _, entry in ipairs(with_implicit(plan.thresholds or {})) do
    local threshold, parsed, problem = entry[1], entry[2], entry[3]
    if parsed then
      for _, condition in ipairs(parsed.conditions) do
        outcomes[#outcomes + 1] = judge(plan, results, parsed, condition, threshold)
      end
    else
      outcomes[#outcomes + 1] = { metric = "", expression = tostring(threshold.expression), ok = false, text = problem, scenario = threshold.scenario, implicit = false }
    end
  end
  return outcomes
end

local MOST_KINDS = 64 -- that the core keeps apart

--- The kinds of requests that these thresholds (parsed here, so they are right) narrow to, each once: what the core is to keep apart. Or nil and what is wrong.
function thresholds.kinds(list)
  local kinds, known = {}, {}
  for _, threshold in ipairs(list) do
    local parsed = parser.parse(threshold.expression)
    for _, kind in ipairs(parsed and metrics.kinds(parsed.metric, parsed.selector) or {}) do
      if not known[kind.key] then kinds[#kinds + 1], known[kind.key] = kind, true end
    end
  end
  if #kinds > MOST_KINDS then return nil, ("thresholds: they narrow by %d different sets of method, group, status and error; there can be %d"):format(#kinds, MOST_KINDS) end
  return kinds
end

--- True when one of a plan's thresholds may end the run.
function thresholds.watched(list)
  for _, threshold in ipairs(list) do
    if threshold.abort then return true end
  end
  return false
end

-- What is to be said of a threshold with `abort` that has failed, or nil. One without data, or over too few samples for its percentile, ends nothing.
local function failure_of(plan, results, threshold)
  local parsed = results.duration >= (threshold.after or 0) and parser.parse(threshold.expression)
  for _, condition in ipairs(parsed and parsed.conditions or {}) do
    local outcome = judge(plan, results, parsed, condition, threshold)
    if not outcome.ok and outcome.value and not outcome.warning then
      local scenario = threshold.scenario and ('scenario "%s": '):format(threshold.scenario) or ""
      return ("ended after %s by a threshold: %s%s: %s is not so"):format(format.span(math.floor(results.duration)), scenario, parsed.name, condition.text)
    end
  end
end

--- Once a second while the run goes on, with the figures so far: true when a threshold with `abort` ends the run; then plan.aborted says why.
function thresholds.watch(plan, results)
  for _, threshold in ipairs(plan.thresholds) do
    plan.aborted = threshold.abort and failure_of(plan, results, threshold) or nil
    if plan.aborted then
      require("luabench.live").notice(plan, plan.aborted)
      return true
    end
  end
  return false
end

return thresholds
