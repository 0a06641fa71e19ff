-- The HTML report: one file that needs nothing else, made from the result document alone. Charts are drawn by lua/charts where the program was built with them; the tables
-- say the same without.
local compare = require "luabench.report.html.compare"
local page = require "luabench.report.html.page"
local run = require "luabench.report.html.run"
local summary = require "luabench.summary"

local html = {}

local function title_of(document)
  local name = next(document.compare)
  if name and not next(document.compare, name) then return name end
  local script = summary.value(document.script)
  return script and script:match("[^/]*$") or summary.value(document.url) or "luabench"
end

--- The report of a run or of comparisons as the text of an HTML file.
function html.render(document)
  local made = page.new(title_of(document))
  made:heading(1, title_of(document))
  made:note(("luabench %s, %s"):format(document.luabench, document.started:sub(1, 19):gsub("T", " ") .. " UTC"))
  if next(document.compare) then compare.add(made, document) else run.add(made, document) end
  return made:text()
end

return html
