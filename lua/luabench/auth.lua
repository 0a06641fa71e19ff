-- Who asks: basic (RFC 7617), bearer (RFC 6750) and digest (RFC 7616) authentication. The first two are a header line; the third answers a challenge of the server, and
-- goes on with it as long as the server takes that.
local core = require "luabench.core"
local errors = require "luabench.errors"
local md5 = require "luabench.md5"
local nearest = require "luabench.nearest"
local units = require "luabench.units"

local auth = {}

local show = errors.show
local find, format, gsub, gmatch, lower, match, sub = string.find, string.format, string.gsub, string.gmatch, string.lower, string.match, string.sub

-- What a script says -----------------------------------------------------------------------------------------------------

local FORM = "write auth = { user, password } or { bearer = token }"
local KEYS = { bearer = true, digest = true }

local function read_text(value, what)
  if type(value) == "number" then value = units.digits(value) end
  if type(value) ~= "string" then return nil, format("the %s must be a text, not %s; %s", what, show(value), FORM) end
  if find(value, "[%c]") then return nil, format("the %s contains a control character", what) end
  return value
end

local function read_bearer(value)
  local token, why = read_text(value.bearer, "token")
  if not token then return nil, why end
  if token == "" then return nil, "the token is empty; was it read from where it should be?" end
  if find(token, "[^%w%-%._~+/=]") then return nil, format("the token has a character that no bearer token has (RFC 6750)") end
  if value[1] ~= nil or value.digest ~= nil then return nil, "a token stands alone: { bearer = token }" end
  return { scheme = "bearer", value = "Bearer " .. token }
end

local function read_pair(value)
  if value[1] == nil or value[2] == nil or #value > 2 then return nil, format("user and password are two texts; %s", FORM) end
  local user, password, why
  user, why = read_text(value[1], "user")
  if user then password, why = read_text(value[2], "password") end
  if not password then return nil, why end
  if user == "" then return nil, "the user is empty; was it read from where it should be?" end
  return user, password
end

local function read_table(value)
  for key in pairs(value) do
    if type(key) == "string" and not KEYS[key] then return nil, format("unknown key `%s`%s; %s", key, nearest.hint(key, KEYS), FORM) end
  end
  if value.bearer ~= nil then return read_bearer(value) end
  local user, password = read_pair(value)
  if not user then return nil, password end
  if value.digest ~= nil and type(value.digest) ~= "boolean" then return nil, format("`digest` must be true or false, not %s", show(value.digest)) end
  if value.digest then return { scheme = "digest", user = user, password = password } end
  if find(user, ":", 1, true) then return nil, "the user has a colon, which basic authentication cannot say (RFC 7617)" end
  return { scheme = "basic", value = "Basic " .. core.base64(user .. ":" .. password) }
end

--- What `auth = ...` says: { scheme, value } with the value of Authorization, { scheme = "digest", user, password }, or false for none. nil and what is wrong.
function auth.read(value)
  if value == false then return false end
  if type(value) ~= "table" then return nil, format("must be a table, not %s; %s", show(value), FORM) end
  return read_table(value)
end

-- Challenges -------------------------------------------------------------------------------------------------------------

local TOKEN = "[%w!#$%%&'*+%-.^_`|~]+"

-- The value of a parameter at `position`: a token or a quoted string; and the position behind it.
local function read_value(text, position)
  if sub(text, position, position) ~= '"' then
    local value, after = match(text, "^(" .. TOKEN .. ")()", position)
    return value or "", after or position
  end
  local value, i = "", position + 1
  while true do
    local plain, stop = match(text, '^([^"\\]*)()', i)
    value = value .. plain
    if sub(text, stop, stop) ~= "\\" then return value, stop + 1 end
    value, i = value .. sub(text, stop + 1, stop + 1), stop + 2
  end
end

-- The challenges of one WWW-Authenticate line (RFC 9110 11.6.1): { scheme, parameters by lower-case name }.
local function parse(text)
  local list, position = {}, 1
  while true do
    position = match(text, "^[%s,]*()", position)
    local word, after = match(text, "^(" .. TOKEN .. ")%s*()", position)
    if not word then return list end
    local value_at = match(text, "^=%s*()", after)
    if value_at and #list > 0 then
      list[#list].parameters[lower(word)], position = read_value(text, value_at)
    else
      list[#list + 1] = { scheme = lower(word), parameters = {} }
      position = match(text, "^[%w%-._~+/]+=*()%s*,", after) or match(text, "^[%w%-._~+/]+=*()%s*$", after) or after -- token68
    end
  end
end

local function sha256_hex(text)
  return (gsub(core.sha256(text), ".", function(c) return format("%02x", c:byte()) end))
end

local HASHES = { ["md5"] = md5, ["md5-sess"] = md5, ["sha-256"] = sha256_hex, ["sha-256-sess"] = sha256_hex }

local function has_auth(qop)
  for word in gmatch(qop, "[^%s,]+") do
    if lower(word) == "auth" then return true end
  end
  return false
end

-- A digest challenge that can be answered, or nil and why not.
local function read_challenge(given)
  local algorithm = lower(given.algorithm or "md5")
  local hash = HASHES[algorithm]
  if not hash then return nil, format("the algorithm %s is not one of MD5, SHA-256 and their -sess", show(given.algorithm)) end
  if given.qop and not has_auth(given.qop) then return nil, format("its qop %s is not auth", show(given.qop)) end
  if not given.nonce then return nil, "it has no nonce" end
  return { realm = given.realm or "", nonce = given.nonce, opaque = given.opaque, algorithm = given.algorithm, hash = hash, qop = given.qop and "auth",
           session = find(algorithm, "-sess", 1, true) ~= nil, stale = lower(given.stale or "") == "true", count = 0 }
end

--- The first digest challenge among lines of WWW-Authenticate that can be answered: { realm, nonce, opaque, algorithm, hash, session, qop, stale, count }; or nil and why
--- there is none.
function auth.challenge(lines)
  local why, others = nil, {}
  for _, line in ipairs(lines) do
    for _, each in ipairs(parse(line)) do
      if each.scheme == "digest" then
        local challenge, problem = read_challenge(each.parameters)
        if challenge then return challenge end
        why = why or "the digest that the server asks for cannot be made: " .. problem
      else
        others[#others + 1] = each.scheme
      end
    end
  end
  return nil, why or (others[1] and format("the server asks for %s, not for a digest", table.concat(others, ", ")) or "the server does not say what it asks for: no WWW-Authenticate")
end

local function quoted(text)
  return '"' .. gsub(text, '["\\]', "\\%0") .. '"'
end

-- RFC 7616 3.4.1 to 3.4.3.
local function response(challenge, user, password, method, target, count, cnonce)
  local hash = challenge.hash
  local secret = hash(user .. ":" .. challenge.realm .. ":" .. password)
  if challenge.session then secret = hash(secret .. ":" .. challenge.nonce .. ":" .. cnonce) end
  local of_request = hash(method .. ":" .. target)
  if not challenge.qop then return hash(secret .. ":" .. challenge.nonce .. ":" .. of_request) end
  return hash(table.concat({ secret, challenge.nonce, count, cnonce, challenge.qop, of_request }, ":"))
end

local function random_nonce()
  return format("%08x%08x", math.random(0, 2 ^ 31 - 1), math.random(0, 2 ^ 31 - 1))
end

--- The value of Authorization that answers a challenge for a request of `target` (path and query); counts it.
--- @param cnonce string? the client's nonce, made up unless given
function auth.answer(challenge, user, password, method, target, cnonce)
  challenge.count = challenge.count + 1
  cnonce = cnonce or random_nonce()
  local count = format("%08x", challenge.count)
  local parts = {
    "username=" .. quoted(user), "realm=" .. quoted(challenge.realm), "nonce=" .. quoted(challenge.nonce), "uri=" .. quoted(target),
    "response=" .. quoted(response(challenge, user, password, method, target, count, cnonce)),
  }
  if challenge.algorithm then parts[#parts + 1] = "algorithm=" .. challenge.algorithm end
  if challenge.opaque then parts[#parts + 1] = "opaque=" .. quoted(challenge.opaque) end
  if challenge.qop then parts[#parts + 1] = "qop=auth, nc=" .. count end
  if challenge.qop or challenge.session then parts[#parts + 1] = "cnonce=" .. quoted(cnonce) end
  return "Digest " .. table.concat(parts, ", ")
end

return auth
