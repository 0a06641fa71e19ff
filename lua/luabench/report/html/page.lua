-- An HTML page in the making. All text that is given to it comes in plain and is escaped here, so that names, URLs and errors from outside stay text: control characters are
-- shown as such, markup is not markup, and the data of charts cannot end their element. The policy in its head forbids every request.
local core = require "luabench.core"
local terminal = require "luabench.terminal"

local page = {}
page.__index = page

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- Text for HTML, in an element or an attribute.
function page.escape(text)
  return (terminal.escape(text):gsub("[&<>\"']", ENTITIES))
end

local escape = page.escape

local STYLE = [[
:root{color-scheme:light dark;--ink:#1d2127;--dim:#667080;--line:#dfe2e6;--back:#fff;--soft:#f5f6f8;--good:#1d7a4f;--bad:#b3261e;--warn:#9a5b00}
@media(prefers-color-scheme:dark){:root{--ink:#e3e6ea;--dim:#98a1ae;--line:#343a43;--back:#16191d;--soft:#1e2228;--good:#5fc794;--bad:#f2897f;--warn:#e5ad55}}
*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px 16px 64px}h1{font-size:1.7rem;margin:.2em 0;overflow-wrap:anywhere}h2{font-size:1.25rem;margin:2em 0 .5em;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.5em 0 .3em}p{margin:.4em 0;overflow-wrap:anywhere}.note{color:var(--dim)}
.scroll{overflow-x:auto;margin:.6em 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--dim);font-weight:500}th:first-child,td:first-child{text-align:left}td:first-child{overflow-wrap:anywhere;white-space:normal}th.words,td.words{text-align:left;overflow-wrap:anywhere;white-space:normal}
table.facts{width:auto}.facts td{text-align:left;white-space:normal;overflow-wrap:anywhere}.facts td:first-child{color:var(--dim);white-space:nowrap}
.chart{height:320px;margin:.6em 0;break-inside:avoid}.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:8px 24px}
figure{margin:0;break-inside:avoid;min-width:0}figcaption{font-weight:600;font-size:.95rem}
ul.said{list-style:none;padding:0;margin:.6em 0}ul.said li{padding:8px 12px;margin:6px 0;background:var(--soft);border-left:4px solid var(--dim);overflow-wrap:anywhere}
ul.said .better{border-color:var(--good)}ul.said .worse,ul.said .bad{border-color:var(--bad)}ul.said .invalid,ul.said .warn{border-color:var(--warn)}.bad{color:var(--bad)}
details{margin:1em 0}summary{cursor:pointer;color:var(--dim)}pre{overflow-x:auto;background:var(--soft);padding:12px;font-size:13px}
@media print{main{max-width:none;padding:0}details{display:none}.chart{height:260px}ul.said li{background:none}}]]

local HEAD = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:">
<title>%s</title>
<style>%s</style></head><body><main>
]]

--- An empty page.
function page.new(title)
  return setmetatable({ parts = { HEAD:format(escape(title), STYLE) }, data = {} }, page)
end

-- Adds markup as it is.
function page:raw(markup)
  self.parts[#self.parts + 1] = markup
end

--- A heading of level 1 to 3, with a note beside it or nil.
function page:heading(level, text, note)
  self:raw(("<h%d>%s%s</h%d>\n"):format(level, escape(text), note and ' <span class="note">' .. escape(note) .. "</span>" or "", level))
end

--- A paragraph.
function page:paragraph(text)
  self:raw("<p>" .. escape(text) .. "</p>\n")
end

--- A paragraph in the background.
function page:note(text)
  self:raw('<p class="note">' .. escape(text) .. "</p>\n")
end

--- Sentences that matter: a list of { text, class }, class "better", "worse", "invalid", "warn", "bad" or nil.
function page:said(list)
  if #list == 0 then return end
  self:raw('<ul class="said">\n')
  for _, each in ipairs(list) do self:raw(('<li class="%s">%s</li>\n'):format(each[2] or "", escape(each[1]))) end
  self:raw("</ul>\n")
end

local function cell_of(cell, tag)
  local text, class = cell, nil
  if type(cell) == "table" then text, class = cell[1], cell[2] end
  return ("<%s%s>%s</%s>"):format(tag, class and (' class="%s"'):format(class) or "", escape(text), tag)
end

local function row_of(cells, tag)
  local out = {}
  for i, cell in ipairs(cells) do out[i] = cell_of(cell, tag) end
  return "<tr>" .. table.concat(out) .. "</tr>\n"
end

--- A table: titles, then rows of cells; a cell, and a title, is a text or { text, class }; "words" are no number.
function page:table(titles, rows)
  if #rows == 0 then return end
  self:raw('<div class="scroll"><table><thead>' .. row_of(titles, "th") .. "</thead><tbody>\n")
  for _, cells in ipairs(rows) do self:raw(row_of(cells, "td")) end
  self:raw("</tbody></table></div>\n")
end

--- Names and what they are: rows of { name, text }, under a title or nil.
function page:facts(rows, title)
  if #rows == 0 then return end
  if title then self:heading(3, title) end
  self:raw('<div class="scroll"><table class="facts"><tbody>\n')
  for _, cells in ipairs(rows) do self:raw(row_of(cells, "td")) end
  self:raw("</tbody></table></div>\n")
end

--- What is shown when somebody asks for it: `fill` adds to the page.
function page:details(title, fill)
  self:raw("<details><summary>" .. escape(title) .. "</summary>\n")
  fill()
  self:raw("</details>\n")
end

--- Text with its own line breaks.
function page:preformatted(text)
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do lines[#lines + 1] = escape(line) end
  self:raw("<pre>" .. table.concat(lines, "\n") .. "</pre>\n")
end

--- Charts beside each other: `fill` adds them.
function page:charts(fill)
  if not page.has_charts() then return end
  self:raw('<div class="charts">\n')
  fill()
  self:raw("</div>\n")
end

--- A chart: `draw` names a function of lua/charts/charts.js, `data` is what it takes.
function page:chart(draw, title, data)
  local id = "data" .. #self.data + 1
  self.data[#self.data + 1] = { id = id, json = assert(core.json_encode(data)) }
  self:raw(('<figure><figcaption>%s</figcaption><div class="chart" hidden data-draw="%s" data-title="%s" data-from="%s"></div></figure>\n'):format(escape(title), draw, escape(title), id))
end

--- Whether the program was built with charts.
function page.has_charts()
  return #require "luabench.report.html.charts" > 0
end

-- JSON in a script element: nothing in it may look like the element's end.
local function harmless(json)
  return (json:gsub("<", "\\u003c"):gsub("\226\128\168", "\\u2028"):gsub("\226\128\169", "\\u2029"))
end

--- The whole page.
function page:text()
  for _, each in ipairs(self.data) do self:raw(('<script type="application/json" id="%s">%s</script>\n'):format(each.id, harmless(each.json))) end
  if #self.data > 0 then self:raw("<script>" .. require "luabench.report.html.charts" .. "</script>\n") end
  if not page.has_charts() then self:note("Without charts: luabench was built where npm was not there. With npm, (cd lua/charts && npm ci) and a new build add them.") end
  self:raw("</main></body></html>\n")
  return table.concat(self.parts)
end

return page
