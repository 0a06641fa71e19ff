-- Pages as scripts see them: a document and its nodes, found by CSS selectors or XPath.
local core = require "luabench.core"
local css = require "luabench.css"
local errors = require "luabench.errors"
local nearest = require "luabench.nearest"
local reference = require "luabench.reference"

local html = {}

local find, lower, match = string.find, string.lower, string.match
local show = errors.show

local Node = {}
local methods = {}

local function wrap(node) return setmetatable({ _node = node }, Node) end

local function wrap_all(nodes)
  for i = 1, #nodes do nodes[i] = wrap(nodes[i]) end
  return nodes
end

local function check(node, call, text, extra, what)
  if getmetatable(node) ~= Node then errors.script("%s is called with a colon: node:%s(...)", call, call) end
  if type(text) ~= "string" or extra ~= nil then errors.script("node:%s takes %s, not %s", call, what, show(extra == nil and text or extra)) end
end

local function select_nodes(node, selector, call, first)
  local path, why = css.xpath(selector)
  if not path then errors.script("%s(%s): %s", call, show(selector), why) end
  local nodes
  nodes, why = core.html_find(node, path, first)
  if not nodes then errors.script("%s(%s): %s", call, show(selector), why) end
  return nodes
end

--- The first node that a CSS selector finds, or nil.
function methods.first(node, selector, extra)
  check(node, "first", selector, extra, "a CSS selector")
  local found = select_nodes(node._node, selector, "first", true)[1]
  return found and wrap(found) or nil
end

--- All nodes that a CSS selector finds, in the order of the page.
function methods.all(node, selector, extra)
  check(node, "all", selector, extra, "a CSS selector")
  return wrap_all(select_nodes(node._node, selector, "all"))
end

--- What an XPath expression means: a list of nodes, a string, a number or a boolean.
function methods.xpath(node, expression, extra)
  check(node, "xpath", expression, extra, "an XPath expression")
  local result, why = core.html_find(node._node, expression)
  if result == nil then errors.script("xpath(%s): %s", show(expression), why) end
  if type(result) ~= "table" then return result end
  return wrap_all(result)
end

--- The value of an attribute, or nil.
function methods.attr(node, name, extra)
  check(node, "attr", name, extra, "the name of an attribute")
  return core.html_attribute(node._node, lower(name))
end

local FIELDS = { "text", "name", "first", "all", "xpath", "attr" }

function Node.__index(node, key)
  if key == "text" then return core.html_text(rawget(node, "_node")) end
  if key == "name" then return core.html_name(rawget(node, "_node")) end
  if methods[key] then return methods[key] end
  errors.script("a node has no field `%s`%s; it has %s", tostring(key), nearest.hint(key, FIELDS), table.concat(FIELDS, ", "))
end

function Node.__tostring(node)
  local name = core.html_name(rawget(node, "_node"))
  return name and "<" .. name .. ">" or "page"
end

-- The encoding that the head names, or nil: then the page may.
local function encoding_of(content_type, text)
  local charset = content_type and match(lower(content_type), "charset%s*=%s*[\"']?([%w_:.-]+)")
  if charset then return charset end
  return not find(lower(text:sub(1, 2048)), "charset", 1, true) and "utf-8" or nil
end

--- The document of a text, or nil when there is nothing in it.
function html.parse(text, content_type)
  local root = core.html_parse(text, encoding_of(content_type, text))
  return root and wrap(root) or nil
end

--- The string that `res:html(selector, attribute)` means: the first node's attribute, or its text without one; nil when there is none.
function html.pick(document, selector, attribute)
  local found = select_nodes(document._node, selector, "res:html", true)[1]
  if not found then return nil end
  if attribute then return core.html_attribute(found, lower(attribute)) end
  return core.html_text(found)
end

--- What references in the document are relative to.
function html.base(document, url)
  local found = core.html_find(document._node, "//base/@href", true)[1]
  return found and reference.join(url, reference.repair(core.html_text(found))) or url
end

-- Styles, scripts, images, icons.
local ASSETS = [[//link[@href][contains(concat(" ", normalize-space(translate(@rel, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")), " "), " stylesheet ")
  or contains(concat(" ", normalize-space(translate(@rel, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")), " "), " icon ")
  or contains(translate(@rel, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"), "apple-touch-icon")]/@href
  | //script/@src | //img/@src | //input[translate(@type, "IMAGE", "image") = "image"]/@src]]

--- The absolute URLs of what a browser would load with the document, each once, in the order of the page.
function html.assets(document, url)
  local base, list, seen = html.base(document, url), {}, {}
  for _, node in ipairs(core.html_find(document._node, ASSETS)) do
    local text = match(core.html_text(node), "^%s*(.-)%s*$")
    local absolute = text ~= "" and match(reference.join(base, reference.repair(text)), "^[^#]*")
    if absolute and find(absolute, "^https?://") and not seen[absolute] then
      seen[absolute], list[#list + 1] = true, absolute
    end
  end
  return list
end

return html
