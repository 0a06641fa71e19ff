-- Makes every wrong call of test_wrong_use.py, which calls.json lists, and counts, for each, a check whose reason is what it raised: those that
-- begin with "top " belong to the top of the script, the others to `run`.
local NAMES = "user, res, page, task, rows, counter, gauge, rate, trend"
local rows = file.csv("users.csv")
local counter, gauge, rate, trend = metric.counter("c"), metric.gauge("g"), metric.rate("r"), metric.trend("t", { unit = "s" })
thresholds { "checks: rate == 0%" }

-- What the line raises. A chunk that does not compile raises that, too.
local function raised(line, ...)
  local chunk, why = load("local " .. NAMES .. " = ... " .. line, "@script.lua")
  if not chunk then return why end
  local ok, text = pcall(chunk, ...)
  return ok and "nothing" or tostring(text)
end

local at_top, in_run = {}, {}
for i, line in ipairs(json.decode(file.text("calls.json"))) do
  local top = line:match("^top (.*)")
  if top then at_top[i] = raised(top) else in_run[i] = line end
end

scenario "s" { iterations = 1, run = function(user)
  local res = http.post("/echo", { json = { items = { { id = 7 } } } })
  local page = http.get("/hello")
  local task = spawn(function() end)
  for i, text in pairs(at_top) do check("call " .. i, false, text) end
  for i, line in pairs(in_run) do check("call " .. i, false, raised(line, user, res, page, task, rows, counter, gauge, rate, trend)) end
end }
