-- CSS selectors as XPath: what scripts use of Selectors Level 3 and 4 to find elements in a page. Names of elements and attributes are those of HTML, in any case.
--   E  *  #id  .class  [a] [a=v] [a~=v] [a|=v] [a^=v] [a$=v] [a*=v] (with i)  A B  A > B  A + B  A ~ B  A, B
--   :first-child :last-child :only-child :nth-child(an+b) :nth-last-child(..) the same with -of-type  :empty :root :not(..) :checked :disabled :enabled :selected
--   :contains("text") (of jQuery)
local css = {}

local find, format, gsub, lower, match, sub = string.find, string.format, string.gsub, string.lower, string.match, string.sub
local concat = table.concat

-- Mistakes are thrown as tables, so that errors of ours are not taken for them.
local function refuse(...)
  error({ wrong = format(...) }, 0)
end

local IDENTIFIER = "^([%w_\128-\255-]+)()"

-- An XPath literal: XPath 1.0 has no escapes.
local function literal(text)
  if not find(text, '"', 1, true) then return '"' .. text .. '"' end
  if not find(text, "'", 1, true) then return "'" .. text .. "'" end
  return 'concat("' .. gsub(text, '"', "\", '\"', \"") .. '")'
end

local UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

local function folded(expression) return format("translate(%s, '%s', '%s')", expression, UPPER, LOWER) end

local function has_word(attribute, word)
  return format('contains(concat(" ", normalize-space(%s), " "), %s)', attribute, literal(" " .. word .. " "))
end

-- Conditions for [attribute OPERATOR value].
local OPERATORS = {
  ["="] = function(a, v) return format("%s = %s", a, literal(v)) end,
  ["~="] = function(a, v) return v ~= "" and not find(v, "%s") and has_word(a, v) or "false()" end,
  ["|="] = function(a, v) return format("(%s = %s or starts-with(%s, %s))", a, literal(v), a, literal(v .. "-")) end,
  ["^="] = function(a, v) return v ~= "" and format("starts-with(%s, %s)", a, literal(v)) or "false()" end,
  ["$="] = function(a, v) return v ~= "" and format("substring(%s, string-length(%s) - %d) = %s", a, a, #gsub(v, "[\128-\191]", "") - 1, literal(v)) or "false()" end,
  ["*="] = function(a, v) return v ~= "" and format("contains(%s, %s)", a, literal(v)) or "false()" end,
}

-- A quoted string or an identifier at `position`.
local function read_value(text, position)
  local quote = match(text, "^[\"']", position)
  if not quote then
    local value, after = match(text, IDENTIFIER, position)
    if not value then refuse("a value is missing at %q", sub(text, position)) end
    return value, after
  end
  local value, i = "", position + 1
  while true do
    local c = sub(text, i, i)
    if c == "" then refuse("a quote is not closed in %q", text) end
    if c == quote then return value, i + 1 end
    if c == "\\" then i, c = i + 1, sub(text, i + 1, i + 1) end
    value, i = value .. c, i + 1
  end
end

local function read_attribute(text, position)
  local name, after = match(text, "^%[%s*([%w_:.-]+)%s*()", position)
  if not name then refuse("the name of an attribute is missing at %q", sub(text, position)) end
  local attribute = "@" .. lower(name)
  local closed = match(text, "^%]()", after)
  if closed then return attribute, closed end
  local operator, value_at = match(text, "^([~|^$*]?=)%s*()", after)
  if not operator then refuse("%q has no operator like = or ^=", sub(text, position)) end
  local value, behind = read_value(text, value_at)
  local insensitive, stop = match(text, "^%s*([iI]?)%s*%]()", behind)
  if not stop then refuse("the ] is missing in %q", sub(text, position)) end
  if insensitive ~= "" then attribute, value = folded(attribute), lower(value) end
  return OPERATORS[operator](attribute, value), stop
end

-- `an+b` as a condition on the position counted by `count`.
local function nth(argument, count)
  local text = lower(gsub(argument, "%s", ""))
  if text == "odd" then text = "2n+1" elseif text == "even" then text = "2n" end
  local a, b = match(text, "^([+-]?%d*)n([+-]?%d*)$")
  if not a then
    b = match(text, "^[+]?(%-?%d+)$")
    if not b then refuse("%q is no position; write 3, odd, even or 2n+1", argument) end
    return format("%s = %s", count, b)
  end
  a = tonumber(a) or (a == "-" and -1 or 1)
  b = b == "" and 0 or tonumber(b)
  if not b then refuse("%q is no position; write 3, odd, even or 2n+1", argument) end
  if a == 0 then return format("%s = %d", count, b) end
  local limit = a > 0 and format("%s >= %d", count, b) or format("%s <= %d", count, b)
  return format("(%s and (%s - %d) mod %d = 0)", limit, count, b, math.abs(a))
end

-- Of a compound selector whose element is `element` ("*" or a name).
local function before(element) return format("(count(preceding-sibling::%s) + 1)", element) end
local function behind(element) return format("(count(following-sibling::%s) + 1)", element) end

local read_list

local SIMPLE = {
  ["first-child"] = "not(preceding-sibling::*)", ["last-child"] = "not(following-sibling::*)", ["only-child"] = "not(preceding-sibling::* or following-sibling::*)",
  ["empty"] = "not(*) and not(text())", ["root"] = "not(parent::*)", ["checked"] = "(@checked or @selected)", ["selected"] = "@selected", ["disabled"] = "@disabled",
  ["enabled"] = "(self::button or self::input or self::select or self::textarea or self::option) and not(@disabled)",
}

local OF_TYPE = {
  ["first-of-type"] = "not(preceding-sibling::%s)", ["last-of-type"] = "not(following-sibling::%s)", ["only-of-type"] = "not(preceding-sibling::%s or following-sibling::%s)",
}

local function typed(argument, element, count)
  if element == "*" then refuse("a position among elements of a type needs an element before it") end
  return nth(argument, count(element))
end

local FUNCTIONS = {
  ["nth-child"] = function(argument) return nth(argument, before "*") end,
  ["nth-last-child"] = function(argument) return nth(argument, behind "*") end,
  ["nth-of-type"] = function(argument, element) return typed(argument, element, before) end,
  ["nth-last-of-type"] = function(argument, element) return typed(argument, element, behind) end,
  ["contains"] = function(argument) return format("contains(., %s)", literal((read_value(argument, match(argument, "^%s*()"))))) end,
  ["not"] = function(argument) return "not(" .. read_list(argument, true) .. ")" end,
}

-- What stands in the parentheses that open at `position`, and the position behind them.
local function read_argument(text, position)
  local depth, quote, i = 0, nil, position
  while i <= #text do
    local c = sub(text, i, i)
    if quote then
      if c == "\\" then i = i + 1 elseif c == quote then quote = nil end
    elseif c == '"' or c == "'" then
      quote = c
    elseif c == "(" then
      depth = depth + 1
    elseif c == ")" then
      depth = depth - 1
      if depth == 0 then return sub(text, position + 1, i - 1), i + 1 end
    end
    i = i + 1
  end
  refuse("a parenthesis is not closed in %q", text)
end

local function read_pseudo(text, position, element)
  local name, after = match(text, "^::?([%w-]+)()", position)
  if not name then refuse("a name is missing after : in %q", text) end
  name = lower(name)
  if sub(text, position, position + 1) == "::" then refuse("::%s is no element of the page", name) end
  if sub(text, after, after) == "(" then
    local make = FUNCTIONS[name]
    if not make then refuse(":%s() is not known", name) end
    local argument, stop = read_argument(text, after)
    return make(argument, element), stop
  end
  if OF_TYPE[name] then
    if element == "*" then refuse(":%s needs an element before it", name) end
    return (gsub(OF_TYPE[name], "%%s", element)), after
  end
  if FUNCTIONS[name] then refuse(":%s needs something in parentheses", name) end
  if not SIMPLE[name] then refuse(":%s is not known", name) end
  return SIMPLE[name], after
end

-- One condition at `position`, and where it ends; nil when there is none.
local function read_condition(text, position, element)
  local first = sub(text, position, position)
  if first == "#" or first == "." then
    local name, after = match(text, IDENTIFIER, position + 1)
    if not name then refuse("a name is missing after %s in %q", first, text) end
    return first == "#" and "@id = " .. literal(name) or has_word("@class", name), after
  end
  if first == "[" then return read_attribute(text, position) end
  if first == ":" then return read_pseudo(text, position, element) end
end

-- A compound selector: its element, its conditions, the position behind it.
local function read_compound(text, position)
  local element, after = match(text, "^([%a_][%w_-]*)()", position)
  if not element then element, after = match(text, "^(%*)()", position) end
  local conditions = {}
  position = after or position
  element = element and lower(element)
  while true do
    local condition, stop = read_condition(text, position, element or "*")
    if not condition then break end
    conditions[#conditions + 1], position = condition, stop
  end
  if not element and #conditions == 0 then refuse("a selector is missing at %q", sub(text, position)) end
  return element or "*", conditions, position
end

local AXES = {
  [" "] = "//", [">"] = "/", ["~"] = "/following-sibling::", ["+"] = "/following-sibling::*[1]/self::",
}

local function with_conditions(conditions)
  return #conditions > 0 and "[" .. concat(conditions, "][") .. "]" or ""
end

-- A complex selector (compounds with combinators) as a path below the context node.
local function read_complex(text)
  local path, position, axis = ".//", 1, ""
  while true do
    local element, conditions, after = read_compound(text, position)
    path = path .. axis .. element .. with_conditions(conditions)
    local combinator, next_at = match(text, "^%s*([>+~])%s*()", after)
    if not combinator then combinator, next_at = match(text, "^(%s)%s*()", after) end
    if not combinator then
      if after <= #text then refuse("%q is not understood", sub(text, after)) end
      return path
    end
    axis, position = AXES[combinator] or AXES[" "], next_at
  end
end

-- The conditions of a compound alone, for :not().
local function read_alone(text)
  local element, conditions, after = read_compound(text, 1)
  if after <= #text then refuse(":not() takes simple selectors, not %q", text) end
  if element ~= "*" then conditions[#conditions + 1] = "self::" .. element end
  return #conditions > 0 and "(" .. concat(conditions, ") and (") .. ")" or "true()"
end

-- The parts of a list, split at commas that are in no parentheses, brackets or quotes.
local function split(text)
  local parts, depth, quote, start = {}, 0, nil, 1
  for i = 1, #text do
    local c = sub(text, i, i)
    if quote then
      if c == quote and sub(text, i - 1, i - 1) ~= "\\" then quote = nil end
    elseif c == '"' or c == "'" then
      quote = c
    elseif find(c, "[%(%[]") then
      depth = depth + 1
    elseif find(c, "[%)%]]") then
      depth = depth - 1
    elseif c == "," and depth == 0 then
      parts[#parts + 1], start = sub(text, start, i - 1), i + 1
    end
  end
  parts[#parts + 1] = sub(text, start)
  return parts
end

function read_list(text, alone)
  local paths = {}
  for i, part in ipairs(split(text)) do
    part = match(part, "^%s*(.-)%s*$")
    if part == "" then refuse("a selector is missing in %q", text) end
    paths[i] = (alone and read_alone or read_complex)(part)
  end
  return concat(paths, alone and " or " or " | ")
end

local kept, kept_count = {}, 0

--- The XPath of a selector, relative to a context node; or nil and what is wrong with it.
function css.xpath(selector)
  if kept[selector] then return kept[selector] end
  local ok, result = pcall(read_list, selector)
  if not ok then
    if type(result) == "table" and result.wrong then return nil, result.wrong end
    error(result, 0)
  end
  if kept_count >= 1000 then kept, kept_count = {}, 0 end
  kept[selector], kept_count = result, kept_count + 1
  return result
end

return css
