-- The manual's entries of globals. An entry is { signature, text, example, "top" when the example stands at the top of a script }; see luabench/manual.lua.
return { title = "Globals", name = "globals", text = "Functions that every script has.", entries = {
  { "scenario(name: string, keys?: Scenario): any", [[Defines who sends what: `scenario "name" { ... }`. A script has one or more; they run side by side.]],
    [[scenario "one user" { users = 1, iterations = 1, run = function() http.get("/hello") end }]] },
  { "defaults(keys: Scenario)", [[Keys for all scenarios of the script; their own win, `http` and `tags` merge.]],
    [[defaults { iterations = 1, http = { timeout = "5s" } }
scenario "a" { run = function() http.get("/hello") end }
scenario "b" { run = function() http.get("/hello") end }]] },
  { "compare(name: string, keys?: Comparison): any", [[Compares servers in rounds: `compare "name" { targets = ..., cases = ..., rounds = 10 }`, with the keys of a scenario for all cases or for one. Commands need `--allow-run`.]],
    [[compare "two servers" {
  targets = { { name = "a", url = "http://127.0.0.1:3001" }, { name = "b", url = "http://127.0.0.1:3002" } },
  cases = { { name = "10 users", users = 10, iterations = 10000 }, { name = "100 a second", rate = 100, duration = "20s" } },
  run = function() check("is 200", http.get("/").status == 200) end,
}]] },
  { "params(specs: table): table", [[Declares parameters with their defaults and help texts; returns their values. `-p NAME=VALUE` sets them, typed by the default; `--help` after the script lists them. With `secret = true` the value is shown as *** everywhere.]],
    [[local p = params { page = { "/hello", "the page to ask for" }, mode = { "fast", "how", choices = { "fast", "slow" } } }
scenario "s" { iterations = 1, run = function() http.get(p.page) end }]] },
  { "check(name: string, value: any, why?: any): any", [[Counts a pass or a failure under `name`, and returns the value. A function is an error: it would always pass. Never stops the iteration. The first `why` of the failures is shown. After 200 names, "(other)".]],
    [[local res = http.get("/hello")
check("status is 200", res.status == 200, res.status)]] },
  { "must(name: string, value: any, why?: any): any", [[Like check, but a failure ends the iteration as failed.]],
    [[local res = must("answered", http.get("/hello"))
must("is ok", res.ok, res.error)]] },
  { "fail(text: string)", [[Ends the iteration as failed. `pcall` catches it.]],
    [[local res = http.get("/hello")
if res.status == 503 then fail("overloaded") end]] },
  { "group(name: string, run: fun(): any): any", [[A transaction with its own timing, sleep and pace left out; returns what the function returns. Groups nest as `outer/inner`. One that an error ends is counted as cut, not timed.]],
    [[group("checkout", function()
  http.get("/hello")
  sleep("1ms")
end)]] },
  { "spawn(run: fun(...: any): any, ...: any): Task", [[Another line of work of the same user, with the same cookies, vars and connections. It ends with its iteration. An error that nobody waits for fails the iteration.]],
    [[local task = spawn(function() return http.get("/hello").status end)
http.get("/hello")
check("both answered", task:wait() == 200)]] },
  { "sleep(least: Duration, most?: Duration)", [[Waits for a time, or for a random one between two.]], [[sleep("1ms")
sleep(0.001, 0.002)]] },
  { "pace(period: Duration)", [[Waits until this long after the iteration was due, whatever the iteration took. A later one begins at once.]], [[http.get("/hello")
pace("5ms")]] },
  { "now(): number", [[Seconds of a clock that only goes forward.]], [[local before = now()
http.get("/hello")
check("is quick", now() - before < 5)]] },
  { "stop_user()", [[Ends this user; the others go on.]], [[if user.iteration == 3 then stop_user() end]] },
  { "stop_run(text?: string)", [[Ends the whole run, with exit status 3.]], [[if http.get("/hello").status == 401 then stop_run("the token is no longer good") end]] },
  { "thresholds(list: table)", [[What must hold for the run to pass: texts as for `--threshold`, or tables with such a text, `abort = true` (ends the run when it fails), `after` (not before) and `empty = "ok"` (no data is no failure). A metric of requests can be narrowed by scenario, name, method, status (`503`, `5xx`), error, group (with the groups inside it), phase (`run`, `on_start`, `on_stop`) and tags: `http.latency{method=POST, status=200}: p(95) < 1s`. In `http.errors` status and error choose the errors, the others the requests of which they are a share.]],
    [[thresholds {
  "http.latency: p(95) < 2s, max < 30s",
  "http.latency{method=GET, status=200}: p(99) < 20s",
  "http.errors{status=5xx}: rate < 1%",
  { "http.errors: rate < 50%", abort = true, after = "10s" },
}
scenario "s" { iterations = 500, run = function() http.get("/hello") end }]] },
  { "report(call: fun(summary: table): table?)", [[Called once at the end with the results, as the JSON result file has them. May print, and return a table of texts by file name, which are written (with --allow-write).]],
    [[report(function(summary) print("requests: " .. summary.total.requests.started) end)
scenario "s" { iterations = 1, run = function() http.get("/hello") end }]] },
  { "print(...: any)", [[A line on standard error, at most 20 a second.]], [[print("user " .. user.id, http.get("/hello"))]] },
  { "log.info(...: any)", [[A line on standard error, as print.]], [[log.info("began")]] },
  { "log.warn(...: any)", [[A line on standard error.]], [[log.warn("slow")]] },
  { "log.error(...: any)", [[A line on standard error.]], [[log.error("no stock left")]] },
  { "log.debug(...: any)", [[A line on standard error, with --debug alone.]], [[log.debug("the body was", http.get("/hello").body)]] },
  { "env: table", [[The environment variables that `-e NAME` or `-e NAME=VALUE` gives to the script, and no others.]], [[http.get("/hello", { headers = { ["X-Stage"] = env.STAGE or "test" } })]] },
} }
