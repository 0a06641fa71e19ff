-- `luabench -s SCRIPT.lua URL`: scripts of wrk and wrk2, unmodified. The control state is wrk's main state, in which setup() and done() run; each worker is a
-- thread with a state of its own, in which init(), delay(), request() and response() do. All setup() and init() are over before anything is sent.
local api = require "luabench.wrk.api"
local core = require "luabench.core"
local errors = require "luabench.errors"
local script = require "luabench.wrk.script"
local terminal = require "luabench.terminal"
local stats = require "luabench.wrk.stats"

local wrk = {}

local format = string.format

-- wrk's own
local THREADS, CONNECTIONS, DURATION, TIMEOUT = 2, 10, 10, 2
local GRACE = 0.1 -- wrk's threads see the end of the run that late; what is answered by then still reaches response()

local FAILED = 1 -- exit status after an error in done()
local WRONG = 2

local function defaults(given)
  given.users = given.users or CONNECTIONS
  given.threads = given.threads or math.min(THREADS, given.users)
  given.timeout = given.timeout or TIMEOUT
  if not given.duration and not given.iterations then given.duration = DURATION end
  if given.threads > given.users then errors.usage("-t %d and -c %d: there must be as many connections as threads, or more", given.threads, given.users) end
end

local function check_words(given)
  if not given.words[1] then errors.usage("a script of wrk's needs a URL: luabench -s %s http://127.0.0.1:8080/", given.script) end
end

-- Before the run -------------------------------------------------------------------------------------------------------

-- The object that setup() gets for the thread of that number.
local function thread_object(index)
  local address
  return api.thread {
    get = function(name) return core.thread_call(index, "get", name) end,
    set = function(name, value) core.thread_call(index, "set", name, value) end,
    stop = function() core.thread_call(index, "stop") end,
    address = function() return address or (script.current.wrk.addrs or {})[1] end,
    move = function(object)
      address = object
      core.thread_call(index, "move", api.place(object))
    end,
  }
end

local function complain(text)
  core.write(2, terminal.lines("luabench: " .. text .. "\n"))
  return WRONG
end

-- Only scripts with setup() ask for addresses; for others connections find theirs as always.
local function find_addresses(current)
  if type(current.env.setup) ~= "function" then return nil end
  local target = current.target
  return script.try(current.wrk.resolve, target.host, target.port or target.scheme)
end

local function prepare_thread(current, index)
  core.thread_call(index, "attach", api.place((current.wrk.addrs or {})[1]))
  return script.try(current.wrk.setup, thread_object(index)) or core.thread_call(index, "init") or (index == 1 and core.thread_call(index, "verify") or nil)
end

-- Nil, or what went wrong.
local function prepare_threads()
  local current = script.current
  local why = find_addresses(current)
  for index = 1, core.thread_count() do
    why = why or prepare_thread(current, index)
  end
  return why
end

-- Returns the exit status when the run is not to begin, else 0.
local function prepare(plan)
  core.deadline(plan.script_timeout, WRONG, "luabench: setup() or init() did not return within --script-timeout; is there an endless loop? Nothing was sent\n")
  local why = prepare_threads()
  core.deadline()
  return why and complain(why) or 0
end

-- After the run --------------------------------------------------------------------------------------------------------

local function call_done(model, results, seconds)
  local done = script.current.env.done
  if type(done) ~= "function" then return nil end
  core.deadline(seconds, FAILED, "luabench: done() did not return within --script-timeout; is there an endless loop?\n")
  local why = script.try(done, stats.summary(results), stats.of_hist(stats.latency_hist(model, results)), stats.of_list(stats.rates(results)))
  core.deadline()
  return why
end

-- Returns the exit status, which was `status` so far.
local function after_report(plan, results, status)
  if results.stuck then return status end -- its state is not at rest, and cannot be asked
  local why = call_done(plan.scenarios[1].model, results, plan.script_timeout)
  if not why then return status end
  complain(format("done(): %s", why))
  return status == 0 and FAILED or status
end

-- The plan -------------------------------------------------------------------------------------------------------------

local function scenario_of(current, given)
  local run = require("luabench.wrk.thread").run
  return {
    name = require("luabench.files").base(current.path), where = current.path,
    values = { run = run, target = current.target.url, users = given.users, duration = given.duration, graceful_stop = GRACE, connections_per_user = 1,
      http = {} },
  }
end

--- The plan of a command line that cli.parse_wrk has read. A mistake in the script ends the command.
function wrk.plan(given)
  check_words(given)
  defaults(given)
  local current = script.load(given)
  current.parsed = given.proxy ~= nil or (given.http_version ~= nil and given.http_version ~= "1.1")
  given.http_version = given.http_version or "1.1"
  local plan = require("luabench.plan").make({ scenario_of(current, given) }, given)
  plan.script, plan.url = current.path, current.target.url
  plan.scenarios[1].http.decode = false -- scripts of wrk's see bodies as they were sent
  plan.prepare = prepare
  plan.after_report = function(results, status) return after_report(plan, results, status) end
  return plan
end

return wrk
