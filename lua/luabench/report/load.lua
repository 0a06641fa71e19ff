-- What the report says of the load: in words, what was left out of it, and what its arrivals had to wait for.
local format = require "luabench.format"
local summary = require "luabench.summary"
local terminal = require "luabench.terminal"

local load = {}

local value, escape = summary.value, terminal.escape

local function ends(of, words)
  local each, all, duration = value(of.iterations_per_user), value(of.iterations), value(of.duration)
  if all then words = words .. (", %s in all"):format(format.counted(all, "iteration")) end
  if each then words = words .. (", %s each"):format(format.counted(each, "iteration")) end
  if duration then words = words .. ((all or each) and ", for at most " or " for ") .. format.span(duration) end
  return words
end

local ARRIVALS = { poisson = " Poisson", poisson_exact = " Poisson (exact)" }

-- "1,000/s", "100/s to 1,000/s": the lowest and the highest level of stages.
local function rates_of(of)
  if value(of.rate) then return format.significant(of.rate) .. "/s" end
  local least, most = math.huge, 0
  for _, stage in ipairs(value(of.stages) or {}) do least, most = math.min(least, stage.rate), math.max(most, stage.rate) end
  if least >= most then return format.significant(most) .. "/s" end
  return ("%s/s to %s/s in %s"):format(format.significant(least), format.significant(most), format.counted(#of.stages, "stage"))
end

local function open_words(scenario)
  local of = scenario.load
  local words = ends(of, rates_of(of) .. (ARRIVALS[value(of.arrivals)] or ""))
  return ("%s, at most %s at a time, %s"):format(words, format.counted(value(of.max_users) or 0, "user"), value(of.fresh) and "each a new visitor" or "reused")
end

local function closed_words(scenario)
  local of = scenario.load
  local users, stages = format.counted(value(of.users) or value(scenario.users_max), "user"), value(of.stages)
  local words = ends(of, stages and "up to " .. users or users)
  local ramp_up = value(of.ramp_up)
  if stages then words = words .. " in " .. format.counted(#stages, "stage") end
  if ramp_up and ramp_up > 0 then words = words .. ", ramped up over " .. format.span(ramp_up) end
  return words
end

--- The load of a scenario: "closed: 50 users for 10 s, ramped up over 5 s".
function load.words(scenario)
  local words = scenario.model == "open" and open_words(scenario) or closed_words(scenario)
  local warm_up = value(scenario.load.warm_up)
  if warm_up and warm_up > 0 then words = words .. ", the first " .. format.span(warm_up) .. " left out" end
  return ("%s: %s"):format(scenario.model, words)
end

-- What was sent beside the load.
local function aside_words(what, aside)
  local requests = aside.requests
  local bad = requests.failed + requests.timed_out + requests.interrupted
  return ("%s %s%s"):format(what, format.counted(requests.started, "request"), bad > 0 and (" (%s failed)"):format(format.count(bad)) or "")
end

--- A line of what is in no other figure: warm-ups, setup, teardown.
function load.aside(page, document, scenarios)
  local items = {}
  for _, name in ipairs { "setup", "teardown" } do
    local aside = value(document[name])
    if aside then items[#items + 1] = { aside_words(name, aside) } end
  end
  for _, entry in ipairs(scenarios) do
    local aside = value(entry.figures.warm_up)
    if aside then items[#items + 1] = { aside_words(#scenarios > 1 and "warm-up of " .. terminal.fit(escape(entry.name), 20) or "warm-up", aside) } end
  end
  if #items > 0 then page:items("left out", items, ", ") end
end

--- A line for each open scenario whose arrivals had to wait for users.
function load.waiting(page, scenarios)
  for _, entry in ipairs(scenarios) do
    local wait = value(entry.figures.user_wait)
    if wait and wait.count > 0 then
      page:field("waiting", ("%s%s waited for a free user, at most %s at a time; p50 %s, p99 %s, max %s"):format(
        #scenarios > 1 and terminal.fit(escape(entry.name), 20) .. ": " or "", format.counted(wait.count, "arrival"),
        format.count(value(entry.figures.backlog_max) or 0), format.duration(value(wait.median)), format.duration(summary.shown(wait, "p99")),
        format.duration(value(wait.max))), "yellow")
    end
  end
end

--- By how much the generator was late, for its line.
function load.slip(document)
  local slip = value(document.generator.schedule_slip)
  if not slip or slip.count == 0 then return nil end
  return ("started arrivals p50 %s, p99 %s, max %s late"):format(format.duration(value(slip.median)), format.duration(summary.shown(slip, "p99")), format.duration(value(slip.max)))
end

local MOST_GROUPS = 12

--- The groups of the script, in order of first use.
function load.groups(page, document)
  local list = {}
  for name, group in pairs(document.groups) do list[#list + 1] = { name = name, group = group } end
  table.sort(list, function(a, b) return a.group.index < b.group.index end)
  if #list > 0 then page:blank() end
  for i = 1, math.min(#list, MOST_GROUPS) do
    local group = list[i].group
    local cut = group.cut > 0 and (", %s cut"):format(format.count(group.cut)) or ""
    page:field(i == 1 and "groups" or "", ("%s: median %s, p95 %s, max %s, of %s%s"):format(escape(list[i].name), format.duration(summary.shown(group, "median")),
      format.duration(summary.shown(group, "p95")), format.duration(value(group.max)), format.count(group.count), cut))
  end
  if #list > MOST_GROUPS then page:field("", ("and %d more"):format(#list - MOST_GROUPS)) end
end

return load
