-- Progress on standard error while a run goes on. On a terminal a block that is redrawn in place ("block"), elsewhere a plain line now and
-- then ("lines"), or nothing ("none"). Notices always get through, above the block.
--
-- The block's lines are one column narrower than the terminal, so that none wraps; when the terminal has been made narrower since, the
-- wrapped rows are counted, so that all of them are taken away.

local core = require "luabench.core"
local format = require "luabench.format"
local secrets = require "luabench.secrets"
local terminal = require "luabench.terminal"

local live = {}

local STDERR = 2
local BAR = 30           -- columns of the progress bar at most
local BAR_LEAST = 8
local MOST_ERRORS = 4    -- names shown

-- the block on the screen: the painted lines and their widths; empty when there is none
local block = { lines = {}, widths = {} }

-- Words ---------------------------------------------------------------------------------------------------------------

local function whole_span(seconds)
  return format.span(math.floor(seconds + 0.5))
end

-- Seconds that are left, by what has been done so far and by the clock, or nil.
local function time_left(state)
  local left
  if state.progress and state.progress > 0.01 then left = state.elapsed * (1 - state.progress) / state.progress end
  if state.duration then left = math.min(left or math.huge, math.max(state.duration - state.elapsed, 0)) end
  return left
end

local function errors_words(errors)
  local list = {}
  for name, count in pairs(errors or {}) do
    if count > 0 then list[#list + 1] = { name, count } end
  end
  table.sort(list, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  local words = {}
  for i = 1, math.min(#list, MOST_ERRORS) do words[i] = terminal.escape(list[i][1]) .. " " .. format.count(list[i][2]) end
  if #list > MOST_ERRORS then words[#words + 1] = ("%d other kinds"):format(#list - MOST_ERRORS) end
  return #words > 0 and table.concat(words, ", ") or nil
end

-- The block -----------------------------------------------------------------------------------------------------------

local function bar(progress, columns)
  local filled = math.floor(math.max(0, math.min(progress, 1)) * columns + 0.5)
  return ("█"):rep(filled) .. ("░"):rep(columns - filled)
end

-- Segments are { text, style }.
local function clock_line(state, columns)
  local left = time_left(state)
  local elapsed = whole_span(state.elapsed)
  if state.phase == "stopping" then
    return { { elapsed, "bold" }, { "  ending: waiting for " .. format.counted(state.users, "user"), "yellow" } }
  end
  if state.phase == "warm_up" then elapsed = elapsed .. " (warm-up)" end
  if not state.progress then return { { elapsed, "bold" }, { left and "  " .. whole_span(left) .. " left" or "" } } end
  local percent = ("%3.0f%%"):format(math.floor(state.progress * 100))
  local after = percent .. (left and "  " .. whole_span(left) .. " left" or "")
  local room = math.min(BAR, columns - #elapsed - #after - 4)
  local middle = room >= BAR_LEAST and "  " .. bar(state.progress, room) .. "  " or "  "
  return { { elapsed, "bold" }, { middle, "cyan" }, { after } }
end

local function figures_line(state)
  return { { format.counted(state.users, "user") }, { "   " .. format.significant(state.rate) .. " requests/s", "bold" },
    { "   p50 " .. format.duration(state.p50) }, { "   p99 " .. format.duration(state.p99) }, { "   " .. format.counted(state.responses, "response") } }
end

local function trouble_line(state)
  local errors = errors_words(state.errors)
  local dropped = state.dropped and state.dropped > 0 and format.count(state.dropped) .. " dropped"
  if not errors and not dropped then return nil end
  return { { errors and "errors: " .. errors or "", "red" }, { dropped and (errors and "   " or "") .. dropped or "", "red" } }
end

-- Paints segments, cut to `columns`; returns the line and its width.
local function compose(segments, columns, paint)
  local out, used = {}, 0
  for _, segment in ipairs(segments) do
    local text = terminal.fit(segment[1], columns - used)
    out[#out + 1] = paint(segment[2], text)
    used = used + terminal.width(text)
  end
  return table.concat(out), used
end

-- Escape sequences that take the block off the screen.
local function erase(columns)
  local rows = 0
  for _, width in ipairs(block.widths) do rows = rows + math.max(1, math.ceil(width / columns)) end
  return rows > 0 and ("\r\27[%dA\27[J"):format(rows) or ""
end

local function drawn()
  return #block.lines > 0 and table.concat(block.lines, "\n") .. "\n" or ""
end

local function update_block(plan, state)
  local columns = core.terminal(STDERR)
  if not columns or columns < 2 then return end
  local before, paint = erase(columns), terminal.painter(plan.color)
  block = { lines = {}, widths = {} }
  for _, segments in ipairs { clock_line(state, columns - 1), figures_line(state), trouble_line(state) } do
    local line, width = compose(segments, columns - 1, paint)
    block.lines[#block.lines + 1], block.widths[#block.widths + 1] = line, width
  end
  core.write(STDERR, before .. drawn())
end

-- Lines ---------------------------------------------------------------------------------------------------------------

local function update_line(state)
  local words = { format.counted(state.users, "user"), format.significant(state.rate) .. " requests/s", format.counted(state.responses, "response"),
    "p50 " .. format.duration(state.p50), "p99 " .. format.duration(state.p99) }
  local errors = errors_words(state.errors)
  if errors then words[#words + 1] = "errors: " .. errors end
  if state.dropped and state.dropped > 0 then words[#words + 1] = format.count(state.dropped) .. " dropped" end
  local phase = state.phase == "stopping" and " (ending)" or state.phase == "warm_up" and " (warm-up)" or ""
  core.write(STDERR, ("%s%s: %s\n"):format(whole_span(state.elapsed), phase, table.concat(words, ", ")))
end

--- Shows how the run goes: `state` of docs/core.md.
function live.update(plan, state)
  if plan.progress == "block" then
    update_block(plan, state)
  elseif plan.progress == "lines" then
    update_line(state)
  end
end

--- Prints a text that must be seen now, above the block.
function live.notice(_, text)
  local before = #block.lines > 0 and erase(core.terminal(STDERR) or math.huge) or ""
  core.write(STDERR, before .. terminal.lines(secrets.mask((tostring(text):gsub("\n$", "")))) .. "\n" .. drawn())
end

--- Takes the block away, before the report.
function live.done()
  if #block.lines == 0 then return end
  core.write(STDERR, erase(core.terminal(STDERR) or math.huge))
  block = { lines = {}, widths = {} }
end

return live
