-- Node, Deno and Bun: hello world, 5 million requests at 50, 100 and 300 connections, spread over the rounds.
--
--   luabench hello-node-deno-bun --allow-run -o report.json        (about an hour; -p quick=true: about three minutes)
local p = params {
  quick   = { false, "the same in about a minute, with wide intervals" },
  servers = { "../examples/servers", "the folder of the example servers, after npm ci in it" },
}

local rounds = p.quick and 7 or 10
local requests = p.quick and 20000 or 5000000 / rounds -- of a slot

compare "hello world" {
  targets = {
    { name = "node", command = { "node", "node.mjs" }, cwd = p.servers, env = { PORT = 3101 }, url = "http://127.0.0.1:3101" },
    { name = "deno", command = { "node_modules/.bin/deno", "run", "--quiet", "--allow-net", "--allow-env=PORT", "deno.mjs" }, cwd = p.servers, env = { PORT = 3102 },
      url = "http://127.0.0.1:3102" },
    { name = "bun", command = { "node_modules/.bin/bun", "bun.mjs" }, cwd = p.servers, env = { PORT = 3103 }, url = "http://127.0.0.1:3103" },
  },
  cases = {
    { name = "50 connections", users = 50, iterations = requests },
    { name = "100 connections", users = 100, iterations = requests },
    { name = "300 connections", users = 300, iterations = requests },
  },
  warm_up = p.quick and "0.5s" or "2s",
  rounds = rounds,
  run = function() check("is hello", http.get("/").body == "hello, world\n") end,
}
