-- The figures of a run as Prometheus reads them (text format 0.0.4): what --prometheus serves while the run goes on.
local secrets = require "luabench.secrets"
local terminal = require "luabench.terminal"

local prometheus = {}

-- The upper ends of the buckets of latency, seconds.
local BUCKETS = { 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60 }
local OUTCOMES = { "succeeded", "failed", "timed_out", "interrupted" }
local ITERATIONS = { "completed", "failed", "interrupted", "dropped", "expired" }

local ESCAPES = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

local function label(name, value)
  return ('%s="%s"'):format(name, (terminal.escape(secrets.mask(tostring(value))):gsub('[\\"\n]', ESCAPES)))
end

local function number(value)
  return ("%.15g"):format(value)
end

-- Lines of one metric after its head.
local Metric = {}
Metric.__index = Metric

local function metric(lines, name, kind, help)
  lines[#lines + 1] = ("# HELP luabench_%s %s\n# TYPE luabench_%s %s\n"):format(name, help, name, kind)
  return setmetatable({ lines = lines, name = name }, Metric)
end

function Metric:add(labels, value, ending)
  self.lines[#self.lines + 1] = ("luabench_%s%s{%s} %s\n"):format(self.name, ending or "", labels, number(value))
end

-- Calls `each(labels, named, scenario)` for every name of every scenario.
local function each_name(results, each)
  for _, scenario in ipairs(results.scenarios) do
    for _, named in ipairs(scenario.names) do
      if named.started > 0 then each(label("scenario", scenario.name) .. "," .. label("name", named.name), named) end
    end
  end
end

local function sorted(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function requests(lines, results)
  local started = metric(lines, "requests_started_total", "counter", "Requests that were begun.")
  each_name(results, function(labels, named) started:add(labels, named.started) end)
  local ended = metric(lines, "requests_total", "counter", "Requests that ended, by outcome.")
  each_name(results, function(labels, named)
    for _, outcome in ipairs(OUTCOMES) do ended:add(labels .. "," .. label("outcome", outcome), named[outcome]) end
  end)
  local responses = metric(lines, "responses_total", "counter", "Whole responses, by status.")
  each_name(results, function(labels, named)
    for _, status in ipairs(sorted(named.statuses)) do responses:add(labels .. "," .. label("status", status), named.statuses[status]) end
  end)
  local errors = metric(lines, "errors_total", "counter", "Requests that did not succeed, by error.")
  each_name(results, function(labels, named)
    for _, error in ipairs(sorted(named.errors)) do errors:add(labels .. "," .. label("error", error), named.errors[error]) end
  end)
end

local function bytes(lines, results)
  local sent = metric(lines, "sent_bytes_total", "counter", "Bytes of requests.")
  each_name(results, function(labels, named) sent:add(labels, named.bytes_sent) end)
  local received = metric(lines, "received_bytes_total", "counter", "Bytes of responses.")
  each_name(results, function(labels, named) received:add(labels, named.bytes_received) end)
end

local function add_histogram(histogram, labels, hist)
  for _, bound in ipairs(BUCKETS) do histogram:add(labels .. "," .. label("le", number(bound)), hist:upto(bound), "_bucket") end
  histogram:add(labels .. "," .. label("le", "+Inf"), hist:count(), "_bucket")
  histogram:add(labels, (hist:mean() or 0) * hist:count(), "_sum")
  histogram:add(labels, hist:count(), "_count")
end

local function latency(lines, results)
  local histogram = metric(lines, "latency_seconds", "histogram", "From the intended start (open model) or the call to the last byte of a response.")
  each_name(results, function(labels, named)
    local intended = named.latency_from_intended
    add_histogram(histogram, labels, intended and intended:count() > 0 and intended or named.latency)
  end)
end

local function scenarios(lines, results)
  local users = metric(lines, "users", "gauge", "Users that run.")
  for _, scenario in ipairs(results.scenarios) do users:add(label("scenario", scenario.name), scenario.users or 0) end
  local iterations = metric(lines, "iterations_total", "counter", "Iterations that ended, by outcome.")
  for _, scenario in ipairs(results.scenarios) do
    for _, outcome in ipairs(ITERATIONS) do
      iterations:add(label("scenario", scenario.name) .. "," .. label("outcome", outcome), scenario.iterations[outcome])
    end
  end
end

local function checks(lines, results)
  local values = metric(lines, "checks_total", "counter", "Values of check() and must().")
  for _, check in ipairs(results.checks or {}) do
    values:add(label("check", check.name) .. "," .. label("result", "pass"), check.passes)
    values:add(label("check", check.name) .. "," .. label("result", "fail"), check.fails)
  end
end

--- The text for `results` of docs/core.md, as they are so far.
function prometheus.render(results)
  local lines = {}
  metric(lines, "elapsed_seconds", "gauge", "Since the load began."):add("", results.duration)
  scenarios(lines, results)
  requests(lines, results)
  bytes(lines, results)
  latency(lines, results)
  checks(lines, results)
  return (table.concat(lines):gsub("{}", ""))
end

return prometheus
