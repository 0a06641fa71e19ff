-- The body of a request: `body`, `file`, `json`, `form` or `multipart`, of which there is at most one.
local core = require "luabench.core"
local errors = require "luabench.errors"
local multipart = require "luabench.multipart"
local units = require "luabench.units"
local url = require "luabench.url"

local body = {}

local show = errors.show

-- Files that are open, by the path that the script gives: they stay open, since the next request may send them again.
local MOST_FILES = 256
local files, file_count = {}, 0

local function open(path)
  local file = files[path]
  if file then return file end
  local real, why = require("luabench.permissions").readable(path)
  if real and not why then file, why = core.upload_file(real) end
  if not file then errors.script("%s: %s", show(path), why) end
  if file_count >= MOST_FILES then files, file_count = {}, 0 end
  files[path], file_count = file, file_count + 1
  return file
end

local readers = {}

function readers.body(value)
  if type(value) == "string" then return value end
  if type(value) == "number" then return units.digits(value) end
  errors.script("`body` must be a string, not %s%s", show(value), type(value) == "table" and "; to send it as JSON write json = { ... }" or "")
end

function readers.json(value)
  local text, why = core.json_encode(value)
  if not text then errors.script("`json`: %s", why) end
  return text, "Content-Type: application/json\r\n"
end

function readers.form(value)
  if type(value) ~= "table" then errors.script("`form` must be a table, not %s; write form = { name = value }", show(value)) end
  local text, why = url.form(value)
  if not text then errors.script("%s", why) end
  return text, "Content-Type: application/x-www-form-urlencoded\r\n"
end

function readers.file(value)
  if type(value) ~= "string" or value == "" then errors.script("`file` must be a path, not %s", show(value)) end
  return core.upload { open(value) }
end

function readers.multipart(value)
  local parts, why = multipart.read(value)
  if not parts then errors.script("`multipart`: %s", why) end
  local boundary = multipart.boundary(parts)
  local pieces = multipart.body(parts, boundary, open)
  return pieces[2] and core.upload(pieces) or pieces[1], "Content-Type: multipart/form-data; boundary=" .. boundary .. "\r\n"
end

local KINDS = { "body", "json", "form", "file", "multipart" }

--- What the options give: a body for core.send or nil, and the line with its type or nil.
function body.read(opts)
  local found
  for i = 1, #KINDS do
    local kind = KINDS[i]
    if opts[kind] ~= nil then
      if found then errors.script("`%s` and `%s` both give a body: use one", found, kind) end
      found = kind
    end
  end
  if found then return readers[found](opts[found]) end
end

return body
