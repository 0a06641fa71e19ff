-- `luabench URL`: the same kind of scenario as a script's, made of the command line. One iteration is one request. What does not change from request to request is made
-- once, and a request without options is the fast one; placeholders (quick/template.lua) cost where they stand alone.
local core = require "luabench.core"
local errors = require "luabench.errors"
local form = require "luabench.quick.form"
local headers = require "luabench.headers"
local http = require "luabench.http"
local permissions = require "luabench.permissions"
local targets = require "luabench.quick.targets"
local template = require "luabench.quick.template"
local url = require "luabench.url"

local quick = {}

local fill, fill_url = template.fill, template.fill_url
local pairs, ipairs, type, request = pairs, ipairs, type, http.request

-- What is asked for -----------------------------------------------------------------------------------------------------

local BODIES = { { "body", "-b" }, { "body_file", "-f" }, { "form", "-F" } }

local function check_bodies(given)
  local first
  for _, row in ipairs(BODIES) do
    local value = given[row[1]]
    if value and (type(value) ~= "table" or value[1]) then
      if first then errors.usage("%s and %s both give a body: use one", first, row[2]) end
      first = row[2]
    end
  end
end

local function check_given(given)
  check_bodies(given)
  if given.urls and given.words[1] then errors.usage("%s and --urls both say what to request: use one", given.words[1]) end
  if given.form and given.form[1] then
    for _, text in ipairs(given.headers or {}) do
      if text:lower():find("^content%-type%s*[:;]") then errors.usage("-F makes the header Content-Type, with its boundary: take -H %s away", errors.show(text)) end
    end
  end
end

-- Files that the words of the command line name may be read wherever they are; those that a list of URLs names are below the current folder.
local function named_files(given)
  local list = {}
  local function look(text)
    for path in text:gmatch("{line:([^{}\r\n]+)}") do list[#list + 1] = path end
  end
  for _, key in ipairs { "words", "headers" } do
    for _, text in ipairs(given[key] or {}) do look(text) end
  end
  for _, part in ipairs(given.form or {}) do look(part[2] or "") end
  look(given.body or "")
  return list
end

local function requests_of(given)
  if given.urls then return targets.read(given.urls) end
  local list = {}
  for i, word in ipairs(given.words) do
    if not url.looks_like(word) then errors.usage("%s is not a URL; a script comes first, before its URL: luabench SCRIPT.lua URL", errors.show(word)) end
    list[i] = { url = url.with_scheme(word), headers = {}, where = #given.words > 1 and errors.show(word) or nil }
  end
  return list
end

-- Headers ---------------------------------------------------------------------------------------------------------------

local function name_of(line) return line:match("^[^:;]+"):lower() end

-- Lines that hold placeholders, and others of the same names, out of `lines`; they are made for each request.
local function split_headers(lines)
  local changing, fixed, moved = {}, {}, {}
  for _, line in ipairs(lines) do
    if type(template.compile(line, template.scope(), "-H")) ~= "string" then changing[name_of(line)] = true end
  end
  for _, line in ipairs(lines) do
    local list = changing[name_of(line)] and moved or fixed
    list[#list + 1] = line
  end
  return fixed, moved
end

-- Header lines as a table for http.request, whose values may be compiled texts.
local function header_table(lines, scope, where)
  if #lines == 0 then return nil end
  local map, result = {}, {}
  for _, line in ipairs(lines) do
    local ok, why = headers.add_option(map, line)
    if not ok then errors.usage("%s: %s", where, why) end
  end
  for _, entry in pairs(map) do
    if entry then
      local values = {}
      for i = 2, #entry do values[i - 1] = template.compile(entry[i], scope, where) end
      result[entry[1]] = values
    end
  end
  for _, line in ipairs(lines) do
    if map[name_of(line)] == false then result[line:match("^[^:]+")] = false end
  end
  return next(result) and result or nil
end

local function fill_headers(texts)
  local result = {}
  for name, values in pairs(texts) do
    if not values then
      result[name] = false
    elseif #values == 1 then
      result[name] = fill(values[1])
    else
      result[name] = {}
      for i, value in ipairs(values) do result[name][i] = fill(value) end
    end
  end
  return result
end

-- Requests --------------------------------------------------------------------------------------------------------------

local SAMPLE = "{%a+:?[^{}\r\n]*}"

local function check_url(each, text)
  local authority = each.url:match("^%a[%w+.-]*://([^/?#]*)") or ""
  if type(text) ~= "string" and authority:find(SAMPLE) then errors.usage("%s: host and port cannot have placeholders", errors.show(each.url)) end
  local absolute, why = url.absolute(type(text) == "string" and text or (each.url:gsub(SAMPLE, "0")))
  if not absolute then errors.usage("%s%s", each.where and each.where .. ": " or "", why) end
end

-- A request that is the same each time.
local function fixed_request(method, address, own, body)
  if method == "GET" and not body and not own then
    local get = http.get
    return function() get(address) end
  end
  local values = { method = method, url = address, headers = own and fill_headers(own), body = body }
  return function() request(values) end
end

-- One that has placeholders. Its figures have one name, in which they stand.
local function changing_request(scope, method, address, own, body, name)
  return function(user)
    scope:draw(user)
    request { method = method, url = fill_url(address), headers = own and fill_headers(own), body = body and fill(body), name = name }
  end
end

local function scope_of(given)
  local scope = template.scope()
  scope.literal = given.literal
  return scope
end

local function joined(first, second)
  if #first == 0 then return second end
  local list = { unpack(first) }
  for _, line in ipairs(second) do list[#list + 1] = line end
  return list
end

-- False when there is no placeholder in what `each` says, which need not be looked at closely then: there may be 100,000 of them.
local function may_change(each)
  return each.url:find("{", 1, true) or each.headers[1] or (each.body and each.body:find("{", 1, true))
end

-- The iteration that sends what `each` says; `common` has what holds for all: headers that change, the body with its compiler, whether there are placeholders in these, and
-- a scope for when there are none.
local function iteration(each, given, common)
  local scope = (common.changes or may_change(each)) and scope_of(given) or common.scope
  local where = each.where or "the URL"
  local address = template.compile(each.url, scope, where)
  check_url(each, address)
  local own = header_table(joined(common.lines, each.headers), scope, #each.headers > 0 and where or "-H")
  local body = each.body and template.compile(each.body, scope, where) or common.body(scope)
  local method = each.method or given.method or (body and "POST" or "GET")
  local name = method .. " " .. url.path(each.url)
  if scope.count == 0 then return fixed_request(method, address, own, body), name end
  return changing_request(scope, method, address, own, body, name), name
end

-- A function (scope) that gives the body of the command line, and the Content-Type that it has, or nil.
local function body_of(given)
  if given.form and given.form[1] then
    local _, kind = form.body(given.form, scope_of(given))
    return function(scope) return (form.body(given.form, scope)) end, kind
  end
  local text = given.body or given.body_file
  return function(scope) return text and template.compile(text, scope, given.body and "-b" or "-f") end
end

local function common_of(given)
  local fixed, moved = given.headers or {}, {}
  if not given.literal then fixed, moved = split_headers(fixed) end
  local body, kind = body_of(given)
  if kind then fixed[#fixed + 1] = "Content-Type: " .. kind end
  given.headers = fixed
  local scope = scope_of(given)
  local made = body(scope)
  if type(made) == "string" then body = function() return made end end
  return { lines = moved, body = body, changes = moved[1] ~= nil or scope.count > 0, scope = scope_of(given) }
end

-- One of several requests after another, over all users, or at random.
local function take_turns(list, order)
  local count, pick = #list, core.random_int
  if order == "random" then return function(user) list[pick(1, count)](user) end end
  return function(user) list[(user.sequence - 1) % count + 1](user) end
end

-- The scenario ----------------------------------------------------------------------------------------------------------

-- Where several URLs go to, without user and password: the first https, since that is what options for TLS are for, or the first.
local function origin_of(requests)
  local first
  for _, each in ipairs(requests) do
    local scheme, authority = each.url:match("^(%a[%w+.-]*://)([^/?#]*)")
    local origin = scheme .. authority:gsub("^.*@", "")
    if scheme:lower() == "https://" then return origin end
    first = first or origin
  end
  return first
end

local function title(given, count)
  local text = count .. " URLs"
  return given.urls and given.urls ~= "-" and text .. " of " .. given.urls:match("[^/]*$") or text
end

--- The one scenario of quick mode, in the form of script.scenarios, and the URL that the report names.
function quick.scenario(given)
  check_given(given)
  permissions.configure(".", { allow_read = given.allow_read, allow_all = given.allow_all, root = given.root, args = named_files(given),
                               reads = "a list of URLs may name files below the current folder alone" })
  template.reset()
  local requests, common = requests_of(given), common_of(given)
  if given.order and #requests == 1 then errors.usage("--order says how several URLs take turns, and there is one") end
  local list, name = {}, nil
  for i, each in ipairs(requests) do list[i], name = iteration(each, given, common) end
  local open = given.rate or given.rate_stages
  local timed = not given.duration and not given.iterations and not given.stages and not given.rate_stages
  local several = #list > 1
  local address = several and origin_of(requests) or requests[1].url
  return {
    name = several and title(given, #list) or name, where = "the command line",
    values = { run = several and take_turns(list, given.order) or list[1], target = address, users = not open and 10 or nil, duration = timed and 10 or nil, http = {} },
  }, address
end

return quick
