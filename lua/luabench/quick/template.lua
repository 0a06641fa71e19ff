-- Placeholders in what quick mode sends: {uuid}, {seq}, {rand:1-1000} and {line:FILE}. A text is compiled once: into itself when it has none, so that nothing is to
-- be done for it in the run, or else into pieces. A *scope* holds the placeholders of one request; each of them has one value in it, wherever it stands.
local core = require "luabench.core"
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local permissions = require "luabench.permissions"
local random = require "luabench.random"
local stage = require "luabench.stage"

local template = {}

local show = errors.show
local type, concat, floor, format, gsub, byte = type, table.concat, math.floor, string.format, string.gsub, string.byte
local core_int, uuid = core.random_int, random.uuid

local EXAMPLES = { uuid = "{uuid}", seq = "{seq}", rand = "{rand:1-1000}", line = "{line:FILE}" }
local LITERAL = "--literal sends braces as they stand"

-- Kinds of placeholders: a function (what stands behind the colon or nil) to a function (user) that gives a value, or nil, what is wrong, and true when that is
-- not how it is written.

local makers = {}

function makers.uuid(rest)
  if rest then return nil, "takes no more than its name" end
  stage.random = true
  return function() return uuid() end
end

function makers.seq(rest)
  if rest then return nil, "takes no more than its name" end
  return function(user) return format("%.0f", user.sequence) end
end

function makers.rand(rest)
  local least, most = (rest or ""):match("^(%-?%d+)%-(%-?%d+)$")
  least, most = tonumber(least), tonumber(most)
  if not least or math.abs(least) > 2 ^ 53 or math.abs(most) > 2 ^ 53 then return nil, "needs two whole numbers" end
  if most < least or most - least >= 2 ^ 53 then return nil, "the smaller number comes first" end
  stage.random = true
  return function() return format("%.0f", core_int(least, most)) end
end

local sources = {} -- path → rows: all that name a file draw from it in turn

local function open(path)
  if not core.file_kind(path) then return nil, "No such file or directory" end
  local real, why = permissions.readable(path)
  if not real or why then return nil, why end
  local rows
  rows, why = core.rows_open(real, path, "lines", "circular", false, 1)
  return rows, why
end

function makers.line(path)
  if not path or path == "" then return nil, "needs the path of a file" end
  local why
  if not sources[path] then sources[path], why = open(path) end
  local rows = sources[path]
  if not rows then return nil, "cannot be read: " .. why, true end
  return function() return rows:next() end
end

--- Forgets the files; before a command line is read.
function template.reset() sources = {} end

-- Scopes ----------------------------------------------------------------------------------------------------------------

local Scope = {}
Scope.__index = Scope

--- A scope without placeholders.
function template.scope()
  return setmetatable({ numbers = {}, makers = {}, values = {}, count = 0 }, Scope)
end

--- Draws the values of the next request.
function Scope:draw(user)
  local values, list = self.values, self.makers
  for i = 1, self.count do values[i] = list[i](user) end
end

-- The number of a placeholder ("rand:1-6") in the scope, added when it is new; nil for braces that are none.
local function number_of(scope, inner, where)
  local known = scope.numbers[inner]
  if known then return known end
  local name, rest = inner:match("^(%a+)$"), nil
  if not name then name, rest = inner:match("^(%a+):(.*)$") end
  if not name then return nil end
  if not makers[name] then
    local meant = makers[name:lower()] and name:lower() or rest and nearest.name(name, EXAMPLES)
    if meant then errors.usage("%s: {%s} is no placeholder; did you mean %s? (%s)", where, inner, EXAMPLES[meant], LITERAL) end
    return nil
  end
  local make, why, well_written = makers[name](rest)
  if not make and well_written then errors.usage("%s: {%s} %s", where, inner, why) end
  if not make then errors.usage("%s: {%s}: %s; write %s (%s)", where, inner, why, EXAMPLES[name], LITERAL) end
  scope.count = scope.count + 1
  scope.makers[scope.count], scope.numbers[inner] = make, scope.count
  return scope.count
end

-- Texts -----------------------------------------------------------------------------------------------------------------

local Text = {}
Text.__index = Text

--- Compiles a text for `scope`; `where` is what it belongs to, in messages. Returns the text itself when there is no placeholder in it. `--literal`: none is looked for.
function template.compile(text, scope, where)
  if scope.literal or not text:find("{%a+[:}]") then return text end
  local pieces, slots, from = {}, {}, 1
  for before, inner, after in text:gmatch("(){(%a+:?[^{}\r\n]*)}()") do
    local number = number_of(scope, inner, where)
    if number then
      if before > from then pieces[#pieces + 1] = text:sub(from, before - 1) end
      pieces[#pieces + 1] = ""
      slots[#slots + 1], slots[#slots + 2] = #pieces, number
      from = after
    end
  end
  if #slots == 0 then return text end
  pieces[#pieces + 1] = text:sub(from)
  return setmetatable({ pieces = pieces, slots = slots, values = scope.values }, Text)
end

--- Several compiled texts, one behind the other.
function template.join(list)
  local pieces, slots, values = {}, {}, nil
  for _, each in ipairs(list) do
    if type(each) == "string" then
      pieces[#pieces + 1] = each
    else
      for i = 1, #each.slots, 2 do slots[#slots + 1], slots[#slots + 2] = #pieces + each.slots[i], each.slots[i + 1] end
      for _, piece in ipairs(each.pieces) do pieces[#pieces + 1] = piece end
      values = each.values
    end
  end
  if not values then return concat(pieces) end
  return setmetatable({ pieces = pieces, slots = slots, values = values }, Text)
end

--- The text with the values that were drawn last.
function template.fill(text)
  if type(text) == "string" then return text end
  local pieces, slots, values = text.pieces, text.slots, text.values
  for i = 1, #slots, 2 do pieces[slots[i]] = values[slots[i + 1]] end
  return concat(pieces)
end

local function escape_byte(char) return format("%%%02X", byte(char)) end

--- The same for a URL: what cannot stand in one is percent-encoded.
function template.fill_url(text)
  return (gsub(template.fill(text), "[^%w%-._~:/?#%[%]@!$&'()*+,;=%%{}|]", escape_byte))
end

return template
