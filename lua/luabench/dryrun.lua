-- --dry-run: who, when and how much, in words.
local errors = require "luabench.errors"
local units = require "luabench.units"

local dryrun = {}

local function counted(number, word)
  return units.show_count(number) .. " " .. word .. (number == 1 and "" or "s")
end

local function ends(each)
  local parts = {}
  if each.iterations then parts[#parts + 1] = counted(each.iterations, "iteration") .. " in total" end
  if each.iterations_per_user then parts[#parts + 1] = counted(each.iterations_per_user, "iteration") .. " each" end
  local text = table.concat(parts, ", ")
  if not each.duration then return text end
  if text == "" then return "for " .. units.show_duration(each.duration) end
  return text .. ", for " .. units.show_duration(each.duration) .. " at the most"
end

local function timing(each)
  local parts = {}
  if each.start_after > 0 then parts[#parts + 1] = "begins after " .. units.show_duration(each.start_after) end
  if each.ramp_up > 0 then parts[#parts + 1] = "users start over " .. units.show_duration(each.ramp_up) end
  parts[#parts + 1] = "up to " .. units.show_duration(each.graceful_stop) .. " more for iterations that still run"
  return table.concat(parts, "; ")
end

local function connection(each)
  local http = each.http
  local parts = { "timeout " .. units.show_duration(http.timeout) }
  if not http.keep_alive then parts[#parts + 1] = "a new connection for every request" end
  if http.requests_per_connection > 0 then parts[#parts + 1] = "a new connection after " .. counted(http.requests_per_connection, "request") end
  return table.concat(parts, "; ")
end

local function describe(each)
  return ('  scenario %s%s\n    %s, %s\n    %s\n    %s'):format(errors.show(each.name), each.target and " against " .. each.target or "",
    counted(each.users, "user"), ends(each), timing(each), connection(each))
end

-- Seconds until the last iteration may start, nil when no clock ends it.
local function longest(scenarios)
  local most = 0
  for _, each in ipairs(scenarios) do
    if not each.duration then return nil end
    most = math.max(most, each.start_after + each.duration)
  end
  return most
end

--- What the plan would do, as text.
function dryrun.describe(plan)
  local lines = { ("%s: %s, %s. Nothing is sent (--dry-run)."):format(plan.script or plan.url, counted(#plan.scenarios, "scenario"),
    plan.threads and counted(plan.threads, "thread") or "as many threads as cores") }
  for _, each in ipairs(plan.scenarios) do lines[#lines + 1] = describe(each) end
  local seconds = longest(plan.scenarios)
  if seconds then lines[#lines + 1] = "  All of it takes " .. units.show_duration(seconds) .. ", plus what still runs then." end
  return table.concat(lines, "\n") .. "\n"
end

return dryrun
