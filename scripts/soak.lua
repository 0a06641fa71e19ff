-- The same rate for hours: what leaks, fills up or wears out.
--
--   luabench soak http://127.0.0.1:8080 -p path=/hello -p rate=50 -p duration=8h -o soak.html
local p = params {
  path     = { "/", "what is requested, below the URL" },
  rate     = { 20, "requests a second" },
  duration = { "1h", "how long" },
  p99      = { "1s", "99 of 100 responses have to be faster" },
}

scenario "soak" {
  target = "http://127.0.0.1:8080",
  rate = p.rate,
  duration = p.duration,
  arrivals = "poisson",
  thresholds = { "http.errors: rate < 0.1%", ("http.latency: p(99) < %s"):format(p.p99) },
  run = function()
    local res = http.get(p.path)
    check("status is 2xx", res.status >= 200 and res.status < 300, res.error_text or res.status)
  end,
}
