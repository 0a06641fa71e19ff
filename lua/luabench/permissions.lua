-- What a script may do beside sending requests: read below its own folder, and whatever --root, --allow-read, --allow-write, --allow-run, --allow-ffi or -A
-- give leave for. Paths are relative to the script's folder and are judged with all symbolic links resolved; the resolved path is the one to open.
local core = require "luabench.core"
local errors = require "luabench.errors"

local permissions = {}

local format = string.format

local NEVER = { "/proc", "/sys", "/dev" } -- read with -A alone

local folder = "."        -- the script's
local readable = {}       -- folders and files, resolved
local writable = {}
local leave = {}          -- "run", "ffi", "all" → true
local reads               -- what may be read without leave, in words

local function resolved_list(list)
  local result = {}
  for _, path in ipairs(list or {}) do result[#result + 1] = core.realpath(path) end
  return result
end

-- Files that the command line names are for the script to read: values of -p and what follows --.
local function named_files(given)
  local list = {}
  for _, word in ipairs(given.args or {}) do list[#list + 1] = core.realpath(word) end
  for _, pair in ipairs(given.params or {}) do list[#list + 1] = core.realpath(pair[2]) end
  return list
end

--- Told before a script is loaded: its folder, and the options of the command line; `given.reads` says in words what may be read, where there is no script.
function permissions.configure(script_folder, given)
  folder = script_folder
  readable = resolved_list(given.allow_read)
  writable = resolved_list(given.allow_write)
  readable[#readable + 1] = core.realpath(given.root or script_folder)
  if given.root then readable[#readable + 1] = core.realpath(script_folder) end
  for _, path in ipairs(named_files(given)) do
    if not path:find("^/$") then readable[#readable + 1] = path end
  end
  reads = given.reads or "a script may read below its own folder alone"
  leave = { all = given.allow_all, run = given.allow_all or given.allow_run, ffi = given.allow_all or given.allow_ffi }
end

local function is_inside(path, folders)
  for _, each in ipairs(folders) do
    if path == each or each == "/" or path:sub(1, #each + 1) == each .. "/" then return true end
  end
  return false
end

-- The path without symbolic links, also of a file that is not there yet, nor its folder; nil and why not.
local function resolve(path)
  local head, rest = path:sub(1, 1) == "/" and path or folder .. "/" .. path, ""
  local real, why = core.realpath(head)
  while not real do
    local parent, name = head:match("^(.*)/([^/]+)/*$")
    if not parent or name == "." or name == ".." then return nil, why end
    head, rest = parent == "" and "/" or parent, "/" .. name .. rest
    real = core.realpath(head)
  end
  return (real == "/" and rest ~= "" and "" or real) .. rest, why
end

local function folder_of(path)
  local parent = path:match("^(.*)/[^/]*$")
  return (parent == nil or parent == "") and "/" or parent
end

--- The resolved path of a file that the script may read; or nil and why it may not, or cannot.
function permissions.readable(path)
  if path:find("%z") then return nil, "the path contains a zero byte" end
  local real, why = resolve(path)
  if leave.all then return real, why end
  if real and is_inside(real, NEVER) then return nil, "nothing below /proc, /sys and /dev can be read without -A" end
  if not real or not is_inside(real, readable) then
    return nil, format("%s; --allow-read=%s gives leave", reads, folder_of(real or path))
  end
  return real, why
end

--- The resolved path of a file that the script may write; or nil and why it may not.
function permissions.writable(path)
  if path:find("%z") then return nil, "the path contains a zero byte" end
  local real, why = resolve(path)
  if leave.all then return real, why end
  if not real or is_inside(real, NEVER) or not is_inside(real, writable) then
    return nil, format("a script may not write files; --allow-write=%s gives leave", folder_of(real or path))
  end
  return real
end

--- True when what `kind` names ("run", "ffi", "all") is allowed.
function permissions.allows(kind)
  return leave[kind] == true
end

local FLAG = { run = "--allow-run", ffi = "--allow-ffi", all = "-A" }

--- Raises the error that names the flag, at the script's line, unless it is given.
function permissions.demand(kind, what)
  if not leave[kind] then errors.script("%s is not allowed to scripts; %s gives leave", what, FLAG[kind]) end
end

return permissions
