-- The result document (docs/result.schema.json, version 1): everything that was learnt, as one plain table. The text report is made from it, so
-- that a saved result can be reported again. What does not exist is null; seconds and bytes everywhere.

local core = require "luabench.core"
local format = require "luabench.format"
local health = require "luabench.health"
local metric = require "luabench.metric"
local quality = require "luabench.quality"
local shares = require "luabench.shares"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local results = {}

--- Of the processor time its threads could have had, more than this makes luabench the suspect.
results.BUSY = 0.9

local MACHINE = { "cores", "cpu", "memory", "kernel", "hostname" }
local ITERATIONS = { "scheduled", "completed", "failed", "interrupted", "dropped", "expired" }
local CONNECTIONS = { "opened", "reused", "closed_by_peer", "unasked", "max_open" }
local REQUESTS = { "started", "succeeded", "failed", "timed_out", "interrupted", "retried", "redirected" }
local LOAD = { "users", "duration", "iterations", "iterations_per_user", "ramp_up", "rate", "arrivals", "min_users", "max_users", "overflow", "start_after", "warm_up", "fresh" }
local HISTOGRAMS = { "latency", "service", "wait", "blocked", "connect", "tls" }

local null = core.json_null

local function or_null(value)
  if value == nil or value ~= value then return null end
  return type(value) == "string" and terminal.utf8(value) or value
end

-- A list for JSON: an empty Lua table would be written as an object.
local function as_list(list)
  return #list == 0 and core.json_array({}) or list
end

local function map(list, convert)
  local out = {}
  for i, item in ipairs(list or {}) do out[i] = convert(item, i) end
  return as_list(out)
end

local function fields(from, names, default)
  local out = {}
  from = from or {}
  for _, name in ipairs(names) do
    local value = from[name]
    if value == nil then value = default end
    out[name] = or_null(value)
  end
  return out
end

-- Adds `value` under `name`, under "name (2)" when escaping has made two names equal.
local function put(into, name, value)
  local key, n = terminal.utf8(tostring(name)), 1
  local free = key
  while into[free] ~= nil do
    n = n + 1
    free = ("%s (%d)"):format(key, n)
  end
  into[free] = value
end

local function by_text(counts)
  local out = {}
  for name, count in pairs(counts or {}) do
    if count > 0 then put(out, name, count) end
  end
  return out
end

local function rate_of(count, duration)
  return duration and duration > 0 and count / duration or null
end

--- The figures of a NAMED (docs/core.md) over a window of `duration` seconds.
local function figures(named, duration, model)
  local out = {
    requests = fields(named, REQUESTS, 0),
    rate = rate_of(named.in_window or named.succeeded or 0, duration),
    status = by_text(named.statuses),
    errors = by_text(named.errors),
    bytes = { sent = named.bytes_sent or 0, received = named.bytes_received or 0 },
    latency_from_intended = model == "open" and summary.of(named.latency_from_intended) or null,
  }
  for _, name in ipairs(HISTOGRAMS) do out[name] = summary.of(named[name]) end
  return out
end

-- http://user:password@host: the password is nobody's business.
local function without_password(url)
  return url and (url:gsub("^(%w+://[^/@]*:)[^/@]*@", "%1***@"))
end

local function connections_of(connections)
  local out = fields(connections, CONNECTIONS, 0)
  out.by_address, connections = {}, connections or {}
  for _, each in ipairs(connections.by_address or {}) do
    put(out.by_address, each.address, fields(each, { "opened", "failed", "requests" }, 0))
  end
  out.agreed = map(connections.agreed, function(each) return fields(each, { "http", "tls", "cipher", "opened", "resumed" }) end)
  return out
end

local function load_of(planned)
  local out = fields(planned, LOAD)
  out.stages = planned.stages and map(planned.stages, function(stage) return { [stage.of] = stage.level, over = stage.over, hold = stage.hold } end) or null
  return out
end

-- What was sent, but left out of the figures; nil when there was nothing.
local function aside_of(aside)
  local requests, iterations = aside and aside.requests, aside and aside.iterations
  if not aside or (requests.started == 0 and iterations.scheduled == 0) then return nil end
  return { iterations = fields(iterations, ITERATIONS, 0), requests = fields(requests, REQUESTS, 0), errors = by_text(requests.errors) }
end

-- setup and teardown have no iterations.
local function once_of(aside)
  local out = aside_of(aside)
  if not out then return null end
  out.iterations = nil
  return out
end

--- What is to be said of requests that outlasted the time that is measured. `many`: "3 requests".
function results.outlasting(many, one, time)
  return ("%s of the warm-up lasted through %s: how long %s took is in no figure, and the latencies look better for it"):format(many, time, one and "it" or "they")
end

local function scenario_of(plan, index, scenario)
  local planned = shares.of(plan.scenarios and plan.scenarios[index] or {}, plan.share)
  local model = planned.model or "closed"
  local window = scenario.window or scenario.duration
  local out = figures(scenario.total, window, model)
  quality.add(out, scenario, model)
  out.index = index
  out.model = model
  out.target = or_null(without_password(planned.target))
  out.http_version = or_null(planned.version)
  out.load = load_of(planned)
  if planned.warm_up_auto then out.load.warm_up = or_null(scenario.warmed) end
  out.warm_up = aside_of(scenario.warm_up) or null
  if out.warm_up ~= null then out.warm_up.outlasting = scenario.warm_up.outlasting or 0 end
  out.user_wait = model == "open" and summary.of(scenario.user_wait) or null
  out.backlog_max = model == "open" and or_null(scenario.backlog_max) or null
  out.duration = or_null(scenario.duration)
  out.users_max = or_null(scenario.users_max)
  out.iterations = fields(scenario.iterations, ITERATIONS, 0)
  out.connections = connections_of(scenario.connections)
  out.iteration_duration = summary.of(scenario.iteration_duration)
  out.by_name = {}
  for _, named in ipairs(scenario.names or {}) do
    if named.started > 0 then put(out.by_name, named.name, figures(named, window, model)) end -- not those of setup or a warm-up alone
  end
  return out
end

local function checks_of(checks)
  local out = {}
  for i, check in ipairs(checks or {}) do
    put(out, check.name, { index = i, passes = check.passes, fails = check.fails, why = or_null(check.why) })
  end
  return out
end

local OWN = {
  counter = function(sum, duration) return { count = sum.sum, rate = rate_of(sum.sum, duration) } end,
  gauge = function(sum) return { value = or_null(sum.last), min = or_null(sum.min), max = or_null(sum.max) } end,
  rate = function(sum) return { count = sum.count, hits = sum.sum, rate = sum.count > 0 and sum.sum / sum.count or null } end,
  trend = function(sum) return { summary = summary.of(sum.hist) } end,
}

local function own_figures(definition, all, duration, wanted)
  local sum = metric.sum(definition.name, all, wanted)
  local out = OWN[definition.kind](sum, duration)
  out.samples = sum.count
  return out
end

-- Each metric of the script in all, and by its scenarios and tags.
local function metrics_of(merged)
  local out = {}
  for _, name in ipairs(metric.names()) do
    local definition, all = metric.find(name), (merged.metrics or {})[name] or {}
    local figure = own_figures(definition, all, merged.duration, function() return true end)
    figure.kind, figure.unit, figure.series = definition.kind, or_null(definition.unit), {}
    for _, series in ipairs(all) do
      put(figure.series, series.key:gsub("\n", ", "):gsub(", $", ""), own_figures(definition, all, merged.duration, function(each) return each == series end))
    end
    put(out, name, figure)
  end
  return out
end

local function script_errors_of(errors)
  errors = errors or {}
  return { count = errors.count or 0, kinds = map(errors.kinds, function(kind) return fields(kind, { "scenario", "text", "traceback", "count" }) end) }
end

-- By how much arrivals of all open scenarios were started late; nil without one.
local function slip_of(scenarios)
  local hists = {}
  for _, scenario in ipairs(scenarios or {}) do hists[#hists + 1] = scenario.schedule_slip end
  return #hists > 0 and (#hists == 1 and hists[1] or core.hist_merge(hists)) or nil
end

-- The groups of all scenarios by name.
local function groups_of(scenarios)
  local hists, cut, names, out = {}, {}, {}, {}
  for _, scenario in ipairs(scenarios or {}) do
    for _, group in ipairs(scenario.groups or {}) do
      local name = group.name
      if not hists[name] then hists[name], names[#names + 1] = {}, name end
      hists[name][#hists[name] + 1], cut[name] = group.duration, (cut[name] or 0) + group.cut
    end
  end
  for i, name in ipairs(names) do
    local figure = summary.of(#hists[name] == 1 and hists[name][1] or core.hist_merge(hists[name]))
    figure.index, figure.cut = i, cut[name]
    put(out, name, figure)
  end
  return out
end

local function generator_of(generator, scenarios, found)
  generator = generator or {}
  return {
    cpu = or_null(generator.cpu), cpu_seconds = or_null(generator.cpu_seconds), threads = or_null(generator.threads),
    lag = summary.of(generator.lag), schedule_slip = summary.of(slip_of(scenarios)),
    bottleneck = (generator.cpu or 0) > results.BUSY,
    trusted = generator.trusted ~= false and found.valid,
    warnings = map(found.warnings, or_null),
  }
end

local function series_of(series)
  return map(series, function(second)
    return { time = second.time, users = second.users, requests = second.requests, errors = second.errors, latency = summary.of(second.latency, true) }
  end)
end

local function thresholds_of(outcomes)
  return map(outcomes, function(outcome)
    return fields(outcome, { "metric", "expression", "ok", "value", "unit", "scenario", "implicit", "text", "warning" })
  end)
end

local function stuck_of(stuck)
  return stuck and fields(stuck, { "scenario", "where", "text" }) or null
end

-- Options are the front's own: made fit for JSON, which knows no functions and no infinity.
local function plain_copy(value)
  local kind = type(value)
  if kind == "string" then return terminal.utf8(value) end
  if kind == "number" then return (value ~= value or math.abs(value) == math.huge) and null or value end
  if kind == "function" or kind == "thread" then return null end
  if kind ~= "table" then return value end
  local out = setmetatable({}, getmetatable(value))
  for key, item in pairs(value) do
    out[type(key) == "string" and terminal.utf8(key) or key] = plain_copy(item)
  end
  return out
end

-- The model of all scenarios together: "mixed" when they differ.
local function model_of(plan)
  local model
  for _, planned in ipairs(plan.scenarios or {}) do
    local this = planned.model or "closed"
    if model and model ~= this then return "mixed" end
    model = this
  end
  return model or "closed"
end

local function models_of(plan, scenarios)
  local list = {}
  for i in ipairs(scenarios or {}) do list[i] = plan.scenarios and plan.scenarios[i] and plan.scenarios[i].model or "closed" end
  return list
end

--- The headline latency of a part of the document: from the intended start in the open model.
function results.headline(part)
  return summary.value(part.latency_from_intended) or part.latency
end

--- The document of a run, without its remarks.
--- @param merged table the results of docs/core.md
--- @param outcomes table of thresholds.evaluate
function results.document(plan, merged, outcomes)
  local model, models = model_of(plan), models_of(plan, merged.scenarios)
  local facts = quality.facts(merged, models)
  local found = health.judge(facts)
  local document = {
    version = 1, luabench = core.VERSION,
    script = or_null(plan.script), url = or_null(without_password(plan.url)),
    started = format.timestamp(merged.started or 0), duration = or_null(merged.duration),
    machine = fields(merged.machine, MACHINE), options = plain_copy(plan.options or {}),
    model = model, window = or_null(merged.window or merged.duration), total = figures(merged.total, merged.window or merged.duration, model),
    scenarios = {}, groups = groups_of(merged.scenarios), setup = once_of(merged.setup), teardown = once_of(merged.teardown), metrics = metrics_of(merged), targets = {}, compare = {},
    checks = checks_of(merged.checks), script_errors = script_errors_of(merged.script_errors),
    failures = { count = merged.failures and merged.failures.count or 0, texts = map(merged.failures and merged.failures.texts, or_null) },
    error_texts = map(merged.error_texts, function(each) return fields(each, { "error", "text" }) end),
    thresholds = thresholds_of(outcomes), generator = generator_of(merged.generator, merged.scenarios, found), health = merged.health and health.document(facts, found) or null, series = series_of(merged.series),
    interrupted = merged.interrupted == true, stopped = or_null(merged.stopped), stuck = stuck_of(merged.stuck),
    setup_failed = merged.setup_failed and fields(merged.setup_failed, { "scenario", "text" }) or null,
    unbalanced = or_null(merged.unbalanced), notices = map(merged.notices, or_null), remarks = as_list {},
  }
  for i, scenario in ipairs(merged.scenarios or {}) do
    put(document.scenarios, scenario.name, scenario_of(plan, i, scenario))
  end
  quality.add_total(document.total, merged, models)
  return document
end

--- The scenarios of a document as a list of { name, scenario }, in the order of the script.
function results.scenarios(document)
  local list = {}
  for name, scenario in pairs(document.scenarios) do list[#list + 1] = { name = name, figures = scenario } end
  table.sort(list, function(a, b) return a.figures.index < b.figures.index end)
  return list
end

--- The text of the document as JSON; nil and a message when it cannot be written so.
function results.encode(document)
  local text, problem = core.json_pretty(document)
  if not text then return nil, problem end
  return text:sub(-1) == "\n" and text or text .. "\n"
end

return results
