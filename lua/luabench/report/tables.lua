-- The tables of the text report: scenarios, names of requests, and all percentiles (-L).

local format = require "luabench.format"
local intervals = require "luabench.intervals"
local results = require "luabench.results"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local tables = {}

local value = summary.value

local MOST_NAMES = 10 -- shown of one scenario; of several, each has its part
local LEAST_NAMES = 3

local TITLES = { "requests", "ok/s", "failed", "median", "p95", "p99", "max" }

local function columns_of(title)
  local columns = { { title = title, left = true, flexible = true } }
  for _, each in ipairs(TITLES) do columns[#columns + 1] = { title = each } end
  return columns
end

local function narrow_rate(rate)
  return rate and rate >= 1e9 and format.narrow(rate) or format.significant(rate)
end

local function row(name, figures)
  local latency, requests = results.headline(figures), figures.requests
  local bad = requests.failed + requests.timed_out
  local cells = { name, format.narrow(requests.started), narrow_rate(summary.value(figures.rate)),
    bad > 0 and { format.share(bad / requests.started), "red" } or (requests.started > 0 and "0%" or "n/a") }
  for _, field in ipairs { "median", "p95", "p99", "max" } do
    cells[#cells + 1] = format.compact(summary.shown(latency, field))
  end
  return cells
end

-- The names of a scenario, most requests first.
local function names_of(scenario)
  local list = {}
  for name, figures in pairs(scenario.by_name) do list[#list + 1] = { name = name, figures = figures } end
  table.sort(list, function(a, b)
    local started_a, started_b = a.figures.requests.started, b.figures.requests.started
    if started_a ~= started_b then return started_a > started_b end
    return a.name < b.name
  end)
  return list
end

local function rest_row(list, most, indent)
  local rest = 0
  for i = most + 1, #list do rest = rest + list[i].figures.requests.started end
  return { ("%sand %d more names"):format(indent, #list - most), format.narrow(rest), "", "", "", "", "", "" }
end

local function add_names(rows, scenario, most, indent)
  local list = names_of(scenario)
  for i = 1, math.min(#list, most) do rows[#rows + 1] = row(indent .. terminal.escape(list[i].name), list[i].figures) end
  if #list > most then rows[#rows + 1] = rest_row(list, most, indent) end
end

local function has_several_names(scenarios)
  for _, entry in ipairs(scenarios) do
    local first = next(entry.figures.by_name)
    if first and next(entry.figures.by_name, first) then return true end
  end
end

--- What there is several of: scenarios, and under each its names of requests. Nothing when there is one of each.
function tables.parts(page, scenarios)
  local several = has_several_names(scenarios)
  if #scenarios < 2 and not several then return end
  local rows, most, indent = {}, math.max(LEAST_NAMES, math.floor(MOST_NAMES / math.max(#scenarios, 1))), #scenarios > 1 and "  " or ""
  for _, entry in ipairs(scenarios) do
    if #scenarios > 1 then rows[#rows + 1] = row(terminal.escape(entry.name), entry.figures) end
    if several then add_names(rows, entry.figures, most, indent) end
  end
  page:blank()
  page:table(columns_of(#scenarios > 1 and "scenario" or "request"), rows)
end

-- All percentiles -----------------------------------------------------------------------------------------------------

local QUANTILES = { 0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99995, 0.99999, 0.999999, 1 }
local MEASURES = { { "latency", "latency" }, { "service", "service" }, { "wait", "wait" }, { "blocked", "blocked" }, { "connect", "connect" }, { "tls", "tls" } }

local function percentile(of, quantile)
  local hist = summary.histogram(of)
  if not hist or hist:count() < summary.needed(quantile) then return "n/a" end
  return format.compact(hist:quantile(quantile))
end

local function quantile_name(quantile)
  if quantile == 0 then return "min" end
  return quantile == 1 and "max" or format.percentile(quantile)
end

-- The measures that have samples, headline first.
local function measures_of(figures)
  local list = {}
  for _, measure in ipairs(MEASURES) do
    local of = measure[1] == "latency" and results.headline(figures) or summary.value(figures[measure[1]])
    if of and (of.count > 0 or measure[1] == "latency") then list[#list + 1] = { measure[2], of } end
  end
  return list
end

-- "4.9ms - 5.1ms", of the headline; "" where there is none.
local function interval_of(headline, quantile)
  for field, of in pairs(intervals.QUANTILES) do
    local ends = of == quantile and value(headline.intervals) and value(headline.intervals[field])
    if ends then return ("%s - %s"):format(format.compact(ends[1]), value(ends[2]) and format.compact(ends[2]) or "> max") end
  end
  return ""
end

--- All percentiles of every measure, and 95% intervals of some of the first; the last column counts the responses at and beyond a percentile.
function tables.percentiles(page, document)
  local measures = measures_of(document.total)
  local columns, rows = { { title = "percentile", left = true } }, {}
  for _, measure in ipairs(measures) do columns[#columns + 1] = { title = measure[1] } end
  local headline = measures[1][2]
  local certain = value(headline.intervals) ~= nil
  if certain then table.insert(columns, 3, { title = "95% interval" }) end
  columns[#columns + 1] = { title = "slower" }
  local count = measures[1][2].count
  for _, quantile in ipairs(QUANTILES) do
    local cells = { quantile_name(quantile) }
    local any = quantile == 0 or quantile == 1
    for _, measure in ipairs(measures) do
      local shown = percentile(measure[2], quantile)
      cells[#cells + 1], any = shown, any or shown ~= "n/a"
    end
    if certain then table.insert(cells, 3, interval_of(headline, quantile)) end
    cells[#cells + 1] = format.count(count - math.max(math.ceil(quantile * count), count > 0 and 1 or 0))
    if any then rows[#rows + 1] = cells end
  end
  page:blank()
  page:table(columns, rows)
end

return tables
