-- --dry-run: who, when and how much, in words.
local errors = require "luabench.errors"
local units = require "luabench.units"

local dryrun = {}

local span = units.show_duration

local function counted(number, word)
  return units.show_count(number) .. " " .. word .. (number == 1 and "" or "s")
end

local function rate(number)
  return (("%.6g"):format(number)) .. "/s"
end

local function ends(each)
  local parts = {}
  if each.iterations then parts[#parts + 1] = counted(each.iterations, "iteration") .. " in total" end
  if each.iterations_per_user then parts[#parts + 1] = counted(each.iterations_per_user, "iteration") .. " each" end
  local text = table.concat(parts, ", ")
  if not each.duration then return text end
  if text == "" then return "for " .. span(each.duration) end
  return text .. ", for " .. span(each.duration) .. " at the most"
end

local ARRIVALS = { constant = "at even distances", poisson = "at random (Poisson)", poisson_exact = "at random (Poisson), the exact number" }

local function how_many(each)
  if each.model == "open" then
    local at = each.rate and rate(each.rate) or "stages of rates"
    return ("open model: %s, %s, %s"):format(at, ends(each), ARRIVALS[each.arrivals])
  end
  return ("%s, %s"):format(each.stages and "up to " .. counted(each.users, "user") or counted(each.users, "user"), ends(each))
end

local function users_of_open(each)
  local least = each.min_users and "from " .. units.show_count(each.min_users) .. " " or ""
  return ("%sup to %s at a time; an arrival that finds none free %s"):format(least, counted(each.max_users, "user"), each.overflow == "drop" and "is dropped" or "waits")
end

-- "from 0 s: up to 50 users over 30 s, then 50 users for 1 min"
local function stage_line(stage, at, is_last_endless)
  local level = stage.of == "rate" and rate(stage.level) or counted(stage.level, "user")
  local parts = {}
  if stage.over > 0 then parts[1] = ("to %s over %s"):format(level, span(stage.over)) end
  if stage.hold > 0 or stage.over == 0 then parts[#parts + 1] = level .. (is_last_endless and " to the end" or stage.hold > 0 and " for " .. span(stage.hold) or "") end
  return ("      from %s: %s"):format(span(at), table.concat(parts, ", then "))
end

local function stage_lines(each)
  local lines, at = {}, each.start_after
  for i, stage in ipairs(each.stages or {}) do
    lines[i] = "\n" .. stage_line(stage, at, i == #each.stages and not each.duration)
    at = at + stage.over + stage.hold
  end
  return table.concat(lines)
end

-- Integral of the rate: how many arrivals there will be.
local function expected(each)
  if each.model ~= "open" or each.iterations or not each.duration then return nil end
  if each.rate then return each.rate * each.duration end
  local sum, level = 0, 0
  for _, stage in ipairs(each.stages) do
    sum, level = sum + (level + stage.level) / 2 * stage.over + stage.level * stage.hold, stage.level
  end
  return sum
end

local function timing(each)
  local parts = {}
  local arrivals = expected(each)
  if arrivals then parts[#parts + 1] = "about " .. counted(math.floor(arrivals + 0.5), "iteration") .. " in all" end
  if each.start_after > 0 then parts[#parts + 1] = "begins after " .. span(each.start_after) end
  if each.ramp_up and each.ramp_up > 0 then parts[#parts + 1] = "users start over " .. span(each.ramp_up) end
  if each.warm_up > 0 then parts[#parts + 1] = (each.warm_up_auto and "until the latency is steady, at most " or "the first ") .. span(each.warm_up) .. " are a warm-up and do not count" end
  if each.fresh then parts[#parts + 1] = "each iteration is a new visitor" end
  parts[#parts + 1] = "up to " .. span(each.graceful_stop) .. " more for iterations that still run"
  return table.concat(parts, "; ")
end

local function hooks(each)
  local names = {}
  for _, name in ipairs { "setup", "on_start", "on_stop", "teardown" } do
    if each[name] then names[#names + 1] = name end
  end
  return #names > 0 and "\n    with " .. table.concat(names, ", ") or ""
end

local function connection(each)
  local http = each.http
  local parts = { "timeout " .. span(http.timeout) }
  if http.connections then parts[#parts + 1] = counted(http.connections, "connection") .. " for all users" end
  if not http.keep_alive then parts[#parts + 1] = "a new connection for every request" end
  if http.requests_per_connection > 0 then parts[#parts + 1] = "a new connection after " .. counted(http.requests_per_connection, "request") end
  return table.concat(parts, "; ")
end

local function describe(each)
  return ('  scenario %s%s\n    %s%s%s\n    %s\n    %s%s'):format(errors.show(each.name), each.target and " against " .. each.target or "",
    how_many(each), stage_lines(each), each.model == "open" and "\n    " .. users_of_open(each) or "", timing(each), connection(each), hooks(each))
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
  if seconds then lines[#lines + 1] = "  All of it takes " .. span(seconds) .. ", plus what still runs then." end
  return table.concat(lines, "\n") .. "\n"
end

return dryrun
