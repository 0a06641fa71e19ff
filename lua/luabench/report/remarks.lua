-- What makes the figures of a run doubtful, in words. Each rule is a function of the document that returns a remark, or nothing.

local format = require "luabench.format"
local results = require "luabench.results"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local remarks = {}

-- { name, quantile, its verb } of what the report shows, in the order of the samples they need
local SHOWN = { { "the median", 0.5 }, { "q1 and q3", 0.75, "need" }, { "p90", 0.9 }, { "p95", 0.95 }, { "p99", 0.99 }, { "p99.9", 0.999 } }

local function unbalanced(document)
  local text = summary.value(document.unbalanced)
  return text and ("the books do not balance: %s. This is a bug of luabench; please report it"):format(terminal.escape(text))
end

local function nothing_done(document)
  local scheduled = 0
  for _, scenario in pairs(document.scenarios) do scheduled = scheduled + scenario.iterations.scheduled end
  return scheduled > 0 and "no request was made" or "no iteration was started"
end

local function nothing_succeeded(document)
  if summary.value(document.setup_failed) then return end
  local requests = document.total.requests
  if requests.started == 0 then return nothing_done(document) end
  if document.total.latency.count == 0 then return "no whole response came to any request" end
  if requests.succeeded == 0 then return "not one request succeeded: the latencies are those of failures" end
end

local function needs(latency)
  local short = {}
  for _, entry in ipairs(SHOWN) do
    local needed = summary.needed(entry[2])
    if latency.count < needed then short[#short + 1] = ("%s%s %s"):format(entry[1], #short == 0 and " " .. (entry[3] or "needs") or "", format.count(needed)) end
  end
  return short
end

-- The rows of the report's tables other than the total.
local function has_short_rows(document)
  local scenarios = results.scenarios(document)
  for _, entry in ipairs(scenarios) do
    if #scenarios > 1 and #needs(results.headline(entry.figures)) > 0 then return true end
    local names = 0
    for _ in pairs(entry.figures.by_name) do names = names + 1 end
    for _, named in pairs(entry.figures.by_name) do
      if names > 1 and results.headline(named).count < summary.needed(0.99) then return true end
    end
  end
end

local function short_of_samples(document)
  local latency = results.headline(document.total)
  if latency.count == 0 then return end
  local short = needs(latency)
  if #short > 0 then return ("too few responses for some percentiles (%s): %s"):format(format.count(latency.count), table.concat(short, ", ")) end
  if has_short_rows(document) then return "n/a: too few responses under that name for the percentile" end
end

local REDIRECTS = { ["301"] = true, ["302"] = true, ["303"] = true, ["307"] = true, ["308"] = true }

local function all_redirects(figures)
  local any = false
  for status in pairs(figures.status) do
    if not REDIRECTS[status] then return false end
    any = true
  end
  return any
end

-- Where redirects are followed, one that was not has its own error, or no Location.
local function follows(plan, scenario)
  local planned = plan and plan.scenarios and plan.scenarios[scenario.index]
  return planned and planned.http and (planned.http.redirects or 0) > 0
end

local function redirects(document, plan)
  local names, count = {}, 0
  for _, entry in ipairs(results.scenarios(document)) do
    for name, figures in pairs(entry.figures.by_name) do
      if all_redirects(figures) and not figures.errors.unexpected and not follows(plan, entry.figures) then
        names[#names + 1] = terminal.fit(terminal.escape(name), 40)
        count = count + figures.latency.count
      end
    end
  end
  if #names == 0 then return end
  table.sort(names)
  local which = #names == 1 and names[1] or ("%s and %d more"):format(names[1], #names - 1)
  return ("all %s of %s were redirects that were not followed: redirects = 10 follows them"):format(format.counted(count, "answer"), which)
end

local function checks_without_threshold(document)
  local fails = 0
  for _, check in pairs(document.checks) do fails = fails + check.fails end
  if fails == 0 then return end
  for _, threshold in ipairs(document.thresholds) do
    if threshold.metric:match("^checks") then return end
  end
  return ("%s failed, and no threshold looks at checks: the exit status does not tell; add \"checks: rate > 99%%\""):format(format.counted(fails, "check"))
end

local function interrupted_iterations(document)
  if document.interrupted or summary.value(document.stopped) or summary.value(document.stuck) then return end
  local count = 0
  for _, scenario in pairs(document.scenarios) do count = count + scenario.iterations.interrupted end
  if count == 0 then return end
  return ("%s still ran when graceful_stop was over and %s interrupted"):format(format.counted(count, "iteration"), count == 1 and "was" or "were")
end

local function dropped(document)
  local count, scheduled = 0, 0
  for _, scenario in pairs(document.scenarios) do
    count = count + scenario.iterations.dropped
    scheduled = scheduled + scenario.iterations.scheduled
  end
  if count > 0 then return ("%s (%s) were dropped: no user was free"):format(format.counted(count, "arrival"), format.share(count / scheduled)) end
end

local function expired(document)
  local count, scheduled = 0, 0
  for _, scenario in pairs(document.scenarios) do
    count = count + scenario.iterations.expired
    scheduled = scheduled + scenario.iterations.scheduled
  end
  if count > 0 then
    return ("%s (%s) were not started: no user was free within the timeout (max_users)"):format(format.counted(count, "arrival"), format.share(count / scheduled))
  end
end

local function idle_users(document)
  for _, entry in ipairs(results.scenarios(document)) do
    local planned, most = not summary.value(entry.figures.load.stages) and summary.value(entry.figures.load.users), summary.value(entry.figures.users_max)
    if planned and most and most > 0 and most < planned and not document.interrupted then
      return ("at most %s of %s users of \"%s\" ran at once"):format(format.count(most), format.count(planned), terminal.fit(terminal.escape(entry.name), 30))
    end
  end
end

-- A body longer than its Content-Length, two answers to one request, or a 408 before the server closes an idle connection.
local function unasked(document)
  local count = 0
  for _, scenario in pairs(document.scenarios) do count = count + (summary.value(scenario.connections.unasked) or 0) end
  if count == 0 then return end
  return ("%s given up: the server sent bytes that answer no request (is its Content-Length too small?)"):format(
    count == 1 and "1 connection was" or format.count(count) .. " connections were")
end

-- With -m users share connections: over HTTP/1.1 all but one of them wait.
local function without_streams(document)
  if not summary.value(document.options.streams) then return end
  for _, scenario in pairs(document.scenarios) do
    for _, agreed in ipairs(scenario.connections.agreed) do
      if agreed.http == "1.1" then
        return "connections spoke HTTP/1.1, which has no streams: with -m, users had to wait for a free one"
      end
    end
  end
end

-- Every scenario for which `say` has something to say.
local function of_scenarios(document, say)
  local scenarios = results.scenarios(document)
  for _, entry in ipairs(scenarios) do
    local words = say(entry.figures)
    if words then return #scenarios > 1 and ("%s: %s"):format(terminal.fit(terminal.escape(entry.name), 30), words) or words end
  end
end

-- Whether the load itself was the same all along: else its latency may well change.
local function level(load)
  local ramp_up = summary.value(load.ramp_up)
  return not summary.value(load.stages) and not (ramp_up and ramp_up > 0)
end

-- Half of the arrivals started later than this: it was not the server that could not keep up.
local LATE = 0.01

-- Iterations piled up: whose fault it was is told by when they were started, a wait for a free user left out.
local function overloaded(document)
  local slip = summary.value(document.generator.schedule_slip)
  local own = slip and (summary.value(slip.median) or 0) > LATE
  return of_scenarios(document, function(figures)
    local flow = summary.value(figures.flow)
    if not flow or not flow.overloaded then return end
    return ("%s: of %s due only %s had ended when the last was due, and %s were in flight; the latency depends on how long the run was"):format(
      own and "luabench could not keep its schedule" or "overloaded", format.counted(flow.due, "iteration"), format.count(flow.ended), format.count(flow.in_flight))
  end)
end

local COURSES = {
  ["warm-up"] = "the server was still warming up: the median was %s at first and %s at the end; warm_up = \"auto\" leaves that out",
  slowdown = "the server became slower: the median was %s at first and %s at the end; the percentiles mix the two",
  drifting = "the latency drifted all along, the median from %s to %s: the percentiles are those of no one state",
  unsteady = "the latency changed in the last part of the run, the median from %s at first to %s: it has not come to rest",
}

local function unsteady(document)
  return of_scenarios(document, function(figures)
    local flow, steady = summary.value(figures.flow), summary.value(figures.steady)
    if not steady or not COURSES[steady.class] or (flow and flow.overloaded) or not level(figures.load) then return end
    return COURSES[steady.class]:format(format.duration(steady.first), format.duration(steady.last))
  end)
end

local OTHER = "(other)" -- metrics/names.h: what is kept together once there are too many names

-- Requests under names, or sets of tags, that came when there were enough of them.
local function unnamed_requests(document)
  local count = 0
  for _, scenario in pairs(document.scenarios) do
    local rest = scenario.by_name[OTHER]
    count = count + (rest and rest.requests.started or 0)
  end
  if count == 0 then return end
  return ("too many different names of requests: %s together under %s; give requests whose path or tags vary one name: { name = \"GET /item/:id\" }"):format(
    format.counted(count, "request") .. (count == 1 and " is" or " are"), OTHER)
end

-- The same of what a script counts itself.
local function unnamed_figures(document)
  local kinds = {}
  for _, kind in ipairs { "checks", "groups", "metrics" } do
    if document[kind][OTHER] then kinds[#kinds + 1] = kind end
  end
  for name, metric in pairs(document.metrics) do
    if name ~= OTHER and summary.value(metric.series) and metric.series[OTHER] then
      kinds[#kinds + 1] = ("sets of tags of %s"):format(terminal.fit(terminal.escape(name), 40))
      break
    end
  end
  if #kinds > 0 then return ("too many different %s: those that came last are together under %s"):format(table.concat(kinds, ", "), OTHER) end
end

-- Requests of a warm-up that were still under way when the window ended: how long they took is in no figure, and their users asked for nothing else meanwhile.
local function outlasting(document)
  local count = 0
  for _, scenario in pairs(document.scenarios) do
    local warm_up = summary.value(scenario.warm_up)
    count = count + (warm_up and warm_up.outlasting or 0)
  end
  if count > 0 then return results.outlasting(format.counted(count, "request"), count == 1, "the measured time") end
end

local RULES = { unbalanced, nothing_succeeded, outlasting, overloaded, unsteady, redirects, unasked, without_streams, checks_without_threshold, interrupted_iterations, dropped, expired, idle_users, unnamed_requests, unnamed_figures, short_of_samples }

--- Fills document.remarks; `plan` is that of the run.
function remarks.add(document, plan)
  local list = {}
  for _, rule in ipairs(RULES) do
    list[#list + 1] = rule(document, plan) or nil
  end
  for _, warning in ipairs(document.generator.warnings) do list[#list + 1] = warning end
  for _, notice in ipairs(document.notices) do list[#list + 1] = terminal.escape(notice) end
  if #list > 0 then document.remarks = list end
end

return remarks
