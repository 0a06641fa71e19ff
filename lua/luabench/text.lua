-- The module `text`: what requests need to be done to texts.
local core = require "luabench.core"
local errors = require "luabench.errors"

local text = {}

local show = errors.show
local find, sub, gsub, byte, format, type = string.find, string.sub, string.gsub, string.byte, string.format, type

local function expect(call, form, ...)
  for i = 1, select("#", ...) do
    if type((select(i, ...))) ~= "string" then errors.script("%s takes texts: %s, not %s", call, form, show((select(i, ...)))) end
  end
end

--- What stands between the first `left` and the next `right`; nil when they are not there.
function text.between(s, left, right, extra)
  expect("text.between", "text.between(s, left, right)", s, left, right)
  if extra ~= nil then errors.script("text.between takes three texts: text.between(s, left, right)") end
  local _, before = find(s, left, 1, true)
  if not before then return nil end
  local after = find(s, right, before + 1, true)
  return after and sub(s, before + 1, after - 1) or nil
end

--- Percent-encoded for a part of a URL (RFC 3986): all but letters, digits and - . _ ~.
function text.url_encode(s, extra)
  if type(s) == "number" and extra == nil then s = require("luabench.units").digits(s) end
  if type(s) ~= "string" or extra ~= nil then errors.script("text.url_encode takes one text, not %s", show(s)) end
  return (gsub(s, "[^%w%-._~]", function(c) return format("%%%02X", byte(c)) end))
end

--- Base64 (RFC 4648).
function text.base64(s, extra)
  if type(s) ~= "string" or extra ~= nil then errors.script("text.base64 takes one text, not %s", show(s)) end
  return core.base64(s)
end

local function hex(bytes)
  return (gsub(bytes, ".", function(c) return format("%02x", byte(c)) end))
end

local FORMS = { hex = hex, base64 = core.base64, raw = function(bytes) return bytes end }

local function formed(call, bytes, form)
  local write = FORMS[form or "hex"]
  if not write then errors.script('%s: the form is "hex", "base64" or "raw", not %s', call, show(form)) end
  return write(bytes)
end

--- The SHA-256 of a text (FIPS 180-4): hexadecimal digits, or in the form "base64" or "raw".
function text.sha256(s, form, extra)
  if type(s) ~= "string" or extra ~= nil then errors.script("text.sha256 takes a text: text.sha256(s), not %s", show(s)) end
  return formed("text.sha256", core.sha256(s), form)
end

--- HMAC-SHA-256 of a text (RFC 2104): hexadecimal digits, or in the form "base64" or "raw".
function text.hmac(key, s, form, extra)
  expect("text.hmac", "text.hmac(key, s)", key, s)
  if extra ~= nil then errors.script("text.hmac takes a key, a text and a form: text.hmac(key, s, \"base64\")") end
  return formed("text.hmac", core.hmac_sha256(key, s), form)
end

return text
