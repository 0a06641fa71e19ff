-- `luabench merge`: one result out of several. Counts and histograms add; percentiles are those of the sum, never averages. Runs at the same time are shares of one
-- load, whose rates add; runs one after another are repetitions, whose rates are averaged over their times (times.lua).
--
-- What cannot be known of the whole is not in it: percentiles of a second in which several runs were going on, the limits of thresholds judged anew.
local core = require "luabench.core"
local errors = require "luabench.errors"
local figures = require "luabench.saved.figures"
local results = require "luabench.results"
local saved = require "luabench.saved"
local summary = require "luabench.summary"
local times = require "luabench.saved.times"

local merge = {}

local null = core.json_null

local REQUESTS = { "started", "succeeded", "failed", "timed_out", "interrupted", "retried", "redirected" }
local ITERATIONS = { "scheduled", "completed", "failed", "interrupted", "dropped", "expired" }
local SUMMARIES = { "latency", "latency_from_intended", "service", "wait", "blocked", "connect", "tls" }

local function as_list(list)
  return #list > 0 and list or core.json_array({})
end

-- Over groups of runs: `within` of the values of a group, then `across` of those of the groups. `pick` gives the value of a document or nil.
local function over(groups, pick, within, across)
  local result
  for _, group in ipairs(groups) do
    local of_group
    for _, document in ipairs(group) do
      local value = summary.value(pick(document))
      if value ~= nil then of_group = of_group and within(of_group, value) or value end
    end
    if of_group ~= nil then result = result and across(result, of_group) or of_group end
  end
  return result == nil and null or result
end

local function add(a, b) return a + b end

local function duration_of(groups, pick, key)
  return over(groups, function(document) return (pick(document) or {})[key or "duration"] end, math.max, add)
end

-- The seconds that the rates of a part are over.
local function window_of(part)
  return summary.value(part.window) or summary.value(part.duration) or 0
end

-- The rate of a part whose time is that of `whole(document)`: sums at the same time, averages over the times of groups.
local function rate_of(groups, part, whole)
  local events, seconds = 0, 0
  for _, group in ipairs(groups) do
    local rate, longest = 0, 0
    for _, document in ipairs(group) do
      rate = rate + (summary.value((part(document) or {}).rate) or 0)
      longest = math.max(longest, window_of(whole(document) or {}))
    end
    events, seconds = events + rate * longest, seconds + longest
  end
  return seconds > 0 and events / seconds or null
end

local function parts_of(groups, pick)
  local parts = {}
  for _, group in ipairs(groups) do
    for _, document in ipairs(group) do parts[#parts + 1] = pick(document) end
  end
  return parts
end

local function figures_of(groups, pick, whole)
  local parts = parts_of(groups, pick)
  local out = {
    requests = figures.sums(figures.values(parts, "requests"), REQUESTS), rate = rate_of(groups, pick, whole),
    status = figures.counts(parts, "status"), errors = figures.counts(parts, "errors"),
    bytes = figures.sums(figures.values(parts, "bytes"), { "sent", "received" }),
  }
  for _, key in ipairs(SUMMARIES) do out[key] = figures.summary(parts, key) end
  return out
end

-- Scenarios -----------------------------------------------------------------------------------------------------------

local function agreed_of(parts)
  local kinds, list = {}, {}
  for _, agreed in ipairs(figures.values(parts, "agreed")) do
    for _, each in ipairs(agreed) do
      local key = ("%s\n%s\n%s"):format(tostring(each.http), tostring(each.tls), tostring(each.cipher))
      local kind = kinds[key]
      if kind then
        kind.opened, kind.resumed = kind.opened + each.opened, kind.resumed + each.resumed
      else
        kinds[key] = { http = each.http, tls = each.tls, cipher = each.cipher, opened = each.opened, resumed = each.resumed }
        list[#list + 1] = kinds[key]
      end
    end
  end
  return as_list(list)
end

local function connections_of(groups, pick)
  local parts = figures.values(parts_of(groups, pick), "connections")
  local out = figures.sums(parts, { "opened", "reused", "closed_by_peer", "unasked" })
  if out.unasked == null then out.unasked = nil end -- of an older version
  out.max_open = over(groups, function(document) return pick(document) and pick(document).connections.max_open end, add, math.max)
  out.by_address = {}
  for _, each in ipairs(figures.named(parts, "by_address")) do out.by_address[each.name] = figures.sums(each.parts, { "opened", "failed", "requests" }) end
  out.agreed = agreed_of(parts)
  return out
end

local function aside_of(parts, key, with_iterations)
  local some = figures.values(parts, key)
  if #some == 0 then return null end
  local out = { requests = figures.sums(figures.values(some, "requests"), REQUESTS), errors = figures.counts(some, "errors") }
  if with_iterations then
    out.iterations, out.outlasting = figures.sums(figures.values(some, "iterations"), ITERATIONS), 0
    for _, each in ipairs(some) do out.outlasting = out.outlasting + (each.outlasting or 0) end
  end
  return out
end

-- Of shares of one load, what was planned adds up.
local SHARED = { "users", "iterations", "rate", "min_users", "max_users" }

local function load_of(groups, pick)
  local first = pick(groups[1][1]) or parts_of(groups, pick)[1]
  local out = {}
  for key, value in pairs(first.load) do out[key] = value end
  for _, key in ipairs(SHARED) do
    out[key] = over({ groups[1] }, function(document) return pick(document) and pick(document).load[key] end, add, add)
  end
  return out
end

local function names_of(groups, pick, whole)
  local out = {}
  for _, each in ipairs(figures.named(parts_of(groups, pick), "by_name")) do
    out[each.name] = figures_of(groups, function(document) return pick(document) and pick(document).by_name[each.name] end, whole)
  end
  return out
end

local function scenario_of(groups, name)
  local function pick(document) return document.scenarios[name] end
  local parts = parts_of(groups, pick)
  local out = figures_of(groups, pick, pick)
  out.index, out.model = figures.min(parts, "index"), parts[1].model
  out.target, out.http_version = figures.common(parts, "target"), figures.common(parts, "http_version")
  out.load, out.warm_up = load_of(groups, pick), aside_of(parts, "warm_up", true)
  out.user_wait, out.iteration_duration = figures.summary(parts, "user_wait"), figures.summary(parts, "iteration_duration")
  out.backlog_max = over(groups, function(document) return pick(document) and pick(document).backlog_max end, add, math.max)
  out.users_max = over(groups, function(document) return pick(document) and pick(document).users_max end, add, math.max)
  out.duration, out.window = duration_of(groups, pick), duration_of(groups, pick, "window")
  out.iterations = figures.sums(figures.values(parts, "iterations"), ITERATIONS)
  out.connections = connections_of(groups, pick)
  out.by_name = names_of(groups, pick, pick)
  return out
end

-- The rest ------------------------------------------------------------------------------------------------------------

local function checks_of(documents)
  local out = {}
  for _, each in ipairs(figures.named(documents, "checks")) do
    local check = figures.sums(each.parts, { "passes", "fails" })
    check.index, check.why = figures.min(each.parts, "index"), figures.first(each.parts, "why")
    out[each.name] = check
  end
  return out
end

local function group_parts(documents)
  local out = {}
  for _, each in ipairs(figures.named(documents, "groups")) do
    local group = figures.of_summaries(each.parts)
    group.index, group.cut = figures.min(each.parts, "index"), figures.sum(each.parts, "cut")
    out[each.name] = group
  end
  return out
end

local function share(hits, count)
  return count > 0 and hits / count or null
end

local OWN = {
  counter = function(parts, seconds)
    local count = figures.sum(parts, "count")
    return { count = count, rate = seconds > 0 and count / seconds or null }
  end,
  gauge = function(parts)
    return { value = figures.first({ parts[#parts] }, "value"), min = figures.min(parts, "min"), max = figures.max(parts, "max") }
  end,
  rate = function(parts)
    local count, hits = figures.sum(parts, "count"), figures.sum(parts, "hits")
    return { count = count, hits = hits, rate = share(hits, count) }
  end,
  trend = function(parts) return { summary = figures.summary(parts, "summary") } end,
}

local function metrics_of(documents, seconds)
  local out = {}
  for _, each in ipairs(figures.named(documents, "metrics")) do
    local kind = each.parts[1].kind
    local metric = OWN[kind](each.parts, seconds)
    metric.kind, metric.unit, metric.samples, metric.series = kind, each.parts[1].unit, figures.sum(each.parts, "samples"), {}
    for _, series in ipairs(figures.named(each.parts, "series")) do
      local one = OWN[kind](series.parts, seconds)
      one.samples = figures.sum(series.parts, "samples")
      metric.series[series.name] = one
    end
    out[each.name] = metric
  end
  return out
end

-- A threshold has held when it held in all runs; what it would say of the sum is not known.
local function thresholds_of(documents)
  local list, index = {}, {}
  for _, document in ipairs(documents) do
    for _, each in ipairs(document.thresholds) do
      local key = ("%s\n%s\n%s"):format(tostring(each.scenario), each.metric, each.expression)
      local known = index[key]
      if not known then
        known = { metric = each.metric, expression = each.expression, ok = true, value = null, unit = each.unit, scenario = each.scenario, implicit = each.implicit,
          text = "held in every one of the merged runs", warning = null }
        index[key], list[#list + 1] = known, known
      end
      if not each.ok then known.ok, known.text = false, "failed in one of the merged runs at least" end
    end
  end
  return as_list(list)
end

local function script_errors_of(documents)
  local parts, index, kinds = figures.values(documents, "script_errors"), {}, {}
  for _, part in ipairs(parts) do
    for _, kind in ipairs(part.kinds) do
      local known = index[kind.text]
      if known then
        known.count = known.count + kind.count
      else
        index[kind.text] = { scenario = kind.scenario, text = kind.text, traceback = kind.traceback, count = kind.count }
        kinds[#kinds + 1] = index[kind.text]
      end
    end
  end
  return { count = figures.sum(parts, "count"), kinds = as_list(kinds) }
end

local function error_texts_of(documents)
  local seen, list = {}, {}
  for _, texts in ipairs(figures.values(documents, "error_texts")) do
    for _, each in ipairs(texts) do
      local key = each.error .. "\n" .. each.text
      if not seen[key] then seen[key], list[#list + 1] = true, { error = each.error, text = each.text } end
    end
  end
  return as_list(list)
end

local function generator_of(documents, groups)
  local parts = figures.values(documents, "generator")
  local out = {
    cpu = figures.max(parts, "cpu"), cpu_seconds = figures.sum(parts, "cpu_seconds"),
    threads = over(groups, function(document) return document.generator.threads end, add, math.max),
    lag = figures.summary(parts, "lag"), schedule_slip = figures.summary(parts, "schedule_slip"), bottleneck = false, trusted = true,
    warnings = figures.texts(parts, "warnings"),
  }
  for _, part in ipairs(parts) do
    out.bottleneck, out.trusted = out.bottleneck or part.bottleneck, out.trusted and part.trusted
  end
  return out
end

local VERDICTS = { good = 1, doubtful = 2, invalid = 3 }

local function worst_verdict(parts)
  local worst = "good"
  for _, part in ipairs(parts) do
    if VERDICTS[part.verdict] > VERDICTS[worst] then worst = part.verdict end
  end
  return worst
end

local function joined(parts, key)
  local list = {}
  for _, each in ipairs(figures.values(parts, key)) do
    for _, item in ipairs(each) do list[#list + 1] = item end
  end
  return as_list(list)
end

-- The worst of all runs.
local function health_of(documents)
  local parts = figures.values(documents, "health")
  if #parts == 0 then return null end
  local out = { verdict = worst_verdict(parts), stalls = joined(parts, "stalls"), slow_lua = joined(parts, "slow_lua"), marked = figures.texts(parts, "marked"),
    more_stalls = figures.sum(parts, "more_stalls"), retransmits = figures.sum(parts, "retransmits"), clocksource = figures.common(parts, "clocksource") }
  local lags = figures.values(parts, "loop_lag")
  out.loop_lag = #lags > 0 and figures.plain(lags) or null
  for _, key in ipairs { "busiest_second", "run_queue_wait", "steal", "machine" } do out[key] = figures.max(parts, key) end
  return out
end

-- Seconds of runs at the same time are laid upon each other.
local function series_of(groups)
  local list, offset = {}, 0
  for _, group in ipairs(groups) do
    local longest = group[1]
    for _, document in ipairs(group) do
      if #document.series > #longest.series then longest = document end
    end
    for i, second in ipairs(longest.series) do
      local parts = parts_of({ group }, function(document) return document.series[i] end)
      local out = figures.sums(parts, { "users", "requests", "errors" })
      out.time, out.latency = second.time + offset, figures.plain(figures.values(parts, "latency"))
      list[#list + 1] = out
    end
    offset = offset + (longest.series[1] and longest.series[#longest.series].time or 0)
  end
  return as_list(list)
end

local function model_of(documents)
  local model = figures.common(documents, "model")
  return model == null and "mixed" or model
end

local function interrupted(documents)
  for _, document in ipairs(documents) do
    if document.interrupted then return true end
  end
  return false
end

local function failures_of(documents)
  local parts = figures.values(documents, "failures")
  return { count = figures.sum(parts, "count"), texts = figures.texts(parts, "texts") }
end

local function notices_of(documents)
  local list = {}
  for _, text in ipairs(figures.texts(documents, "notices")) do list[#list + 1] = text end
  list[#list + 1] = ("merged from %d results"):format(#documents)
  return list
end

local function machine_of(documents)
  local parts, out = figures.values(documents, "machine"), {}
  for _, key in ipairs { "cores", "cpu", "memory", "kernel", "hostname" } do out[key] = figures.common(parts, key) end
  return out
end

--- The document that stands for all of `documents`, which saved.read has given.
function merge.documents(documents)
  local groups = times.groups(documents)
  local function itself(document) return document end
  local seconds = duration_of(groups, itself)
  local first = groups[1][1]
  local out = {
    version = 1, luabench = core.VERSION, script = figures.common(documents, "script"), url = figures.common(documents, "url"), started = first.started,
    duration = seconds, window = duration_of(groups, itself, "window"), health = health_of(documents), machine = machine_of(documents), options = first.options, model = model_of(documents),
    total = figures_of(groups, function(document) return document.total end, itself), scenarios = {}, groups = group_parts(documents),
    setup = aside_of(documents, "setup"), teardown = aside_of(documents, "teardown"), checks = checks_of(documents), script_errors = script_errors_of(documents),
    failures = failures_of(documents), error_texts = error_texts_of(documents), metrics = metrics_of(parts_of(groups, itself), summary.value(seconds) or 0),
    thresholds = thresholds_of(documents), generator = generator_of(documents, groups), targets = {}, compare = {}, series = series_of(groups),
    interrupted = interrupted(documents), stopped = figures.first(documents, "stopped"), stuck = figures.first(documents, "stuck"),
    setup_failed = figures.first(documents, "setup_failed"), unbalanced = figures.first(documents, "unbalanced"), notices = notices_of(documents),
    remarks = core.json_array({}),
  }
  for _, each in ipairs(figures.named(documents, "scenarios")) do out.scenarios[each.name] = scenario_of(groups, each.name) end
  return out
end

-- Scenarios of one name must be of one model: latencies of two models are two things.
local function check_models(paths, documents)
  local models = {}
  for i, document in ipairs(documents) do
    for _, each in ipairs(results.scenarios(document)) do
      local known = models[each.name]
      if known and known.model ~= each.figures.model then
        errors.usage('scenario "%s" is %s in %s and %s in %s: they cannot be merged', each.name, known.model, errors.path(known.path), each.figures.model, errors.path(paths[i]))
      end
      models[each.name] = { model = each.figures.model, path = paths[i] }
    end
  end
end

--- The merged document of the files.
function merge.files(paths)
  local documents = {}
  for i, path in ipairs(paths) do
    documents[i] = saved.read(path)
    if saved.is_comparison(documents[i]) then errors.usage("%s is a comparison of servers; results of runs can be merged", errors.path(path)) end
  end
  check_models(paths, documents)
  return merge.documents(documents)
end

return merge
