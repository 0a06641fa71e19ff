-- What takes from the worth of a case's figures, in words, for the reports of comparisons.
local format = require "luabench.format"
local results = require "luabench.results"

local doubts = {}

-- A figure of answers that were wrong is not worth much.
local function failed_checks(name, checks)
  if checks.fails == 0 then return nil end
  return ('%s of %s failed against %s, "%s" first'):format(format.count(checks.fails), format.counted(checks.passes + checks.fails, "check"), name, checks.failed)
end

-- Figures of requests that have come to an end say too little where others have not.
local function outlasting(name, count)
  if not count or count == 0 then return nil end
  return ("%s: %s"):format(name, results.outlasting(format.counted(count, "request"), count == 1, "a whole slot"))
end

--- A list of texts; `targets`: { name, of = the target's part of the document } in their order.
function doubts.of(targets)
  local list = {}
  for _, target in ipairs(targets) do list[#list + 1] = failed_checks(target.name, target.of.checks) end
  for _, target in ipairs(targets) do list[#list + 1] = outlasting(target.name, target.of.outlasting) end
  return list
end

return doubts
