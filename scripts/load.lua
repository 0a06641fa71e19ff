-- The load of a usual day: users come, stay and go again, each with a pause between two requests.
--
--   luabench load http://127.0.0.1:8080 -p path=/hello -p users=50 -p hold=10m
local p = params {
  path  = { "/", "what is requested, below the URL" },
  users = { 20, "concurrent users" },
  ramp  = { "30s", "how long they take to come, and to go" },
  hold  = { "2m", "how long all of them stay" },
  think = { 1, "seconds between two requests of a user, on average" },
  p95   = { "500ms", "95 of 100 responses have to be faster" },
}

scenario "load" {
  target = "http://127.0.0.1:8080",
  stages = { { users = p.users, over = p.ramp, hold = p.hold }, { users = 0, over = p.ramp } },
  thresholds = { "http.errors: rate < 1%", ("http.latency: p(95) < %s"):format(p.p95) },
  run = function()
    local res = http.get(p.path)
    check("status is 2xx", res.status >= 200 and res.status < 300, res.error_text or res.status)
    sleep(0.5 * p.think, 1.5 * p.think)
  end,
}
