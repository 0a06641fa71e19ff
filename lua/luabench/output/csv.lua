-- -o FILE.csv: a row a second, with a line of names above. Seconds; what does not exist is empty.
local summary = require "luabench.summary"

local LATENCY = { "min", "q1", "median", "mean", "q3", "p90", "p95", "p99", "p999", "max", "stddev" }

local function number(value)
  value = summary.value(value)
  return value and ("%.9g"):format(value) or ""
end

local function header()
  local names = { "time", "users", "requests", "errors" }
  for _, field in ipairs(LATENCY) do names[#names + 1] = "latency_" .. field end
  return table.concat(names, ",")
end

local function row(second)
  local fields = { number(second.time), number(second.users), number(second.requests), number(second.errors) }
  for _, field in ipairs(LATENCY) do fields[#fields + 1] = number(second.latency[field]) end
  return table.concat(fields, ",")
end

return function(document)
  local lines = { header() }
  for _, second in ipairs(document.series) do lines[#lines + 1] = row(second) end
  return table.concat(lines, "\n") .. "\n"
end
