-- The self-check: what the core has learnt about luabench itself (docs/core.md: HEALTH), judged. Is what is printed the server's doing, or luabench's own?
--
-- Each rule is a function of the facts that adds warnings; an open run whose figures cannot be trusted is invalid (exit 4), a closed one is at most doubtful: it waits with
-- its server, so that its throughput is a lower bound and its latency an upper one.
local core = require "luabench.core"
local format = require "luabench.format"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local health = {}

local BUSY, FULL, OFTEN = 0.7, 0.9, 0.05 -- of a core in a second; so many seconds with more than 90% make a run invalid
local LATE = 0.01 -- seconds: an arrival that started later than this was hit by a stall
local MANY_STALLS = 3 -- that are told one by one

--- The quantiles that a bias is known of: field of a SUMMARY, quantile, name, and the seconds that luabench can hardly do without on a machine that has nothing else to do:
--- two wake-ups of a thread and a timer, more in the tails. A bias below that is no warning, below four times that no reason to distrust a run.
health.QUANTILES = {
  { "median", 0.5, "median", 200e-6 }, { "p90", 0.9, "p90", 200e-6 }, { "p95", 0.95, "p95", 200e-6 }, { "p99", 0.99, "p99", 500e-6 }, { "p999", 0.999, "p99.9", 1e-3 },
}
local SHARE_WARN, SHARE_INVALID, TIMES_INVALID = 0.05, 0.2, 4
local LAST_JUDGED = 0.99 -- quantiles beyond are only marked

-- Bias -----------------------------------------------------------------------------------------------------------------------

--- How much of each quantile of `hist` (hist object of the headline latency) luabench can be responsible for at most, in seconds, by field; `net`: the same latencies without
--- its part. Those with too few responses are left out.
function health.bias(hist, net)
  local bias = {}
  if not hist or not net or hist:count() ~= net:count() then return bias end
  for _, each in ipairs(health.QUANTILES) do
    local field, quantile = each[1], each[2]
    if hist:count() >= summary.needed(quantile) then bias[field] = math.max(hist:quantile(quantile) - net:quantile(quantile), 0) end
  end
  return bias
end

-- The findings: lists of sentences, and quantiles that are not to be trusted.
local Findings = {}
Findings.__index = Findings

function Findings:warn(text, ...) self.warnings[#self.warnings + 1] = select("#", ...) > 0 and text:format(...) or text end

function Findings:invalid(text, ...)
  self:warn(text, ...)
  if self.open then self.valid = false end
end

local function bias_of(found, facts)
  local worst, marked
  for _, each in ipairs(health.QUANTILES) do
    local field, quantile, name, least = unpack(each)
    local bias, of = facts.bias[field], facts.latency and facts.latency:quantile(quantile)
    if bias and bias > SHARE_WARN * of and bias > least then
      local bad = bias > SHARE_INVALID * of and bias > TIMES_INVALID * least
      if bad then found.marked[field] = true end
      if not worst or (bad and not marked) then worst, marked = { name = name, bias = bias, of = of, judged = quantile <= LAST_JUDGED }, bad end
    end
  end
  if not worst then return end
  local words = ("up to %s of the %s of %s may be luabench's own delay"):format(format.duration(worst.bias), worst.name, format.duration(worst.of))
  if marked and worst.judged then found:invalid(words) else found:warn(words) end
end

-- Stalls ---------------------------------------------------------------------------------------------------------------------

local function place_words(facts)
  local place = facts.places and facts.places[1]
  return place and (": %s"):format(terminal.escape(place.where)) or ""
end

local CAUSES = {
  stopped = function() return "the whole process stood still (it was stopped by a signal, or the machine was paused)" end,
  waiting = function() return "it had to wait for a core: other programs used it" end,
  stolen = function() return "the hypervisor gave the processor to others" end,
  computing = function(facts) return "it was computing itself" .. (#(facts.places or {}) > 0 and ", in Lua" .. place_words(facts) or ": a long Lua function, or the collection of its garbage") end,
  unknown = function() return "why, could not be found out" end,
}

-- Stalls with the same cause that overlap (several threads) are one.
local function by_cause(stalls)
  local causes, order = {}, {}
  for _, stall in ipairs(stalls) do
    local list = causes[stall.cause]
    if not list then
      list = { cause = stall.cause, longest = 0 }
      causes[stall.cause], order[#order + 1] = list, list
    end
    local last = list[#list]
    list.longest = math.max(list.longest, stall.length)
    if not last or stall.time >= last.time + last.length then list[#list + 1] = { time = stall.time, length = stall.length } end
  end
  return order
end

local function stall_words(list, facts)
  local words, count = {}, #list
  for i = 1, math.min(count, MANY_STALLS) do words[i] = ("for %s at %s"):format(format.duration(list[i].length), format.span(math.floor(list[i].time * 10 + 0.5) / 10)) end
  local times = count > MANY_STALLS and ("%s times, for %s at most"):format(format.count(count), format.duration(list.longest)) or table.concat(words, " and ")
  return ("luabench did not look at its sockets and timers %s: %s"):format(times, CAUSES[list.cause](facts))
end

-- The arrivals that came late by a stall, against the quantiles that are shown: a fifth of what lies beyond one may be so.
local function late_arrivals(facts)
  local slip = facts.slip
  if not slip or slip:count() == 0 then return 0, false end
  local late = (slip:count() - slip:upto(LATE)) / slip:count()
  local bad = false
  for _, each in ipairs(health.QUANTILES) do
    local quantile = each[2]
    if quantile <= LAST_JUDGED and facts.latency and facts.latency:count() >= summary.needed(quantile) and late > (1 - quantile) / 5 then bad = true end
  end
  return late, bad
end

local function stalls(found, facts)
  local sorted = {}
  for i, stall in ipairs(facts.stalls) do sorted[i] = stall end
  table.sort(sorted, function(a, b) return a.time < b.time end)
  local causes = by_cause(sorted)
  for _, list in ipairs(causes) do found:warn(stall_words(list, facts)) end
  if (facts.more_stalls or 0) > 0 then found:warn("%s more times it did not for shorter", format.count(facts.more_stalls)) end
  local late, bad = late_arrivals(facts)
  if late > 0 and bad then
    found:invalid("%s of the arrivals were started more than 10 ms late", format.share(late))
  end
  local named = false
  for _, list in ipairs(causes) do named = named or list.cause == "computing" end
  if not named and #(facts.places or {}) > 0 then
    found:warn("a Lua function was met that had computed for more than 2 ms%s; whatever was due meanwhile was late", place_words(facts))
  end
end

-- What the kernel says ---------------------------------------------------------------------------------------------------

local function limits(found, share, warn, invalid, words)
  if not share or share <= warn then return end
  if share > invalid then found:invalid(words, format.share(share)) else found:warn(words, format.share(share)) end
end

local function slip(found, facts)
  local hist, rate = facts.slip, facts.rate
  if not hist or hist:count() < summary.needed(0.99) or not rate or rate <= 0 then return end
  local p99 = hist:quantile(0.99)
  if p99 > math.max(0.5 / rate, 500e-6) then found:warn("arrivals were started late: p99 %s, with one due every %s", format.duration(p99), format.duration(1 / rate)) end
end

local function busy(found, facts)
  if (facts.cpu or 0) > FULL then
    found:invalid("luabench itself was busy %.0f%%: throughput is a lower bound, latency an upper one", math.min(facts.cpu, 1) * 100)
  elseif found.open and facts.seconds > 0 and facts.full_seconds / facts.seconds > OFTEN then
    found:invalid("a thread of luabench used more than 90%% of its core in %s of the time: it was at its limit", format.share(facts.full_seconds / facts.seconds))
  elseif found.open and facts.busy_seconds > 0 then
    found:warn("a thread of luabench used %s of its core in a second: it was near its limit", format.share(math.min(facts.busiest, 1)))
  end
end

local function kernel(found, facts)
  if found.open then
    limits(found, facts.waited, 0.02, 0.1, "luabench's threads had to wait for a core %s of the time: other programs competed for it")
    limits(found, facts.machine, 0.9, 2, "the processors of this machine were busy %s of the time; a server on it competes with luabench")
  end
  limits(found, facts.stolen, 0.01, 0.05, "the hypervisor took %s of this machine's processor time")
  if facts.retransmits and facts.requests > 0 and facts.retransmits > 10 and facts.retransmits > 0.001 * facts.requests then
    found:warn("%s were sent again by this machine: packets got lost", format.counted(facts.retransmits, "TCP segment"))
  end
  if facts.clocksource and not ({ tsc = true, ["kvm-clock"] = true, arch_sys_counter = true, ["hyperv_clocksource_tsc_page"] = true, hyperv = true, xen = true })[facts.clocksource] then
    found:warn("the kernel's clock is %s, which is slow to read: times are less exact", terminal.escape(facts.clocksource))
  end
end

local function exhausted(found, facts)
  for name, words in pairs { no_ports = "local ports (more: sysctl net.ipv4.ip_local_port_range, or several --source-address)",
    no_descriptors = "open files (more: ulimit -n)" } do
    local count = facts.errors[name]
    if count and count > 0 then found:invalid("this machine ran out of %s: %s failed by it", words, format.counted(count, "request")) end
  end
end

--- Judges the facts: `open` (the model), `latency`, `net`, `slip` (hist objects), `bias`, `rate` (arrivals a second and thread), `cpu`, `requests`, `errors`, and the fields of
--- HEALTH. Returns { valid, warnings = list of texts, marked = set of fields of quantiles that are not to be trusted }.
function health.judge(facts)
  local found = setmetatable({ open = facts.open, valid = true, warnings = {}, marked = {} }, Findings)
  facts.seconds, facts.busy_seconds, facts.full_seconds = facts.seconds or 0, facts.busy_seconds or 0, facts.full_seconds or 0
  facts.stalls, facts.bias, facts.errors = facts.stalls or {}, facts.bias or {}, facts.errors or {}
  stalls(found, facts)
  bias_of(found, facts)
  if found.open then slip(found, facts) end
  busy(found, facts)
  kernel(found, facts)
  exhausted(found, facts)
  return { valid = found.valid, warnings = found.warnings, marked = found.marked }
end

-- The document ---------------------------------------------------------------------------------------------------------------

local null = core.json_null

local function or_null(given)
  if given == nil then return null end
  return given
end

local function listed(list, fields)
  local out = core.json_array({})
  for i, item in ipairs(list or {}) do
    out[i] = {}
    for _, field in ipairs(fields) do out[i][field] = or_null(item[field]) end
  end
  return out
end

local function marked_list(marked)
  local out = core.json_array({})
  for _, each in ipairs(health.QUANTILES) do
    if marked[each[1]] then out[#out + 1] = each[1] end
  end
  return out
end

--- The part of the result document: `facts` as given to judge, `found` as it returned.
function health.document(facts, found)
  return {
    verdict = not found.valid and "invalid" or #found.warnings > 0 and "doubtful" or "good",
    loop_lag = summary.of(facts.away, true),
    stalls = listed(facts.stalls, { "time", "length", "cause", "thread" }), more_stalls = facts.more_stalls or 0,
    marked = marked_list(found.marked),
    slow_lua = listed(facts.places, { "where", "seen" }),
    busiest_second = or_null(facts.busiest), run_queue_wait = or_null(facts.waited), steal = or_null(facts.stolen), machine = or_null(facts.machine),
    retransmits = or_null(facts.retransmits), clocksource = or_null(facts.clocksource),
  }
end

return health
