-- The cookies of a user: RFC 6265. A jar is a list without holes of three values a cookie: its kind, its value, and when it expires (of core.now(), or false). A kind is
-- what the cookies of many users have in common, { name, domain, path, host_only, secure, prefix }, and is shared between them, so that a jar is small. A jar is
-- sorted as cookies are sent: longer paths first, older ones first among those of one length.
local core = require "luabench.core"
local reference = require "luabench.reference"

local cookies = {}

local find, match, sub, lower, gmatch, byte = string.find, string.match, string.sub, string.lower, string.gmatch, string.byte
local insert, remove, concat = table.insert, table.remove, table.concat
local tonumber = tonumber

-- RFC 6265 6.1 asks for these at least.
local LONGEST = 4096   -- bytes of name and value
local OF_A_DOMAIN = 50
local OF_A_JAR = 3000

local NEVER = false

-- Reading Set-Cookie (RFC 6265 5.2) ---------------------------------------------------------------------------------------

local MONTHS = { jan = 1, feb = 2, mar = 3, apr = 4, may = 5, jun = 6, jul = 7, aug = 8, sep = 9, oct = 10, nov = 11, dec = 12 }

-- Days from 1970-01-01 in the Gregorian calendar: H. Hinnant's days_from_civil.
local function days(year, month, day)
  if month <= 2 then year = year - 1 end
  local era = math.floor(year / 400)
  local of_era = year - era * 400
  local of_year = math.floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end

local LENGTHS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function exists(year, month, day)
  local leap = month == 2 and (year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0))
  return day >= 1 and day <= LENGTHS[month] + (leap and 1 or 0)
end

-- A number of `least` to `most` digits at the token's beginning, nothing or no digit behind it.
local function leading_number(token, least, most)
  local digits = match(token, "^(%d+)%D?")
  if digits and #digits >= least and #digits <= most then return tonumber(digits) end
end

local function read_time(token)
  local hour, minute, second = match(token, "^(%d%d?):(%d%d?):(%d%d?)")
  if not hour or find(token, "^%d%d?:%d%d?:%d%d%d") then return nil end
  return tonumber(hour), tonumber(minute), tonumber(second)
end

-- What a token of a date says, unless that was said before (RFC 6265 5.1.1).
local function read_token(date, token)
  if not date.hour then
    date.hour, date.minute, date.second = read_time(token)
    if date.hour then return end
  end
  if not date.day then
    date.day = leading_number(token, 1, 2)
    if date.day then return end
  end
  if not date.month then
    date.month = MONTHS[lower(sub(token, 1, 3))]
    if date.month then return end
  end
  if not date.year then date.year = leading_number(token, 2, 4) end
end

--- The seconds since 1970 of a date as cookies have it, or nil when it is none: RFC 6265 5.1.1.
function cookies.date(text)
  local date = {}
  for token in gmatch(text, "[^\t\32-\47\59-\64\91-\96\123-\126]+") do read_token(date, token) end
  local year = date.year
  if not (year and date.month and date.day and date.hour) then return nil end
  if year < 70 then year = year + 2000 elseif year < 100 then year = year + 1900 end
  if year < 1601 or not exists(year, date.month, date.day) or date.hour > 23 or date.minute > 59 or date.second > 59 then return nil end
  return days(year, date.month, date.day) * 86400 + date.hour * 3600 + date.minute * 60 + date.second
end

local function trim(text) return match(text, "^[ \t]*(.-)[ \t]*$") end

local attributes = {}

attributes["expires"] = function(cookie, value)
  cookie.expires = cookies.date(value) or cookie.expires
end
attributes["max-age"] = function(cookie, value)
  if find(value, "^%-?%d+$") then cookie.max_age = tonumber(value) end
end
attributes["domain"] = function(cookie, value)
  if value ~= "" then cookie.domain = lower((value:gsub("^%.", ""))) end
end
attributes["path"] = function(cookie, value)
  cookie.path = sub(value, 1, 1) == "/" and value or nil
end
attributes["secure"] = function(cookie) cookie.secure = true end

-- What stands behind name and value, by its text: servers send the same attributes again and again.
local MOST_ATTRIBUTES = 200
local known, known_count = {}, 0

local function read_attributes(text)
  local said = {}
  for attribute in gmatch(text, ";([^;]*)") do
    local key, of = match(attribute, "^([^=]*)=?(.*)$")
    local read = attributes[lower(trim(key))]
    if read then read(said, trim(of)) end
  end
  if known_count >= MOST_ATTRIBUTES then known, known_count = {}, 0 end
  known[text], known_count = said, known_count + 1
  return said
end

-- Name, value and attributes of a line; nothing of one that is no cookie.
local function split(line)
  if find(line, "[%z\1-\8\10-\31\127]") then return nil end -- as RFC 6265 bis 5.6 has it: no cookie is one with control characters
  local name, value, rest = match(line, "^([%w_-]+)=([^%c%s;]*)(.*)$") -- most of them, at once
  if name and (rest == "" or byte(rest) == 59) then return name, value, rest end
  local pair
  pair, rest = match(line, "^([^;]*)(.*)$")
  name, value = match(pair, "^([^=]*)=(.*)$")
  if not name or trim(name) == "" then return nil end
  return trim(name), trim(value), rest
end

--- A line of Set-Cookie taken apart: { name, value, said = { domain, path, secure, expires (seconds since 1970), max_age (seconds) } }, nil where it says nothing; or nil.
function cookies.parse(line)
  local name, value, rest = split(line)
  return name and { name = name, value = value, said = known[rest] or read_attributes(rest) }
end

-- Matching ----------------------------------------------------------------------------------------------------------------

local function is_address(host)
  return find(host, "^%d+%.%d+%.%d+%.%d+$") ~= nil or sub(host, 1, 1) == "["
end

--- RFC 6265 5.1.3: both in lower case.
function cookies.domain_matches(host, domain)
  if host == domain then return true end
  local start = #host - #domain
  return start > 0 and sub(host, start + 1) == domain and sub(host, start, start) == "." and not is_address(host)
end

--- RFC 6265 5.1.4.
function cookies.path_matches(path, of_cookie)
  if of_cookie == "/" or path == of_cookie then return true end
  local length = #of_cookie
  return sub(path, 1, length) == of_cookie and (sub(of_cookie, -1) == "/" or sub(path, length + 1, length + 1) == "/")
end

--- The path of cookies that name none: RFC 6265 5.1.4.
function cookies.default_path(path)
  return match(path, "^(/.*)/[^/]*$") or "/"
end

--- What matters of a URL for cookies: { host, path, secure }.
function cookies.place(absolute)
  local scheme, host, _, path = reference.split(absolute)
  return { host = host, path = path, secure = scheme == "https" }
end

-- Kinds -------------------------------------------------------------------------------------------------------------------

local MOST_KINDS = 10000

local kinds, kind_count = {}, 0

local function kind_of(name, domain, path, host_only, secure)
  local key = concat({ name, domain, path, host_only and "h" or "", secure and "s" or "" }, "\n")
  local kind = kinds[key]
  if kind then return kind end
  if kind_count >= MOST_KINDS then kinds, kind_count = {}, 0 end
  kind = { name = name, domain = domain, path = path, host_only = host_only, secure = secure, prefix = name .. "=" }
  kinds[key], kind_count = kind, kind_count + 1
  return kind
end

local function same_cookie(a, b)
  return a == b or (a.name == b.name and a.domain == b.domain and a.path == b.path)
end

-- Keeping -----------------------------------------------------------------------------------------------------------------

local function take_out(jar, i)
  for _ = 1, 3 do remove(jar, i) end
end

local function drop_expired(jar)
  local now = core.now()
  for i = #jar - 2, 1, -3 do
    if jar[i + 2] and jar[i + 2] <= now then take_out(jar, i) end
  end
end

-- Makes room for one of that domain. Which was used last is not known: the first of the shortest path goes.
local function make_room(jar, domain)
  local of_domain, oldest = 0, nil
  for i = 1, #jar, 3 do
    if jar[i].domain == domain then
      of_domain = of_domain + 1
      if not oldest or #jar[i].path < #jar[oldest].path then oldest = i end
    end
  end
  if of_domain >= OF_A_DOMAIN then take_out(jar, oldest) elseif #jar >= 3 * OF_A_JAR then take_out(jar, 1) end
end

local function place_for(jar, kind)
  local i = 1
  while jar[i] and #jar[i].path >= #kind.path do i = i + 3 end
  return i
end

-- `is_over`: it has expired when it comes.
local function store(jar, kind, value, expires, is_over)
  for i = 1, #jar, 3 do
    if same_cookie(jar[i], kind) then
      if is_over then return take_out(jar, i) end
      jar[i], jar[i + 1], jar[i + 2] = kind, value, expires
      return
    end
  end
  if is_over then return end
  if #jar >= 3 * OF_A_DOMAIN then
    drop_expired(jar)
    make_room(jar, kind.domain)
  end
  local at = place_for(jar, kind)
  insert(jar, at, expires)
  insert(jar, at, value)
  insert(jar, at, kind)
end

-- When it expires, in core.now()'s seconds, or NEVER, and whether that has been: RFC 6265 5.3, step 3.
local function expiry(cookie)
  local said = cookie.said
  local left = said.max_age or (said.expires and said.expires - os.time())
  if not left then return NEVER, false end
  return core.now() + left, left <= 0
end

-- Domain and whether it is the host alone: RFC 6265 5.3, steps 5 and 6. nil: the host may not set it. Without a list of public suffixes, a name without a dot counts
-- as one.
local function domain_of(cookie, host)
  local domain = cookie.said.domain
  if not domain or domain == host then return host, domain == nil or is_address(host) or not find(host, ".", 1, true) end
  if not find(domain, ".", 1, true) or not cookies.domain_matches(host, domain) then return nil end
  return domain, false
end

local MOST_NAMES = 50

-- The kinds of cookies with such attributes that came from `place`, by name: nearly always it is the place of the one before.
local function kinds_at(said, place)
  if said.place ~= place or said.count >= MOST_NAMES then said.place, said.kinds, said.count = place, {}, 0 end
  return said.kinds
end

-- The kind of a parsed cookie that came from `place`; nil: it is too long, or the place may not set it.
local function kind_from(cookie, place)
  if #cookie.name + #cookie.value > LONGEST then return nil end
  local said = cookie.said
  local at_place = kinds_at(said, place)
  local kind = at_place[cookie.name]
  if kind then return kind end
  local domain, host_only = domain_of(cookie, place.host)
  if not domain then return nil end
  kind = kind_of(cookie.name, domain, said.path or cookies.default_path(place.path), host_only, said.secure or false)
  at_place[cookie.name], said.count = kind, said.count + 1
  return kind
end

--- Puts a parsed cookie, which came from `place`, into the jar. False: it is too long, or the place may not set it. The cookie remembers what it was for that place.
function cookies.put(jar, cookie, place)
  if cookie.place ~= place then cookie.kind, cookie.place = kind_from(cookie, place), place end
  local kind = cookie.kind
  if not kind then return false end
  local expires, is_over = expiry(cookie)
  store(jar, kind, cookie.value, expires, is_over)
  return true
end

--- The values of the Set-Cookie lines of a raw head, one after the other.
function cookies.lines(head)
  return gmatch(head, "\n[Ss][Ee][Tt]%-[Cc][Oo][Oo][Kk][Ii][Ee]:[ \t]*([^\r\n]*)")
end

-- What heads set, by the whole head: servers send the same one again and again.
local MOST_HEADS = 200
local heads, head_count = {}, 0

local function read_head(head)
  local list = {}
  for line in cookies.lines(head) do list[#list + 1] = cookies.parse(line) end
  if head_count >= MOST_HEADS then heads, head_count = {}, 0 end
  heads[head], head_count = list, head_count + 1
  return list
end

--- Puts what a raw head, which came from `place`, sets into the jar.
function cookies.take(jar, head, place)
  local list = heads[head] or read_head(head)
  for i = 1, #list do cookies.put(jar, list[i], place) end
end

-- Sending -----------------------------------------------------------------------------------------------------------------

local function fits(kind, place)
  local host, domain = place.host, kind.domain
  if host ~= domain and (kind.host_only or not cookies.domain_matches(host, domain)) then return false end
  if kind.secure and not place.secure then return false end
  return kind.path == "/" or cookies.path_matches(place.path, kind.path)
end

--- The value of the Cookie header for a request to `place`: RFC 6265 5.4. nil: there is none.
function cookies.header(jar, place)
  local text, now
  for i = 1, #jar, 3 do
    local kind, expires = jar[i], jar[i + 2]
    if expires then now = now or core.now() end
    if fits(kind, place) and not (expires and expires <= now) then
      local pair = kind.prefix .. jar[i + 1]
      text = text and text .. "; " .. pair or pair
    end
  end
  return text
end

--- The value of the cookie of that name that is sent to `place` first, or nil.
function cookies.get(jar, name, place)
  local now = core.now()
  for i = 1, #jar, 3 do
    local expires = jar[i + 2]
    if jar[i].name == name and fits(jar[i], place) and not (expires and expires <= now) then return jar[i + 1] end
  end
end

--- Removes the cookies of that name, whatever they belong to; all when there is no name.
function cookies.clear(jar, name)
  for i = #jar - 2, 1, -3 do
    if not name or jar[i].name == name then take_out(jar, i) end
  end
end

return cookies
