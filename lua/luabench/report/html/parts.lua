-- What reports of runs and of comparisons have in common: latency as a table and as a curve, the machine.
local format = require "luabench.format"
local summary = require "luabench.summary"

local parts = {}

local value = summary.value

--- The parts of a map by name that have an index, in its order: list of { name, of }.
function parts.in_order(map)
  local list = {}
  for name, of in pairs(map or {}) do list[#list + 1] = { name = name, of = of } end
  table.sort(list, function(a, b) return a.of.index < b.of.index end)
  return list
end

local LATENCY = { { "min", "min" }, { "q1", "q1" }, { "median", "median" }, { "mean", "mean" }, { "q3", "q3" }, { "p90", "p90" }, { "p95", "p95" }, { "p99", "p99" }, { "p99.9", "p999" },
  { "max", "max" }, { "st. dev.", "stddev" } }

--- A table of latencies: `rows` is a list of { name, SUMMARY }.
function parts.latency_table(page, title, rows)
  local titles, out = { title, "count" }, {}
  for _, column in ipairs(LATENCY) do titles[#titles + 1] = column[1] end
  for i, row in ipairs(rows) do
    out[i] = { row[1], format.count(row[2].count) }
    for _, column in ipairs(LATENCY) do out[i][#out[i] + 1] = format.duration(summary.shown(row[2], column[2])) end
  end
  page:table(titles, out)
end

-- Quantiles whose distance from 1 shrinks evenly on a logarithmic scale, up to where there are too few samples.
local function points_of(hist)
  local points, steps = {}, 8 -- in each nine
  for i = 0, 6 * steps do
    local quantile = 1 - 10 ^ (-i / steps)
    if hist:count() < summary.needed(quantile) and quantile > 0.5 then break end
    points[#points + 1] = { quantile, hist:quantile(quantile) }
  end
  return points
end

--- The curve of the percentiles: `rows` is a list of { name, SUMMARY }; those without samples are left out.
function parts.percentile_chart(page, title, rows)
  local lines = {}
  for _, row in ipairs(rows) do
    local hist = summary.histogram(row[2])
    if hist and hist:count() > 0 then lines[#lines + 1] = { name = row[1], points = points_of(hist) } end
  end
  if #lines > 0 then page:chart("percentiles", title, { lines = lines }) end
end

--- Lines over time: `lines` is a list of { name, points = { { time, value } } }; the chart is left out when there is nothing to see.
function parts.time_chart(page, title, unit, lines, more)
  local data = { format = unit, lines = {} }
  for key, each in pairs(more or {}) do data[key] = each end
  for _, line in ipairs(lines) do
    if #line.points > 1 then data.lines[#data.lines + 1] = line end
  end
  if #data.lines > 0 then page:chart("time", title, data) end
end

local function options_of(document)
  local rows = {}
  for name, each in pairs(document.options or {}) do
    if type(each) ~= "table" then rows[#rows + 1] = { name, type(each) == "number" and ("%.14g"):format(each) or tostring(each) } end
  end
  for name, each in pairs((document.options or {}).params or {}) do rows[#rows + 1] = { "-p " .. name, tostring(each) } end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  return rows
end

--- Where and how it was measured, so that a reader can judge.
function parts.machine(page, document)
  local machine, rows = document.machine or {}, {}
  local function add(name, text) if text ~= nil then rows[#rows + 1] = { name, text } end end
  add("machine", value(machine.hostname))
  add("processor", value(machine.cpu))
  add("cores", value(machine.cores) and tostring(machine.cores))
  add("memory", value(machine.memory) and format.bytes(machine.memory))
  add("kernel", value(machine.kernel))
  add("luabench", document.luabench)
  add("script", value(document.script))
  add("started", document.started)
  for _, row in ipairs(options_of(document)) do rows[#rows + 1] = row end
  page:heading(2, "Machine, versions and options")
  page:facts(rows)
end

return parts
