-- The formats of -o, by the ending of the file. To add one: a row here, and a module that returns a function
-- (document, context) → the text of the file, or nil and why it cannot be made (docs/result.schema.json: document; context.reason: why the
-- run has failed, in words, or nil). Those that are `live` are written by the core while the run goes on.
local formats = {}

formats.ROWS = {
  { ending = ".json", what = "the whole result", module = "luabench.output.json" },
  { ending = ".html", what = "the report as a page, with charts", module = "luabench.output.html" },
  { ending = ".csv", what = "a row a second", module = "luabench.output.csv" },
  { ending = ".ndjson", what = "a line a request", live = true },
  { ending = ".hgrm", what = "HdrHistogram's percentiles", module = "luabench.output.hgrm" },
  { ending = ".hlog", what = "HdrHistogram's log", module = "luabench.output.hlog" },
  { ending = ".jtl", what = "JMeter's CSV", live = true },
  { ending = ".junit.xml", what = "thresholds and checks as test cases", module = "luabench.output.junit" },
}

--- The row of the file's format, or nil.
function formats.of(path)
  for _, row in ipairs(formats.ROWS) do
    if #path > #row.ending and path:sub(-#row.ending) == row.ending and not path:sub(-#row.ending - 1):find("^/") then return row end
  end
end

--- The row of a format by its name, which is its ending without the point, or nil.
function formats.named(name)
  for _, row in ipairs(formats.ROWS) do
    if row.ending == "." .. tostring(name) then return row end
  end
end

--- "FILE.json, FILE.csv, ...".
function formats.known()
  local names = {}
  for i, row in ipairs(formats.ROWS) do names[i] = "FILE" .. row.ending end
  return table.concat(names, ", ")
end

return formats
