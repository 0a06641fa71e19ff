-- A slot is one uninterrupted run against one target: a case, or the wait until the target answers. Its name goes to the workers' states, which make the same plan of it.
-- And the order in which the targets have their turns in a round.
local core = require "luabench.core"
local http = require "luabench.http"
local plan = require "luabench.plan"
local scenario = require "luabench.scenario"
local vu = require "luabench.vu"

local slots = {}

local ANSWERS = 3         -- that a server must give in a row to be ready
local BETWEEN = 0.05      -- seconds between two questions
local PATIENCE = 2        -- seconds for each

--- The name of a slot: "run" or "ready", and the indexes of comparison, target and case.
function slots.name(kind, comparison, target, case)
  return ("%s %d %d %d"):format(kind, comparison, target, case or 0)
end

local function parse(name)
  local kind, comparison, target, case = name:match("^(%l+) (%d+) (%d+) (%d+)$")
  return kind, tonumber(comparison), tonumber(target), tonumber(case)
end

-- One iteration that ends well as soon as the server has answered well a few times in a row.
local function until_ready(target)
  local deadline = core.now() + target.ready_timeout
  local good, last = 0, "nothing was tried"
  while good < ANSWERS do
    local res = http.get(target.ready, { timeout = PATIENCE })
    good = res.status > 0 and res.status < 500 and good + 1 or 0
    if good == 0 then last = res.status > 0 and "status " .. res.status or res.error_text or res.error end
    if core.now() > deadline then vu.fail(("%s did not answer well within %g s: %s"):format(target.url .. target.ready, target.ready_timeout, last)) end
    if good < ANSWERS then vu.sleep(BETWEEN) end
  end
end

local function ready_values(comparison, target)
  local values = scenario.with_defaults { http = comparison.values.http }
  return { target = target.url, http = values.http or {}, users = 1, iterations = 1, run = function() until_ready(target) end }
end

local function case_values(case, target)
  local values = {}
  for key, value in pairs(case.values) do values[key] = value end
  values.http = scenario.merged({ http = case.values.http }, {}).http
  values.target = target.url
  return values
end

--- The plan of the slot of that name, the same in all states.
function slots.plan(comparisons, name, given)
  local kind, c, t, k = parse(name)
  local comparison = comparisons[c]
  local target, case = comparison.targets[t], comparison.cases[k]
  local values = kind == "ready" and ready_values(comparison, target) or case_values(case, target)
  local label = kind == "ready" and target.name or target.name .. ", " .. case.name
  local result = plan.make({ { name = label, where = comparison.where, values = values } }, given)
  result.slot, result.thresholds, result.outputs, result.watched, result.progress = name, {}, {}, false, "none"
  return result
end

-- Turns -------------------------------------------------------------------------------------------------------------------

local function shuffled(count)
  local order = {}
  for i = 1, count do order[i] = i end
  for i = count, 2, -1 do
    local k = core.random_int(1, i)
    order[i], order[k] = order[k], order[i]
  end
  return order
end

--- The order of the targets in each round: at random, but the second round is the first one mirrored, so that even two rounds cancel a steady drift.
function slots.orders(rounds, count)
  local orders = {}
  for round = 1, rounds do orders[round] = shuffled(count) end
  for i = 1, rounds > 1 and count or 0 do orders[2][i] = orders[1][count + 1 - i] end
  return orders
end

return slots
