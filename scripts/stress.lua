-- More than a usual day: users in four steps up to four times as many, then none, to see what gets slow first and whether it recovers.
--
--   luabench stress http://127.0.0.1:8080 -p path=/hello -p users=50
local p = params {
  path  = { "/", "what is requested, below the URL" },
  users = { 20, "concurrent users of a usual day" },
  ramp  = { "10s", "how long a step takes" },
  hold  = { "1m", "how long it lasts" },
  think = { 1, "seconds between two requests of a user, on average" },
}

local stages = {}
for step = 1, 4 do stages[step] = { users = step * p.users, over = p.ramp, hold = p.hold } end
stages[5] = { users = p.users, over = p.ramp, hold = p.hold }
stages[6] = { users = 0, over = p.ramp }

scenario "stress" {
  target = "http://127.0.0.1:8080",
  stages = stages,
  thresholds = { "http.errors: rate < 5%" },
  run = function()
    local res = http.get(p.path)
    check("status is 2xx", res.status >= 200 and res.status < 300, res.error_text or res.status)
    sleep(0.5 * p.think, 1.5 * p.think)
  end,
}
