-- -o FILE.hlog: HdrHistogram's interval log, version 1.3, which its log processor and viewers read: one histogram of nanoseconds a second, and for
-- each scenario one of the whole run under a tag of its own. Of a saved result, whose seconds have no histograms, one of the whole run alone.
local moment = require "luabench.moment"
local results = require "luabench.results"
local summary = require "luabench.summary"

local HEADER = [[
#[Histogram log format version 1.3]
#[StartTime: %.3f (seconds since epoch), %s]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
]]

-- A tag ends at a comma, a line at its end.
local function tag(name)
  return (name:gsub("[%c%s,=]", "_"))
end

local function line(prefix, from, length, hist)
  return ("%s%.3f,%.3f,%.3f,%s\n"):format(prefix, from, length, (hist:max() or 0) * 1e3, hist:encode())
end

local function seconds_of(document, lines)
  local from = 0
  for _, second in ipairs(document.series) do
    local hist = summary.histogram(second.latency)
    if hist and hist:count() > 0 then lines[#lines + 1] = line("", from, second.time - from, hist) end
    from = second.time
  end
  return #lines > 1
end

local function whole(prefix, part, duration)
  local hist = summary.histogram(results.headline(part))
  return hist and hist:count() > 0 and line(prefix, 0, duration, hist) or ""
end

return function(document)
  local duration = summary.value(document.duration) or 0
  local lines = { HEADER:format(moment.seconds(document.started) or 0, document.started) }
  if not seconds_of(document, lines) then lines[#lines + 1] = whole("", document.total, duration) end
  for _, scenario in ipairs(results.scenarios(document)) do
    lines[#lines + 1] = whole("Tag=" .. tag(scenario.name) .. ",", scenario.figures, duration)
  end
  return table.concat(lines)
end
