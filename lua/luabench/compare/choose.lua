-- --only for comparisons: the comparisons, cases and targets of these names. Where names of one kind are given, the others of that kind are left out.
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"

local choose = {}

local show = errors.show

local function names_of(comparisons)
  local known = { comparison = {}, case = {}, target = {} }
  for _, each in ipairs(comparisons) do
    known.comparison[each.name] = true
    for _, case in ipairs(each.cases) do known.case[case.name] = true end
    for _, target in ipairs(each.targets) do known.target[target.name] = true end
  end
  return known
end

local function quoted(list)
  local texts = {}
  for i, each in ipairs(list) do texts[i] = show(each.name) end
  return table.concat(texts, ", ")
end

local function listing(comparisons)
  local lines = {}
  for i, each in ipairs(comparisons) do
    lines[i] = ("The comparison %s has the targets %s and the cases %s"):format(show(each.name), quoted(each.targets), quoted(each.cases))
  end
  return table.concat(lines, "\n")
end

local function check(wanted, known, comparisons)
  local all = {}
  for _, names in pairs(known) do
    for name in pairs(names) do all[name] = true end
  end
  for _, name in ipairs(wanted) do
    if not all[name] then errors.usage("--only: there is no comparison, target or case %s%s\n%s", show(name), nearest.hint(name, all), listing(comparisons)) end
  end
end

-- Of a list of things with names those that are wanted; all when no name of their kind is.
local function kept(list, known, wanted)
  local chosen, some, result = {}, false, {}
  for _, name in ipairs(wanted) do chosen[name], some = true, some or known[name] or false end
  for _, each in ipairs(list) do
    if not some or chosen[each.name] then result[#result + 1] = each end
  end
  return result
end

-- The baseline's index among the targets that are left; the first one stands in for it.
local function baseline_of(comparison, targets)
  local name = comparison.targets[comparison.baseline].name
  for i, target in ipairs(targets) do
    if target.name == name then return i end
  end
  return 1
end

--- Reduces comparisons to what is wanted, a list of names; the list of those that are left. `aa`: one target is enough. Ends the command when a name is unknown or nothing is left.
function choose.only(comparisons, wanted, aa)
  local known, result = names_of(comparisons), {}
  check(wanted, known, comparisons)
  for _, each in ipairs(kept(comparisons, known.comparison, wanted)) do
    local targets, cases = kept(each.targets, known.target, wanted), kept(each.cases, known.case, wanted)
    if #targets >= (aa and 1 or 2) and #cases > 0 then
      each.baseline = baseline_of(each, targets)
      each.targets, each.cases = targets, cases
      result[#result + 1] = each
    end
  end
  if #result == 0 then errors.usage("--only leaves nothing to compare: a comparison needs two targets, or one and --aa\n%s", listing(comparisons)) end
  return result
end

return choose
