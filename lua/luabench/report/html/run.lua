-- The HTML report of a run.
local format = require "luabench.format"
local load = require "luabench.report.load"
local parts = require "luabench.report.html.parts"
local results = require "luabench.results"
local summary = require "luabench.summary"
local text = require "luabench.report.text"

local run = {}

local value = summary.value

-- Verdicts --------------------------------------------------------------------------------------------------------------

-- What makes the figures doubtful, then what had to hold.
local function said(page, document)
  local list = {}
  for _, remark in ipairs(document.remarks or {}) do list[#list + 1] = { tostring(remark), "warn" } end
  for _, warning in ipairs(document.generator.warnings or {}) do list[#list + 1] = { tostring(warning), "warn" } end
  for _, threshold in ipairs(document.thresholds or {}) do
    if not threshold.ok or not value(threshold.implicit) then
      list[#list + 1] = { ("%s: %s"):format(threshold.ok and "held" or "failed", value(threshold.text) or value(threshold.expression)), threshold.ok and "better" or "bad" }
    end
  end
  for _, kind in ipairs(document.script_errors.kinds or {}) do list[#list + 1] = { ("script error, %s times: %s"):format(format.count(kind.count), tostring(value(kind.text))), "bad" } end
  page:said(list)
end

-- Tables ----------------------------------------------------------------------------------------------------------------

local function counts_row(name, figures)
  local requests = figures.requests
  local bad = requests.failed + requests.timed_out
  return { name, format.count(requests.started), format.count(requests.succeeded), bad > 0 and { format.count(bad), "bad" } or "0", format.rate(value(figures.rate)),
    format.bytes(figures.bytes.received), format.bytes(figures.bytes.sent) }
end

local function rows_of(document, pick)
  local rows = {}
  local scenarios = results.scenarios(document)
  for _, scenario in ipairs(scenarios) do
    rows[#rows + 1] = { scenario.name, pick(scenario.figures) }
    local names = {}
    for name in pairs(scenario.figures.by_name) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(#names > 1 and names or {}) do rows[#rows + 1] = { "  " .. name, pick(scenario.figures.by_name[name]) } end
  end
  if #scenarios > 1 then table.insert(rows, 1, { "all", pick(document.total) }) end
  return rows
end

local function requests(page, document)
  local rows = {}
  for i, row in ipairs(rows_of(document, function(figures) return figures end)) do rows[i] = counts_row(row[1], row[2]) end
  page:heading(2, "Requests")
  page:table({ "", "started", "succeeded", "failed", "succeeded/s", "received", "sent" }, rows)
end

local function latency(page, document)
  page:heading(2, "Latency", document.model == "open" and "from when each request was due" or nil)
  parts.latency_table(page, "", rows_of(document, results.headline))
end

local function counted(page, title, counts)
  local rows = {}
  for name, count in pairs(counts or {}) do rows[#rows + 1] = { tostring(name), format.count(count) } end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  page:facts(rows, title)
end

local function answers(page, document)
  counted(page, "Status", document.total.status)
  counted(page, "Errors", document.total.errors)
end

local function checks(page, document)
  local rows = {}
  for _, check in ipairs(parts.in_order(document.checks)) do
    rows[#rows + 1] = { check.name, format.count(check.of.passes), check.of.fails > 0 and { format.count(check.of.fails), "bad" } or "0", { tostring(value(check.of.why) or ""), "words" } }
  end
  if #rows == 0 then return end
  page:heading(2, "Checks")
  page:table({ "check", "passes", "fails", { "first reason", "words" } }, rows)
end

local function groups(page, document)
  local rows = {}
  for _, group in ipairs(parts.in_order(document.groups)) do rows[#rows + 1] = { group.name, group.of } end
  if #rows == 0 then return end
  page:heading(2, "Groups")
  parts.latency_table(page, "group", rows)
end

-- Charts ----------------------------------------------------------------------------------------------------------------

local function line(document, name, read)
  local points = {}
  for _, second in ipairs(document.series or {}) do
    local at = read(second)
    if at then points[#points + 1] = { second.time, at } end
  end
  return { name = name, points = points }
end

local function quantile_line(document, field)
  return line(document, field == "median" and "median" or field, function(second)
    local of = value(second.latency)
    return of and value(of[field])
  end)
end

local function charts(page, document)
  parts.percentile_chart(page, "Latency by percentile", rows_of(document, results.headline))
  parts.time_chart(page, "Latency over time", "duration", { quantile_line(document, "median"), quantile_line(document, "p95"), quantile_line(document, "p99"), quantile_line(document, "max") },
    { log = true })
  parts.time_chart(page, "Requests a second", "count", { line(document, "requests", function(second) return second.requests end), line(document, "errors", function(second) return second.errors end) })
  parts.time_chart(page, "Users", "count", { line(document, "users", function(second) return second.users end) }, { step = true, area = true })
end

local function generator(page, document)
  local of = document.generator
  local rows = { { "threads", value(of.threads) and tostring(of.threads) or "n/a" }, { "share of its cores", format.share(value(of.cpu)) } }
  for _, part in ipairs { { "loop lag", value(of.lag) }, { "schedule slip", value(of.schedule_slip) } } do
    if part[2] and part[2].count > 0 then
      rows[#rows + 1] = { part[1], ("median %s, p99 %s, at most %s"):format(format.duration(value(part[2].median)), format.duration(value(part[2].p99)), format.duration(value(part[2].max))) }
    end
  end
  page:heading(2, "The load generator itself")
  page:facts(rows)
end

local function shape(page, document)
  for _, scenario in ipairs(results.scenarios(document)) do
    local target = value(scenario.figures.target)
    page:paragraph(("%s: %s%s"):format(scenario.name, load.words(scenario.figures), target and ", against " .. target or ""))
  end
end

--- Adds the report of a run to the page.
function run.add(page, document)
  shape(page, document)
  said(page, document)
  page:charts(function() charts(page, document) end)
  latency(page, document)
  requests(page, document)
  answers(page, document)
  checks(page, document)
  groups(page, document)
  generator(page, document)
  parts.machine(page, document)
  page:details("The report as text", function() page:preformatted(text.render(document, { width = 100, color = false, latency = true })) end)
end

return run
