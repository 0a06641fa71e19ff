-- Reading whole files, and where scripts and modules are looked for.
local files = {}

--- The text of a file, or nil and the reason without the path in it.
function files.read(path)
  local file, why = io.open(path, "rb")
  if not file then return nil, (why:gsub("^.*: ", "")) end
  local text, read_why = file:read("*a")
  file:close()
  if not text then return nil, (tostring(read_why):gsub("^.*: ", "")) end
  return text
end

--- True for a file that can be opened and read (a folder cannot).
function files.exists(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local readable = file:read(0) ~= nil or file:seek("end") == 0
  file:close()
  return readable
end

--- The folder of a path, "." when it names none.
function files.folder(path)
  local folder = path:match("^(.*)/[^/]*$")
  if not folder then return "." end
  return folder == "" and "/" or folder
end

--- The last part of a path.
function files.base(path)
  return path:match("[^/]*$")
end

return files
