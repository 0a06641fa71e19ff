-- Node against Deno: hello world over HTTP/2 and TLS, 10, 25 and 50 connections, 10,000 requests in each slot.
--
--   luabench http2-hello --allow-run -o report.json        (about 4 minutes; -p quick=true: about two)
--
-- The certificate is made by examples/servers/make-certificate.
local p = params {
  quick   = { false, "the same in a minute or two, with wide intervals" },
  servers = { "../examples/servers", "the folder of the example servers, after npm ci in it" },
}

local requests = 10000

compare "hello world over HTTP/2" {
  targets = {
    { name = "node", command = { "node", "node-h2.mjs" }, cwd = p.servers, env = { PORT = 3101 }, url = "https://127.0.0.1:3101" },
    { name = "deno", command = { "node_modules/.bin/deno", "run", "--quiet", "--allow-net", "--allow-read", "--allow-env=PORT,CERTIFICATES", "deno-h2.mjs" }, cwd = p.servers,
      env = { PORT = 3102 }, url = "https://127.0.0.1:3102" },
  },
  cases = {
    { name = "10 connections", users = 10, iterations = requests },
    { name = "25 connections", users = 25, iterations = requests },
    { name = "50 connections", users = 50, iterations = requests },
  },
  warm_up = p.quick and "0.5s" or "2s",
  rounds = p.quick and 6 or 10,
  http = { version = "2", insecure = true },
  run = function() check("is hello", http.get("/").body == "hello, world\n") end,
}
