-- The HTML report of comparisons: verdicts first, then a chart for each measurement by case and target, then every figure.
local doubts = require "luabench.compare.doubts"
local format = require "luabench.format"
local parts = require "luabench.report.html.parts"
local statistics = require "luabench.compare.statistics"
local summary = require "luabench.summary"

local compare = {}

local value = summary.value

-- Charts by case and target ---------------------------------------------------------------------------------------------

local function of_latency(field)
  return function(round) return value(round.latency[field]) end
end

local function per_request(round)
  local cpu = value(round.cpu_seconds)
  return cpu and round.requests.succeeded > 0 and cpu / round.requests.succeeded or nil
end

local BARS = {
  { "Requests a second", "count", function(round) return value(round.rate) end }, { "Median latency", "duration", of_latency "median" }, { "p99 latency", "duration", of_latency "p99" },
  { "Time taken by a slot", "duration", function(round) return round.time_taken end }, { "CPU time a request", "duration", per_request },
  { "Memory, highest", "bytes", function(round) return value(round.rss_max) end },
}

-- The middle of a figure over the rounds, with its 95% interval; nil when a round has none.
local function middle(rounds, read)
  local logs = {}
  for i, round in ipairs(rounds) do
    local each = read(round)
    if not each or each <= 0 then return nil end
    logs[i] = math.log(each)
  end
  if #logs < 2 then return logs[1] and { math.exp(logs[1]) } or nil end
  local center, low, high = statistics.center(logs)
  if low == -math.huge then return { math.exp(center) } end
  return { math.exp(center), math.exp(low), math.exp(high) }
end

local NONE = require("luabench.core").json_null

-- { cases, targets = { { name, [field] = list by case } } } of what `read` says of a case's target.
local function by_case(part, field, read)
  local cases, targets, any = {}, {}, false
  for k, case in ipairs(parts.in_order(part.cases)) do
    cases[k] = case.name
    for t, target in ipairs(parts.in_order(part.targets)) do
      targets[t] = targets[t] or { name = target.name, [field] = {} }
      local measured = case.of.targets[target.name]
      local said = measured and read(measured)
      targets[t][field][k], any = said or NONE, any or said ~= nil
    end
  end
  return any and { cases = cases, targets = targets } or nil
end

local function bar_chart(page, part, title, unit, read)
  local data = by_case(part, "values", function(measured)
    local said = middle(measured.rounds, read)
    return said and { said[1], said[2] or NONE, said[3] or NONE }
  end)
  if not data then return end
  data.format = unit
  page:chart("bars", title, data)
end

local BOX = { "min", "q1", "median", "q3", "p99" }

local function box_chart(page, part)
  local data = by_case(part, "boxes", function(measured)
    local box = {}
    for i, field in ipairs(BOX) do box[i] = value(measured.latency[field]) end
    return #box == #BOX and box or nil
  end)
  if data then page:chart("boxes", "Latency: minimum, quartiles, p99", data) end
end

-- What the servers used over time: the slots of a case one behind another.
local function server_line(name, rounds, field)
  local points, offset = {}, 0
  for _, round in ipairs(rounds) do
    for _, point in ipairs(round.series) do points[#points + 1] = { offset + point.time, point[field] } end
    offset = offset + round.time_taken
  end
  return { name = name, points = points }
end

local function case_charts(page, case)
  local curves, cpu, memory = {}, {}, {}
  for i, target in ipairs(parts.in_order(case.targets)) do
    curves[i] = { target.name, target.of.latency }
    cpu[i], memory[i] = server_line(target.name, target.of.rounds, "cpu"), server_line(target.name, target.of.rounds, "rss")
  end
  parts.percentile_chart(page, "Latency by percentile", curves)
  parts.time_chart(page, "CPU of the server, its slots one behind another", "share", cpu)
  parts.time_chart(page, "Memory of the server, its slots one behind another", "bytes", memory)
end

-- Tables ----------------------------------------------------------------------------------------------------------------

local function optional(show, of)
  of = value(of)
  return of and show(of) or "n/a"
end

local function percent(share)
  return ("%.0f%%"):format(share * 100)
end

local function figures_table(page, case)
  local rows, latencies = {}, {}
  for i, target in ipairs(parts.in_order(case.targets)) do
    local of = target.of
    local bad = of.requests.failed + of.requests.timed_out
    local cpu = value(of.cpu_seconds)
    rows[i] = { target.name, format.count(of.requests.started), bad > 0 and { format.count(bad), "bad" } or "0", format.duration(#of.rounds > 0 and of.time_taken / #of.rounds or nil),
      format.rate(value(of.rate)), optional(percent, of.cpu_share), format.duration(cpu and of.requests.succeeded > 0 and cpu / of.requests.succeeded or nil),
      optional(format.bytes, of.rss_max), optional(format.bytes, of.rss_mean) }
    latencies[i] = { target.name, of.latency }
  end
  page:table({ "target", "requests", "failed", "time a slot", "requests/s", "CPU", "CPU a request", "memory, highest", "memory, mean" }, rows)
  parts.latency_table(page, "latency", latencies)
end

local function rounds_table(page, case)
  local rows = {}
  for _, target in ipairs(parts.in_order(case.targets)) do
    for _, round in ipairs(target.of.rounds) do
      rows[#rows + 1] = { target.name, tostring(round.round), format.duration(round.time_taken), format.rate(value(round.rate)), format.duration(value(round.latency.median)),
        format.duration(value(round.latency.p99)), format.duration(value(round.latency.max)), optional(percent, round.cpu_share), optional(format.bytes, round.rss_max),
        optional(percent, round.generator_cpu) }
    end
  end
  page:details("All rounds", function()
    page:table({ "target", "round", "time taken", "requests/s", "median", "p99", "max", "CPU", "memory", "luabench's CPU" }, rows)
  end)
end

-- The whole -------------------------------------------------------------------------------------------------------------

local function verdicts(case, primary)
  local list = {}
  for _, said in ipairs(case.verdicts) do
    if (said.primary or false) == primary then list[#list + 1] = { said.text, said.verdict } end
  end
  return list
end

local function doubts_of(case)
  local list = doubts.of(parts.in_order(case.targets))
  for i, text in ipairs(list) do list[i] = { text, "invalid" } end
  return list
end

local function load_words(load)
  local who = value(load.rate) and ("%s arrivals a second"):format(format.significant(load.rate)) or format.counted(value(load.users) or 0, "user")
  local stop = value(load.iterations) and format.counted(load.iterations, "iteration") or value(load.duration) and format.span(load.duration) or "its stages"
  return ("%s, %s a slot"):format(who, stop)
end

local function lost_targets(part)
  local list = {}
  for _, target in ipairs(parts.in_order(part.targets)) do
    if value(target.of.lost) then list[#list + 1] = { target.name .. " " .. target.of.lost, "invalid" } end
  end
  return list
end

-- The deciding verdicts of all cases, before anything else.
local function headline(page, part)
  local list = lost_targets(part)
  for _, case in ipairs(parts.in_order(part.cases)) do
    for _, said in ipairs(verdicts(case.of, true)) do list[#list + 1] = { case.name .. ": " .. said[1], said[2] } end
  end
  page:said(list)
end

local function comparison(page, name, part, alone)
  if not alone then page:heading(2, name) end
  page:note(("%s, each target once in every round; against %s"):format(format.counted(part.rounds, "round"), part.baseline))
  headline(page, part)
  page:charts(function()
    for _, bar in ipairs(BARS) do bar_chart(page, part, bar[1], bar[2], bar[3]) end
    box_chart(page, part)
  end)
  for _, case in ipairs(parts.in_order(part.cases)) do
    page:heading(2, case.name, load_words(case.of.load))
    page:said(doubts_of(case.of))
    figures_table(page, case.of)
    page:said(verdicts(case.of, false))
    page:charts(function() case_charts(page, case.of) end)
    rounds_table(page, case.of)
  end
end

local function targets_table(page, document)
  local rows = {}
  for _, each in ipairs(parts.in_order(document.compare)) do
    for _, target in ipairs(parts.in_order(each.of.targets)) do rows[#rows + 1] = { target.name, { target.of.url, "words" }, { tostring(value(target.of.command) or "not started by luabench"), "words" } } end
  end
  page:heading(2, "Targets")
  page:table({ "target", { "url", "words" }, { "command", "words" } }, rows)
end

--- Adds the report of all comparisons of the document to the page.
function compare.add(page, document)
  local list = parts.in_order(document.compare)
  for _, each in ipairs(list) do comparison(page, each.name, each.of, #list == 1) end
  targets_table(page, document)
  parts.machine(page, document)
end

return compare
