-- Carries comparisons out: one slot after another, servers started and stopped in between. Written as one line of work, a coroutine that yields the plan of the next run and is
-- given its results; the core asks for the next plan when a run has ended (docs/core.md, `continue`).
local core = require "luabench.core"
local document = require "luabench.compare.document"
local errors = require "luabench.errors"
local figures = require "luabench.compare.figures"
local load_keys = require "luabench.load"
local permissions = require "luabench.permissions"
local servers = require "luabench.compare.servers"
local slots = require "luabench.compare.slots"
local terminal = require "luabench.terminal"
local words = require "luabench.compare.words"

local conductor = {}

local INTERRUPTED, BROKEN = 130, 3

local Run = {} -- of the whole command
Run.__index = Run

function Run:say(text)
  if self.given.quiet then return end
  for each in text:gmatch("[^\n]+") do core.write(2, terminal.escape(each) .. "\n") end
end

-- What ends a slot's run early, in words.
local function broken(results)
  if results.stuck then return ("%s: a function has not returned"):format(results.stuck.where) end
  if results.setup_failed then return "setup failed: " .. tostring(results.setup_failed.text) end
  if results.stopped then return "the run was stopped: " .. tostring(results.stopped) end
end

-- Looks at the results of a run, which are gone afterwards: its exit status. A thread that is stuck ends the program right after this.
function Run:after(results)
  self.machine = self.machine or results.machine
  self.script_errors = self.script_errors + results.script_errors.count
  for _, kind in ipairs(results.script_errors.kinds) do self.script_error = self.script_error or kind.text end
  local why = broken(results)
  if why then self:say("luabench: " .. why) end
  if results.stuck then return document.finish(self, BROKEN) end
  if results.interrupted then return INTERRUPTED end
  return why and BROKEN or 0
end

-- Runs a slot: what is kept of it; nil when it could not be run.
function Run:slot(kind, indexes, round)
  local plan = slots.plan(self.comparisons, slots.name(kind, indexes.comparison, indexes.target, indexes.case), self.given)
  plan.seed = (self.seed + round) % 2 ^ 53
  local kept
  plan.take = function(results)
    kept = { server_ended = results.server_ended, failures = results.failures, completed = results.scenarios[1].iterations.completed }
    kept.slot = indexes.take and not results.interrupted and indexes.take(results) or nil
    return self:after(results)
  end
  local status = coroutine.yield(plan)
  if status ~= 0 then self.status, self.stop = status, true end
  return kept
end

-- Gives a target up for the rest of its comparison, and says why once.
function Run:lose(target, why, process)
  target.lost = why
  self.lost_any = true
  self:say(("luabench: %s %s; the others go on%s"):format(target.name, why, process and servers.last_lines(process) or ""))
end

-- Turns -------------------------------------------------------------------------------------------------------------------

local function wait_until_ready(self, indexes, target, process, round)
  local result = self:slot("ready", indexes, round)
  if self.stop then return false end
  if process and target.command and not process:running() then
    self:lose(target, "did not start: " .. select(2, process:running()), process)
  elseif not result or result.completed < 1 then
    local why = result and result.failures and result.failures.texts and result.failures.texts[1] or "it could not be asked"
    self:lose(target, "was never ready: " .. why, process)
  else
    return true
  end
end

local function measure(self, indexes, target, case, process, round)
  if process then process:forget() end
  indexes.take = function(results) return figures.take(results, load_keys.model(case.values), process) end
  local result = self:slot("run", indexes, round)
  if result and result.slot and result.slot.distrust and not self.given.lenient then result = self:slot("run", indexes, round) end -- once more
  indexes.take = nil
  if result and result.server_ended then
    self:lose(target, "ended in mid-run: " .. select(2, process:running()), process)
    return nil
  end
  return result and not self.stop and result.slot or nil
end

-- All cases against one target.
function Run:turn(comparison, c, t, round, process)
  local target = comparison.targets[t]
  local indexes = { comparison = c, target = t }
  if not wait_until_ready(self, indexes, target, process, round) then return end
  for k, case in ipairs(comparison.cases) do
    indexes.case = k
    local slot = measure(self, indexes, target, case, process, round)
    if not slot then return end
    case.rounds[round][t] = slot
    if slot.distrust and not self.given.lenient then case.rounds[round].dropped = slot.distrust end
    self:say(words.slot(comparison, round, target, case, slot))
  end
end

local function open(self, target)
  local process, why = servers.open(target)
  if why then self:lose(target, "cannot be started: " .. why) end
  return process
end

function Run:close(target, t)
  local problem = servers.close(target, self.processes[t])
  self.processes[t] = nil
  if problem then self:say("luabench: " .. problem) end
end

function Run:visit(comparison, c, t, round)
  local target = comparison.targets[t]
  local process = self.processes[t]
  if not process then process = open(self, target) end
  if target.lost then return end
  self.processes[t] = process
  self:turn(comparison, c, t, round, process)
  if target.restart or target.lost then
    self:close(target, t)
  end
end

-- The rounds of a comparison.
function Run:compare(comparison, c)
  local orders = slots.orders(comparison.rounds, #comparison.targets)
  for _, case in ipairs(comparison.cases) do case.rounds = {} end
  self:say(words.intention(comparison))
  for round = 1, comparison.rounds do
    for _, case in ipairs(comparison.cases) do case.rounds[round] = {} end
    for _, t in ipairs(orders[round]) do
      if not self.stop and not comparison.targets[t].lost then self:visit(comparison, c, t, round) end
    end
    if self.stop then break end
  end
  for t, target in ipairs(comparison.targets) do self:close(target, t) end
end

function Run:conduct()
  for c, comparison in ipairs(self.comparisons) do
    if not self.stop then self:compare(comparison, c) end
  end
  return document.finish(self)
end

-- Beginning and going on --------------------------------------------------------------------------------------------------

--- Ends the command when commands are to be run without leave.
function conductor.check_leave(comparisons)
  for _, comparison in ipairs(comparisons) do
    for _, target in ipairs(comparison.targets) do
      if target.command and not permissions.allows "run" then
        errors.usage('%s: compare "%s": target "%s" is started by a command, and a script may not run programs; --allow-run gives leave', comparison.where, comparison.name, target.name)
      end
    end
  end
end

-- The next plan of the coroutine; the end of the command when it is through.
local function step(self, ...)
  local ok, plan = coroutine.resume(self.work, ...)
  if not ok then
    for _, process in pairs(self.processes) do process:stop(0) end
    error(errors.is_usage(plan) and plan or debug.traceback(self.work, tostring(plan)), 0)
  end
  if coroutine.status(self.work) == "dead" then return { action = "exit", status = plan } end
  plan.continue = function(status) return step(self, status) end
  return plan
end

--- In the control state: the plan of the first run of all comparisons.
function conductor.begin(comparisons, given, script)
  local self = setmetatable({ comparisons = comparisons, given = given, script = script, seed = given.seed or core.random_unknown(), status = 0, processes = {},
    script_errors = 0, started = core.time() }, Run)
  core.random_seed(self.seed)
  self.work = coroutine.create(function() return self:conduct() end)
  return step(self)
end

--- In a worker's state: the plan of its slot.
function conductor.slot(comparisons, given, name)
  return slots.plan(comparisons, name, given)
end

return conductor
