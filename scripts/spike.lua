-- A sudden crowd: few users, all at once many, and few again.
--
--   luabench spike http://127.0.0.1:8080 -p path=/hello -p peak=1000
local p = params {
  path  = { "/", "what is requested, below the URL" },
  users = { 10, "concurrent users before and after" },
  peak  = { 200, "concurrent users of the crowd" },
  hold  = { "30s", "how long each of the three parts lasts" },
  think = { 1, "seconds between two requests of a user, on average" },
}

scenario "spike" {
  target = "http://127.0.0.1:8080",
  stages = { { users = p.users, hold = p.hold }, { users = p.peak, hold = p.hold }, { users = p.users, hold = p.hold } },
  thresholds = { "http.errors: rate < 5%" },
  run = function()
    local res = http.get(p.path)
    check("status is 2xx", res.status >= 200 and res.status < 300, res.error_text or res.status)
    sleep(0.5 * p.think, 1.5 * p.think)
  end,
}
