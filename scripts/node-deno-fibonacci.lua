-- Is Node still faster than Deno? Part 3, with Ktor: a page that computes a Fibonacci number recursively, for 1 and 300 users, 120 s of each over the rounds.
--
--   luabench node-deno-fibonacci --allow-run -o report.json        (about 15 minutes; -p quick=true: about one and a half)
--
-- Ktor is built by (cd examples/servers/ktor && mvn -q package).
local p = params {
  quick   = { false, "the same in about a minute, with wide intervals" },
  servers = { "../examples/servers", "the folder of the example servers, after npm ci in it" },
  n       = { 27, "which Fibonacci number" },
  ktor    = { true, "with Ktor" },
}

local targets = {
  { name = "node", command = { "node", "node.mjs" }, cwd = p.servers, env = { PORT = 3101 }, url = "http://127.0.0.1:3101" },
  { name = "deno", command = { "node_modules/.bin/deno", "run", "--quiet", "--allow-net", "--allow-env=PORT", "deno.mjs" }, cwd = p.servers, env = { PORT = 3102 },
    url = "http://127.0.0.1:3102" },
}
if p.ktor then
  targets[3] = { name = "ktor", command = { "java", "-jar", "ktor/target/ktor.jar" }, cwd = p.servers, env = { PORT = 3103 }, url = "http://127.0.0.1:3103" }
end

compare "fibonacci" {
  targets = targets,
  cases = { { name = "1 user", users = 1 }, { name = "300 users", users = 300 } },
  duration = p.quick and "2s" or "14s",
  warm_up = p.quick and "1s" or "2s",
  rounds = p.quick and 7 or 10,
  http = { timeout = "60s" },
  run = function() check("is a number", http.get("/fibonacci/" .. p.n).body:find("^%d+\n$")) end,
}
