-- URLs. The input is a base URL and a reference, each on a line. What url_parse accepts is printed and read again without a difference; the modules in Lua, which decide
-- which cookies and passwords go where, see the same host and port as the connections; and a reference that was made absolute stays as it is.
local core = require "luabench.core"
local reference = require "luabench.reference"
local url = require "luabench.url"

local function printed(parts)
  local host = parts.ipv6 and "[" .. parts.host .. "]" or parts.host
  return (parts.tls and "https" or "http") .. "://" .. (parts.userinfo and parts.userinfo .. "@" or "") .. host .. ":" .. parts.port .. parts.path
end

local function same(a, b)
  for key, value in pairs(a) do assert(b[key] == value, key) end
  for key in pairs(b) do assert(a[key] ~= nil, key) end
end

local function check_accepted(text, parts)
  assert(not text:find("[%z\1-\32\127]"), "a blank or a control character")
  assert(parts.port >= 1 and parts.port <= 65535 and parts.host ~= "")
  local again = printed(parts)
  same(parts, assert(fuzz.url(again)))
  assert(printed(fuzz.url(again)) == again)
  local scheme, host, port, path = reference.split(text)
  assert(scheme == (parts.tls and "https" or "http"))
  assert(host == (parts.ipv6 and "[" .. parts.host .. "]" or parts.host):lower(), "another host in Lua: " .. host)
  assert(tonumber(port) == parts.port, "another port in Lua: " .. tostring(port))
  assert(path:sub(1, 1) == "/", "a path without /")
  local user = reference.userinfo(text)
  assert((user ~= nil) == (parts.userinfo ~= nil), "user information in one of the two")
  if user then
    local shown, password = reference.without_password(text), parts.userinfo:match(":(.*)")
    assert(not password or shown:find(":***@", 1, true), "a password is shown: " .. shown)
  end
  assert(url.path(text):sub(1, 1) == "/")
end

local function check_joined(base, text)
  local joined = reference.join(base, reference.repair(text))
  local normal = reference.join(base, joined) -- an empty reference leaves the dots in the path of the base
  assert(reference.join(base, normal) == normal, "joined again it is another: " .. joined)
  local parts = fuzz.url(joined)
  if parts then check_accepted(joined, parts) end
end

return function(input)
  local base, text = input:match("^([^\n]*)\n?(.*)$")
  local parts, why = fuzz.url(base)
  assert(parts or why ~= "")
  assert((core.check_url(base) == nil) == (parts ~= nil))
  if url.absolute(base) then assert(parts) end
  if not parts then return end
  check_accepted(base, parts)
  check_joined(base, text)
end
