-- `luabench doctor`: what this machine can measure. Three short runs, against a target of luabench's own, say how late timers are, how long the way to a server on this machine
-- and back takes, and what one thread can do; the system tells the rest. Each run is a plan of its own (docs/core.md, `continue`), like the slots of a comparison.
local core = require "luabench.core"
local http = require "luabench.http"
local make_plan = require("luabench.plan").make
local terminal = require "luabench.terminal"
local words = require "luabench.doctor.words"

local doctor = {}

local CANNOT = 3
local RATE, TIMERS, LOOPBACK, FULL = 1000, 2, 2, 3 -- arrivals a second; seconds of the runs
local USERS = 20                                    -- of the run at full speed

-- Runs -------------------------------------------------------------------------------------------------------------------

local function ask() http.get "/hello" end

local RUNS = {
  timers = { rate = RATE, duration = TIMERS, run = function() end },
  loopback = { users = 1, duration = LOOPBACK, run = ask },
  full = { users = USERS, duration = FULL, run = ask },
}

-- The plan of the run of this name, the same in all states: "timers", "loopback 8080".
local function plan_of(name, given)
  local kind, port = name:match "^(%l+) ?(%d*)$"
  local values = { http = {}, target = port ~= "" and "http://127.0.0.1:" .. port or nil }
  for key, value in pairs(RUNS[kind]) do values[key] = value end
  local plan = make_plan({ { name = kind, where = "doctor", values = values } }, given)
  plan.slot, plan.thresholds, plan.outputs, plan.watched, plan.progress, plan.threads = name, {}, {}, false, "none", 1
  return plan
end

-- Carries out a run: what `take` makes of its results; nil when it did not end well, with the exit status.
local function measure(name, given, take)
  local plan, taken, status = plan_of(name, given), nil, nil
  plan.take = function(results)
    status = results.interrupted and 130 or results.total.failed > 0 and CANNOT or 0
    taken = status == 0 and take(results) or nil
    return status
  end
  status = coroutine.yield(plan)
  if not taken then return nil, status end
  return taken
end

local function copy(hist) return core.hist_merge { hist } end

local function timers(results)
  return { late = copy(results.scenarios[1].schedule_slip), stolen = results.health.stolen, waited = results.health.waited, clock = results.health.clocksource, machine = results.machine }
end

local function loopback(results) return copy(results.total.latency) end

local function full(results)
  local count = results.total.responses
  return { rate = count / results.scenarios[1].duration, cpu = results.generator.cpu_seconds / count }
end

-- What the system says ---------------------------------------------------------------------------------------------------

local function read(path)
  local file = io.open(path)
  local text = file and file:read "*a"
  if file then file:close() end
  return text or ""
end

local function system()
  local quota, period = read("/sys/fs/cgroup/cpu.max"):match "^(%d+) (%d+)"
  local first, last = read("/proc/sys/net/ipv4/ip_local_port_range"):match "(%d+)%s+(%d+)"
  return {
    descriptors = tonumber(read("/proc/self/limits"):match "Max open files%s+(%d+)"), ports = first and last - first + 1 or nil,
    backlog = tonumber(read "/proc/sys/net/core/somaxconn"), free = tonumber(read("/proc/meminfo"):match "MemAvailable:%s+(%d+)"),
    governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"):match "%S+", quota = quota and quota / period or nil,
  }
end

-- The command --------------------------------------------------------------------------------------------------------------

local function fail(text)
  core.write(2, terminal.lines("luabench doctor: " .. text .. "\n"))
  return CANNOT
end

local function examine(given, server)
  local seen, status = measure("timers", given, timers)
  if not seen then return status end
  local port = server:output():match "listening on http://[^\n]*:(%d+)\n"
  if not port then return fail("its own target did not start: " .. server:output()) end
  seen.loopback, status = measure("loopback " .. port, given, loopback)
  if not seen.loopback then return status == CANNOT and fail "the loopback cannot be used" or status end
  seen.full, status = measure("full " .. port, given, full)
  if not seen.full then return status == CANNOT and fail "the loopback cannot be used" or status end
  local written, why = core.write(1, words.render(seen, system()))
  return written and 0 or fail("cannot print to standard output: " .. why)
end

local function conduct(given)
  local server, why = core.target_start({ "/proc/self/exe", "serve", "--port", "0" })
  if not server then return fail(why) end
  local status = examine(given, server)
  server:stop(1)
  return status
end

local function step(work, ...)
  local ok, plan = coroutine.resume(work, ...)
  if not ok then error(debug.traceback(work, tostring(plan)), 0) end
  if coroutine.status(work) == "dead" then return { action = "exit", status = plan } end
  plan.continue = function(status) return step(work, status) end
  return plan
end

--- The plan of the first run in the control state, that of the run called `slot` in a worker's.
function doctor.plan(given, role, slot)
  if role ~= "control" then return plan_of(slot, given) end
  return step(coroutine.create(function() return conduct(given) end))
end

return doctor
