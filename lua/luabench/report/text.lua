-- The text report: the first screen of an 80-column terminal, made from the result document alone. One function for each part of the page, in
-- the order of the page. What does not exist is n/a; what comes from scripts and servers is escaped.

local format = require "luabench.format"
local connections = require "luabench.report.connections"
local layout = require "luabench.report.layout"
local load = require "luabench.report.load"
local own = require "luabench.report.own"
local results = require "luabench.results"
local summary = require "luabench.summary"
local tables = require "luabench.report.tables"
local terminal = require "luabench.terminal"

local text = {}

local escape, value = terminal.escape, summary.value

local MOST_ITEMS = 8 -- of statuses and errors
local MOST_CHECKS = 10
local MOST_TRACEBACK = 8 -- lines
local LEAST_TITLE = 20 -- columns of the name beside the version

-- What was run --------------------------------------------------------------------------------------------------------

local function title(page, document)
  local name = escape(value(document.script) or value(document.url) or "luabench")
  local version = ("luabench %s, %s"):format(escape(document.luabench), document.started:sub(1, 19):gsub("T", " ") .. " UTC")
  if page.width < terminal.width(version) + LEAST_TITLE then
    page:line(page.paint("bold", terminal.squeeze(name, page.width)))
    return page:line(page.paint("dim", terminal.fit(version, page.width)))
  end
  name = terminal.fit(name, page.width - terminal.width(version) - 2)
  local gap = (" "):rep(page.width - terminal.width(name) - terminal.width(version))
  page:line(page.paint("bold", name) .. gap .. page.paint("dim", version))
end

--- The load of a scenario in words: "closed: 50 users for 10 s, ramped up over 5 s".
text.load = load.words

local function target_words(scenario)
  local target, version = value(scenario.target), value(scenario.http_version)
  if not target then return nil end
  return escape(target) .. (version and ", HTTP/" .. escape(version) or "")
end

-- The target that all scenarios have in common, or nil.
local function common_target(scenarios)
  local first = scenarios[1] and target_words(scenarios[1].figures)
  for _, entry in ipairs(scenarios) do
    if target_words(entry.figures) ~= first then return nil end
  end
  return first
end

local function threads_words(page, document)
  local threads, seed = value(document.generator.threads), page.seed and value(document.options.seed)
  local share = value(document.options.share)
  local words = threads and format.counted(threads, "thread")
  if share then words = ("share %s%s"):format(escape(share), words and ", " .. words or "") end
  if not seed then return words or nil end
  return ("%sseed %.0f"):format(words and words .. ", " or "", seed)
end

local function load_lines(page, document, scenarios, target)
  local threads = threads_words(page, document)
  if #scenarios == 1 then
    local words = text.load(scenarios[1].figures)
    page:field("load", threads and words .. ", " .. threads or words)
    load.aside(page, document, scenarios)
    return
  end
  for i, entry in ipairs(scenarios) do
    local words = ("%s: %s"):format(terminal.fit(escape(entry.name), 30), text.load(entry.figures):gsub(":", ",", 1))
    local own = not target and target_words(entry.figures)
    page:field(i == 1 and "load" or "", own and words .. ", " .. own or words)
  end
  if threads then page:field("", threads) end
  load.aside(page, document, scenarios)
end

local function ending_words(document)
  local after = format.span(tonumber(("%.3g"):format(value(document.duration) or 0)))
  local stuck, stopped = value(document.stuck), value(document.stopped)
  if stuck then
    return ("stuck after %s: a function of scenario %s never returned, at %s%s"):format(after, escape(value(stuck.scenario) or "n/a"),
      escape(value(stuck.where) or "an unknown line"), value(stuck.text) and ": " .. escape(stuck.text) or "")
  end
  local failed = value(document.setup_failed)
  if failed then return ("before the load: setup of scenario \"%s\" failed: %s"):format(escape(value(failed.scenario) or "n/a"), escape(value(failed.text) or "n/a")) end
  if stopped then return ("stopped after %s: %s"):format(after, escape(stopped)) end
  if document.interrupted then return ("interrupted after %s: the figures are of that time"):format(after) end
end

local function what(page, document, scenarios)
  title(page, document)
  page:blank()
  local target = common_target(scenarios)
  if target and target ~= escape(value(document.url) or "") then page:field("target", target) end
  load_lines(page, document, scenarios, target)
  local ending = ending_words(document)
  if ending then page:field("ended", ending, "red") end
end

-- How it went ---------------------------------------------------------------------------------------------------------

-- "started 5 = succeeded 3 + failed 2"
local function book(all, total, parts)
  local terms, sum = {}, 0
  for _, part in ipairs(parts) do
    sum = sum + part[2]
    if part[2] ~= 0 then terms[#terms + 1] = part[1] .. " " .. format.count(part[2]) end
  end
  if total == 0 and sum == 0 then return all .. " 0" end
  return ("%s %s %s %s"):format(all, format.count(total), total == sum and "=" or "≠", #terms > 0 and table.concat(terms, " + ") or "0")
end

local function iterations_of(scenarios)
  local sum = { scheduled = 0, completed = 0, failed = 0, interrupted = 0, dropped = 0, expired = 0 }
  for _, entry in ipairs(scenarios) do
    for name in pairs(sum) do sum[name] = sum[name] + entry.figures.iterations[name] end
  end
  return sum
end

local function books(page, document, iterations)
  page:field("iterations", book("scheduled", iterations.scheduled, { { "completed", iterations.completed }, { "failed", iterations.failed },
    { "interrupted", iterations.interrupted }, { "dropped", iterations.dropped }, { "expired", iterations.expired } }))
  local requests = document.total.requests
  local words = book("started", requests.started, { { "succeeded", requests.succeeded }, { "failed", requests.failed },
    { "timed out", requests.timed_out }, { "interrupted", requests.interrupted } })
  local more = {}
  if requests.retried > 0 then more[#more + 1] = "retried " .. format.count(requests.retried) end
  if requests.redirected > 0 then more[#more + 1] = "redirects followed " .. format.count(requests.redirected) end
  page:field("requests", #more > 0 and ("%s (%s)"):format(words, table.concat(more, ", ")) or words)
end

local function rates(page, document, iterations)
  local duration, requests = value(document.window) or value(document.duration), document.total.requests
  local succeeded = requests.succeeded < requests.started and " requests/s succeeded" or " requests/s"
  local items = { { format.significant(value(document.total.rate)) .. succeeded, "bold" } }
  if iterations.completed ~= requests.succeeded and duration and duration > 0 then
    items[2] = { format.significant(iterations.completed / duration) .. " iterations/s" }
  end
  items[#items + 1] = { "over " .. format.duration(duration) }
  page:items("rate", items, ", ")
end

local function by_count(counts)
  local list = {}
  for name, count in pairs(counts) do list[#list + 1] = { name, count } end
  table.sort(list, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  return list
end

local function flow(page, label, counts, all, style, separator)
  local items = {}
  local list = by_count(counts)
  for i = 1, math.min(#list, MOST_ITEMS) do
    local name, count = list[i][1], list[i][2]
    local share = all > 0 and count ~= all and (" (%s)"):format(format.share(count / all)) or ""
    items[i] = { ("%s%s%s%s"):format(escape(name), separator, format.count(count), share), style(name) }
  end
  if #list > MOST_ITEMS then items[#items + 1] = { ("and %d more"):format(#list - MOST_ITEMS) } end
  if #items == 0 then items[1] = { "none" } end
  page:items(label, items, ", ")
end

local function statuses(page, document)
  flow(page, "status", document.total.status, document.total.latency.count, function(status)
    return status:match("^[45]") and "red" or nil
  end, " × ")
end

local function errors(page, document)
  flow(page, "errors", document.total.errors, document.total.requests.started, function() return "red" end, " ")
  for _, each in ipairs(document.error_texts or {}) do page:bullet("", "✗", escape(("%s: %s"):format(each.error, each.text)), "red") end
end

local function traffic(page, document, scenarios)
  local bytes, duration = document.total.bytes, value(document.duration)
  local function words(count, verb)
    local rate = duration and duration > 0 and (" (%s/s)"):format(format.bytes(count / duration)) or ""
    return { ("%s %s%s"):format(format.bytes(count), verb, rate) }
  end
  page:items("bytes", { words(bytes.received, "received"), words(bytes.sent, "sent") }, ", ")
  connections.lines(page, scenarios)
end

local function generator(page, document)
  local cpu, lag = value(document.generator.cpu), value(document.generator.lag)
  local items = { { "busy " .. format.share(cpu), cpu and cpu > results.BUSY and "yellow" or nil } }
  local slip = load.slip(document)
  if slip then items[#items + 1] = { slip } end
  if lag and lag.count > 0 then items[#items + 1] = { ("woke sleeping users at most %s late"):format(format.duration(value(lag.max))) } end
  page:items("generator", items, ", ")
end

local function how(page, document, scenarios)
  local iterations = iterations_of(scenarios)
  page:blank()
  books(page, document, iterations)
  rates(page, document, iterations)
  statuses(page, document)
  errors(page, document)
  traffic(page, document, scenarios)
  load.waiting(page, scenarios)
  generator(page, document)
end

-- Latency -------------------------------------------------------------------------------------------------------------

local LATENCY = { { "min", "min" }, { "q1", "q1" }, { "median", "median", "bold" }, { "mean", "mean" }, { "q3", "q3" }, { "p90", "p90" }, { "p95", "p95" },
  { "p99", "p99", "bold" }, { "p99.9", "p999" }, { "max", "max" }, { "stddev", "stddev" } }

local MODELS = {
  closed = "closed model: from the call to the last byte",
  open = "open model: from the intended start to the last byte",
  mixed = "of open and closed scenarios, from the call to the last byte",
}

-- The other view of the open model: what the server alone is to blame for, the wait for a user and a late start left out.
local function from_call(page, of)
  page:field("from call", ("median %s, p95 %s, p99 %s, max %s"):format(format.duration(summary.shown(of, "median")), format.duration(summary.shown(of, "p95")),
    format.duration(summary.shown(of, "p99")), format.duration(value(of.max))))
end

-- Of what was not accepted, or not answered: quantiles in which it counts as infinitely slow.
local function with_failures(page, document)
  local all = value(document.total.with_failures)
  if not all or all.failed + all.unfinished == 0 or all.count == 0 then return end
  local function shown(field)
    return value(all[field]) and format.duration(all[field]) or all.count < summary.needed(summary.QUANTILES[field]) and "n/a" or "never"
  end
  local what = all.unfinished == 0 and "failed" or all.failed == 0 and "were unfinished" or "failed or were unfinished"
  page:field("failures", ("%s of %s %s; counted as never answered: median %s, p90 %s, p95 %s, p99 %s"):format(format.count(all.failed + all.unfinished), format.count(all.count), what,
    shown "median", shown "p90", shown "p95", shown "p99"), "yellow")
end

-- Set of the quantiles that are largely luabench's own doing.
local function marked(document)
  local health, set = value(document.health), {}
  for _, field in ipairs(health and health.marked or {}) do set[field] = true end
  return set
end

local function latency(page, document)
  local accepted = value(document.total.accepted)
  local shown = accepted and accepted.count > 0 and accepted or results.headline(document.total)
  page:blank()
  page:heading("latency of " .. (shown == accepted and format.count(shown.count) .. " accepted" or format.counted(shown.count, "response")), MODELS[document.model])
  local cells, doubtful = {}, marked(document)
  for i, column in ipairs(LATENCY) do
    cells[i] = { column[1], (doubtful[column[2]] and "~" or "") .. format.compact(summary.shown(shown, column[2])), column[3] }
  end
  page:figures(cells)
  with_failures(page, document)
  if document.model == "open" then from_call(page, document.total.latency) end
end

-- Checks, thresholds, errors of the script ----------------------------------------------------------------------------

local function checks_list(document)
  local list = {}
  for name, check in pairs(document.checks) do list[#list + 1] = { name = name, check = check } end
  table.sort(list, function(a, b)
    local failed_a, failed_b = a.check.fails > 0, b.check.fails > 0
    if failed_a ~= failed_b then return failed_a end
    return a.check.index < b.check.index
  end)
  return list
end

local function check_words(check)
  local all = check.passes + check.fails
  if check.fails == 0 then return format.count(check.passes) .. " passed" end
  return ("%s of %s failed (%s)"):format(format.count(check.fails), format.count(all), format.share(check.fails / all))
end

local function check_entry(name, check)
  local failed, why = check.fails > 0, value(check.why)
  return { mark = failed and "✗" or "✓", text = escape(name), note = check_words(check), style = failed and "red" or "green",
    detail = failed and why and escape(why) or nil }
end

local function checks(page, document)
  local list, entries, failing = checks_list(document), {}, 0
  for i, entry in ipairs(list) do
    if i <= MOST_CHECKS then
      entries[i] = check_entry(entry.name, entry.check)
    elseif entry.check.fails > 0 then
      failing = failing + 1
    end
  end
  page:verdicts("checks", entries)
  if #list > MOST_CHECKS then
    page:field("", ("and %d more, %s"):format(#list - MOST_CHECKS, failing == 0 and "all passed" or ("%d of them failed"):format(failing)))
  end
end

local VALUES = { time = format.duration, share = format.share, count = format.count, rate = format.rate, size = format.bytes,
  size_rate = function(bytes) return format.bytes(bytes) .. "/s" end }

local function threshold_entry(threshold)
  local is, scenario = value(threshold.value), value(threshold.scenario)
  local show = VALUES[value(threshold.unit)] or format.significant
  local subject = threshold.metric ~= "" and threshold.metric .. ": " or ""
  return { mark = threshold.ok and "✓" or "✗", style = threshold.ok and "green" or "red",
    text = escape((scenario and scenario .. ": " or "") .. subject .. threshold.expression),
    note = is and show(is) or escape(value(threshold.text) or "no data"),
    detail = value(threshold.warning) and escape(threshold.warning) }
end

local function thresholds(page, document)
  local entries = {}
  for _, threshold in ipairs(document.thresholds) do
    if not (threshold.implicit and threshold.ok) then entries[#entries + 1] = threshold_entry(threshold) end
  end
  page:verdicts("thresholds", entries)
end

-- The traceback below its error, whose text it may begin with.
local function traceback_lines(page, kind)
  local shown = 0
  local text = kind.text .. "\n"
  local traceback = kind.traceback:sub(1, #text) == text and kind.traceback:sub(#text + 1) or kind.traceback
  for line in traceback:gmatch("[^\n]+") do
    if shown == MOST_TRACEBACK then return end
    shown = shown + 1
    line = line:gsub("\t", "    ")
    page:line(page:label("") .. "  " .. page.paint("dim", terminal.fit(escape(line), page.width - 15)))
  end
end

local function script_errors(page, document)
  local found = document.script_errors
  if found.count == 0 then return end
  page:field("script", format.counted(found.count, "Lua error") .. " in iterations", "red")
  local shown = 0
  for i = 1, math.min(#found.kinds, 3) do
    local kind = found.kinds[i]
    shown = shown + kind.count
    page:bullet("", "✗", ("%s × %s"):format(format.count(kind.count), escape(kind.text)), "red")
    if value(kind.traceback) then traceback_lines(page, kind) end
  end
  if shown < found.count then page:field("", ("and %s of other kinds"):format(format.count(found.count - shown))) end
end

local function failures(page, document)
  local found = document.failures
  if found.count == 0 then return end
  page:field("failed", format.counted(found.count, "iteration") .. " ended by fail() or must()", "red")
  for i = 1, math.min(#found.texts, 3) do page:bullet("", "✗", escape(found.texts[i]), "red") end
  if #found.texts > 3 then page:field("", ("and %d other texts"):format(#found.texts - 3)) end
end

local function remarks(page, document)
  if #document.remarks > 0 then page:blank() end
  for i, remark in ipairs(document.remarks) do page:bullet(i == 1 and "remarks" or "", "!", remark, "yellow") end
end

-- Everything ----------------------------------------------------------------------------------------------------------

--- The report of a document.
--- @param options table { width, color, latency (the percentile table too), seed (name it), verdict (text of the exit status, or nil) }
--- @return string
function text.render(document, options)
  local page = layout.new(options.width or 80, terminal.painter(options.color))
  page.seed = options.seed
  local scenarios = results.scenarios(document)
  what(page, document, scenarios)
  how(page, document, scenarios)
  latency(page, document)
  if options.latency then tables.percentiles(page, document) end
  tables.parts(page, scenarios)
  page:blank()
  checks(page, document)
  load.groups(page, document)
  own.lines(page, document)
  thresholds(page, document)
  script_errors(page, document)
  failures(page, document)
  remarks(page, document)
  if options.verdict then page:field("exit", options.verdict, "red") end
  return page:text()
end

return text
