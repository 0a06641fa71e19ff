"""One run with every feature: its books balance, and nothing is left behind. What is built with sanitizers looks for leaks at its end; the tests of one feature do so each for
itself, this one for what several leave to each other."""
import gzip
import threading
import zlib

import pytest

from recorder import Recorder
KINDS = ["json", "html", "csv", "ndjson", "hgrm", "hlog", "jtl", "junit.xml"]

PAGE = b"""<html><head><link rel="stylesheet" href="/style.css"></head><body><form><input name="token" value="t1"></form><img src="/a.png"></body></html>"""

SCRIPT = """
local p = params { other = "", nobody = "", password = { "pw", "secret", secret = true } }
local people, lines, list = file.csv("people.csv"), file.lines("lines.txt", { mode = "random" }), file.json("list.json", { mode = "unique" })
local sent, load, good, size = metric.counter "sent", metric.gauge "load", metric.rate "good", metric.trend("size", { unit = "B" })
thresholds { "http.errors: rate < 100%", "http.latency{method=GET}: p(99) < 1h", "checks: rate > 1%", "sent: count > 1" }
report(function(summary) print("seen " .. summary.total.requests.started) end)

local function browse(user)
  user.headers, user.vars.n = { ["X-User"] = tostring(user.id) }, user.iteration
  user.cookies:set("mine", "1")
  local page = http.get(p.other .. "/redirect", { redirects = 3 })
  local form = page:html()
  check("has a token", form and page:html("input", "value") == "t1")
  check("has a cookie", user.cookies:get("session") == "s1")
  local list = http.batch({ page:assets()[1], p.other .. "/gzip", { url = p.other .. "/deflate" }, p.other .. "/refuse" }, { limit = 2 })
  check("decoded", list[2].body == ("gzip"):rep(1000) and list[3].body == ("deflate"):rep(1000))
  check("digest", http.get(p.other .. "/digest", { auth = { "me", p.password, digest = true } }).ok)
end

local function send(user)
  local person = people:next()
  http.post("/echo", { form = { name = person.name, line = lines:next() } })
  local res = http.post("/echo", { json = { { n = 1, text = person.name, none = json.null } }, tags = { kind = "json" } })
  check("came back", res:json()[1].text == person.name and #json.encode(res:json()) > 10)
  http.put("/echo", { multipart = { { "title", person.name }, { "upload", file = "lines.txt" } } })
  http.post("/echo", { file = "people.csv", expect = function(res) return #res.body > 20 end })
  http.head("/bytes/100k")
  http.get("/chunked/20/5000", { name = "chunks" })
  size:add(#http.get("/bytes/70000").body, { kind = "bytes" })
  sent:add(3)
  load:set(user.id)
  good:add(true)
end

local function badly()
  local late = http.get("/delay/5000", { timeout = "20ms" })
  check("late", late.error == "timeout")
  check("refused", http.get(p.nobody).error == "connect")
  http.get("/status/500", { expect_status = 500 })
  http.get("/status/404")
  http.get("/close/3")
  http.get("/reset/7")
  pcall(http.get, "nothing://")
end

local function tasks(user)
  local first, second, third = spawn(http.get, "/hello"), spawn(function() sleep("10s") end), spawn(function() error "in a task" end)
  check("task", first:wait("5s").ok)
  second:cancel()
  pcall(function() third:wait("5s") end)
  spawn(http.get, "/delay/100")
  local inner = coroutine.wrap(function() coroutine.yield(http.get("/hello").status) end)
  check("coroutine", inner() == 200)
end

scenario "closed" {
  users = 4, iterations = 32, ramp_up = "50ms", tags = { place = "here" },
  http = { insecure = true, redirects = 2, timeout = "5s", requests_per_connection = 20 },
  setup = function() return { token = http.get("/hello").body, deep = { 1, { 2 } } } end,
  teardown = function(shared) http.post("/echo", { body = shared.token }) end,
  on_start = function(user) http.get("/hello") end,
  on_stop = function(user) http.get("/hello") end,
  run = function(user, shared)
    group("browse", function() browse(user) end)
    group("send", function() send(user) group("inner", function() http.get("/hello") end) end)
    group("badly", badly)
    tasks(user)
    if user.iteration % 3 == 0 then fail("third " .. shared.token) end
    if user.iteration % 4 == 0 then error { "no text" } end
    must("fifth", user.iteration % 5 > 0)
    if user.iteration % 7 == 0 then local x = nil + 1 end
    pace("30ms")
  end,
}
scenario "open" {
  rate = 200, duration = "900ms", warm_up = "100ms", arrivals = "poisson", max_users = 30, overflow = "drop", graceful_stop = "100ms",
  http = { insecure = true, version = "2", decode = false, discard_bodies = true },
  run = function(user)
    http.get(random.pick { "/hello", "/delay/300", "/bytes/20000" }, { headers = { ["X-Sum"] = text.sha256(random.string(8)) } })
    if random() < 0.05 then stop_user() end
  end,
}
scenario "shared" {
  users = 20, iterations = 400, connections = 3, http = { insecure = true, version = "1.1", pipeline = 4, cookies = false, keep_alive = true },
  run = function() http.get("/hello") end,
}
scenario "staged" {
  stages = { { users = 6, over = "100ms" }, { users = 2, over = "100ms", hold = "300ms" } }, graceful_stop = "50ms", http = { insecure = true },
  run = function() http.get("/delay/200") end,
}
scenario "rows" { users = 3, iterations_per_user = 50, fresh = true, http = { insecure = true }, run = function() http.get("/hello?" .. list:next()) end }
"""


def answer(request):
    if request.path == "/redirect":
        return 302, ["Location: /page"], b""
    if request.path == "/page":
        return 200, ["Content-Type: text/html; charset=utf-8", "Set-Cookie: session=s1; Path=/; HttpOnly", "Set-Cookie: gone=1; Max-Age=0"], PAGE
    if request.path == "/gzip":
        return 200, ["Content-Encoding: gzip"], gzip.compress(b"gzip" * 1000)
    if request.path == "/deflate":
        return 200, ["Content-Encoding: deflate"], zlib.compress(b"deflate" * 1000)
    if request.path == "/digest" and not any(name == "Authorization" for name, *_ in request.headers):
        return 401, ['WWW-Authenticate: Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256'], b""
    return (503 if request.path == "/refuse" else 200), [], b"x"


@pytest.fixture
def other():
    server = Recorder(answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def check_books(result):
    for scenario in result["scenarios"].values():
        requests, iterations = scenario["requests"], scenario["iterations"]
        assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
        assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired"))


def test_every_feature_at_once(luabench, start_server, other, free_port):
    target = start_server(luabench.path, "serve", "--port", 0, "--tls")
    (luabench.folder / "people.csv").write_text("name,age\n" + "".join(f'"P ""{i}""",{i}\n' for i in range(20)))
    (luabench.folder / "lines.txt").write_text("one\ntwo\nthree")
    (luabench.folder / "list.json").write_text(str(list(range(100))))
    outputs = [word for kind in KINDS for word in ("-o", "out." + kind)]
    done = luabench.run("--target", target.url, "-t", 2, "--lenient", "-p", f"other={other.url}", "-p", f"nobody=http://127.0.0.1:{free_port()}/", *outputs,
                        "--prometheus", "127.0.0.1:0", "--interval", "200ms", "-L", script=SCRIPT)
    assert done.returncode == 1, done.stderr  # there were script errors
    assert "Sanitizer" not in done.stderr + done.stdout, done.stderr
    for kind in KINDS:
        assert (luabench.folder / f"out.{kind}").stat().st_size > 100, kind
    (luabench.folder / "out.json").rename(luabench.folder / "result.json")
    result = luabench.saved_result()
    check_books(result)
    assert {name for name, check in result["checks"].items() if check["fails"]} <= {"fifth"}, result["checks"]
    assert set(result["checks"]) >= {"has a token", "has a cookie", "decoded", "digest", "came back", "late", "refused", "task", "coroutine"}
    assert result["scenarios"]["open"]["connections"]["agreed"][0]["http"] == "2"
    again = luabench.run("report", "result.json")
    assert again.returncode == 0 and "Sanitizer" not in again.stderr
