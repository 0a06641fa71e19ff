-- -F: forms as curl has them: NAME=VALUE, NAME=@FILE, and behind a file ;type=... and ;filename=... The body is made before the run: files are read into memory.
local errors = require "luabench.errors"
local files = require "luabench.files"
local multipart = require "luabench.multipart"
local template = require "luabench.quick.template"

local form = {}

local show = errors.show

local ATTRIBUTES = { type = true, filename = true }

-- "a.txt;type=text/plain" → { name, file = "a.txt", type = "text/plain" }; nil and what is wrong.
local function read_file_part(name, text)
  local part = { name, file = text:match("^[^;]*") }
  for key, value in text:gmatch(";%s*(%a+)=([^;]*)") do
    if not ATTRIBUTES[key] or value == "" then return nil, ("%s is neither ;type=TYPE nor ;filename=NAME, which can stand behind a file"):format(show(";" .. key .. "=" .. value)) end
    part[key] = value
  end
  if part.file == "" then return nil, ("which file? write %s=@FILE"):format(name) end
  return part
end

--- Reads the text of one -F; nil and what is wrong.
function form.read(text)
  local name, value = text:match("^([^=]+)=(.*)$")
  if not name then return nil, show(text) .. " is neither NAME=VALUE nor NAME=@FILE" end
  if value:sub(1, 1) == "@" then return read_file_part(name, value:sub(2)) end
  return { name, value }
end

local function content(path)
  local text, why = files.read(path, nil, true)
  if not text then errors.usage("-F: cannot read %s: %s", errors.path(path), why) end
  return text
end

--- The body of a list of parts, compiled for `scope`, and the value of its Content-Type. Placeholders are looked for in values, not in files.
function form.body(list, scope)
  local parts, why = multipart.read(list)
  if not parts then errors.usage("-F: %s", why) end
  local of_file, values = {}, {}
  for _, part in ipairs(parts) do
    if part.path then of_file[part.path] = content(part.path) else values[#values + 1] = part.text end
  end
  local boundary = multipart.boundary(parts)
  local pieces = {}
  for i, piece in ipairs(multipart.body(parts, boundary, function(path) return { path } end)) do
    pieces[i] = type(piece) == "table" and of_file[piece[1]] or template.compile(piece, scope, "-F")
  end
  return template.join(pieces), "multipart/form-data; boundary=" .. boundary
end

return form
