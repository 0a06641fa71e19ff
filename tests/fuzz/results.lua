-- Saved results. The first byte of the input chooses a good document, result.json or comparison.json, and who reads it: report, diff, merge, or a form of -o. Then come
-- edits of it, each three bytes: where (two), and what is put there. Who reads it gets figures, or a message of use; no other error, and no NaN. An input that begins with
-- "{", "[" or a quote is the text of the file itself: what json_read takes of it is what Jansson takes, and it comes back from being written.
local core = require "luabench.core"
core.write = function() return true end
local errors = require "luabench.errors"
local files = require "luabench.files"
local formats = require "luabench.output.formats"
local saved = require "luabench.saved"

local texts = {} -- of the files
files.read = function(path) return texts[path] end

-- JSON -----------------------------------------------------------------------------------------------------------------

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b or (a ~= a and b ~= b) end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return getmetatable(a) == getmetatable(b)
end

local function check_json(text)
  local good, value = fuzz.json(text)
  local slow, why = fuzz.jansson(text)
  assert(not good or slow ~= nil, "json_read takes what Jansson does not")
  assert(not good or same(value, slow), "json_read and Jansson differ")
  assert(slow ~= nil or #why > 0)
  if slow == nil then return end
  local written = core.json_encode(slow)
  if written then assert(same(core.json_decode(written), slow), "written and read it is another") end
end

-- Documents ------------------------------------------------------------------------------------------------------------

local FOLDER = debug.getinfo(1, "S").source:match("^@(.*/)")

local function document_in(name)
  local file = assert(io.open(FOLDER .. name))
  local text = file:read("*a")
  file:close()
  return text
end

local GOOD = { [0] = document_in "result.json", document_in "comparison.json" }

local function paths_in(value, list, parent, key)
  if parent then list[#list + 1] = { parent, key } end
  if type(value) ~= "table" then return list end
  local keys = {}
  for name in pairs(value) do keys[#keys + 1] = name end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(keys) do paths_in(value[name], list, value, name) end
  return list
end

local VALUES = {
  core.json_null, true, false, 0, -1, 1, 1.5, 1e300, -1e300, 2 ^ 53, 1e-300, 86400, "", "x", "\27[31mred\27[0m", "</script>", "=1+1", "2026-01-01T00:00:00Z", ("long "):rep(300),
  "a\nb", "\0", "<!--", "open", "closed", "good", "invalid",
}

local function replacement(what, old)
  if what == 0 then return nil end
  if what <= #VALUES then return VALUES[what] end
  if what < 60 then return {} end
  if what < 70 then return { VALUES[1 + what % 10] } end
  if what < 80 then return { name = VALUES[1 + what % 10], [""] = old } end
  if what < 90 then return old == core.json_null and old or { old, old } end
  if type(old) == "number" then return (what % 2 == 0 and old * what or old - what) end
  if type(old) == "string" then return old:sub(1, what % (#old + 1)) end
  return VALUES[1 + what % #VALUES]
end

local function edited(good, input)
  local document = core.json_decode(good)
  for i = 2, #input - 2, 3 do
    local paths = paths_in(document, {})
    if #paths == 0 then break end
    local a, b, what = input:byte(i, i + 2)
    local place = paths[1 + (a * 256 + b) % #paths]
    place[1][place[2]] = replacement(what, place[1][place[2]])
  end
  return core.json_encode(document)
end

-- Uses -----------------------------------------------------------------------------------------------------------------

-- Calls `use`; what it returns, or nil when it ended with a message for people.
local function attempt(use, ...)
  local arguments = { ... }
  local ok, result = xpcall(function() return use(unpack(arguments)) end, function(value)
    return errors.is_usage(value) and value or debug.traceback(tostring(value), 2)
  end)
  if ok then return result end
  if not errors.is_usage(result) then error(result, 0) end
  assert(result.text ~= "" and #result.text < 4000, "a message of no use: " .. result.text)
end

local function check_text(text)
  assert(type(text) == "string" and text ~= "")
  assert(not text:find("[%z\1-\8\11-\31\127]"), "control characters in a text")
  local word = (" " .. text):match("%W(%-?nan)%f[%W]") or (" " .. text):match("%W(%-?inf)%f[%W]")
  assert(not word, "a figure that is none")
end

local function render(document)
  if saved.is_comparison(document) then return require("luabench.compare.report").render(document, { width = 80 }) end
  return require("luabench.report.text").render(document, { width = 80, latency = true })
end

local function check_report(document) check_text(render(document)) end

-- One form of -o.
local function check_output(module)
  return function(document)
    local text, why = require(module)(document, {})
    assert(text and text ~= "" or why and why ~= "")
  end
end

local function check_diff() check_text((require("luabench.diff").run { words = { "old.json", "new.json" }, fail_if_slower = 0.1 })) end

local function check_merge()
  local merged = require("luabench.saved.merge").files { "old.json", "new.json" }
  if merged then check_report(merged) end
end

local USES = { check_report, check_diff, check_merge }
for _, row in ipairs(formats.ROWS) do
  if row.module then USES[#USES + 1] = check_output(row.module) end
end

return function(input)
  local first = input:sub(1, 1)
  if first == "{" or first == "[" or first == '"' then
    check_json(input)
    texts["new.json"] = input
    return attempt(saved.read, "new.json")
  end
  local choice = first:byte() or 0
  local good = GOOD[choice % 2]
  local text = edited(good, input)
  if not text then return end
  texts["new.json"], texts["old.json"] = text, good
  local document = attempt(saved.read, "new.json")
  if document then attempt(USES[1 + math.floor(choice / 2) % #USES], document) end
end
