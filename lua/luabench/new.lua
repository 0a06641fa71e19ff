-- luabench new NAME: a script to begin with, and .luarc.json, so that editors know luabench's names.
local core = require "luabench.core"
local errors = require "luabench.errors"
local files = require "luabench.files"
local terminal = require "luabench.terminal"

local new = {}

local SCRIPT = [[
-- %s: what this test is about.    luabench %s
local p = params {
  users = { 10, "concurrent users" },
  duration = { "30s", "how long" },
}

scenario "%s" {
  target = "http://127.0.0.1:8080",
  users = p.users,
  duration = p.duration,
  thresholds = { "http.latency: p(95) < 500ms", "http.errors: rate < 1%%" },
  run = function(user)
    local res = http.get("/")
    check("status is 200", res.status == 200)
    sleep(0.5, 1.5)
  end,
}
]]

local RC = [[
{
  "runtime.version": "LuaJIT",
  "workspace.library": ["%s/library"]
}
]]

local function write(path, text)
  local file, why = io.open(path, "wb")
  local written = file and file:write(text)
  if file then written = file:close() and written end
  if not written then errors.usage("cannot write %s", why or path) end
end

local LONGEST = 255 -- bytes of a file's name (limits.h, NAME_MAX)

-- Ends the command when no script can have this path.
local function check(path)
  local base, folder = files.base(path), files.folder(path)
  local name = base:gsub("%.lua$", "")
  if terminal.escape(path) ~= path then errors.usage("new: a name is a line of text, not %s", errors.show(path)) end
  if name:find("^[%.%s]*$") or base:find("^%-") then errors.usage("new: %s is no name for a script; write luabench new shop", errors.show(base)) end
  if #base > LONGEST then errors.usage("new: the name has %d bytes, and a file's name at most %d", #base, LONGEST) end
  if core.file_kind(folder) ~= "directory" then errors.usage("new: there is no folder %s; make it first", errors.show(folder)) end
  if core.file_kind(path) then errors.usage("%s is there already", errors.path(path)) end
end

-- A word of a shell's command line.
local function quoted(word)
  return word:find("^[%w_./%-]+$") and word or "'" .. word:gsub("'", "'\\''") .. "'"
end

--- Writes NAME.lua and, unless there is one, .luarc.json beside it; returns what was done, in words.
function new.make(words)
  local name = words[1]
  if not name or name:find("^%-") or words[2] then errors.usage("new takes the name of the script: luabench new shop") end
  local path = name:find("%.lua$") and name or name .. ".lua"
  check(path)
  local base = files.base(path)
  write(path, SCRIPT:format(base, quoted(path), (base:gsub("%.lua$", ""):gsub('["\\]', "_"))))
  local rc, text = files.folder(path) .. "/.luarc.json", ("wrote %s; try it with: luabench %s http://127.0.0.1:8080/\n"):format(errors.path(path), quoted(path))
  rc = rc:gsub("^%./", "")
  if files.exists(rc) then return text .. rc .. " is there already and was left as it is\n" end
  write(rc, RC:format(core.root))
  return text .. "wrote " .. rc .. ", with which editors know luabench's names\n"
end

return new
