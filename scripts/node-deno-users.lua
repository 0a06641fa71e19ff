-- Is Node still faster than Deno? Part 2: how many hello world pages 1, 50 and 300 users get, 120 s of each over the rounds.
--
--   luabench node-deno-users --allow-run -o report.json        (about 15 minutes; -p quick=true: about one)
local p = params {
  quick   = { false, "the same in about a minute, with wide intervals" },
  servers = { "../examples/servers", "the folder of the example servers, after npm ci in it" },
}

compare "hello world as fast as it goes" {
  targets = {
    { name = "node", command = { "node", "node.mjs" }, cwd = p.servers, env = { PORT = 3101 }, url = "http://127.0.0.1:3101" },
    { name = "deno", command = { "node_modules/.bin/deno", "run", "--quiet", "--allow-net", "--allow-env=PORT", "deno.mjs" }, cwd = p.servers, env = { PORT = 3102 },
      url = "http://127.0.0.1:3102" },
  },
  cases = { { name = "1 user", users = 1 }, { name = "50 users", users = 50 }, { name = "300 users", users = 300 } },
  duration = p.quick and "1.5s" or "14s",
  warm_up = p.quick and "0.5s" or "2s",
  rounds = p.quick and 6 or 10,
  run = function() check("is hello", http.get("/hello").body == "hello, world\n") end,
}
