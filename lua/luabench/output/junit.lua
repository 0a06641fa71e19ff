-- -o FILE.junit.xml: the run itself, thresholds and checks as test cases, as CI systems read them. A check has failed when one of its values was not true.
local format = require "luabench.format"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function xml(text)
  return (terminal.escape(text):gsub('[&<>"]', ENTITIES))
end

local function case(class, name, failure)
  local head = ('    <testcase classname="%s" name="%s"'):format(xml(class), xml(name))
  if not failure then return head .. "/>\n" end
  return ('%s>\n      <failure message="%s"/>\n    </testcase>\n'):format(head, xml(failure))
end

local function suite(name, cases, failures)
  if #cases == 0 then return "" end
  return ('  <testsuite name="%s" tests="%d" failures="%d" errors="0" skipped="0">\n%s  </testsuite>\n'):format(name, #cases, failures, table.concat(cases))
end

local function threshold_failure(threshold)
  if threshold.ok then return nil end
  local value = summary.value(threshold.value)
  return summary.value(threshold.text) or (value and "it was " .. tostring(value)) or "it has no value"
end

local function thresholds(document)
  local cases, failures = {}, 0
  for i, each in ipairs(document.thresholds) do
    local failure = threshold_failure(each)
    local scenario = summary.value(each.scenario)
    cases[i] = case(scenario and "thresholds." .. scenario or "thresholds", ("%s: %s"):format(each.metric, each.expression), failure)
    failures = failures + (failure and 1 or 0)
  end
  return suite("thresholds", cases, failures), #cases, failures
end

local function in_order(checks)
  local list = {}
  for name, check in pairs(checks) do list[#list + 1] = { name = name, check = check } end
  table.sort(list, function(a, b) return a.check.index < b.check.index end)
  return list
end

local function checks(document)
  local cases, failures = {}, 0
  for i, each in ipairs(in_order(document.checks)) do
    local check, failure = each.check, nil
    if check.fails > 0 then
      local why = summary.value(check.why)
      failure = ("%s of %s failed%s"):format(format.count(check.fails), format.count(check.fails + check.passes), why and ": " .. why or "")
      failures = failures + 1
    end
    cases[i] = case("checks", each.name, failure)
  end
  return suite("checks", cases, failures), #cases, failures
end

return function(document, context)
  local parts, tests, failed = { suite("run", { case("run", "the run can be believed", context.reason) }, context.reason and 1 or 0) }, 1, context.reason and 1 or 0
  for _, make in ipairs { thresholds, checks } do
    local text, count, failures = make(document)
    parts[#parts + 1], tests, failed = text, tests + count, failed + failures
  end
  return ('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="luabench" tests="%d" failures="%d">\n%s</testsuites>\n'):format(tests, failed, table.concat(parts))
end
