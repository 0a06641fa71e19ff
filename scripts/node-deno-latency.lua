-- Is Node still faster than Deno? Part 1: latency of a hello world page at 100 and 1,000 requests a second, 120 s of each over the rounds.
--
--   luabench node-deno-latency --allow-run -o report.json        (about 10 minutes; -p quick=true: about one and a half)
local p = params {
  quick   = { false, "the same in about a minute, with wide intervals" },
  servers = { "../examples/servers", "the folder of the example servers, after npm ci in it" },
}

local length = p.quick and "2s" or "14s" -- of a slot; its first part is the warm-up

compare "hello world at a steady rate" {
  targets = {
    { name = "node", command = { "node", "node.mjs" }, cwd = p.servers, env = { PORT = 3101 }, url = "http://127.0.0.1:3101" },
    { name = "deno", command = { "node_modules/.bin/deno", "run", "--quiet", "--allow-net", "--allow-env=PORT", "deno.mjs" }, cwd = p.servers, env = { PORT = 3102 },
      url = "http://127.0.0.1:3102" },
  },
  cases = {
    { name = "100 requests/s", rate = 100, duration = p.quick and "5s" or length },
    { name = "1,000 requests/s", rate = 1000, duration = length },
  },
  warm_up = p.quick and "1s" or "2s",
  rounds = p.quick and 6 or 10,
  run = function() check("is hello", http.get("/hello").body == "hello, world\n") end,
}
