-- The lines of a script's own metrics in the report.
local format = require "luabench.format"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local own = {}

local value = summary.value
local MOST_METRICS = 12

local function number(unit)
  if unit == "s" then return format.duration end
  return function(n) return n and format.significant(n) .. (unit and " " .. unit or "") or "n/a" end
end

local WORDS = {
  counter = function(metric) return ("%s (%s/s)"):format(format.significant(metric.count), format.significant(value(metric.rate))) end,
  gauge = function(metric)
    return ("last %s, min %s, max %s"):format(format.significant(value(metric.value)), format.significant(value(metric.min)), format.significant(value(metric.max)))
  end,
  rate = function(metric) return ("%s (%s of %s)"):format(format.share(value(metric.rate)), format.count(metric.hits), format.count(metric.count)) end,
  trend = function(metric)
    local show = number(value(metric.unit))
    return ("median %s, p95 %s, max %s, of %s"):format(show(summary.shown(metric.summary, "median")), show(summary.shown(metric.summary, "p95")),
      show(value(metric.summary.max)), format.count(metric.summary.count))
  end,
}

local function words(metric)
  local figure = ({ gauge = "value", rate = "rate", trend = "summary" })[metric.kind]
  if metric.samples == 0 or (figure and value(metric[figure]) == nil) then return "no value" end
  return WORDS[metric.kind](metric)
end

--- Adds the lines to the page.
function own.lines(page, document)
  local list = {}
  for name, metric in pairs(document.metrics) do list[#list + 1] = { name = name, metric = metric } end
  table.sort(list, function(a, b) return a.name < b.name end)
  if #list > 0 then page:blank() end
  for i = 1, math.min(#list, MOST_METRICS) do
    page:field(i == 1 and "metrics" or "", ("%s: %s"):format(terminal.escape(list[i].name), words(list[i].metric)))
  end
  if #list > MOST_METRICS then page:field("", ("and %d more"):format(#list - MOST_METRICS)) end
end

return own
