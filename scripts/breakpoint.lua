-- How much can it take? A rate that grows until responses get too slow or fail; then the run ends. The table over time says how far it got.
--
--   luabench breakpoint http://127.0.0.1:8080 -p path=/hello -p to=50000 -o breakpoint.html
local p = params {
  path   = { "/", "what is requested, below the URL" },
  to     = { 10000, "requests a second at the end" },
  over   = { "10m", "how long the rate grows" },
  p95    = { "500ms", "the end: 95 of 100 responses have been faster no longer" },
  errors = { "5%", "the end: so many requests have failed" },
}

scenario "breakpoint" {
  target = "http://127.0.0.1:8080",
  stages = { { rate = p.to, over = p.over } },
  thresholds = {
    { ("http.errors: rate < %s"):format(p.errors), abort = true, after = "1s" },
    { ("http.latency: p(95) < %s"):format(p.p95), abort = true, after = "1s" },
  },
  run = function()
    http.get(p.path)
  end,
}
