-- Cookies. The input is lines: the first byte of the first one chooses the place that a response comes from, each other line is a value of its Set-Cookie. Then requests
-- to places near and far are made: what is sent to each must be what RFC 6265 allows, by a reading of it that shares nothing with the module, on one line without control
-- characters.
local cookies = require "luabench.cookies"

local PLACES = {
  "http://a.example/", "https://a.example/x/y", "http://b.a.example/x", "http://ba.example/", "http://example/", "http://127.0.0.1/x/", "https://[::1]/x", "http://1.127.0.0.1.example/",
}

local function pairs_of(header)
  local list = {}
  for name, value in (header .. "; "):gmatch("([^=]*)=(.-); ") do list[#list + 1] = { name, value } end
  return list
end

local function ends_with_domain(host, domain)
  return host == domain or (#host > #domain and host:sub(-#domain - 1) == "." .. domain and not host:find("^[%d.]+$") and host:sub(1, 1) ~= "[")
end

local function is_under(path, prefix)
  return path == prefix or (path:sub(1, #prefix) == prefix and (prefix:sub(-1) == "/" or path:sub(#prefix + 1, #prefix + 1) == "/"))
end

-- One cookie of the jar that came from `from` and goes to `to`.
local function check_sent(kind, from, to)
  assert(ends_with_domain(from.host, kind.domain), "of a domain that is not the sender's: " .. kind.domain)
  assert(ends_with_domain(to.host, kind.domain), "to another domain")
  assert(to.host == kind.domain or not kind.host_only, "host-only to another host")
  assert(not kind.secure or to.secure, "secure without TLS")
  assert(is_under(to.path, kind.path), "to another path")
end

local function check_header(jar, header, from, to)
  assert(not header:find("[%z\1-\8\10-\31\127]"), "control characters are sent")
  local sent, longest = 0, math.huge
  for i = 1, #jar, 3 do
    local kind, value = jar[i], jar[i + 1]
    local pair = kind.name .. "=" .. value
    assert(#pair <= 4097 and not pair:find(";", 1, true) and not kind.name:find("=", 1, true))
    assert(#kind.path <= longest, "a longer path behind a shorter one")
    longest = #kind.path
    if (header .. "; "):find(pair .. "; ", 1, true) and cookies.get({ kind, value, jar[i + 2] }, kind.name, to) then
      check_sent(kind, from, to)
      sent = sent + 1
    end
  end
  assert(sent >= 1 and sent <= 50 * 3, "how many are sent")
end

local function check_date(text)
  local time = cookies.date(text)
  if not time then return end
  assert(time == math.floor(time) and time > -12e9 and time < 255e9)
  if time >= 0 then assert(cookies.date(os.date("!%a, %d %b %Y %H:%M:%S GMT", time)) == time, text) end
end

-- A head with the lines, as a server sends them, which no line can leave.
local function head_of(lines)
  local parts = { "HTTP/1.1 200 OK" }
  for i, line in ipairs(lines) do parts[i + 1] = (i % 2 == 0 and "set-cookie:" or "Set-Cookie: ") .. line:gsub("[\r\n%z]", "") end
  return table.concat(parts, "\r\n") .. "\r\n\r\n"
end

return function(input)
  local lines = {}
  for line in (input .. "\n"):gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
  local from = cookies.place(PLACES[1 + (lines[1]:byte(1) or 0) % #PLACES])
  table.remove(lines, 1)
  local jar, by_line = {}, {}
  cookies.take(jar, head_of(lines), from)
  for _, line in ipairs(lines) do
    check_date(line)
    local cookie = cookies.parse((line:gsub("[\r%z]", "")))
    if cookie then cookies.put(by_line, cookie, from) end
  end
  assert(#jar == #by_line and #jar % 3 == 0 and #jar / 3 <= #lines, "a head is not its lines")
  for _, place in ipairs(PLACES) do
    local to = cookies.place(place)
    local header = cookies.header(jar, to)
    if header then check_header(jar, header, from, to) end
  end
  cookies.clear(jar)
  assert(#jar == 0)
end
