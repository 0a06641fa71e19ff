-- The manual of scripts: one entry for every global, function, key and field, in luabench/manual/*.lua. `luabench help NAME`, docs/reference.md and the annotations for
-- editors (lua/library) are all made of it, and tests hold it against what there really is and run every example.
--
-- To add an entry: { signature, text, example } in the section it belongs to. A signature is "name(parameter: type, optional?: type): result", or "name: type = default" for
-- a key or a field. An example is what stands in `run`, in the braces of a scenario (keys), or a whole script when it has a scenario; "-- top: " begins a line for the top.
-- Then run tools/manual.lua.
local manual = {}

local FILES = { "globals", "scenario", "compare", "http", "objects", "modules" }

-- The end of the part that begins at `i`: before the first of `stops` outside of all brackets.
local function part_end(text, i, stops)
  local depth = 0
  while i <= #text do
    local c = text:sub(i, i)
    if depth == 0 and stops:find(c, 1, true) then return i - 1 end
    if c:find("[%(%{%<%[]") then depth = depth + 1 elseif c:find("[%)%}%>%]]") then depth = depth - 1 end
    i = i + 1
  end
  return #text
end

local function read_params(text)
  local params, i = {}, 1
  while i <= #text do
    local last = part_end(text, i, ",")
    local name, optional, kind = text:sub(i, last):match("^%s*([%w_.]+)(%??):%s*(.*)$")
    params[#params + 1] = { name = name, optional = optional == "?", type = kind }
    i = last + 2
  end
  return params
end

local function read_signature(signature)
  local name, after = signature:match("^([%w_.:{}]-)()%f[(:%z]%(")
  if not name then
    local field, kind, default = signature:match("^(.-): (.-) = (.*)$")
    if not field then field, kind = signature:match("^([%w_.{}]+): (.*)$") end
    return { name = field, type = kind, default = default }
  end
  local close = part_end(signature, after + 1, ")")
  local returns = signature:sub(close + 2):match("^: (.*)$")
  return { name = name, is_function = true, params = read_params(signature:sub(after + 1, close)), returns = returns }
end

local function read_entry(section, row)
  local entry = read_signature(row[1])
  entry.section, entry.signature, entry.text, entry.example = section, row[1], row[2], row[3]
  return entry
end

local sections

--- All sections: { title, name, class, text, entries = { { name, signature, params, returns, type, default, text, example } } }.
function manual.sections()
  if sections then return sections end
  sections = {}
  for _, file in ipairs(FILES) do
    local data = require("luabench.manual." .. file)
    for _, section in ipairs(data.entries and { data } or data) do
      local entries = {}
      for i, row in ipairs(section.entries) do entries[i] = read_entry(section, row) end
      sections[#sections + 1] = { title = section.title, name = section.name, class = section.class, text = section.text, entries = entries }
    end
  end
  return sections
end

local function is_key(entry)
  return entry.section.class == "Scenario" or entry.section.class == "HttpOptions"
end

--- The name as a person writes it: keys without their place, "http{}.timeout" is `timeout`.
function manual.short(entry)
  return is_key(entry) and entry.name:match("[^.]*$") or entry.name
end

--- The example of an entry as a whole script.
function manual.script(entry)
  local example = entry.example
  if example:find('scenario "', 1, true) or example:find('compare "', 1, true) then return example .. "\n" end
  if is_key(entry) then
    local run = example:find("^run = ") and "" or '\n  run = function() http.get("/hello") end,'
    return ('scenario "example" {\n  %s,%s\n}\n'):format(example, run)
  end
  local top = {}
  example = example:gsub("%-%- top: ([^\n]*)\n", function(line)
    top[#top + 1] = line .. "\n"
    return ""
  end)
  return table.concat(top) .. 'scenario "example" {\n  run = function(user)\n    ' .. example:gsub("\n", "\n    ") .. "\n  end,\n}\n"
end

-- The form of a call for people: without types.
local function call_of(entry)
  if not entry.is_function then return manual.short(entry) end
  local names = {}
  for i, param in ipairs(entry.params) do names[i] = param.optional and "[" .. param.name .. "]" or param.name end
  return ("%s(%s)"):format(entry.name, table.concat(names, ", "))
end

local function facts(entry)
  local list = {}
  if not entry.is_function then list[1] = entry.type:gsub("|", " or ") .. (entry.default and ", default " .. entry.default or "") end
  if entry.returns then list[1] = "returns " .. entry.returns end
  return list[1] and " (" .. list[1] .. ")" or ""
end

-- help NAME ---------------------------------------------------------------------------------------------------------------

local function describe(entry)
  return ("%s%s\n  %s, in: %s\n\n  %s\n"):format(call_of(entry), facts(entry), entry.is_function and "function" or "key or field", entry.section.title, entry.text)
    .. "\n  Example:\n\n    " .. manual.script(entry):gsub("\n$", ""):gsub("\n", "\n    ") .. "\n"
end

local function list_section(section)
  local names = {}
  for i, entry in ipairs(section.entries) do names[i] = manual.short(entry) end
  return ("%s: %s\n  %s\n"):format(section.title, section.text, table.concat(names, ", "))
end

--- The text of `luabench help` without a name.
function manual.contents()
  local blocks = { "luabench help NAME shows one of these:\n" }
  for _, section in ipairs(manual.sections()) do blocks[#blocks + 1] = list_section(section) end
  return table.concat(blocks, "\n")
end

--- What there is to say of a name; or nil and the names that are near.
function manual.help(name)
  local found, names = {}, {}
  for _, section in ipairs(manual.sections()) do
    if section.name == name then found[#found + 1] = list_section(section) end
    for _, entry in ipairs(section.entries) do
      local short = manual.short(entry)
      if entry.name == name or short == name or entry.name:match("[^.:]*$") == name then found[#found + 1] = describe(entry) end
      names[#names + 1] = short
    end
  end
  if #found == 0 then return nil, require("luabench.nearest").hint(name, names) end
  return table.concat(found, "\n")
end

-- docs/reference.md -------------------------------------------------------------------------------------------------------

local HEAD = [[
# Reference of scripts

Every global, function, key and field, each with an example. An example for `run` stands alone; one with a line for the top of the script shows where
that goes. `luabench help NAME` shows the same in a terminal.

<!-- Made by tools/manual.lua from lua/luabench/manual/*.lua. -->
]]

local OF_LUA = [[
## What there is of Lua

A script is an ordinary chunk of LuaJIT, of whose names it has these:

%s

`load` takes text alone, `debug.getinfo` gives no functions, `math.random` draws from the user's generator and `math.randomseed` does nothing (see `--seed`),
`os.getenv` sees what `env` sees. `io.write`, `io.read`, `io.input`, `io.output`, `os.exit` and `os.setlocale` say what to use instead. `require` finds
`luabench.NAME`, `string.buffer`, `table.new`, `table.clear` and Lua files next to the script, in its `lib/` and in LuaRocks' 5.1 tree.

### What a script may do

It may use the network and read files below its own folder and those that the command line names. `--root DIR` names another folder;
`--allow-read[=DIR]` lets it read elsewhere, `--allow-write[=DIR]` write, remove and rename, `--allow-run` start programs (`os.execute`, `io.popen`),
`--allow-ffi` use `ffi` and modules written in C, and `-A` everything. Nothing below /proc, /sys and /dev is read without `-A`. Symbolic links are resolved first.
`--script-timeout` ends a run in which a function never returns, `--script-memory` limits the Lua memory of each thread.
]]

local function names_of_lua()
  local lines = {}
  for i, row in ipairs(require "luabench.manual.lua") do
    lines[i] = ("- %s`%s`"):format(row[1] ~= "" and "`" .. row[1] .. "`: " or "", (row[2]:gsub(" ", "`, `")))
  end
  return table.concat(lines, "\n")
end

local function reference_entry(entry)
  return ("### `%s`\n\n%s%s\n\n```lua\n%s\n```\n"):format(call_of(entry), entry.text, facts(entry), (entry.example:gsub("%-%- top: ", "-- at the top: ")))
end

--- docs/reference.md.
function manual.reference()
  local out = { HEAD }
  for _, section in ipairs(manual.sections()) do
    out[#out + 1] = ("## %s\n\n%s\n"):format(section.title, section.text)
    for _, entry in ipairs(section.entries) do out[#out + 1] = reference_entry(entry) end
  end
  out[#out + 1] = OF_LUA:format(names_of_lua())
  return table.concat(out, "\n")
end

-- Annotations for editors -------------------------------------------------------------------------------------------------

local PREFIX = "luabench."
local CLASSES = { "Scenario", "HttpOptions", "RequestOptions", "Request", "Response", "User", "Task", "Rows", "Metric", "Comparison", "Target", "Cookies", "Duration" }

-- A type with the names of our classes made unique.
local function full_type(kind)
  for _, class in ipairs(CLASSES) do kind = kind:gsub("%f[%w_]" .. class .. "%f[^%w_]", PREFIX .. class) end
  return kind
end

local function comment(text)
  return "---" .. text:gsub("\n", "\n---") .. "\n"
end

local function annotated_function(entry, name)
  local lines, names = { comment(entry.text) }, {}
  for i, param in ipairs(entry.params) do
    names[i] = param.name
    lines[#lines + 1] = ("---@param %s%s %s\n"):format(param.name, param.optional and "?" or "", full_type(param.type))
  end
  if entry.returns then lines[#lines + 1] = ("---@return %s\n"):format(full_type(entry.returns)) end
  lines[#lines + 1] = ("function %s(%s) end\n"):format(name, table.concat(names, ", "))
  return table.concat(lines)
end

local function annotated_class(section)
  local fields, functions = {}, {}
  local class = PREFIX .. section.class
  local variable = section.class
  for _, entry in ipairs(section.entries) do
    local short = entry.name:match("[^.:]*$")
    if entry.name:find("^metric%.") then
      functions[#functions + 1] = annotated_function(entry, entry.name)
    elseif entry.is_function then
      functions[#functions + 1] = annotated_function(entry, variable .. ":" .. short)
    else
      local optional = section.class ~= "Response" and section.class ~= "User" and section.class ~= "Task" and "?" or ""
      fields[#fields + 1] = ("---@field %s%s %s %s\n"):format(short, optional, full_type(entry.type), entry.text)
    end
  end
  return ("---@class %s\n%slocal %s = {}\n\n%s\n"):format(class, table.concat(fields), variable, table.concat(functions, "\n"))
end

local function annotated_globals(section)
  local out = {}
  for _, entry in ipairs(section.entries) do
    if entry.name == "random" then
      out[#out + 1] = "---Uniform, from 0 up to but not including 1.\n---@class luabench.Random\n---@overload fun(): number\nrandom = {}\n"
    elseif entry.is_function then
      out[#out + 1] = annotated_function(entry, entry.name)
    else
      out[#out + 1] = ("%s---@type %s\n%s = nil\n"):format(comment(entry.text), full_type(entry.type), entry.name)
    end
  end
  return table.concat(out, "\n") .. "\n"
end

local LIBRARY_HEAD = [[
---@meta
-- What luabench gives to scripts, for editors with the Lua language server. Made by tools/manual.lua from lua/luabench/manual/*.lua.

---@alias luabench.Duration number|string

---@class luabench.Request : luabench.RequestOptions
---@field method? string
---@field url string

---@class luabench.Cookies
local Cookies = {}
---@param name string
---@param url? string
---@return string?
function Cookies:get(name, url) end
---@param name string
---@param value string
---@param opts? table
function Cookies:set(name, value, opts) end
function Cookies:clear() end

log, http, metric, file, json, text = {}, {}, {}, {}, {}, {}

]]

local METRIC_METHODS = [[
---@param value? number|boolean|table
---@param tags? table<string, string|number>
function Metric:add(value, tags) end
---@param value number
---@param tags? table<string, string|number>
function Metric:set(value, tags) end
]]

--- lua/library/luabench.lua.
function manual.library()
  local out = { LIBRARY_HEAD }
  for _, section in ipairs(manual.sections()) do
    out[#out + 1] = section.class and annotated_class(section) or annotated_globals(section)
    if section.class == "Metric" then out[#out + 1] = METRIC_METHODS end
  end
  return (table.concat(out):gsub("%s+$", "\n"))
end

return manual
