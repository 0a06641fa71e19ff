-- Does it work at all? One user, a few requests, every one of which has to succeed.
--
--   luabench smoke http://127.0.0.1:8080 -p path=/hello
local p = params {
  path     = { "/", "what is requested, below the URL" },
  requests = { 10, "how many" },
  slowest  = { "1s", "every response has to be faster" },
}

scenario "smoke" {
  target = "http://127.0.0.1:8080",
  iterations = p.requests,
  thresholds = { "http.errors: rate == 0%", "checks: rate == 100%", ("http.latency: max < %s"):format(p.slowest) },
  run = function()
    local res = http.get(p.path)
    check("status is 2xx", res.status >= 200 and res.status < 300, res.error_text or res.status)
  end,
}
