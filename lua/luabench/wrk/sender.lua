-- How the texts of a script of wrk's are sent. Over HTTP/1.1 they go out as they are. Over HTTP/2, or through a proxy, they are taken apart, and each of
-- their requests is sent as any other.
local core = require "luabench.core"
local errors = require "luabench.errors"

local sender = {}

local raw_send, raw_split, prepare, send = core.raw_send, core.raw_split, core.prepare, core.send
local concat = table.concat

local MOST_PREPARED = 4096

-- What must not be repeated over another version of HTTP, or is made from the URL.
local DROPPED = { host = true, connection = true, ["keep-alive"] = true, ["proxy-connection"] = true, upgrade = true, ["transfer-encoding"] = true, te = true }

-- Header lines without those that are dropped, each ended by CRLF; and the value of Host.
local function clean(lines)
  local kept, host = {}, nil
  for line in lines:gmatch("[^\r\n]+") do
    local name, value = line:match("^([^:%s]+)%s*:%s*(.-)%s*$")
    if name and name:lower() == "host" then host = value end
    if name and not DROPPED[name:lower()] then kept[#kept + 1] = name .. ": " .. value .. "\r\n" end
  end
  return concat(kept), host
end

local function prepared_sender(scenario, target, what)
  local cache, count = {}, 0
  local origin = target.url:match("^(%a[%w+.-]*://[^/?#]*)")
  local function prepared(method, path, lines)
    local key = concat({ method, path, lines }, "\n")
    local known = cache[key]
    if known then return known end
    local cleaned, host = clean(lines)
    local absolute = path:find("^/") and origin .. path or path
    local made, why = prepare(scenario, method, absolute, cleaned, method .. " " .. what, host)
    if not made then error(("request(): %s: %s"):format(errors.show(absolute), why), 0) end
    if count >= MOST_PREPARED then cache, count = {}, 0 end
    cache[key], count = made, count + 1
    return made
  end
  return function(text)
    local list = {}
    for i, parts in ipairs(raw_split(text)) do
      local body = parts[4] ~= "" and parts[4] or nil
      local status, _, _, _, content, head = send(prepared(parts[1], parts[2], parts[3]), nil, body)
      list[3 * i - 2], list[3 * i - 1], list[3 * i] = status, head or "", content
    end
    return list
  end
end

--- A function (text, wanted) as core.raw_send is. `fixed`: the request is always the same, and its figures have the name that they would have in quick mode.
function sender.new(scenario, current, fixed)
  local target = current.target
  local what = fixed and (target.path:match("^[^?#]*")) or "request()"
  if current.parsed then return prepared_sender(scenario, target, what) end
  local raw = core.raw(scenario, target.url, what)
  return function(text, wanted) return raw_send(raw, text, wanted) end
end

return sender
