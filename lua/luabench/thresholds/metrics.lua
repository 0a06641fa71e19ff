-- The built-in metrics: what kind each is, by what it can be narrowed, and how it is read from the merged results.
-- To add one: add a row to METRICS with a reader.
--
-- A reader gets a scope, { plan, results, selector, scenarios = those selected }, and returns what there is:
--   trend:   a hist object            counter: count, duration in seconds            rate: how many of, all
-- or nil and a text when the selector met nothing.

local core = require "luabench.core"
local own = require "luabench.metric"
local terminal = require "luabench.terminal"
local nearest = require "luabench.nearest"

local metrics = {}

local ERRORS = { "dns", "connect", "connect_timeout", "tls", "timeout", "reset", "closed", "protocol", "too_large", "refused_stream", "no_ports",
  "no_descriptors", "status", "unexpected", "interrupted" }

-- Where the figures lie -----------------------------------------------------------------------------------------------

local PLURALS = { status = "statuses" }

-- "names seen: a, b, c and 7 more"
local function seen(what, names)
  if #names == 0 then return ("no %s was seen"):format(what) end
  local shown = {}
  for i = 1, math.min(#names, 10) do shown[i] = terminal.fit(terminal.escape(names[i]), 40) end
  local more = #names > 10 and (" and %d more"):format(#names - 10) or ""
  return ("%s seen: %s%s"):format(PLURALS[what] or what .. "s", table.concat(shown, ", "), more)
end

local function each_name(scope, visit)
  for _, scenario in ipairs(scope.scenarios) do
    for _, named in ipairs(scenario.names) do visit(named, scenario) end
  end
end

-- What narrows a built-in metric by itself; every other key of a selector is a tag.
local KEYS = { scenario = true, name = true, method = true, status = true, error = true, check = true, group = true }

local function has_tags(selector)
  for key in pairs(selector) do
    if not KEYS[key] then return true end
  end
  return false
end

-- A sample's own tags count before its scenario's. Requests of iterations have no phase among theirs.
local function tag_of(key, of_sample, of_scenario)
  return of_sample[key] or of_scenario[key] or (key == "phase" and "run" or nil)
end

-- True when the selector's tags are those of a sample.
local function is_tagged(selector, of_sample, of_scenario)
  for key, value in pairs(selector) do
    if not KEYS[key] and tag_of(key, of_sample, of_scenario) ~= value then return false end
  end
  return true
end

local function is_whole_run(scope)
  return not scope.selector.name and not has_tags(scope.selector) and #scope.scenarios == #scope.results.scenarios
end

local function has_one_model(scope)
  for _, scenario in ipairs(scope.scenarios) do
    if scenario.model ~= scope.scenarios[1].model then return false end
  end
  return true
end

local NONE = {}

-- What was seen of the first key of the selector that names meet: of names, or of a tag.
local function seen_of(scope)
  local key, values, known = "name", {}, {}
  for each in pairs(scope.selector) do
    if not KEYS[each] and not scope.selector.name then key = each end
  end
  each_name(scope, function(named, scenario)
    local value = key == "name" and (named.base or named.name) or key ~= "name" and tag_of(key, named.tags or NONE, scenario.tags)
    if value and not known[value] then values[#values + 1], known[value] = value, true end
  end)
  return seen(key, values)
end

-- The sets of figures that the selector means, each with the scenario it is of: those of a name or of tags, of a scenario, or of all.
local function figures(scope)
  local found, selector = {}, scope.selector
  if is_whole_run(scope) and has_one_model(scope) then return { { scope.results.total, scope.scenarios[1] } } end
  if not selector.name and not has_tags(selector) then
    for _, scenario in ipairs(scope.scenarios) do found[#found + 1] = { scenario.total, scenario } end
    return found
  end
  each_name(scope, function(named, scenario)
    local wanted = not selector.name or selector.name == named.name or selector.name == named.base
    if wanted and is_tagged(selector, named.tags or NONE, scenario.tags) then found[#found + 1] = { named, scenario } end
  end)
  if #found == 0 then return nil, seen_of(scope) end
  return found
end

-- Requests of one kind ---------------------------------------------------------------------------------------------------

-- The kind of requests that the selector narrows to, as the core is to keep them apart: { key, method, group, first, last (status), error }; nil: all. Without
-- `outcomes`, by what is known of a request before it ends.
local function kind_of(selector, outcomes)
  local status, failed = outcomes and selector.status or nil, outcomes and selector.error or nil
  if not (selector.method or selector.group or status or failed) then return nil end
  local key = table.concat({ selector.method or "", selector.group or "", status or "", failed or "" }, "\n")
  local first = status and tonumber((status:gsub("xx$", "00")))
  return { key = key, method = selector.method, group = selector.group, first = first, last = first and (status:find("xx", 1, true) and first + 99 or first), error = failed }
end

-- Counts of requests by one status or error are kept anyway.
local function is_counted(selector)
  return not (selector.method or selector.group or (selector.status and selector.error))
end

local function kinds_of_counts(selector)
  return { not is_counted(selector) and kind_of(selector, true) or nil }
end

local function kinds_of_errors(selector)
  return { kind_of(selector, false) or selector.status and kind_of(selector, true), selector.status and kind_of(selector, true) }
end

local function kinds_of_trends(selector)
  return { kind_of(selector, true) }
end

-- Of what the selector means, the figures of the requests of that kind.
local function narrowed(scope, kind)
  local found, problem = figures(scope)
  if not found or not kind then return found, problem end
  local part, index = {}, nil
  for i, each in ipairs(scope.plan.slices or NONE) do
    if each.key == kind.key then index = i end
  end
  for _, entry in ipairs(found) do
    local of = (entry[1].slices or NONE)[index]
    if of then part[#part + 1] = { of, entry[2] } end
  end
  return part
end

local function group_names(scope)
  local names, known = {}, {}
  for _, scenario in ipairs(scope.scenarios) do
    for _, group in ipairs(scenario.groups or NONE) do
      if not known[group.name] then names[#names + 1], known[group.name] = group.name, true end
    end
  end
  return names
end

local function add_keys(list, known, counts)
  for key in pairs(counts or NONE) do
    if not known[key] then list[#list + 1], known[key] = tostring(key), true end
  end
end

-- What was seen, when there was nothing of that kind.
local function seen_of_kind(scope)
  local statuses, failures, known = {}, {}, {}
  for _, entry in ipairs(figures(scope)) do
    add_keys(statuses, known, entry[1].statuses)
    add_keys(failures, known, entry[1].errors)
  end
  table.sort(statuses)
  table.sort(failures)
  if scope.selector.group then return seen("group", group_names(scope)) end
  if scope.selector.method then return seen("method", scope.results.methods or NONE) end
  if scope.selector.status then return seen("status", statuses) end
  return seen("error", failures)
end

-- Rates are over the time in which iterations were started.
local function duration(scope)
  local of = #scope.scenarios == 1 and scope.scenarios[1] or scope.results
  return of.window or of.duration
end

local function merged(hists)
  if #hists < 2 then return hists[1] end
  return core.hist_merge(hists)
end

-- Readers -------------------------------------------------------------------------------------------------------------

local function trend(pick)
  return function(scope)
    local kind = kind_of(scope.selector, true)
    local found, problem = narrowed(scope, kind)
    if not found then return nil, problem end
    local hists = {}
    for _, entry in ipairs(found) do hists[#hists + 1] = pick(entry[1], entry[2]) end
    local hist = merged(hists)
    if kind and (not hist or hist:count() == 0) then return nil, seen_of_kind(scope) end
    return hist
  end
end

local function hist_trend(field)
  return trend(function(named) return named[field] end)
end

local function counter(count, kinds)
  return function(scope)
    local found, problem = narrowed(scope, kinds(scope.selector)[1])
    if not found then return nil, problem end
    local total = 0
    for _, entry in ipairs(found) do total = total + count(entry[1], scope.selector) end
    return total, duration(scope)
  end
end

local function field_counter(field)
  return counter(function(named) return named[field] end, kinds_of_trends)
end

local function count_iterations(field)
  return function(scope)
    local total = 0
    for _, scenario in ipairs(scope.scenarios) do total = total + scenario.iterations[field] end
    return total, duration(scope)
  end
end

local function matches_status(status, wanted)
  local class = wanted:match("^(%d)xx$")
  if class then return math.floor(status / 100) == tonumber(class) end
  return status == tonumber(wanted)
end

local function count_requests(named, selector)
  if not is_counted(selector) then return named.started end
  if selector.error then return named.errors[selector.error] or 0 end
  if not selector.status then return named.started end
  local total = 0
  for status, count in pairs(named.statuses) do
    if matches_status(tonumber(status), selector.status) then total = total + count end
  end
  return total
end

-- Requests that the end of the run interrupted are neither errors nor successes of the server: left out.
local function count_errors(found, wanted)
  local errors = 0
  for _, entry in ipairs(found) do
    local named = entry[1]
    errors = errors + (wanted and (named.errors[wanted] or 0) or named.failed + named.timed_out)
  end
  return errors
end

-- A status and an error choose among the errors, the rest of the selector among the requests of which they are a share.
local function error_rate(scope)
  local selector, all = scope.selector, 0
  local found, problem = narrowed(scope, kind_of(selector, false))
  if not found then return nil, problem end
  for _, entry in ipairs(found) do all = all + entry[1].started - (selector.error == "interrupted" and 0 or entry[1].interrupted) end
  if all == 0 and (selector.method or selector.group) then return nil, seen_of_kind(scope) end
  return count_errors(selector.status and narrowed(scope, kind_of(selector, true)) or found, selector.error), all
end

-- The passes and fails of a check, in all or of each selected scenario.
local function counts_of(check, scope)
  if #scope.scenarios == #scope.results.scenarios then return { check } end
  local list = {}
  for i, scenario in ipairs(scope.scenarios) do list[i] = check.scenarios[scenario.index] end
  return list
end

local function check_rate(scope)
  local wanted, passes, all, names = scope.selector.check, 0, 0, {}
  for i, check in ipairs(scope.results.checks) do
    names[i] = check.name
    for _, counts in ipairs((not wanted or check.name == wanted) and counts_of(check, scope) or {}) do
      passes, all = passes + counts.passes, all + counts.passes + counts.fails
    end
  end
  if wanted and all == 0 then return nil, seen("check", names) end
  return passes, all
end

-- Only the first kinds of errors are kept by scenario; what is beyond them is counted for each, so that no error is lost.
local function count_script_errors(scope)
  local errors = scope.results.script_errors
  if is_whole_run(scope) then return errors.count, duration(scope) end
  local chosen, elsewhere = {}, 0
  for _, scenario in ipairs(scope.scenarios) do chosen[scenario.name] = true end
  for _, kind in ipairs(errors.kinds) do
    if not chosen[kind.scenario] then elsewhere = elsewhere + kind.count end
  end
  return errors.count - elsewhere, duration(scope)
end

local function iteration_duration(scope)
  local hists = {}
  for i, scenario in ipairs(scope.scenarios) do hists[i] = scenario.iteration_duration end
  return merged(hists)
end

-- Groups of the selected scenarios: of one name, or all together.
local function group_duration(scope)
  local wanted, hists = scope.selector.group, {}
  for _, scenario in ipairs(scope.scenarios) do
    for _, group in ipairs(scenario.groups or NONE) do
      if not wanted or group.name == wanted then hists[#hists + 1] = group.duration end
    end
  end
  if wanted and #hists == 0 then return nil, seen("group", group_names(scope)) end
  return merged(hists)
end

-- Users at the ends of the seconds of the run.
local function users(scope)
  if not is_whole_run(scope) then return nil, "users are not kept by scenario" end
  local found
  for _, second in ipairs(scope.results.series or {}) do
    found = found or { min = second.users, max = second.users }
    found.value, found.min, found.max = second.users, math.min(found.min, second.users), math.max(found.max, second.users)
  end
  return found
end

--- The histogram of the headline latency: from the intended start in the open model, from the call in the closed one.
function metrics.headline(named, model)
  if model == "open" and named.latency_from_intended then return named.latency_from_intended end
  return named.latency
end

-- The scenario and the tags of a series of a script's own metric: "SCENARIO\nNAME=VALUE\n...".
local function tags_of(key)
  local scenario, rest = key:match("^([^\n]*)\n?(.*)$")
  local tags = { scenario = scenario }
  for name, value in rest:gmatch("([^\n=]+)=([^\n]*)") do tags[name] = value end
  return tags
end

local function seen_tags(all, selector)
  for key in pairs(selector) do
    local values, known = {}, {}
    for _, series in ipairs(all) do
      local value = tags_of(series.key)[key]
      if value and not known[value] then values[#values + 1] = value end
      known[value or ""] = true
    end
    return seen(key, values)
  end
end

-- A reader of a script's own metric: its sum over the series that the selector and the scenarios mean.
local function own_reader(definition)
  return function(scope)
    local chosen, all = {}, (scope.results.metrics or {})[definition.name] or {}
    for _, scenario in ipairs(scope.scenarios) do chosen[scenario.name] = scenario.tags end
    local sum = own.sum(definition.name, all, function(series)
      local tags = tags_of(series.key)
      for key, value in pairs(scope.selector) do
        if (tags[key] or (chosen[tags.scenario] or NONE)[key]) ~= value then return false end
      end
      return chosen[tags.scenario] or #scope.scenarios == #scope.results.scenarios
    end)
    if sum.count == 0 and next(scope.selector) then return nil, seen_tags(all, scope.selector) end
    if definition.kind == "trend" then return sum.hist end
    if definition.kind == "gauge" then return sum.count > 0 and { value = sum.last, min = sum.min, max = sum.max } or nil end
    if definition.kind == "rate" then return sum.sum, sum.count end
    return sum.sum, duration(scope)
  end
end

-- The list ------------------------------------------------------------------------------------------------------------

local BY_REQUEST = { "scenario", "name", "method", "status", "error", "group", "phase" }
local BY_SCENARIO = { "scenario" }

local METRICS = {
  { name = "http.requests", kind = "counter", selectors = BY_REQUEST, kinds = kinds_of_counts, read = counter(count_requests, kinds_of_counts) },
  { name = "http.errors", kind = "rate", selectors = BY_REQUEST, kinds = kinds_of_errors, read = error_rate },
  { name = "http.latency", kind = "trend", selectors = BY_REQUEST,
    read = trend(function(named, scenario) return metrics.headline(named, scenario.model) end) },
  { name = "http.service", kind = "trend", selectors = BY_REQUEST, read = hist_trend("service") },
  { name = "http.wait", kind = "trend", selectors = BY_REQUEST, read = hist_trend("wait") },
  { name = "http.blocked", kind = "trend", selectors = BY_REQUEST, read = hist_trend("blocked") },
  { name = "http.connect", kind = "trend", selectors = BY_REQUEST, read = hist_trend("connect") },
  { name = "http.tls", kind = "trend", selectors = BY_REQUEST, read = hist_trend("tls") },
  { name = "http.bytes_sent", kind = "counter", size = true, selectors = BY_REQUEST, read = field_counter("bytes_sent") },
  { name = "http.bytes_received", kind = "counter", size = true, selectors = BY_REQUEST, read = field_counter("bytes_received") },
  { name = "iterations", kind = "counter", selectors = BY_SCENARIO, read = count_iterations("completed") },
  { name = "iteration.duration", kind = "trend", selectors = BY_SCENARIO, read = iteration_duration },
  { name = "group.duration", kind = "trend", selectors = { "scenario", "group" }, read = group_duration },
  { name = "users", kind = "gauge", selectors = BY_SCENARIO, read = users },
  { name = "dropped", kind = "counter", selectors = BY_SCENARIO, read = count_iterations("dropped") },
  { name = "script_errors", kind = "counter", selectors = BY_SCENARIO, read = count_script_errors },
  { name = "checks", kind = "rate", selectors = { "scenario", "check" }, read = check_rate },
}

-- what the same thing is called elsewhere
local FOREIGN = { http_req_duration = "http.latency", http_reqs = "http.requests", http_req_failed = "http.errors", http_req_waiting = "http.wait",
  http_req_blocked = "http.blocked", http_req_connecting = "http.connect", http_req_tls_handshaking = "http.tls", data_sent = "http.bytes_sent",
  data_received = "http.bytes_received", iteration_duration = "iteration.duration", dropped_iterations = "dropped", latency = "http.latency",
  errors = "http.errors", requests = "http.requests", p95 = "http.latency", p99 = "http.latency" }

-- The unit of an aggregate, by the kind of metric.
local AGGREGATES = {
  trend = { min = "time", mean = "time", median = "time", max = "time", stddev = "time", count = "count" },
  counter = { count = "count", rate = "rate" },
  rate = { rate = "share" },
  gauge = { value = "number", min = "number", max = "number" },
}
local AGGREGATE_NAMES = { trend = { "min", "mean", "median", "max", "stddev", "p(N)", "count" }, counter = { "count", "rate" }, rate = { "rate" }, gauge = { "value", "min", "max" } }

local by_name = {}
for _, metric in ipairs(METRICS) do
  metric.by_sample = metric.selectors == BY_REQUEST -- requests have tags of their own, the rest has those of scenarios
  if metric.by_sample then metric.kinds = metric.kinds or kinds_of_trends end
  by_name[metric.name] = metric
end

--- The metric of that name, built in or the script's own, or nil.
function metrics.find(name)
  local definition = own.find(name)
  if not definition then return by_name[name] end
  return { name = name, kind = definition.kind, plain = definition.unit ~= "s", any_tag = true, by_sample = true, selectors = {}, read = own_reader(definition) }
end

--- All names, in order of importance.
function metrics.names()
  local names = {}
  for i, metric in ipairs(METRICS) do names[i] = metric.name end
  for _, name in ipairs(own.names()) do names[#names + 1] = name end
  return names
end

--- Our name for a metric of another tool, or nil.
function metrics.foreign(name)
  return FOREIGN[name]
end

--- The names of the aggregates of a metric.
function metrics.aggregates(metric)
  return AGGREGATE_NAMES[metric.kind]
end

--- The unit of a metric's aggregate ("time", "share", "count", "rate", "size", "size_rate", "number"), or nil when it has no such aggregate.
function metrics.unit(metric, aggregate)
  local unit = AGGREGATES[metric.kind][aggregate]
  if unit == "time" and metric.plain then return "number" end
  if not metric.size then return unit end
  return ({ count = "size", rate = "size_rate" })[unit]
end

--- True when the list has the item.
function metrics.has(list, item)
  for _, other in ipairs(list) do
    if other == item then return true end
  end
  return false
end

--- The kinds of requests that the core has to keep apart for a metric with that selector: a list without gaps.
function metrics.kinds(metric, selector)
  local list = {}
  for _, kind in pairs(metric.kinds and metric.kinds(selector) or NONE) do list[#list + 1] = kind end
  return list
end

--- True when the key of a selector can be but a tag.
function metrics.is_tag(key) return not KEYS[key] and key ~= "phase" and key:find("^[%a_]") ~= nil end

local STANDARD = { GET = true, HEAD = true, POST = true, PUT = true, PATCH = true, DELETE = true, OPTIONS = true, TRACE = true }
local PHASES = { run = true, on_start = true, on_stop = true }

--- What is wrong with the value of a selector, in words, or nil. Scenarios, names and checks are known only after the run.
function metrics.check_value(key, value)
  if value == "" then return ("%s= needs a value"):format(key) end
  if key == "status" and not value:match("^[1-5]%d%d$") and not value:match("^[1-5]xx$") then
    return ('status=%s: write a status like 503 or a class like 5xx'):format(value)
  end
  if key == "method" and value ~= value:upper() and STANDARD[value:upper()] then return ("method=%s: write %s"):format(value, value:upper()) end
  if key == "phase" and not PHASES[value] then return ('unknown phase "%s"; there are run, on_start, on_stop'):format(value) end
  if key == "error" and not metrics.has(ERRORS, value) then
    local near = nearest.name(value, ERRORS)
    return ('unknown error "%s"%s; there are %s'):format(value, near and (', did you mean "%s"?'):format(near) or "", table.concat(ERRORS, ", "))
  end
end

--- The scope of a selector, for the reader of a metric; nil and a text when there is no such scenario.
--- @param only string? the scenario whose own threshold it is
function metrics.scope(plan, results, selector, only, metric)
  local scenarios, names = {}, {}
  for i, scenario in ipairs(results.scenarios) do
    names[i] = scenario.name
    local planned = plan.scenarios and plan.scenarios[i] or {}
    local tags = planned.tags or NONE
    local wanted = (not selector.scenario or selector.scenario == scenario.name) and (not only or only == scenario.name)
    if wanted and (metric.by_sample or is_tagged(selector, NONE, tags)) then
      scenarios[#scenarios + 1] = setmetatable({ index = i, model = planned.model or "closed", tags = tags }, { __index = scenario })
    end
  end
  if #scenarios == 0 and has_tags(selector) then return nil, "no scenario has these tags" end
  if #scenarios == 0 and (only or selector.scenario) then return nil, seen("scenario", names) end
  return { plan = plan, results = results, selector = selector, scenarios = scenarios }
end

return metrics
