-- How connections are made: the keys of `http` and the options of the command line that say so. Readers of their values, in the forms that curl has
-- where curl has them; what cannot go together; and the form in which the core gets it all (docs/core.md).
local core = require "luabench.core"
local errors = require "luabench.errors"
local permissions = require "luabench.permissions"
local stage = require "luabench.stage"
local units = require "luabench.units"

local connection = {}

local show = errors.show
local format = string.format

-- Readers: the value, or nil and what is wrong in words.

local readers = {}
connection.readers = readers

--- Any text but the empty one.
function readers.text(value)
  if type(value) ~= "string" then return nil, format("must be a text, not %s", show(value)) end
  if value == "" then return nil, "it is empty" end
  return value
end

--- A file or a Unix socket named by a script: relative to the script's folder, and one that it may read.
function readers.path(value)
  local path, why = readers.text(value)
  if not path then return nil, why end
  local allowed, leave = permissions.readable(path)
  if not allowed then return nil, format("%s: %s", show(path), leave) end
  if path:find("^/") or not stage.folder or stage.folder == "." then return path end
  return stage.folder:gsub("/$", "") .. "/" .. path
end

local VERSIONS = { ["1.1"] = "1.1", ["2"] = "2", ["2.0"] = "2", auto = "auto" }

--- A version of HTTP.
function readers.http_version(value)
  local version = VERSIONS[type(value) == "number" and format("%.3g", value) or value]
  if not version then return nil, format('%s is no version; write "1.1", "2" or "auto"', show(value)) end
  return version
end

--- A version of TLS: 10 for 1.0 ... 13 for 1.3.
function readers.tls_version(value)
  local text = type(value) == "number" and format("%.1f", value) or value
  local minor = type(text) == "string" and text:match("^1%.([0-3])$")
  if not minor then return nil, format('%s is no version of TLS; write "1.2" or "1.3" ("1.0" and "1.1" for old servers)', show(value)) end
  return 10 + tonumber(minor)
end

--- A name for SNI.
function readers.sni(value)
  local name, why = readers.text(value)
  if not name then return nil, why end
  if core.address(name) or name:find("^%[") then return nil, format("%s is an address; SNI sends names alone", show(name)) end
  if name:find(":", 1, true) then return nil, format("%s: SNI has no port", show(name)) end
  if not name:find("^[%w_][%w%-_%.]*$") or #name > 253 then return nil, format("%s is not a host name", show(name)) end
  return name
end

-- HOST:REST or [ADDRESS]:REST → host in lower case without brackets, rest. nil when there is no colon.
local function take_host(text)
  local host, rest = text:match("^%[([%x:%.]+)%]:(.*)$")
  if host and core.address(host) ~= 6 then return nil end
  if not host then host, rest = text:match("^([^:%[%]]*):(.*)$") end
  return host and host:lower(), rest
end

-- PORT:REST or PORT → port (0 for none), rest. nil when it is no port.
local function take_port(text)
  local digits, rest = text:match("^(%d*):(.*)$")
  if not digits then digits, rest = text:match("^(%d*)$"), "" end
  if not digits then return nil end
  if digits == "" then return 0, rest end
  local port = tonumber(digits)
  if port < 1 or port > 65535 then return nil end
  return port, rest
end

local function or_nil(text)
  if text ~= "" then return text end
end

local CONNECT_TO = "%s is not HOST1:PORT1:HOST2:PORT2, as curl has it; each may be empty, an IPv6 address stands in brackets"

--- "HOST1:PORT1:HOST2:PORT2": connections for the first go to the second.
function readers.connect_to(value)
  local text, why = readers.text(value)
  if not text then return nil, why end
  local from_host, after_host = take_host(text)
  local from_port, target = take_port(after_host or "x")
  local host, after = take_host(target or "")
  local port, rest = take_port(after or "x")
  if not port or rest ~= "" then return nil, format(CONNECT_TO, show(text)) end
  return { text = text, from_host = or_nil(from_host), from_port = from_port, host = or_nil(host), port = port }
end

local RESOLVE = "%s is not HOST:PORT:ADDRESS, as curl has it; several addresses stand with commas between, an IPv6 address in brackets"

--- "HOST:PORT:ADDRESS[,ADDRESS]": the addresses of a host; the host may be "*".
function readers.resolve(value)
  local text, why = readers.text(value)
  if not text then return nil, why end
  local host, after_host = take_host((text:gsub("^%+", "")))
  local port, list = take_port(after_host or "x")
  if not port or port == 0 or host == "" or list == "" then return nil, format(RESOLVE, show(text)) end
  local addresses = {}
  for word in (list .. ","):gmatch("([^,]*),") do
    local address = word:match("^%[(.*)%]$") or word
    if not core.address(address) then return nil, format("%s: %s is not an IP address", show(text), show(word)) end
    addresses[#addresses + 1] = address
  end
  return { text = text, host = host ~= "*" and host or nil, port = port, addresses = addresses }
end

--- An IP address of this machine.
function readers.source_address(value)
  local text, why = readers.text(value)
  if not text then return nil, why end
  if not core.address(text) then return nil, format("%s is not an IP address", show(text)) end
  return text
end

local function percent_decode(text)
  return (text:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

--- "http://USER:PASSWORD@HOST:PORT": an HTTP proxy.
function readers.proxy(value)
  local text, why = readers.text(value)
  if not text then return nil, why end
  local scheme, rest = text:match("^(%a[%w+.-]*)://(.*)$")
  if scheme and scheme:lower() ~= "http" then return nil, format("%s://: only http:// proxies are known", scheme) end
  local userinfo, authority = (rest or text):match("^(.*)@([^@]*)$")
  authority = (authority or rest or text):gsub("/$", "")
  local host, after = take_host(authority)
  local port, more = take_port(after or "x")
  if not port or host == "" or port == 0 or more ~= "" or core.check_url(format("http://%s/", authority)) then
    return nil, "it is not http://HOST:PORT or http://USER:PASSWORD@HOST:PORT"
  end
  userinfo = userinfo and percent_decode(userinfo)
  if userinfo and userinfo:find("[%z\1-\31]") then return nil, "its password contains a control character" end
  return { text = format("http://%s%s", userinfo and "***@" or "", authority), host = host, port = port, userinfo = userinfo }
end

-- A list of values, or one of them.
local function many(read)
  return function(value)
    local result = {}
    for i, each in ipairs(type(value) == "table" and value or { value }) do
      local one, why = read(each)
      if one == nil then return nil, why end
      result[i] = one
    end
    if #result == 0 then return nil, "the list is empty" end
    return result
  end
end

readers.connect_to_list = many(readers.connect_to)
readers.resolve_list = many(readers.resolve)
readers.source_address_list = many(readers.source_address)

-- The command line ----------------------------------------------------------------------------------------------------

--- Lets the options of the command line replace what a script's `http` says.
function connection.override(http, given)
  if given.insecure then http.insecure, http.ca = true, nil end
  if given.ca then http.ca, http.insecure = given.ca, nil end
  if given.cert then http.cert, http.key = given.cert, nil end
  http.version = given.http_version or http.version
  for _, key in ipairs { "key", "sni", "unix_socket", "proxy" } do http[key] = given[key] or http[key] end
  for _, key in ipairs { "connect_to", "resolve", "source_addresses" } do
    if given[key] and given[key][1] then http[key] = given[key] end
  end
end

--- What cannot both hold on a command line.
function connection.check_given(given)
  if given.ipv4 and given.ipv6 then errors.usage("-4 and -6 leave no address: use one") end
  if given.streams and given.http_version == "1.1" then errors.usage("-m is the number of streams on a connection, and HTTP/1.1 has none") end
  if given.lenient_http and given.http_version == "2" then errors.usage("--lenient-http is about HTTP/1.1, and --http 2 excludes it: use one") end
  if given.unix_socket and (given.ipv4 or given.ipv6) then errors.usage("--unix-socket has no address, %s says which: use one", given.ipv4 and "-4" or "-6") end
  if given.insecure and given.ca then errors.usage("-k takes any certificate, --cacert says whose: use one") end
end

local FLAGS = { version = "--http", ca = "--cacert", source_addresses = "--source-address" }
for _, key in ipairs { "insecure", "cert", "key", "sni", "connect_to", "resolve", "unix_socket", "proxy" } do FLAGS[key] = "--" .. key:gsub("_", "-") end

--- What is wrong with `http`, where the command line has set the key that it is about, in the names of options; else nil.
function connection.in_options(why, given)
  local set = false
  local function name(key)
    local value = given[key == "version" and "http_version" or key]
    local on_command_line = value ~= nil and (type(value) ~= "table" or next(value) ~= nil)
    set = set or (on_command_line and FLAGS[key] ~= nil)
    return (on_command_line or not stage.folder) and FLAGS[key] or nil
  end
  local text = why:gsub("^([%l_]+):", function(key) return name(key) and name(key) .. ":" end):gsub("`([%l_]+)`", name)
  return set and text or nil
end

-- The whole -----------------------------------------------------------------------------------------------------------

-- Keys that say where connections go: two of them, and the second would be ignored.
local EXCLUSIVE = { { "unix_socket", "proxy" }, { "unix_socket", "connect_to" }, { "unix_socket", "resolve" }, { "unix_socket", "source_addresses" },
                    { "proxy", "connect_to" } }

local function contradiction(http)
  for _, pair in ipairs(EXCLUSIVE) do
    if http[pair[1]] and http[pair[2]] then return format("`%s` and `%s` both say where connections go: use one", pair[1], pair[2]) end
  end
  if http.insecure and http.ca then return "`insecure` takes any certificate, `ca` says whose: use one" end
  if http.key and not http.cert then return "`key` is that of a certificate, and there is none: `cert` is missing" end
  if http.pipeline and http.pipeline > 1 then
    if http.version == "2" then return '`pipeline` is of HTTP/1.1, and `version = "2"` excludes it: over HTTP/2 requests share a connection anyway' end
    if http.keep_alive == false then return "`pipeline` sends several requests over a connection, and with `keep_alive = false` each has its own" end
  end
  if http.keep_alive == false and (http.requests_per_connection or 0) > 0 then
    return "`keep_alive = false` is one request on a connection, `requests_per_connection` says how many: use one"
  end
  if http.min_tls and http.max_tls and http.min_tls > http.max_tls then return "`min_tls` is above `max_tls`" end
  if http.version == "2" and http.max_tls and http.max_tls < 12 then return "`version` asks for HTTP/2, which needs TLS 1.2 (RFC 9113 9.2), and `max_tls` is below it" end
end

--- What is wrong with an `http` table whose values have been read, or nil.
function connection.wrong(http)
  return contradiction(http)
end

-- Without TLS nobody chooses HTTP/2 but the user: -m alone would have users take turns on few connections of HTTP/1.1.
local function check_streams(plan, target)
  if plan.streams and target and not plan.tls and plan.version ~= "2" then
    errors.usage("-m is the number of streams on a connection, and HTTP/1.1 has none; http:// speaks HTTP/2 with --http 2 alone")
  end
end

local KEYS = { "version", "insecure", "ca", "cert", "key", "sni", "min_tls", "max_tls", "ciphers", "resume", "connect_to", "resolve", "unix_socket",
               "source_addresses", "proxy" }

--- Adds to `plan`, the `http` of a scenario's plan, what the core needs for its connections.
function connection.fill(plan, http, given, target)
  for _, key in ipairs(KEYS) do plan[key] = http[key] end
  plan.family = given.ipv4 and 4 or given.ipv6 and 6 or nil
  plan.tls = target ~= nil and target:lower():find("^https:") ~= nil
  check_streams(plan, target)
  return plan
end

return connection
