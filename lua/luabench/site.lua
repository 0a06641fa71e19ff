-- What the requests of a scenario have in common, and the prepared requests that are made of it. A site: { target, map (headers), lines (the same, rendered), host,
-- redirects, digest (user and password, or nil), keeps_cookies, sends_cookies, simple }; `simple`: a request without options needs core.send and the jar alone.
local core = require "luabench.core"
local authentication = require "luabench.auth"
local errors = require "luabench.errors"
local headers = require "luabench.headers"
local reference = require "luabench.reference"
local response = require "luabench.response"
local url = require "luabench.url"

local site = {}

local prepare = core.prepare
local pairs, type = pairs, type
local find, lower, concat = string.find, string.lower, table.concat

local MOST_PREPARED = 4096

--- The sites, by the scenario's index.
local sites = {}
site.of = sites

-- Prepared requests that need nothing but their URL, which has no credentials in it: method → scenario index → URL as the script wrote it.
local plain = {}
-- Those with a name of their own or other headers than the scenario's: scenario index → all of it as one string.
local variants = {}
local counts = {}

local function make_site(scenario)
  local given = scenario.http or {}
  local map = headers.defaults()
  if given.decode ~= false then map["accept-encoding"] = { "Accept-Encoding", "gzip, deflate, br, zstd" } end
  local auth, user, password = given.auth, reference.userinfo(scenario.target or "")
  if user and not auth then auth = authentication.read { user, password } end
  if auth and auth.value then map.authorization = { "Authorization", auth.value } end
  map = headers.merge(map, scenario.headers)
  local lines, host = headers.render(map)
  local redirects, digest = given.redirects or 0, auth and auth.scheme == "digest" and auth or nil
  return {
    target = scenario.target, map = map, lines = lines, host = host, redirects = redirects, digest = digest, keeps_cookies = given.cookies ~= false,
    sends_cookies = given.cookies ~= false and not map.cookie, simple = redirects == 0 and not digest and not map.cookie,
  }
end

--- Told once, after the script is loaded: the plan's scenarios, whose `target`, `headers` (a map, defaults merged) and `http` hold for their requests.
function site.configure(scenarios)
  variants, counts = {}, {}
  for method in pairs(plain) do
    for index in pairs(plain[method]) do plain[method][index] = nil end
  end
  for index in pairs(sites) do sites[index] = nil end
  for i, each in ipairs(scenarios) do sites[i] = make_site(each) end
end

--- The cache of a method's plain requests: scenario index → URL → prepared request, of sites that are simple.
function site.plain_of(method)
  plain[method] = plain[method] or {}
  return plain[method]
end

-- Keeps a prepared request, in a cache that is emptied when scripts make up ever new URLs.
local function keep(cache, index, key, prepared)
  local count = counts[cache] or {}
  counts[cache] = count
  if not cache[index] or count[index] >= MOST_PREPARED then cache[index], count[index] = {}, 0 end
  cache[index][key], count[index] = prepared, count[index] + 1
  return prepared
end

--- A script's URL made absolute.
function site.resolve(index, text)
  local absolute, why = url.resolve(sites[index].target, text)
  if not absolute then errors.script("%s", why) end
  return absolute
end

--- The name of a request's figures when the script gives none.
function site.name(index, method, text)
  return method .. " " .. url.path(site.resolve(index, text))
end

local function make(index, method, absolute, lines, name, host, accept, version)
  local prepared, why = prepare(index, method, absolute, lines, name or method .. " " .. url.path(absolute), host, accept, version)
  if not prepared then errors.script("%s: %s", errors.show(absolute), why) end
  response.note(prepared, absolute, method)
  return prepared
end

local function prepared_plain(index, method, text)
  local this = sites[index]
  if not this.simple or (type(text) == "string" and find(text, "@", 1, true)) then return site.variant(index, method, text, this.lines, nil, this.host) end
  local by_index = site.plain_of(method)
  local found = by_index[index] and by_index[index][text]
  if found then return found end
  return keep(by_index, index, text, make(index, method, site.resolve(index, text), this.lines, nil, this.host))
end

--- A prepared request with a head of its own.
function site.variant(index, method, text, lines, name, host, accept, version)
  if type(text) ~= "string" then errors.script("the URL must be a string, not %s", errors.show(text)) end
  local key = concat({ method, text, name or "", host or "", accept or "", version or "", lines }, "\r")
  local found = variants[index] and variants[index][key]
  if found then return found end
  return keep(variants, index, key, make(index, method, site.resolve(index, text), lines, name, host, accept, version))
end

local parts = {} -- reused; cleared before each use

-- The lines of headers that add to the scenario's. Second result: true when one of them replaces or removes a header of the scenario's, or is
-- Host, so that the whole head must be made anew.
local function extra_lines(this, own)
  local n, conflict = 0, false
  for name, value in pairs(own) do
    local key, why = headers.lower(name)
    if not key then errors.script("%s", why) end
    if key == "host" or this.map[key] then conflict = true end
    if type(value) == "string" or type(value) == "number" then
      local text
      text, why = headers.value(name, value)
      if not text then errors.script("%s", why) end
      why = headers.refused(key)
      if why then errors.script("%s", why) end
      parts[n + 1], parts[n + 2], parts[n + 3], parts[n + 4] = name, ": ", text, "\r\n"
      n = n + 4
    else
      conflict = true
    end
  end
  if conflict then return nil, true end
  return n > 0 and concat(parts, "", 1, n) or nil, false
end

local function whole_head(this, own)
  local map, why = headers.of_table(own)
  if not map then errors.script("%s", why) end
  return headers.render(headers.merge(this.map, map))
end

--- The value that a script's table of headers gives one, by its name in lower case; nil when it says nothing of it.
function site.header(own, wanted)
  for name, value in pairs(own) do
    if type(name) == "string" and lower(name) == wanted then return value, name end
  end
end

--- The prepared request and further header lines for headers `own` (of user and request, or nil), a name, a set of accepted statuses, the line with the body's type, and
--- a version of HTTP, or nil.
function site.choose(index, method, text, own, name, accept, type_line, version)
  local this = sites[index]
  if type_line and (this.map["content-type"] or (own and site.header(own, "content-type") ~= nil)) then type_line = nil end
  local lines, conflict
  if own then lines, conflict = extra_lines(this, own) end
  if conflict then
    local head, host = whole_head(this, own)
    return site.variant(index, method, text, head, name, host, accept, version), type_line
  end
  if type_line then lines = (lines or "") .. type_line end
  if name or accept or version then return site.variant(index, method, text, this.lines, name, this.host, accept, version), lines end
  return prepared_plain(index, method, text), lines
end

return site
