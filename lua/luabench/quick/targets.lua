-- --urls FILE: what to request, a line each. A line is a URL, or METHOD URL; indented or not, header lines and `@FILE`, the body, may follow, as in the lists of vegeta.
-- Blank lines and those that begin with # mean nothing.
local errors = require "luabench.errors"
local files = require "luabench.files"
local permissions = require "luabench.permissions"
local url = require "luabench.url"

local targets = {}

local show = errors.show

local function wrong(place, message, ...) errors.usage("%s: " .. message, place, ...) end

local function body_of(path, place)
  local real, why = permissions.readable(path)
  if not real or why then wrong(place, "cannot read %s: %s", errors.path(path), why) end
  local text
  text, why = files.read(real, nil, true)
  if not text then wrong(place, "cannot read %s: %s", errors.path(path), why) end
  return text
end

-- What a line says of the request above it; false when it begins another one.
local function add_to(current, line, place)
  if line:find("^@") then
    if not current then wrong(place, "%s stands before the first URL", show(line)) end
    if current.body then wrong(place, "a second body; the first one is %s", show(current.body_from)) end
    current.body, current.body_from = body_of(line:sub(2):match("^%s*(.*)$"), place), line
    return true
  end
  if not line:find("^[%w!#$%%&'*+%-.^_`|~]+:%s") then return false end
  if not current then wrong(place, "the header %s stands before the first URL", show(line)) end
  current.headers[#current.headers + 1] = line
  return true
end

local function begin(line, place)
  local method, address = line:match("^(%u[%u%-]*)%s+(%S.*)$")
  address = address or line
  if not url.looks_like(address) then wrong(place, "%s is not a URL; a line is a URL, or METHOD URL, a header, @FILE, or a comment that begins with #", show(line)) end
  return { method = method, url = url.with_scheme(address), headers = {}, where = place }
end

--- The list in the file at `path` ("-": standard input): { method or nil, url, headers ("Name: value"), body or nil, where }.
function targets.read(path)
  local text, why = files.read(path == "-" and "/dev/stdin" or path, nil, true)
  if not text then errors.usage("--urls: cannot read %s: %s", errors.path(path), why) end
  local list, number = {}, 0
  for line in (text:gsub("^\239\187\191", "") .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    line = line:match("^%s*(.-)%s*$")
    local place = ("%s, line %d"):format(errors.path(path), number)
    if line ~= "" and line:sub(1, 1) ~= "#" and not add_to(list[#list], line, place) then list[#list + 1] = begin(line, place) end
  end
  if #list == 0 then errors.usage("--urls: there is no URL in %s", errors.path(path)) end
  return list
end

return targets
