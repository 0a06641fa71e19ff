-- The manual's entries of a comparison's own keys and of its targets. Their examples are whole scripts.
return { { title = "Keys of a comparison", name = "compare", class = "Comparison", text = [[Beside these, the keys of a scenario: at the top for all cases, or in a case, `run` too. A slot is one case against one target.]], entries = {
  { "compare.targets: Target[]", [[The servers that are compared, at least two.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "compare.cases: table[]", [[What each of them is put through: `name`, and keys of a scenario. A case by `iterations` is measured whole, after a thrown-away warm-up (`warm_up`, 2s unless given); one by `duration` drops its own first `warm_up`.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "compare.rounds: integer = 10", [[How often every slot is run, in an order that changes from round to round. 6 are the least for one comparison, 7 for two or three.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  rounds = 12,
  run = function() http.get("/") end,
}]] },
  { "compare.baseline: string", [[The target that the others are judged against; the first one unless given.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  baseline = "b",
  run = function() http.get("/") end,
}]] },
  { "compare.pairs: string", [["all": a verdict for every pair.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  pairs = "all",
  run = function() http.get("/") end,
}]] },
} }, { title = "Keys of a target", name = "target", class = "Target", text = "A server of `compare.targets`: one that luabench starts and stops (`command`), or one that runs already.", entries = {
  { "target.name: string", [[What it is called in the report.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.url: string", [[Where it listens; the base of the requests.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.command: string[]", [[The program that starts it, and its arguments; no shell reads them. Needs `--allow-run`. It is stopped after its turn, with everything that it started. Without a command it is only driven.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", command = { "node", "a.mjs" } }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.env: table<string, string|number>", [[Environment variables for the command.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", command = { "node", "a.mjs" }, env = { PORT = 3001 } }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.cwd: string", [[The folder in which the command runs; the script's unless given.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", command = { "node", "a.mjs" }, cwd = "servers" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.ready: string = \"/\"", [[The path that must answer, three times in a row with a status below 500, before it is measured.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", ready = "/health" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.ready_timeout: Duration = 30", [[How long it may take until then.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", ready_timeout = "5s" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.stop_timeout: Duration = 5", [[How long it may take to end before it is killed.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", command = { "node", "a.mjs" }, stop_timeout = "1s" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.restart: boolean = true", [[Started at its turn in each round and stopped after it, so that one server runs at a time; false: started once.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", command = { "node", "a.mjs" }, restart = false }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.pid: integer", [[A process that luabench did not start: its CPU and memory are watched.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", pid = 1 }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
  { "target.port: integer", [[The same, by the port on which it listens.]], [[compare "servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001", port = 3001 }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "1 user", users = 1, iterations = 100 } },
  run = function() http.get("/") end,
}]] },
} } }
