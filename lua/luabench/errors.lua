-- The two ways in which a person is told of a mistake. `usage`: the command line, or the script as a whole, cannot be carried out; it ends
-- `command` with a message and exit status 2. `script`: a function was called wrongly; a Lua error at the line of the script that called it.
-- Any other error is ours and keeps its traceback.
local terminal = require "luabench.terminal"

local errors = {}

local format, find, getinfo, getmetatable = string.format, string.find, debug.getinfo, debug.getmetatable

local Usage = {}
Usage.__index = Usage
Usage.__metatable = false -- scripts may catch it
Usage.__tostring = function(self) return self.text end

local function text_of(message, ...)
  if select("#", ...) == 0 then return message end
  return format(message, ...)
end

--- Ends `command` with this message and status 2. With one argument it is shown as it is, with more it is a format.
function errors.usage(message, ...)
  error(setmetatable({ text = text_of(message, ...) }, Usage), 0)
end

--- True for what errors.usage raised.
function errors.is_usage(value)
  return getmetatable(value) == Usage
end

-- Where our own files are, as chunk names have it: "@lua/luabench/" in the binary.
local OURS = getinfo(1, "S").source:match("^(.*)errors%.lua$")

local function is_ours(source)
  return source:sub(1, #OURS) == OURS
end

--- The lines of a traceback that show the script: those above our own loader, without our functions and C's.
function errors.script_frames(traceback)
  local frames = {}
  for line in traceback:gmatch("[^\n]+") do
    local where = line:match("^%s+(.*)")
    if where and is_ours("@" .. where) then
      if where:find("script.lua:", 1, true) then break end
    elseif where and not find(where, "^%[C%]") then
      frames[#frames + 1] = line
    end
  end
  return frames
end

-- What getinfo says of the innermost function of the script that is being executed, or nil.
local function innermost()
  for level = 3, 100 do
    local info = getinfo(level, "Sl")
    if not info then return nil end
    if info.what ~= "C" and info.currentline > 0 and not is_ours(info.source) then return info end
  end
end

--- "script.lua:12" of the innermost line of the script that is being executed, or nil.
function errors.where()
  local info = innermost()
  return info and info.short_src .. ":" .. info.currentline
end

--- True when that line is in the file at `path`.
function errors.is_in(path)
  local info = innermost()
  return info ~= nil and info.source == "@" .. path
end

--- A Lua error at the script's line, whatever the depth of our own functions.
function errors.script(message, ...)
  local where = errors.where()
  error((where and where .. ": " or "") .. text_of(message, ...), 0)
end

--- What is wrong with a file that does not compile: `why`, unless it holds bytes that no text has.
function errors.not_compiled(text, path, why)
  return text:find("[%z\1-\8\14-\31\127]") and errors.path(path) .. " is not a text file" or why
end

--- The smallest script, for messages that have to show one.
errors.SMALLEST = [[
  scenario "hello" {
    target = "http://127.0.0.1:8080",
    users = 1,
    duration = "10s",
    run = function()
      local res = http.get("/")
      check("status is 200", res.status == 200)
    end,
  }]]

-- The length of the longest part of at most `most` bytes that ends no character of UTF-8 in the middle.
local function whole(text, most)
  while most > 0 and find(text, "^[\128-\191]", most + 1) do most = most - 1 end
  return most
end

--- How a value is shown in a message: whole numbers in all their digits, strings in quotes, long ones cut, tables and functions by their kind.
function errors.show(value)
  local kind = type(value)
  if kind == "string" then
    return '"' .. terminal.escape(#value > 60 and value:sub(1, whole(value, 57)) .. "..." or value) .. '"'
  elseif kind == "number" and value % 1 == 0 and value < 1e21 and value > -1e21 then
    return format("%.0f", value)
  elseif kind == "number" or kind == "boolean" or kind == "nil" then
    return tostring(value)
  end
  return "a " .. kind
end

--- How the name of a field is shown in a message.
function errors.field(key)
  return type(key) == "string" and #key < 60 and not find(key, "%c") and "`" .. key .. "`" or errors.show(key)
end

--- How a path is shown in a message: as it is, unless there is something in it that would be misread.
function errors.path(path)
  return (path == "" or path:find("[%c ]") or #path > 200) and errors.show(path) or terminal.escape(path)
end

return errors
