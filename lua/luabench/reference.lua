-- References between URLs, as servers and pages give them: RFC 3986. What a script gives is url.lua's affair.
local reference = {}

local find, match, gsub, sub, char, format, byte = string.find, string.match, string.gsub, string.sub, string.char, string.format, string.byte
local concat = table.concat

-- The five parts of a reference (RFC 3986, appendix B); those that are absent are nil, but the path "".
local function parts_of(text)
  local scheme, authority, query, fragment
  local rest, found = text, match(text, "^(%a[%w+.-]*):")
  if found then scheme, rest = found, sub(rest, #found + 2) end
  rest, fragment = match(rest, "^([^#]*)(.*)$")
  rest, query = match(rest, "^([^?]*)(.*)$")
  if sub(rest, 1, 2) == "//" then authority, rest = match(rest, "^//([^/]*)(.*)$") end
  return { scheme = scheme, authority = authority, path = rest, query = query ~= "" and sub(query, 2) or nil, fragment = fragment ~= "" and sub(fragment, 2) or nil }
end

-- RFC 3986 5.2.4
local function remove_dot_segments(path)
  local kept, rest = {}, path
  while rest ~= "" do
    if find(rest, "^%.%.?/") then
      rest = gsub(rest, "^%.%.?/", "")
    elseif find(rest, "^/%./") or rest == "/." then
      rest = "/" .. sub(rest, 4)
    elseif find(rest, "^/%.%./") or rest == "/.." then
      rest = "/" .. sub(rest, 5)
      kept[#kept] = nil
    elseif rest == "." or rest == ".." then
      rest = ""
    else
      local segment = match(rest, "^/?[^/]*")
      kept[#kept + 1], rest = segment, sub(rest, #segment + 1)
    end
  end
  return concat(kept)
end

-- RFC 3986 5.2.3
local function merge_paths(base, path)
  if base.authority and base.path == "" then return "/" .. path end
  return (match(base.path, "^.*/") or "") .. path
end

local function recompose(parts)
  return (parts.scheme and parts.scheme .. ":" or "") .. (parts.authority and "//" .. parts.authority or "") .. parts.path
    .. (parts.query and "?" .. parts.query or "") .. (parts.fragment and "#" .. parts.fragment or "")
end

--- The reference, as a server or a page gives one, made absolute: RFC 3986 5.2.2, strict.
function reference.join(base_text, text)
  local base, it = parts_of(base_text), parts_of(text)
  if it.scheme or it.authority then
    it.path = remove_dot_segments(it.path)
  elseif it.path == "" then
    it.path, it.query = base.path, it.query or base.query
  else
    it.path = remove_dot_segments(sub(it.path, 1, 1) == "/" and it.path or merge_paths(base, it.path))
  end
  if not it.scheme then
    it.scheme, it.authority = base.scheme, it.authority or base.authority
  end
  return recompose(it)
end

local DEFAULT_PORTS = { http = "80", https = "443" }

--- Scheme, host and port of an absolute URL, in lower case; then its path without query.
function reference.split(absolute)
  local parts = parts_of(absolute)
  local scheme = parts.scheme:lower()
  local authority = gsub(parts.authority or "", "^.*@", "")
  local host, port = match(authority, "^(%[.-%]):?(%d*)$")
  if not host then host, port = match(authority, "^([^:]*):?(%d*)$") end
  return scheme, (host or authority):lower(), port ~= "" and port or DEFAULT_PORTS[scheme], parts.path ~= "" and parts.path or "/"
end

--- User name and password of an absolute URL, decoded; nil when it has none.
function reference.userinfo(absolute)
  local info = match(absolute, "^%a[%w+.-]*://([^/?#]*)@")
  if not info then return nil end
  local user, password = match(info, "^([^:]*):?(.*)$")
  return reference.decode(user), reference.decode(password)
end

--- The URL with *** in place of a password.
function reference.without_password(absolute)
  return (gsub(absolute, "^(%a[%w+.-]*://[^/?#:@]*:)[^/?#]*@", "%1***@"))
end

--- Percent-encoding undone.
function reference.decode(text)
  return (gsub(text, "%%(%x%x)", function(hex) return char(tonumber(hex, 16)) end))
end

--- What cannot stand in a URL percent-encoded, and nothing else: for references of servers, which are not always careful.
function reference.repair(text)
  return (gsub(text, "[^\33-\126]", function(c) return format("%%%02X", byte(c)) end))
end

return reference
