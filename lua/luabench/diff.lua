-- `luabench diff A.json B.json`: what has changed from A to B, in words, and an exit status for those who must not get slower.
local compare = require "luabench.diff.compare"
local core = require "luabench.core"
local errors = require "luabench.errors"
local format = require "luabench.format"
local layout = require "luabench.report.layout"
local saved = require "luabench.saved"
local terminal = require "luabench.terminal"

local diff = {}

local WORDS = {
  rate = { worse = "lower", better = "higher" },
  failed = { worse = "more failures", better = "fewer failures" },
  time = { worse = "slower", better = "faster" },
}
local STYLES = { worse = "red", better = "green" }
local MOST_NAMES = 20

local function percent(ratio)
  if ratio == math.huge then return "more" end
  return ("%+.1f%%"):format((ratio - 1) * 100)
end

local function change(each)
  if each.difference then return ("%+.2f points"):format(each.difference * 100) end
  return each.ratio and percent(each.ratio) or "n/a"
end

local function interval(each)
  if not each.low then return "n/a" end
  if each.difference then return ("[%+.2f, %+.2f]"):format(each.low * 100, each.high * 100) end
  return ("[%s, %s]"):format(percent(each.low), percent(each.high))
end

local function verdict(each)
  local words = (WORDS[each.name] or WORDS.time)[each.verdict]
  if words then return { words, STYLES[each.verdict] } end
  return each.verdict == "none" and "no difference shown" or "too little to say"
end

local function shown(each, value)
  if not value then return "n/a" end
  if each.name == "failed" then return format.share(value) end
  return each.time and format.duration(value) or format.rate(value)
end

local function scenario_table(page, scenario)
  local rows = {}
  for i, each in ipairs(scenario.measures) do
    rows[i] = { each.name, shown(each, each.a), shown(each, each.b), change(each), interval(each), verdict(each) }
  end
  page:heading(terminal.escape(scenario.name), scenario.model_a .. (scenario.model_b ~= scenario.model_a and " and " .. scenario.model_b or "") .. " model")
  page:table({ { title = "", left = true }, { title = "A" }, { title = "B" }, { title = "change" }, { title = "95 % interval" }, { title = "", left = true } }, rows)
end

local function names_table(page, scenario)
  if #scenario.names < 2 then return end
  local rows = {}
  for i = 1, math.min(#scenario.names, MOST_NAMES) do
    local each = scenario.names[i]
    rows[i] = { terminal.escape(each.name), shown(each.median, each.median.a), shown(each.median, each.median.b), change(each.median), shown(each.p99, each.p99.a),
      shown(each.p99, each.p99.b), change(each.p99) }
  end
  page:table({ { title = "name", left = true, flexible = true }, { title = "median A" }, { title = "B" }, { title = "change" }, { title = "p99 A" }, { title = "B" },
    { title = "change" } }, rows)
  if #scenario.names > MOST_NAMES then page:line(("and %d more names"):format(#scenario.names - MOST_NAMES)) end
end

local function what(page, label, path, document)
  page:field(label, ("%s, %s UTC, luabench %s"):format(terminal.escape(path), document.started:sub(1, 19):gsub("T", " "), terminal.escape(document.luabench)))
end

local function remarks_of(compared, a, b)
  local list = { "the two runs were not interleaved: what has changed on the machines meanwhile is in the difference (`compare` in a script avoids that)" }
  for _, pair in ipairs { { "A", a }, { "B", b } } do
    if not pair[2].generator.trusted then list[#list + 1] = pair[1] .. ": its figures are not to be trusted" end
    if pair[2].interrupted then list[#list + 1] = pair[1] .. " was interrupted" end
  end
  if a.machine.hostname ~= b.machine.hostname or a.machine.cpu ~= b.machine.cpu then list[#list + 1] = "luabench ran on two different machines" end
  for _, scenario in ipairs(compared.scenarios) do
    if scenario.model_a ~= scenario.model_b then list[#list + 1] = ('scenario "%s" is of two models: their latencies mean two things'):format(terminal.escape(scenario.name)) end
  end
  if #compared.only_a > 0 then list[#list + 1] = "only in A: " .. terminal.escape(table.concat(compared.only_a, ", ")) end
  if #compared.only_b > 0 then list[#list + 1] = "only in B: " .. terminal.escape(table.concat(compared.only_b, ", ")) end
  return list
end

local function conclusion(page, compared, limit)
  if not limit then return 0 end
  local slower = compare.slower(compared, limit)
  local words = {}
  for i, each in ipairs(slower) do words[i] = ("%s of %s"):format(each.measure, terminal.escape(each.scenario)) end
  page:blank()
  if #slower == 0 then
    page:field("exit", ("status 0: nothing is worse by more than %g%%"):format(limit * 100), "green")
    return 0
  end
  page:field("exit", ("status 1: worse by more than %g%%: %s"):format(limit * 100, format.list(words)), "red")
  return 1
end

--- The text of the comparison, and the exit status.
--- @param given table of cli.parse_diff
function diff.run(given)
  local documents = {}
  for i, path in ipairs(given.words) do
    documents[i] = saved.read(path)
    if saved.is_comparison(documents[i]) then errors.usage("%s is a comparison of servers, which has its own verdicts; diff is for results of runs", errors.path(path)) end
  end
  local a, b = documents[1], documents[2]
  local compared = compare.documents(a, b)
  if #compared.scenarios == 0 then errors.usage("the two results have no scenario in common") end
  local page = layout.new(100, terminal.painter(given.color))
  what(page, "A", given.words[1], a)
  what(page, "B", given.words[2], b)
  for _, scenario in ipairs(compared.scenarios) do
    scenario_table(page, scenario)
    names_table(page, scenario)
  end
  page:blank()
  for i, remark in ipairs(remarks_of(compared, a, b)) do page:bullet(i == 1 and "remarks" or "", "!", remark, "yellow") end
  local status = conclusion(page, compared, given.fail_if_slower)
  return page:text(), status
end

return diff
