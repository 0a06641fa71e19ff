-- The tables of the text report: scenarios, names of requests, and all percentiles (-L).

local format = require "luabench.format"
local results = require "luabench.results"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local tables = {}

local MOST_NAMES = 10

local COLUMNS = {
  { title = "", left = true, flexible = true }, { title = "requests" }, { title = "/s" }, { title = "failed" },
  { title = "median" }, { title = "p95" }, { title = "p99" }, { title = "max" },
}

local function titled(title)
  local columns = {}
  for i, column in ipairs(COLUMNS) do columns[i] = column end
  columns[1] = { title = title, left = true, flexible = true }
  return columns
end

local function narrow_rate(rate)
  return rate and rate >= 1e9 and format.narrow(rate) or format.significant(rate)
end

local function row(name, figures)
  local latency, requests = results.headline(figures), figures.requests
  local bad = requests.failed + requests.timed_out
  local cells = { terminal.escape(name), format.narrow(requests.started), narrow_rate(summary.value(figures.rate)),
    bad > 0 and { format.share(bad / requests.started), "red" } or (requests.started > 0 and "0%" or "n/a") }
  for _, field in ipairs { "median", "p95", "p99", "max" } do
    cells[#cells + 1] = format.compact(summary.shown(latency, field))
  end
  return cells
end

--- A row for each scenario, when there are several.
function tables.scenarios(page, scenarios)
  if #scenarios < 2 then return end
  local rows = {}
  for i, entry in ipairs(scenarios) do rows[i] = row(entry.name, entry.figures) end
  page:blank()
  page:table(titled("scenario"), rows)
end

-- All names of all scenarios, most requests first; and whether there is more than one in any scenario.
local function names_of(scenarios)
  local list, several = {}, false
  for _, entry in ipairs(scenarios) do
    local before = #list
    for name, figures in pairs(entry.figures.by_name) do
      list[#list + 1] = { name = #scenarios > 1 and entry.name .. ": " .. name or name, figures = figures }
    end
    several = several or #list - before > 1
  end
  table.sort(list, function(a, b)
    local started_a, started_b = a.figures.requests.started, b.figures.requests.started
    if started_a ~= started_b then return started_a > started_b end
    return a.name < b.name
  end)
  return list, several
end

--- A row for each name of requests, when a scenario has several: those with most requests.
function tables.names(page, scenarios)
  local list, several = names_of(scenarios)
  if not several then return end
  local rows, rest = {}, 0
  for i, entry in ipairs(list) do
    if i <= MOST_NAMES then
      rows[i] = row(entry.name, entry.figures)
    else
      rest = rest + entry.figures.requests.started
    end
  end
  page:blank()
  page:table(titled("request"), rows)
  if #list > MOST_NAMES then
    page:line(page.paint("dim", ("  and %d more names, %s"):format(#list - MOST_NAMES, format.counted(rest, "request"))))
  end
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

--- All percentiles of every measure; the last column counts the responses at and beyond a percentile.
function tables.percentiles(page, document)
  local measures = measures_of(document.total)
  local columns, rows = { { title = "percentile", left = true } }, {}
  for _, measure in ipairs(measures) do columns[#columns + 1] = { title = measure[1] } end
  columns[#columns + 1] = { title = "slower" }
  local count = measures[1][2].count
  for _, quantile in ipairs(QUANTILES) do
    local cells = { quantile_name(quantile) }
    local any = quantile == 0 or quantile == 1
    for _, measure in ipairs(measures) do
      local shown = percentile(measure[2], quantile)
      cells[#cells + 1], any = shown, any or shown ~= "n/a"
    end
    cells[#cells + 1] = format.count(count - math.max(math.ceil(quantile * count), count > 0 and 1 or 0))
    if any then rows[#rows + 1] = cells end
  end
  page:blank()
  page:table(columns, rows)
end

return tables
