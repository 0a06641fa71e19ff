-- --report wrk: the figures in the layout of wrk's own report, for tools that read it.
local stats = require "luabench.wrk.stats"

local report = {}

local format = string.format

-- As wrk chooses units: the next one from 0.85 of it on; the last of a list is never reached.
local function in_units(value, step, base, names, decimals)
  local unit = base
  for i = 1, #names - 1 do
    if value < step * 0.85 then break end
    value, unit = value / step, names[i]
  end
  return format("%." .. decimals .. "f%s", value, unit)
end

local function seconds(value, decimals) return in_units(value, 60, "s", { "m", "h" }, decimals) end

--- Microseconds: "635.91us", "12.92ms", "30.00s".
function report.time(us)
  if us >= 1e6 then return seconds(us / 1e6, 2) end
  return in_units(us, 1000, "us", { "ms", "s" }, 2)
end

--- A count: "56.20k".
function report.count(value) return in_units(value, 1000, "", { "k", "M", "G", "T", "P" }, 2) end

--- Bytes without the B: "17.76G".
function report.bytes(value) return in_units(value, 1024, "", { "K", "M", "G", "T", "P" }, 2) end

-- Right-aligned so that the numbers stand below each other, whether the unit has two letters, one or none.
local function column(text, width)
  local letters = #text:match("%a*$")
  local blanks = 2 - math.min(letters, 2)
  return format("%" .. (width - blanks) .. "s", text) .. (" "):rep(blanks)
end

local function row(name, show, mean, stdev, most, within)
  local share = within and format("%8.2f%%", within) or format("%8s%%", "-nan")
  return format("    %-10s", name) .. column(show(mean), 8) .. column(show(stdev), 10) .. column(show(most), 9) .. share
end

local function latency_row(hist)
  local values, times = hist:counters()
  local mean, stdev = hist:mean() or 0, hist:stddev() or 0
  return row("Latency", report.time, mean * 1e6, stdev * 1e6, (hist:max() or 0) * 1e6, stats.within(values, times, mean, stdev))
end

local function rate_row(list)
  local mean, stdev = stats.moments(list)
  local most = 0
  for _, value in ipairs(list) do most = math.max(most, value) end
  return row("Req/Sec", report.count, mean, stdev, most, stats.within(list, nil, mean, stdev))
end

local function distribution(hist, lines)
  lines[#lines + 1] = "  Latency Distribution"
  for _, p in ipairs { 50, 75, 90, 99 } do
    lines[#lines + 1] = format("%7.0f%%", p) .. column(report.time((hist:quantile(p / 100) or 0) * 1e6), 10)
  end
end

local function errors_of(summary, lines)
  local errors = summary.errors
  if errors.connect + errors.read + errors.write + errors.timeout > 0 then
    lines[#lines + 1] = format("  Socket errors: connect %d, read %d, write %d, timeout %d", errors.connect, errors.read, errors.write, errors.timeout)
  end
  if errors.status > 0 then lines[#lines + 1] = format("  Non-2xx or 3xx responses: %d", errors.status) end
end

local function users_of(plan)
  local sum = 0
  for _, each in ipairs(plan.scenarios) do sum = sum + (each.users or each.max_users or 0) end
  return sum
end

--- The report of the results (docs/core.md) as text.
function report.render(plan, results)
  local first = plan.scenarios[1]
  local hist = stats.latency_hist(first.model, results)
  local summary = stats.summary(results)
  local length = results.duration
  local lines = {
    format("Running %s test @ %s", seconds(first.duration or length, 0), plan.url or first.target or plan.script),
    format("  %d threads and %d connections", results.generator.threads or 1, users_of(plan)),
    format("  Thread Stats%6s%11s%8s%12s", "Avg", "Stdev", "Max", "+/- Stdev"),
    latency_row(hist), rate_row(stats.rates(results)),
  }
  if plan.latency then distribution(hist, lines) end
  lines[#lines + 1] = format("  %d requests in %s, %sB read", summary.requests, report.time(length * 1e6), report.bytes(summary.bytes))
  errors_of(summary, lines)
  lines[#lines + 1] = format("Requests/sec: %9.2f", length > 0 and summary.requests / length or 0)
  lines[#lines + 1] = format("Transfer/sec: %10sB", report.bytes(length > 0 and summary.bytes / length or 0))
  return table.concat(lines, "\n") .. "\n"
end

return report
