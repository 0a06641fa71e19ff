-- Text that is safe to print and known in width. Names, error texts and header values come from scripts and servers: their control
-- characters are shown, never sent to the terminal. Widths are in columns, not bytes.

local terminal = {}

local byte, sub = string.byte, string.sub

-- Continuation bytes and the smallest code point of a sequence that begins with `lead`.
local function sequence(lead)
  if lead < 0x80 then return 0, lead, 0 end
  if lead >= 0xc2 and lead <= 0xdf then return 1, lead - 0xc0, 0x80 end
  if lead >= 0xe0 and lead <= 0xef then return 2, lead - 0xe0, 0x800 end
  if lead >= 0xf0 and lead <= 0xf4 then return 3, lead - 0xf0, 0x10000 end
end

--- The code point at byte `i` and the index after it; nil and i + 1 when the bytes there are not UTF-8.
function terminal.decode(text, i)
  local more, code, least = sequence(byte(text, i))
  if not more then return nil, i + 1 end
  for k = i + 1, i + more do
    local next_byte = byte(text, k)
    if not next_byte or next_byte < 0x80 or next_byte > 0xbf then return nil, i + 1 end
    code = code * 64 + next_byte - 0x80
  end
  if code < least or code > 0x10ffff or (code >= 0xd800 and code <= 0xdfff) then return nil, i + 1 end
  return code, i + more + 1
end

-- Control characters (C0, DEL, C1), line separators, and marks that turn the direction of writing: all can make a report say something else than it says.
local function is_dangerous(code)
  return code < 0x20 or (code >= 0x7f and code <= 0x9f) or code == 0x2028 or code == 0x2029 or (code >= 0x202a and code <= 0x202e)
    or (code >= 0x2066 and code <= 0x2069) or code == 0x200e or code == 0x200f or code == 0xfeff
end

local NAMED = { [9] = "\\t", [10] = "\\n", [13] = "\\r" }

local function show(code)
  if NAMED[code] then return NAMED[code] end
  return code < 0x100 and ("\\x%02x"):format(code) or ("\\u{%x}"):format(code)
end

--- `text` on one line with everything unprintable shown as \n, \x1b, \u{202e}; bytes that are not UTF-8 as \xff. Accepts any value.
function terminal.escape(text)
  text = tostring(text)
  if not text:find("[^\32-\126]") then return text end
  local out, i = {}, 1
  while i <= #text do
    local code, after = terminal.decode(text, i)
    if not code then
      out[#out + 1] = ("\\x%02x"):format(byte(text, i))
    elseif is_dangerous(code) then
      out[#out + 1] = show(code)
    else
      out[#out + 1] = sub(text, i, after - 1)
    end
    i = after
  end
  return table.concat(out)
end

--- Lines of text, each as terminal.escape gives it; tabs are blanks.
function terminal.lines(text)
  return (tostring(text):gsub("\t", "    "):gsub("[^\n]+", terminal.escape))
end

--- Valid UTF-8 for a JSON document: bytes that are not UTF-8, and NUL, are shown as \xNN; all else stays.
function terminal.utf8(text)
  if not text:find("[%z\128-\255]") then return text end
  local out, i = {}, 1
  while i <= #text do
    local code, after = terminal.decode(text, i)
    local bad = not code or code == 0
    out[#out + 1] = bad and ("\\x%02x"):format(byte(text, i)) or sub(text, i, after - 1)
    i = after
  end
  return table.concat(out)
end

-- first and last code points that take two columns
local WIDE = { 0x1100, 0x115f, 0x2e80, 0x303e, 0x3041, 0xa4cf, 0xa960, 0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe30, 0xfe6f, 0xff00, 0xff60, 0xffe0,
  0xffe6, 0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1faff, 0x20000, 0x3fffd }
-- ... and none: combining marks, zero-width characters
local EMPTY = { 0x300, 0x36f, 0x483, 0x489, 0x591, 0x5bd, 0x610, 0x61a, 0x64b, 0x65f, 0x200b, 0x200d, 0x20d0, 0x20ff, 0xfe00, 0xfe0f }

local function in_ranges(code, ranges)
  for i = 1, #ranges, 2 do
    if code >= ranges[i] and code <= ranges[i + 1] then return true end
  end
  return false
end

local function columns_of(code)
  if not code or code < 0x300 then return 1 end
  return in_ranges(code, EMPTY) and 0 or in_ranges(code, WIDE) and 2 or 1
end

--- Columns that escaped text takes.
function terminal.width(text)
  if not text:find("[\128-\255]") then return #text end
  local width, i = 0, 1
  while i <= #text do
    local code, after = terminal.decode(text, i)
    width, i = width + columns_of(code), after
  end
  return width
end

-- The longest beginning of `text` that fits in `columns`.
local function head(text, columns)
  local width, i = 0, 1
  while i <= #text do
    local code, after = terminal.decode(text, i)
    width = width + columns_of(code)
    if width > columns then return sub(text, 1, i - 1) end
    i = after
  end
  return text
end

--- Shortened with an ellipsis when it is wider than `columns`.
function terminal.fit(text, columns)
  if terminal.width(text) <= columns then return text end
  if columns < 1 then return "" end
  return head(text, columns - 1) .. "…"
end

-- The longest end of `text` that fits in `columns`.
local function tail(text, columns)
  local width, i = terminal.width(text), 1
  while width > columns do
    local code, after = terminal.decode(text, i)
    width, i = width - columns_of(code), after
  end
  return sub(text, i)
end

--- Shortened in the middle: for names that differ at their ends.
function terminal.squeeze(text, columns)
  if terminal.width(text) <= columns then return text end
  if columns < 3 then return terminal.fit(text, columns) end
  local before = math.floor((columns - 1) * 2 / 5)
  return head(text, before) .. "…" .. tail(text, columns - 1 - before)
end

--- Filled with spaces to `columns`, to the right, or to the left when `right` is true.
function terminal.pad(text, columns, right)
  local fill = (" "):rep(columns - terminal.width(text))
  return right and fill .. text or text .. fill
end

local function split_word(word, columns, lines)
  while terminal.width(word) > columns do
    local part = head(word, columns)
    if part == "" then break end
    lines[#lines + 1] = part
    word = sub(word, #part + 1)
  end
  return word
end

--- Breaks text at its spaces into lines of at most `columns`; a longer word is cut.
function terminal.wrap(text, columns)
  local lines, line = {}, nil
  for word in text:gmatch("%S+") do
    if line and terminal.width(line) + 1 + terminal.width(word) <= columns then
      line = line .. " " .. word
    else
      if line then lines[#lines + 1] = line end
      line = split_word(word, columns, lines)
    end
  end
  lines[#lines + 1] = line
  return lines
end

local CODES = { bold = "1", dim = "2", red = "31", green = "32", yellow = "33", cyan = "36" }

--- A painter: paint(style, text) gives the text in that style ("bold", "dim", "red", "green", "yellow", "cyan"), or the plain text when `color` is false.
function terminal.painter(color)
  return function(style, text)
    local code = color and CODES[style]
    return code and text ~= "" and "\27[" .. code .. "m" .. text .. "\27[0m" or text
  end
end

return terminal
