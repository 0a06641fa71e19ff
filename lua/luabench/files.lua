-- Reading whole files, and where scripts and modules are looked for.
local core = require "luabench.core"
local stage = require "luabench.stage"

local files = {}

files.SCRIPT = 16 * 1024 * 1024 -- bytes: the largest script or module
files.TEXT = 256 * 1024 * 1024   -- and any other file that is read into memory

--- The text of a file of at most `most` bytes (files.TEXT), or nil and the reason without the path in it. What can be read but once, a pipe or standard input, is read once for all
--- states; with `keep` so is every file.
function files.read(path, most, keep)
  local limit = most or files.TEXT
  local text, why = core.read_file(path, limit, keep or false)
  if text then return text end
  if why == "it is too large" then why = ("it is larger than %d MiB"):format(limit / 1024 ^ 2) end
  return nil, why
end

--- The text of a script or module: the same in all states.
function files.source(path)
  local text, why = files.read(path, files.SCRIPT, true)
  if text and text:find("random", 1, true) then stage.random = true end
  return text, why
end

--- True for what may be read as a file: not for a folder, nor for nothing. It is not opened, since a pipe can be opened but once.
function files.exists(path)
  local kind = core.file_kind(path)
  return kind == "file" or kind == "other"
end

--- The folder of a path, "." when it names none.
function files.folder(path)
  local folder = path:match("^(.*)/[^/]*$")
  if not folder then return "." end
  return folder == "" and "/" or folder
end

--- The folder of a script, in which its paths begin: that of its file, or the current one when it comes through a pipe or a descriptor.
function files.script_folder(path)
  if core.file_kind(path) ~= "file" or path:find("^/dev/") or path:find("^/proc/") then return "." end
  return files.folder(path)
end

--- The last part of a path.
function files.base(path)
  return path:match("[^/]*$")
end

return files
