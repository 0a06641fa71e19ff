-- The text report of comparisons: the verdicts of each case, then its figures. Made from the result document alone.
local core = require "luabench.core"
local doubts = require "luabench.compare.doubts"
local format = require "luabench.format"
local layout = require "luabench.report.layout"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local report = {}

local escape, value = terminal.escape, summary.value

local MARKS = { better = { "+", "green" }, worse = { "-", "red" }, differs_little = { "~", "cyan" }, equivalent = { "=", "cyan" }, no_difference = { "?", "dim" }, invalid = { "!", "yellow" } }

-- A table by name with indexes, as a list in their order.
local function in_order(map)
  local list = {}
  for name, each in pairs(map) do list[#list + 1] = { name = name, of = each } end
  table.sort(list, function(a, b) return a.of.index < b.of.index end)
  return list
end

local function duration(of, field)
  return format.compact(summary.shown(of, field))
end

local LATENCY = { { "min", "min" }, { "q1", "q1" }, { "median", "median" }, { "mean", "mean" }, { "q3", "q3" }, { "p95", "p95" }, { "p99", "p99" }, { "max", "max" } }

local function latency_table(page, targets)
  local columns, rows = { { title = "latency", left = true, flexible = true } }, {}
  for _, column in ipairs(LATENCY) do columns[#columns + 1] = { title = column[1] } end
  for _, target in ipairs(targets) do
    local cells = { escape(target.name) }
    for _, column in ipairs(LATENCY) do cells[#cells + 1] = duration(target.of.latency, column[2]) end
    rows[#rows + 1] = cells
  end
  page:table(columns, rows)
end

local function optional(show, of, ...)
  of = value(of)
  if of == nil then return "n/a" end
  return show(of, ...)
end

local function share(of)
  return ("%.0f%%"):format(of * 100)
end

-- The time of a case by round, since all rounds together say little.
local function mean_time(of)
  return #of.rounds > 0 and of.time_taken / #of.rounds or nil
end

local function speed_table(page, targets)
  local columns = { { title = "throughput", left = true, flexible = true }, { title = "requests" }, { title = "failed" }, { title = "time/round" }, { title = "requests/s" },
    { title = "CPU" }, { title = "CPU/request" }, { title = "memory" } }
  local rows = {}
  for _, target in ipairs(targets) do
    local of, requests = target.of, target.of.requests
    local bad = requests.failed + requests.timed_out
    local per_request = value(of.cpu_seconds) and requests.succeeded > 0 and of.cpu_seconds / requests.succeeded or nil
    rows[#rows + 1] = { escape(target.name), format.narrow(requests.started), bad > 0 and { format.share(bad / requests.started), "red" } or "0", format.compact(mean_time(of)),
      format.significant(value(of.rate)), optional(share, of.cpu_share), format.compact(per_request), optional(format.bytes, of.rss_max) }
  end
  page:table(columns, rows)
end

-- A mark, and text that wraps beside it.
local function marked(page, mark, text)
  for i, part in ipairs(terminal.wrap(escape(text), page.width - 4)) do
    page:line("  " .. (i == 1 and page.paint(mark[2], mark[1]) or " ") .. " " .. part)
  end
end

local function verdict_lines(page, case, primary)
  for _, said in ipairs(case.verdicts) do
    if said.primary == primary then marked(page, MARKS[said.verdict] or MARKS.invalid, said.text) end
  end
end

local function load_words(load)
  local who = value(load.rate) and ("%s arrivals a second"):format(format.significant(load.rate)) or format.counted(load.users, "user")
  local stop = value(load.iterations) and format.counted(load.iterations, "iteration") or format.span(load.duration)
  return ("%s, %s a slot"):format(who, stop)
end

local function case_part(page, name, case)
  page:blank()
  page:heading(escape(name), load_words(case.load))
  verdict_lines(page, case, true)
  local targets = in_order(case.targets)
  for _, text in ipairs(doubts.of(targets)) do marked(page, MARKS.invalid, text) end
  if #targets == 0 then return end
  page:blank()
  speed_table(page, targets)
  page:blank()
  latency_table(page, targets)
  page:blank()
  verdict_lines(page, case, false)
end

local function comparison_part(page, name, part)
  page:blank()
  page:heading(escape(name), ("%s; against %s"):format(format.counted(part.rounds, "round"), escape(part.baseline)))
  for _, target in ipairs(in_order(part.targets)) do
    local lost = value(target.of.lost)
    if lost then marked(page, MARKS.invalid, ("%s %s"):format(target.name, lost)) end
  end
  for _, case in ipairs(in_order(part.cases)) do case_part(page, case.name, case.of) end
end

--- The report as text. options: color, script_error (the text of the first one, or nil).
function report.render(document, options)
  local width = math.max(80, math.min(core.terminal(1) or 100, 120))
  local page = layout.new(width, terminal.painter(options.color))
  page:line(page.paint("bold", escape(value(document.script) or "luabench")) .. page.paint("dim", ("  luabench %s, %s"):format(escape(document.luabench), document.started)))
  for _, part in ipairs(in_order(document.compare)) do comparison_part(page, part.name, part.of) end
  if document.script_errors.count > 0 then
    page:blank()
    marked(page, MARKS.worse, ("%s: %s"):format(format.counted(document.script_errors.count, "script error"), options.script_error or ""))
  end
  if document.interrupted then marked(page, MARKS.invalid, "interrupted: these are the rounds so far") end
  return page:text()
end

return report
