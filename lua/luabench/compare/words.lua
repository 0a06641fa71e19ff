-- What a comparison says while it goes on, and before it begins.
local format = require "luabench.format"
local load_keys = require "luabench.load"
local terminal = require "luabench.terminal"
local units = require "luabench.units"

local words = {}

local START = 1 -- seconds that a server takes to start and to answer, about

-- Seconds that the cases take in all rounds; and whether one ends by its iterations, so that nobody can tell.
local function length_of(comparison)
  local sum, open_ended = 0, false
  for _, case in ipairs(comparison.cases) do
    if case.values.iterations and not case.values.duration then
      sum, open_ended = sum + case.values.warm_up, true
    else
      sum = sum + (case.values.duration or 0)
    end
  end
  return comparison.rounds * #comparison.targets * (sum + START), open_ended
end

local function names_of(list)
  local names = {}
  for i, each in ipairs(list) do names[i] = each.name end
  return format.list(names)
end

--- "HTTP/2 hello world: node and deno, 3 cases, 10 rounds: 60 slots, about 4 min"
function words.intention(comparison)
  local seconds, open_ended = length_of(comparison)
  local slots = comparison.rounds * #comparison.targets * #comparison.cases
  local time = units.show_duration(math.ceil(seconds))
  return ("%s: %s; %s, %s: %s, %s"):format(comparison.name, names_of(comparison.targets), format.counted(#comparison.cases, "case"), format.counted(comparison.rounds, "round"),
    format.counted(slots, "slot"), open_ended and "more than " .. time or "about " .. time)
end

local function shape(case)
  local values = case.values
  local who = load_keys.model(values) == "open" and ("%s arrivals a second"):format(format.significant(values.rate or 0)) or format.counted(load_keys.most_users(values), "user")
  local stop = values.iterations and format.counted(values.iterations, "iteration") or values.duration and units.show_duration(values.duration) or "stages"
  return ("%s: %s, %s"):format(case.name, who, stop)
end

--- --dry-run of a script with comparisons.
function words.dry_run(comparisons)
  local lines = {}
  for _, comparison in ipairs(comparisons) do
    lines[#lines + 1] = words.intention(comparison)
    for _, target in ipairs(comparison.targets) do
      lines[#lines + 1] = ("  target %s: %s%s"):format(target.name, target.url, target.command and ", started by: " .. table.concat(target.command, " ") or "")
    end
    for _, case in ipairs(comparison.cases) do lines[#lines + 1] = "  case " .. shape(case) end
  end
  for i, text in ipairs(lines) do lines[i] = terminal.escape(text) end
  return table.concat(lines, "\n") .. "\n"
end

--- "round 3 of 10: node, 10 connections: 12,345/s, median 1.2 ms, p99 3.4 ms, 12% CPU"
function words.slot(comparison, round, target, case, slot)
  local latency = slot.latency
  local server = slot.server and (", %.0f%% CPU, %s"):format(slot.server.cpu_share * 100, format.bytes(slot.server.rss_max)) or ""
  local bad = slot.requests.failed + slot.requests.timed_out
  return ("round %d of %d: %s, %s: %s, median %s, p99 %s%s%s"):format(round, comparison.rounds, target.name, case.name, format.rate(slot.rate), format.duration(latency:quantile(0.5)),
    format.duration(latency:quantile(0.99)), server, bad > 0 and (", %s failed"):format(format.count(bad)) or "")
end

return words
