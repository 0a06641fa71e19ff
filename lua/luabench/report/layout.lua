-- Lines of a report: labelled fields, lists that flow, paragraphs and tables, none wider than the page. Text comes in plain and escaped
-- (terminal.escape), is measured, and only then painted.

local terminal = require "luabench.terminal"

local layout = {}
layout.__index = layout

local LABEL = 13 -- columns of a field's label
local INDENT = 2
local GAP = 2    -- between the columns of a table
local NARROW = 6 -- columns that a figure takes at least: "1.21ms"
local LEAST_NAME = 12 -- columns of a name in a table that must be narrow
local MOST = 4   -- lines of one text: a script can put a whole page into an error

--- An empty page of `width` columns; `paint` as terminal.painter gives it.
function layout.new(width, paint)
  return setmetatable({ lines = {}, width = width, paint = paint }, layout)
end

--- Adds one line as it is: it must fit.
function layout:line(text)
  self.lines[#self.lines + 1] = text or ""
end

--- Adds an empty line, unless the page is empty or ends with one.
function layout:blank()
  local last = self.lines[#self.lines]
  if last and last ~= "" then self:line("") end
end

function layout:label(label)
  return self.paint("dim", terminal.pad(label, LABEL))
end

-- The lines of a text in so many columns; what is beyond the last line is cut.
local function lines_of(text, columns)
  local lines = terminal.wrap(terminal.fit(text, columns * (MOST + 1)), columns)
  if #lines <= MOST then return lines end
  lines[MOST] = terminal.fit(lines[MOST] .. " …", columns)
  return { unpack(lines, 1, MOST) }
end

--- A label, then text that wraps beside it.
--- @param style string? how the text is painted
function layout:field(label, text, style)
  for i, part in ipairs(lines_of(text, self.width - LABEL)) do
    self:line(self:label(i == 1 and label or "") .. self.paint(style, part))
  end
end

--- A label, then items beside it that stay whole where they can.
--- @param items table list of { text, style }
--- @param gap string between two items on a line
function layout:items(label, items, gap)
  local columns, out, used = self.width - LABEL, {}, 0
  local function flush()
    if used > 0 then self:line(self:label(label) .. table.concat(out)) end
    label, out, used = "", {}, 0
  end
  for i, item in ipairs(items) do
    local tail = i < #items and gap:gsub("%s+$", "") or ""
    local text = terminal.fit(item[1], columns - #tail) .. tail
    local space = used > 0 and gap:match("%s*$") or ""
    if used + #space + terminal.width(text) > columns then
      flush()
      space = ""
    end
    out[#out + 1] = space .. self.paint(item[2], text)
    used = used + #space + terminal.width(text)
  end
  flush()
end

--- A paragraph behind a mark: "! text", wrapped under itself.
function layout:bullet(label, mark, text, style)
  for i, part in ipairs(lines_of(text, self.width - LABEL - 2)) do
    local lead = i == 1 and self.paint(style, mark) .. " " or "  "
    self:line(self:label(i == 1 and label or "") .. lead .. part)
  end
end

-- Where the notes of verdicts begin: behind the longest text that has room for its note.
local function note_column(entries, room)
  local column = 0
  for _, entry in ipairs(entries) do
    local width = terminal.width(entry.text)
    if width + GAP + terminal.width(entry.note) <= room then column = math.max(column, width) end
  end
  return column
end

-- The text and its note on one line, under the others' notes where that fits; nil when it must take two.
local function beside(entry, column, room)
  local text, note = terminal.width(entry.text), terminal.width(entry.note)
  if math.max(text, column) + GAP + note > room then column = text end
  if math.max(text, column) + GAP + note > room then return nil end
  return terminal.pad(entry.text, column) .. (" "):rep(GAP)
end

--- Lines of a mark, a text and a note on it; the notes stand under each other.
--- @param entries table list of { mark, text, note, style (of mark and note), detail (text below, or nil) }
function layout:verdicts(label, entries)
  local room = self.width - LABEL - 2
  local column = note_column(entries, room)
  for i, entry in ipairs(entries) do
    local lead = self:label(i == 1 and label or "") .. self.paint(entry.style, entry.mark) .. " "
    local text = beside(entry, column, room)
    self:line(lead .. (text and text .. self.paint(entry.style, entry.note) or terminal.fit(entry.text, room)))
    if not text then self:bullet("", " ", entry.note) end
    if entry.detail then self:bullet("", " ", entry.detail) end
  end
end

--- A heading over a table.
function layout:heading(text, note)
  text = terminal.fit(text, self.width)
  note = note and terminal.fit("  " .. note, self.width - terminal.width(text)) or ""
  self:line(self.paint("bold", text) .. self.paint("dim", note))
end

-- Tables --------------------------------------------------------------------------------------------------------------

local function cell_text(cell)
  return type(cell) == "table" and cell[1] or cell
end

local function cell_style(cell)
  return type(cell) == "table" and cell[2] or nil
end

local function widths_of(columns, rows)
  local widths = {}
  for i, column in ipairs(columns) do
    widths[i] = terminal.width(column.title)
    for _, row in ipairs(rows) do widths[i] = math.max(widths[i], terminal.width(cell_text(row[i]))) end
  end
  return widths
end

-- Makes the flexible column as narrow as the page needs.
local function squeeze(columns, widths, room)
  local total, flexible = INDENT, nil
  for i, width in ipairs(widths) do
    total = total + width + (i > 1 and GAP or 0)
    if columns[i].flexible then flexible = i end
  end
  if flexible and total > room then widths[flexible] = math.max(math.min(LEAST_NAME, widths[flexible]), widths[flexible] - (total - room)) end
end

-- Which columns stand side by side: all where they fit, else as many as do, each time behind the first one.
local function column_groups(widths, room)
  local groups, group, used = {}, { 1 }, INDENT + widths[1]
  for i = 2, #widths do
    if #group > 1 and used + GAP + widths[i] > room then
      groups[#groups + 1] = group
      group, used = { 1 }, INDENT + widths[1]
    end
    group[#group + 1], used = i, used + GAP + widths[i]
  end
  groups[#groups + 1] = group
  return groups
end

local function pick(list, indexes)
  local result = {}
  for i, index in ipairs(indexes) do result[i] = list[index] end
  return result
end

function layout:row(columns, widths, cells, style)
  local out = {}
  for i, column in ipairs(columns) do
    local text = terminal.squeeze(cell_text(cells[i]), widths[i])
    if i < #columns or not column.left then text = terminal.pad(text, widths[i], not column.left) end
    out[i] = self.paint(style or cell_style(cells[i]), text)
  end
  self:line((" "):rep(INDENT) .. table.concat(out, (" "):rep(GAP)))
end

--- A table with a line of titles; where the page is too narrow, several with some of the columns each.
--- @param columns table list of { title, left (aligned so, else right), flexible (may be cut) }
--- @param rows table list of lists of cells: text, or { text, style }
function layout:table(columns, rows)
  local widths = widths_of(columns, rows)
  squeeze(columns, widths, self.width)
  local titles = {}
  for i, column in ipairs(columns) do titles[i] = column.title end
  for _, group in ipairs(column_groups(widths, self.width)) do
    local some, their_widths = pick(columns, group), pick(widths, group)
    self:row(some, their_widths, pick(titles, group), "dim")
    for _, row in ipairs(rows) do self:row(some, their_widths, pick(row, group)) end
  end
end

--- One row of figures under their titles; goes on in further rows where the page is too narrow.
--- @param cells table list of { title, text, style }
function layout:figures(cells)
  local start = 1
  while start <= #cells do
    local titles, values, used, i = {}, {}, INDENT - 1, start
    while cells[i] do
      local width = math.max(terminal.width(cells[i][1]), terminal.width(cells[i][2]), NARROW)
      if i > start and used + 1 + width > self.width then break end
      used = used + 1 + width
      titles[#titles + 1] = terminal.pad(cells[i][1], width, true)
      values[#values + 1] = self.paint(cells[i][3], terminal.pad(cells[i][2], width, true))
      i = i + 1
    end
    self:line((" "):rep(INDENT) .. self.paint("dim", table.concat(titles, " ")))
    self:line((" "):rep(INDENT) .. table.concat(values, " "))
    start = i
  end
end

--- The page as one text.
function layout:text()
  local lines = {}
  for i, line in ipairs(self.lines) do lines[i] = line:gsub(" +$", "") end
  while lines[#lines] == "" do lines[#lines] = nil end
  return table.concat(lines, "\n") .. "\n"
end

return layout
