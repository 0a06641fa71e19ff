-- What a request returns: a plain table with the fields that nearly every script reads, and the rest made when it is looked at, from what the core
-- handed over: the raw head, the time marks, the prepared request.
local cookies = require "luabench.cookies"
local core = require "luabench.core"
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local reference = require "luabench.reference"

local response = {}

local find, match, sub, gsub, lower, format = string.find, string.match, string.sub, string.gsub, string.lower, string.format
local rawget, rawset, setmetatable, getmetatable, tonumber, tostring, type, ipairs = rawget, rawset, setmetatable, getmetatable, tonumber, tostring, type, ipairs
local concat = table.concat
local json_decode, json_null = core.json_decode, core.json_null

local Response = {}
local methods = {}
local lazy = {}

-- Prepared request → { url, method, place (of cookies, made when needed) }: kept beside, so that a response holds one reference for all.
local origins = setmetatable({}, { __mode = "k" })

--- Remembers of which URL and method a prepared request is.
function response.note(prepared, url, method)
  origins[prepared] = { url, method }
end

--- The URL of a prepared request.
function response.url(prepared) return origins[prepared][1] end

--- What matters of a prepared request for cookies (cookies.place).
function response.place(prepared)
  local origin = origins[prepared]
  origin.place = origin.place or cookies.place(origin[1])
  return origin.place
end

--- Called with a prepared request and the raw head that answered it when that sets cookies.
response.on_cookies = function() end

--- The response of what core.send returned.
-- Eight fields, since a table of nine would be twice as large: `error` is there when there is one.
function response.new(prepared, status, ok, error_name, size, body, head, marks, more_marks, text, sets_cookies)
  local res = setmetatable({
    status = status, ok = ok, body = body, size = size,
    _head = head, _marks = marks, _more_marks = more_marks, _request = prepared,
  }, Response)
  if error_name then res.error = error_name end
  if text ~= nil then
    res._text = text or nil
    if sets_cookies then response.on_cookies(prepared, head) end
  end
  return res
end

--- The same for a request that has to do with no jar.
function response.without_cookies(prepared, status, ok, error_name, size, body, head, marks, more_marks, text)
  return response.new(prepared, status, ok, error_name, size, body, head, marks, more_marks, text)
end

--- The response is not the expected one.
function response.spoil(res, why)
  res.ok, res.error, res._text = false, "unexpected", why
end

-- Name and value of each header line, in order; a folded line continues the one before (RFC 9112 5.2).
local function parse_head(head)
  local list = {}
  local position = head and (find(head, "\n", 1, true) or #head) + 1 or 1
  while head and position <= #head do
    local line_end = find(head, "\n", position, true) or #head + 1
    local line = gsub(sub(head, position, line_end - 1), "\r$", "")
    local name, value = match(line, "^([^:%s][^:]-)%s*:%s*(.-)%s*$")
    if name then
      list[#list + 1] = { name, value }
    elseif #list > 0 and find(line, "^[ \t]+%S") then
      list[#list][2] = list[#list][2] .. " " .. match(line, "^%s*(.-)%s*$")
    end
    position = line_end + 1
  end
  return list
end

local CaseInsensitive = {
  __index = function(map, name)
    return type(name) == "string" and rawget(map, lower(name)) or nil
  end,
}

local function header_map(list)
  local values = {}
  for _, pair in ipairs(list) do
    local key = lower(pair[1])
    values[key] = values[key] or {}
    values[key][#values[key] + 1] = pair[2]
  end
  local map = {}
  for key, all in pairs(values) do map[key] = key == "set-cookie" and all[1] or concat(all, ", ") end
  return setmetatable(map, CaseInsensitive)
end

-- Parsed once, kept out of sight.
local function header_pairs(res)
  local list = rawget(res, "_pairs")
  if not list then
    list = parse_head(rawget(res, "_head"))
    rawset(res, "_pairs", list)
  end
  return list
end

function lazy.headers(res) return header_map(header_pairs(res)) end
local TIMES = { "total", "blocked", "dns", "connect", "tls", "send", "wait", "receive" }
local Times = { __metatable = false }

function Times.__index(_, key)
  for _, name in ipairs(TIMES) do
    if key == name then return nil end
  end
  local found = nearest.name(tostring(key), TIMES)
  errors.script("res.time has no field %s%s", errors.show(key), found and "; did you mean `" .. found .. "`?" or "; it has " .. concat(TIMES, ", "))
end

function lazy.time(res) return setmetatable(core.marks(rawget(res, "_marks"), rawget(res, "_more_marks")), Times) end
function lazy.version(res) return res.status > 0 and core.version(rawget(res, "_marks"), rawget(res, "_more_marks")) or nil end
function lazy.url(res)
  local origin = origins[rawget(res, "_request")]
  return origin and origin[1]
end
function lazy.redirects() return 0 end

-- Of those of the answer alone; the last one of a name counts.
function lazy.cookies(res)
  local values = {}
  for line in cookies.lines(rawget(res, "_head") or "") do
    local cookie = cookies.parse(line)
    if cookie then values[cookie.name] = cookie.value end
  end
  return values
end

local function link(res, text) return reference.join(res.url, reference.repair(text)) end

-- Absolute, or nil.
function lazy.location(res)
  local text = res.headers.location
  return text and link(res, text) or nil
end

local WORDS = {
  timeout = "no whole response in time", dns = "the name has no address", connect = "no connection", closed = "closed before the response was whole",
  connect_timeout = "no connection in time", reset = "the connection was reset", protocol = "not a valid HTTP response",
}

function lazy.error_text(res)
  local name = rawget(res, "error")
  if not name then return nil end
  if name == "status" then return format("status %d", rawget(res, "status")) end
  return rawget(res, "_text") or WORDS[name] or name
end

local FIELDS = { "status", "ok", "error", "error_text", "body", "size", "headers", "version", "time", "url", "cookies", "redirects",
                 "location", "json", "html", "assets", "link", "match", "between", "header_list", "each_header" }
local ABSENT = { error = true, _text = true, _head = true, _pairs = true, _json = true, _html = true, _marks = true, _more_marks = true, _request = true, error_text = true, location = true }
-- Words of other tools, and near misses that are not near in letters.
local FOREIGN = { status_code = "status", code = "status", statusCode = "status", text = "body", content = "body", data = "body", timings = "time", duration = "time.total",
                  latency = "time.total", elapsed = "time.total", length = "size", header = "headers", err = "error", message = "error_text", cookie = "cookies", links = "assets" }

local function no_field(key)
  if type(key) ~= "string" then errors.script("a response has no field %s", errors.show(key)) end
  local found = FOREIGN[key] or nearest.name(key, FIELDS)
  errors.script("a response has no field `%s`%s", key, found and "; did you mean `" .. found .. "`?" or "; it has " .. concat(FIELDS, ", "))
end

function Response.__index(res, key)
  local make = lazy[key]
  if make then
    local value = make(res)
    rawset(res, key, value)
    return value
  end
  local method = methods[key]
  if method then return method end
  if ABSENT[key] then return nil end
  return no_field(key)
end

-- What is wrong, for one line.
local function wrong(res)
  local name = rawget(res, "error")
  if not name then return "" end
  if name == "status" then return ", not accepted" end
  return format(", %s (%s)", name, res.error_text)
end

function Response.__tostring(res)
  local origin = origins[rawget(res, "_request")] or { "?", "?" }
  local seconds = res.time and res.time.total
  local took = seconds and format(" in %.3g ms", seconds * 1e3) or ""
  local asked = origin[2] .. " " .. reference.without_password(origin[1])
  if rawget(res, "status") == 0 then return format("%s: %s (%s)%s", asked, rawget(res, "error"), res.error_text, took) end
  local size = rawget(res, "size")
  return format("%s: %d%s, %d byte%s%s", asked, rawget(res, "status"), wrong(res), size, size == 1 and "" or "s", took)
end

local function check_self(res, name)
  if getmetatable(res) ~= Response then errors.script("res.%s is called with a colon: res:%s(...)", name, name) end
end

local function expect_string(value, call)
  if type(value) ~= "string" then errors.script("%s needs a string, got %s", call, errors.show(value)) end
end

--- All values of a header, in order of arrival.
function methods.header_list(res, name)
  check_self(res, "header_list")
  expect_string(name, "res:header_list(name)")
  local list = {}
  for _, pair in ipairs(header_pairs(res)) do
    if lower(pair[1]) == lower(name) then list[#list + 1] = pair[2] end
  end
  return list
end

--- Iterates over name and value of each header line, as they came.
function methods.each_header(res)
  check_self(res, "each_header")
  local list, i = header_pairs(res), 0
  return function()
    i = i + 1
    if list[i] then return list[i][1], list[i][2] end
  end
end

-- The steps of "data.items[1].id" or 'a["b.c"]': names and numbers; an error at the script's line when it is no path.
local paths, path_count = {}, 0
local function parse_path(path)
  if paths[path] then return paths[path] end
  local steps, position = {}, 1
  while position <= #path do
    local name, after = match(path, "^%.?([^.%[%]]+)()", position)
    if position == 1 and sub(path, 1, 1) == "." then name = nil end
    if position > 1 and name and sub(path, position, position) ~= "." then name = nil end
    if not name then
      name, after = match(path, "^%[(%d+)%]()", position)
      name = tonumber(name)
    end
    if not name then name, after = match(path, '^%["([^"]*)"%]()', position) end
    if not name or name == 0 then
      errors.script('res:json(path): %s is no path; write "data.items[1].id", lists count from 1', errors.show(path))
    end
    steps[#steps + 1], position = name, after
  end
  if path_count >= 1000 then paths, path_count = {}, 0 end
  paths[path], path_count = steps, path_count + 1
  return steps
end

local function at_path(value, path)
  for _, step in ipairs(parse_path(path)) do
    if type(value) ~= "table" or value == json_null or value[step] == nil then
      return nil, format("the body has nothing at `%s` (no `%s` there)", path, tostring(step))
    end
    value = value[step]
  end
  if value == json_null then return nil, format("`%s` is null", path) end
  return value
end

local function decoded(res)
  local kept = rawget(res, "_json")
  if kept then return kept[1], kept[2] end
  local value, why = json_decode(res.body)
  if value == nil then
    local error_name = rawget(res, "error")
    why = rawget(res, "status") == 0 and format("no response (%s)", error_name) or format("the body is not JSON: %s", why or "?")
  end
  rawset(res, "_json", { value, why })
  return value, why
end

--- The decoded body, or what is at a path in it; nil and a text when the body is not JSON, the path leads nowhere, or null is there.
function methods.json(res, path, extra)
  check_self(res, "json")
  if extra ~= nil then errors.script("res:json takes one path") end
  local value, why = decoded(res)
  if path == nil or value == nil then return value, why end
  expect_string(path, "res:json(path)")
  return at_path(value, path)
end

-- The document, parsed once; nil and why there is none.
local function document_of(res)
  local kept = rawget(res, "_html")
  if kept then return kept end
  if rawget(res, "status") == 0 then return nil, format("no response (%s)", rawget(res, "error")) end
  local document = require("luabench.html").parse(res.body, res.headers["content-type"])
  if not document then return nil, "the body is empty" end
  rawset(res, "_html", document)
  return document
end

--- The body as a document, nil and a text when there is none; or with a CSS selector the text, or that attribute, of the first node it finds, or nil.
function methods.html(res, selector, attribute, extra)
  check_self(res, "html")
  if extra ~= nil then errors.script("res:html takes a CSS selector and the name of an attribute") end
  if selector ~= nil then expect_string(selector, "res:html(css, attribute)") end
  if attribute ~= nil then expect_string(attribute, "res:html(css, attribute)") end
  local document, why = document_of(res)
  if not document or not selector then return document, why end
  return require("luabench.html").pick(document, selector, attribute)
end

--- The absolute URLs of the styles, scripts, images and icons of the page.
function methods.assets(res, extra)
  check_self(res, "assets")
  if extra ~= nil then errors.script("res:assets() takes no argument") end
  local document = document_of(res)
  return document and require("luabench.html").assets(document, res.url) or {}
end

--- A reference in the answer (an href, a src) made absolute.
function methods.link(res, text, extra)
  check_self(res, "link")
  expect_string(text, "res:link(url)")
  if extra ~= nil then errors.script("res:link takes one URL") end
  local document = find(res.body, "<[bB][aA][sS][eE]%s") and document_of(res)
  local base = document and require("luabench.html").base(document, res.url) or res.url
  return reference.join(base, reference.repair(text))
end

--- string.match on the body.
function methods.match(res, pattern, extra)
  check_self(res, "match")
  expect_string(pattern, "res:match(pattern)")
  if extra ~= nil then errors.script("res:match takes one pattern") end
  local function results(ok, ...)
    if not ok then errors.script("res:match: %s", (gsub((...), "^[^:]+:%d+: ", ""))) end
    return ...
  end
  return results(pcall(match, res.body, pattern))
end

--- The text of the body between the first `left` and the next `right` after it, or nil.
function methods.between(res, left, right, extra)
  check_self(res, "between")
  expect_string(left, "res:between(left, right)")
  expect_string(right, "res:between(left, right)")
  if extra ~= nil then errors.script("res:between takes two strings") end
  local _, left_end = find(res.body, left, 1, true)
  local right_start = left_end and find(res.body, right, left_end + 1, true)
  return right_start and sub(res.body, left_end + 1, right_start - 1) or nil
end

return response
