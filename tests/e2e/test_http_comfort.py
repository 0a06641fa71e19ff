"""What a script's options become on the wire, and what answers become for the script: against a server that records what it gets and answers as the test says."""
import base64
import email.parser
import email.policy
import gzip
import hashlib
import os
import re
import socketserver
import threading
import urllib.parse
import zlib

import pytest


class Request:
    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, self.version = lines[0].split(" ")
        self.headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        self.body = body

    @property
    def line(self):
        return f"{self.method} {self.target}"

    def values(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def __getitem__(self, name):
        """The value of a header that is there once, or None."""
        values = self.values(name)
        assert len(values) < 2, f"{name} is there {len(values)} times"
        return values[0] if values else None


def reply(status=200, body=b"", *headers):
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode() + body


class Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        try:
            while request := self.read():
                with self.server.lock:
                    self.server.requests.append(request)
                    answer = self.server.answer(request)
                if answer is None:
                    return
                if request.method == "HEAD":
                    answer = answer.split(b"\r\n\r\n")[0] + b"\r\n\r\n"
                self.wfile.write(answer)
        except OSError:
            pass

    def read(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return None
            head += line
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
        return Request(head[:-4], self.rfile.read(int(length[1])) if length else b"")


class Recorder(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Connection)
        self.answer = answer
        self.requests, self.lock = [], threading.Lock()
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def lines(self):
        return [request.line for request in self.requests]


@pytest.fixture
def recorder():
    """A function that starts a Recorder: `answer` is a function of the request, a dict of answers by target, or an answer."""
    servers = []

    def start(answer=reply()):
        if isinstance(answer, dict):
            by_target = answer
            answer = lambda request: by_target.get(request.target, reply(404))
        elif isinstance(answer, bytes):
            same = answer
            answer = lambda request: same
        servers.append(Recorder(answer))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return servers[-1]
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def go(luabench):
    """A function that runs lines of Lua as the one iteration of a scenario with `keys`; what they print is returned, a line each, and the result is luabench.saved_result()."""
    def run(server, code, keys="", args=(), status=0, functions=""):
        script = f'{functions}\nscenario "s" {{ iterations = 1, {keys} run = function(user)\n{code}\nend }}\n'
        done = luabench.run("--target", server.url, "--quiet", "-o", "result.json", *args, script=script)
        assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        run.stderr = done.stderr
        return [line.replace("    ", "\t") for line in done.stderr.splitlines() if line.strip()]  # a tab is shown as blanks
    return run


def figures(luabench):
    (scenario,) = luabench.saved_result()["scenarios"].values()
    return scenario


def counts(luabench):
    requests = figures(luabench)["requests"]
    return {key: value for key, value in requests.items() if value}


# What is sent ------------------------------------------------------------------------------------------------------------


def test_default_headers(go, recorder):
    server = recorder()
    go(server, 'http.get("/")')
    (request,) = server.requests
    assert [name for name, _ in request.headers] == ["Host", "Accept", "Accept-Encoding", "User-Agent"]
    assert request["Accept-Encoding"] == "gzip, deflate, br, zstd"
    assert request["User-Agent"].startswith("luabench/")


def test_path_templates(go, recorder, luabench):
    server = recorder()
    go(server, """
      for i = 1, 3 do http.get("/items/{id}", { path = { id = i }, query = { q = "a b" } }) end
      http.get("/users/{name}/{n}", { path = { name = "a/b ä", n = 1.7e15 } })
      http.get("/items/{id}", { path = { id = 4 }, name = "own" })
    """)
    assert server.lines == ["GET /items/1?q=a%20b", "GET /items/2?q=a%20b", "GET /items/3?q=a%20b", "GET /users/a%2Fb%20%C3%A4/1700000000000000", "GET /items/4"]
    by_name = figures(luabench)["by_name"]
    assert {name: each["requests"]["started"] for name, each in by_name.items()} == {"GET /items/{id}": 3, "GET /users/{name}/{n}": 1, "own": 1}


def test_query_and_form(go, recorder):
    server = recorder()
    go(server, """
      http.get("/?x=1", { query = { list = { 1, 2 }, n = 4111111111111111, t = true, text = "ä+&= " } })
      http.post("/form", { form = { list = { 1, 2 }, n = 4111111111111111, t = true, text = "ä+&= " } })
    """)
    fields = {"list": ["1", "2"], "n": ["4111111111111111"], "t": ["true"], "text": ["ä+&= "]}
    assert urllib.parse.parse_qs(urllib.parse.urlsplit(server.requests[0].target).query) == {"x": ["1"], **fields}
    assert urllib.parse.parse_qs(server.requests[1].body.decode()) == fields
    assert server.requests[1]["Content-Type"] == "application/x-www-form-urlencoded"


def parse_multipart(request):
    """By Python's email package: name, file name, type, bytes of each part."""
    data = b"Content-Type: " + request["Content-Type"].encode() + b"\r\n\r\n" + request.body
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(data)
    assert message.is_multipart() and not message.defects
    return [(part.get_param("name", header="content-disposition"), part.get_filename(), part.get_content_type(), part.get_payload(decode=True)) for part in message.iter_parts()]


def test_multipart(go, recorder, luabench):
    (luabench.folder / "photo.bin").write_bytes(bytes(range(256)) * 1000)
    (luabench.folder / "empty.txt").write_bytes(b"")
    server = recorder()
    go(server, r"""
      http.post("/", { multipart = {
        { "text", "a\r\nb" }, { "n", 1.7e15 }, { "photo", file = "photo.bin", type = "image/png" }, { "empty", file = "empty.txt" },
        { "bytes", value = "\0\1\r\n--", filename = "b.dat" }, { "last", value = "x", type = "text/html" } } })
      http.post("/", { multipart = { { "only", "text" } } })
    """)
    first, second = server.requests
    assert parse_multipart(first) == [
        ("text", None, "text/plain", b"a\r\nb"), ("n", None, "text/plain", b"1700000000000000"), ("photo", "photo.bin", "image/png", bytes(range(256)) * 1000),
        ("empty", "empty.txt", "application/octet-stream", b""), ("bytes", "b.dat", "application/octet-stream", b"\0\1\r\n--"), ("last", None, "text/html", b"x")]
    assert parse_multipart(second) == [("only", None, "text/plain", b"text")]


@pytest.mark.parametrize("size", [0, 1, 65536, 3_000_001])
def test_file_bodies(go, recorder, luabench, size):
    data = bytes(i * 7 % 251 for i in range(size))
    (luabench.folder / "body.bin").write_bytes(data)
    server = recorder()
    go(server, 'for i = 1, 2 do print(http.put("/", { file = "body.bin" }).status) end')
    assert [request.body == data for request in server.requests] == [True, True]
    assert server.requests[0]["Content-Length"] == str(size)
    assert figures(luabench)["bytes"]["sent"] >= 2 * size


def test_a_large_file_is_not_read_into_memory(luabench, start_target):
    with (luabench.folder / "large.bin").open("wb") as file:
        file.truncate(60 << 20)
    script = """scenario "s" { users = 8, iterations = 8, run = function() http.post("/hello", { file = "large.bin" }) end }"""
    process = luabench.start("--target", start_target().url, "--quiet", "-t", 1, "-o", "result.json", script=script)
    _, process.returncode, usage = os.wait4(process.pid, 0)
    assert figures(luabench)["bytes"]["sent"] > 8 * (60 << 20)
    assert usage.ru_maxrss < 100 * 1024  # KB


def test_bodies_announce_their_type_unless_the_script_does(go, recorder):
    server = recorder()
    go(server, """
      http.post("/", { json = { 1 } })
      http.post("/", { json = { 1 }, headers = { ["content-type"] = "application/x" } })
      http.post("/", { form = { a = 1 }, headers = { ["Content-Type"] = false } })
      http.post("/")
      http.get("/")
    """)
    assert [request["Content-Type"] for request in server.requests] == ["application/json", "application/x", None, None, None]
    assert [request["Content-Length"] for request in server.requests] == ["3", "3", "3", "0", None]


# Who asks ----------------------------------------------------------------------------------------------------------------


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_request_beats_user_beats_scenario(go, recorder):
    server = recorder()
    go(server, """
      http.get("/scenario")
      http.get("/request", { auth = { "request", "ü" } })
      http.get("/none", { auth = false })
      http.get("/header", { headers = { authorization = "own" } })
      user.auth = { bearer = "of-user" }
      http.get("/user")
      http.get("/request2", { auth = { bearer = "of-request" } })
      http.get("/header2", { headers = { authorization = "own" } })
      user.auth = false
      http.get("/none2")
      user.auth = nil
      user.headers = { AUTHORIZATION = "header of user" }
      http.get("/user2")
      http.get("/request3", { auth = { "a", "b" } })
      user.headers = nil
      http.get("/scenario2")
    """, keys='http = { auth = { "me", "secret" } },')
    assert {request.target: request["Authorization"] for request in server.requests} == {
        "/scenario": basic("me", "secret"), "/request": basic("request", "ü"), "/none": None, "/header": "own", "/user": "Bearer of-user", "/request2": "Bearer of-request",
        "/header2": "own", "/none2": None, "/user2": "header of user", "/request3": basic("a", "b"), "/scenario2": basic("me", "secret")}


def test_credentials_in_urls(go, recorder):
    server = recorder()
    go(server, f"""
      http.get("http://me:p%40ss@127.0.0.1:{server.port}/a")
      http.get("http://me:p%40ss@127.0.0.1:{server.port}/a")
      http.get("http://me:x@127.0.0.1:{server.port}/b", {{ auth = {{ bearer = "t" }} }})
    """)
    assert [request["Authorization"] for request in server.requests] == [basic("me", "p@ss"), basic("me", "p@ss"), "Bearer t"]
    assert [request.target for request in server.requests] == ["/a", "/a", "/b"]


def test_a_header_of_the_command_line_beats_the_scripts_credentials(go, recorder):
    server = recorder()
    go(server, 'http.get("/")', keys='http = { auth = { "me", "secret" } },', args=("-H", "authorization: own"))
    assert server.requests[0]["Authorization"] == "own"


def test_two_ways_to_say_who_asks(go, recorder):
    server = recorder()
    out = go(server, """
      print(select(2, pcall(http.get, "/", { auth = { "a", "b" }, headers = { AUTHORIZATION = "c" } })))
      user.headers, user.auth = { Authorization = "c" }, { "a", "b" }
      print(select(2, pcall(http.get, "/")))
    """)
    assert [line.split(": ", 1)[-1] for line in out] == ["`auth` and the header Authorization: use one", "user.auth and the header Authorization in user.headers: use one"]


def test_headers_of_the_user(go, recorder):
    server = recorder()
    go(server, """
      user.headers = { ["X-A"] = "user", ["X-B"] = "user" }
      http.get("/")
      http.get("/", { headers = { ["x-b"] = "request", ["X-C"] = 1.7e15 } })
      http.get("/", { headers = { ["x-a"] = false, ["User-Agent"] = false } })
      user.headers = nil
      http.get("/")
    """, keys='http = { headers = { ["X-B"] = "scenario" } },')
    assert [(r["X-A"], r["X-B"], r["X-C"]) for r in server.requests] == [
        ("user", "user", None), ("user", "request", "1700000000000000"), (None, "user", None), (None, "scenario", None)]
    assert server.requests[2]["User-Agent"] is None


class Digest:
    """A server of RFC 7616 that checks every response; `lives`: how many requests a nonce is good for."""

    def __init__(self, algorithm="SHA-256", lives=1000, qop='qop="auth", ', user="Mufasa", password="Circle of Life"):
        self.hash = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}[algorithm]
        self.algorithm, self.lives, self.qop, self.user, self.password = algorithm, lives, qop, user, password
        self.nonces, self.accepted = 0, []

    def digest(self, *parts):
        return self.hash(":".join(parts).encode()).hexdigest()

    def challenge(self, stale=False):
        self.nonces, self.left, self.count = self.nonces + 1, self.lives, 0
        return reply(401, b"", ("WWW-Authenticate", f'Basic realm="x"'), ("WWW-Authenticate", f'Digest realm="a, b", {self.qop}algorithm={self.algorithm}, '
                     f'nonce="n{self.nonces}", opaque="o"' + (", stale=true" if stale else "")))

    def __call__(self, request):
        given = dict(re.findall(r'(\w+)="?([^",]*)"?', (request["Authorization"] or "").replace("a, b", "a; b")))
        if not given:
            return self.challenge()
        if given["nonce"] != f"n{self.nonces}" or not self.left:
            return self.challenge(stale=True)
        self.left, self.count = self.left - 1, self.count + 1
        secret, asked = self.digest(self.user, "a, b", self.password), self.digest(request.method, request.target)
        expected = self.digest(secret, given["nonce"], given["nc"], given["cnonce"], "auth", asked) if self.qop else self.digest(secret, given["nonce"], asked)
        if given["response"] != expected or given["opaque"] != "o" or given["uri"] != request.target:
            return self.challenge()
        assert not self.qop or given["nc"] == f"{self.count:08x}"
        self.accepted.append(request.line)
        return reply(200, b"in")


@pytest.mark.parametrize("options", [{"algorithm": "MD5"}, {"algorithm": "SHA-256"}, {"algorithm": "MD5", "qop": ""}])
def test_digest(go, recorder, luabench, options):
    digest = Digest(**options)
    server = recorder(digest)
    out = go(server, """
      for i = 1, 3 do print(http.get("/a?b=" .. i).body) end
      print(http.post("/post", { body = "x" }).body)
    """, keys='http = { auth = { "Mufasa", "Circle of Life", digest = true } },')
    assert out == ["in"] * 4
    assert server.lines == ["GET /a?b=1", "GET /a?b=1", "GET /a?b=2", "GET /a?b=3", "POST /post"]
    assert counts(luabench) == {"started": 4, "succeeded": 4, "retried": 1}
    assert figures(luabench)["status"] == {"200": 4}


def test_digest_with_a_stale_nonce(go, recorder, luabench):
    digest = Digest(lives=2)
    server = recorder(digest)
    out = go(server, 'for i = 1, 5 do print(http.get("/" .. i, { auth = { "Mufasa", "Circle of Life", digest = true } }).body) end')
    assert out == ["in"] * 5
    assert digest.accepted == [f"GET /{i}" for i in range(1, 6)]
    assert digest.nonces == 3
    assert counts(luabench) == {"started": 5, "succeeded": 5, "retried": 3}


def test_digest_with_a_wrong_password(go, recorder, luabench):
    server = recorder(Digest())
    out = go(server, """
      for i = 1, 2 do local res = http.get("/", { auth = { "Mufasa", "wrong", digest = true } }); print(res.status, res.error) end
    """)
    assert out == ["401\tstatus"] * 2
    assert len(server.requests) == 4
    assert counts(luabench) == {"started": 2, "failed": 2, "retried": 2}


CANNOT_BE_ANSWERED = {
    'Digest realm="a", nonce="b", algorithm=SHA-512-256': 'the digest that the server asks for cannot be made: the algorithm "SHA-512-256" is not one of MD5, SHA-256 and their -sess',
    'Digest realm="a", nonce="b", qop="auth-int"': 'the digest that the server asks for cannot be made: its qop "auth-int" is not auth',
    'Digest realm="a", qop="auth"': "the digest that the server asks for cannot be made: it has no nonce",
    'Basic realm="a"': "the server asks for basic, not for a digest",
    "": "the server does not say what it asks for: no WWW-Authenticate",
}


@pytest.mark.parametrize("line, why", CANNOT_BE_ANSWERED.items())
def test_a_digest_that_cannot_be_made(go, recorder, luabench, line, why):
    server = recorder({"/": reply(401, b"", *([("WWW-Authenticate", line)] if line else []))})
    out = go(server, """local auth = { "Mufasa", "x", digest = true }
      for _, accepted in ipairs { "2xx", 401 } do local res = http.get("/", { auth = auth, expect_status = accepted }); print(res.status, res.ok, res.error, res.error_text) end""")
    assert out == [f"401\tfalse\tunexpected\t{why}", "401\ttrue\tnil\tnil"]
    assert [each["text"] for each in luabench.saved_result()["error_texts"]] == [why]
    assert counts(luabench) == {"started": 2, "succeeded": 1, "failed": 1}


def test_no_digest_without_a_challenge(go, recorder, luabench):
    server = recorder()
    go(server, 'http.get("/", { auth = { "a", "b", digest = true } })')
    assert [request["Authorization"] for request in server.requests] == [None]
    assert counts(luabench) == {"started": 1, "succeeded": 1}


# Cookies -----------------------------------------------------------------------------------------------------------------


def test_cookies_come_back(go, recorder):
    server = recorder({
        "/login": reply(200, b"", ("Set-Cookie", "sid=1; Path=/; HttpOnly"), ("Set-Cookie", "api=2; Path=/api"), ("set-cookie", "gone=x; Max-Age=0"), ("SET-COOKIE", "safe=3; Secure")),
        "/logout": reply(200, b"", ("Set-Cookie", "sid=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"))})
    out = go(server, """
      http.get("/before")
      local res = http.get("/login")
      print(res.cookies.sid, res.cookies.api, res.cookies.gone, res.cookies.nothing, res.headers["set-cookie"], #res:header_list("set-cookie"))
      http.get("/a")
      http.post("/api/b", { json = {} })
      http.get("/own", { headers = { Cookie = "own=1" } })
      http.get("/without", { cookies = false })
      print(user.cookies:get("sid"), user.cookies:get("api"), user.cookies:get("api", "/api/x"))
      http.get("/logout")
      http.get("/after")
      user.cookies:set("mine", 5, { path = "/m" })
      http.get("/m/x")
      user.cookies:clear()
      http.get("/api/c")
    """)
    assert out == ["1\t2\tx\tnil\tsid=1; Path=/; HttpOnly\t4", "1\tnil\t2"]
    assert [(r.target, r["Cookie"]) for r in server.requests] == [
        ("/before", None), ("/login", None), ("/a", "sid=1"), ("/api/b", "api=2; sid=1"), ("/own", "own=1"), ("/without", None), ("/logout", "sid=1"), ("/after", None),
        ("/m/x", "mine=5"), ("/api/c", None)]


def test_an_answer_without_cookies_of_the_request_sets_none(go, recorder):
    server = recorder(reply(200, b"", ("Set-Cookie", "a=1")))
    go(server, 'http.get("/", { cookies = false }); http.get("/"); http.get("/")')
    assert [request["Cookie"] for request in server.requests] == [None, None, "a=1"]


def test_no_cookies_in_a_scenario_that_wants_none(go, recorder):
    server = recorder(reply(200, b"", ("Set-Cookie", "a=1")))
    out = go(server, """
      print(http.get("/").cookies.a)
      http.get("/")
      print(user.cookies:get("a"), pcall(function() user.cookies:set("b", "c") end))
    """, keys="http = { cookies = false },")
    assert [request["Cookie"] for request in server.requests] == [None, None]
    assert out[0] == "1" and out[1].startswith("nil\tfalse\tscript.lua:") and "the scenario has http = { cookies = false }" in out[1]


def test_every_user_has_a_jar_of_its_own(luabench, recorder):
    server = recorder(lambda request: reply(200, b"", ("Set-Cookie", "id=" + request.target[1:])) if not request["Cookie"] else reply())
    script = """scenario "s" { users = 8, iterations_per_user = 5, run = function(user) http.get("/" .. user.id, { name = "x" }) end }"""
    luabench.result("--target", server.url, "-t", 2, script=script)
    for request in server.requests:
        assert request["Cookie"] in (None, "id=" + request.target[1:])
    assert sum(request["Cookie"] is None for request in server.requests) == 8


def test_a_new_visitor_has_no_cookies(luabench, recorder):
    server = recorder(reply(200, b"", ("Set-Cookie", "a=1")))
    script = """scenario "s" { iterations = 3, fresh = true, run = function(user) http.get("/") http.get("/") end }"""
    luabench.result("--target", server.url, script=script)
    assert [request["Cookie"] for request in server.requests] == [None, "a=1"] * 3


# Redirects ---------------------------------------------------------------------------------------------------------------


def to(location, status=302, *headers):
    return reply(status, b"moved", ("Location", location), *headers)


def test_redirects_are_not_followed_unless_wanted(go, recorder):
    server = recorder({"/a": to("b?x#f")})
    assert go(server, 'local res = http.get("/a"); print(res.status, res.ok, res.redirects, res.location == res:link("/b?x#f"))') == ["302\ttrue\t0\ttrue"]
    assert server.lines == ["GET /a"]


def test_redirects(go, recorder, luabench):
    server = recorder({"/a": to("/b/c"), "/b/c": to("../d?x=1"), "/d?x=1": to("e f/ä"), "/e%20f/%C3%A4": reply(200, b"there")})
    out = go(server, 'local res = http.get("/a"); print(res.status, res.body, res.redirects, (res.url:gsub("^http://[^/]*", "")), res.location)', keys="http = { redirects = 10 },")
    assert out == ["200\tthere\t3\t/e%20f/%C3%A4\tnil"]
    assert server.lines == ["GET /a", "GET /b/c", "GET /d?x=1", "GET /e%20f/%C3%A4"]
    scenario = figures(luabench)
    assert counts(luabench) == {"started": 1, "succeeded": 1, "redirected": 3}
    assert scenario["status"] == {"200": 1}
    assert list(scenario["by_name"]) == ["GET /a"]
    assert scenario["latency"]["count"] == scenario["service"]["count"] == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE"])
def test_methods_after_redirects(go, recorder, method, status):
    server = recorder(lambda request: to("/b", status) if request.target == "/a" else reply())
    go(server, f'http.request {{ method = "{method}", url = "/a", redirects = 1, {"json = { 1 }" if method in ("POST", "PUT") else ""} }}')
    first, second = server.requests
    kept = status in (307, 308) or method in ("GET", "HEAD")
    assert second.method == (method if kept else "GET")
    if method in ("POST", "PUT"):
        assert (second.body, second["Content-Type"]) == ((b"[1]", "application/json") if kept else (b"", None))


def test_files_are_sent_again_after_redirects(go, recorder, luabench):
    (luabench.folder / "f").write_bytes(b"x" * 100_000)
    server = recorder({"/a": to("/b", 307), "/b": reply()})
    go(server, 'http.post("/a", { file = "f", redirects = 2 })')
    assert [(request.line, len(request.body)) for request in server.requests] == [("POST /a", 100_000), ("POST /b", 100_000)]


def test_too_many_redirects(go, recorder, luabench):
    server = recorder({"/a": to("/b"), "/b": to("/a")})
    out = go(server, 'local res = http.get("/a", { redirects = 3 }); print(res.status, res.ok, res.error, res.redirects); print(res.error_text)')
    assert out == ["302\tfalse\tunexpected\t3", f'more than 3 redirects: they go in a circle, the last one to "{server.url}/a"']
    assert counts(luabench) == {"started": 1, "failed": 1, "redirected": 3}
    assert figures(luabench)["errors"] == {"unexpected": 1}


@pytest.mark.parametrize("location, text", [
    ("ftp://h/x", 'only http:// and https:// can be requested'), ("mailto:a@b", "only http:// and https://"), ("http://", "the host is missing"), ("//h:x/", "the port is not a number")])
def test_redirects_to_what_cannot_be_requested(go, recorder, luabench, location, text):
    server = recorder({"/a": to(location)})
    out = go(server, 'local res = http.get("/a", { redirects = 3 }); print(res.status, res.error, res.redirects, res.error_text)')
    assert out[0].startswith("302\tunexpected\t0\t302 to ") and text in out[0]
    assert counts(luabench) == {"started": 1, "failed": 1}


def test_a_redirect_without_location_is_the_answer(go, recorder):
    server = recorder({"/a": reply(302), "/b": reply(304), "/c": reply(300, b"", ("Location", "/x"))})
    assert go(server, 'for _, p in ipairs { "/a", "/b", "/c" } do local res = http.get(p, { redirects = 3 }); print(res.status, res.ok, res.redirects) end') == [
        "302\ttrue\t0", "304\ttrue\t0", "300\ttrue\t0"]


def test_secrets_do_not_go_to_other_origins(go, recorder):
    other = recorder()
    server = recorder({"/same": to("/x"), "/other": to(other.url + "/x"), "/x": reply()})
    go(server, """
      local opts = { redirects = 1, headers = { ["X-Own"] = "1", Cookie = "a=b", Host = "name.example" }, auth = { bearer = "t" } }
      http.get("/same", opts)
      http.get("/other", opts)
      http.get("/other", { redirects = 1 })
    """, keys='http = { auth = { "me", "pw" }, headers = { ["X-All"] = "2" } },')
    same = server.requests[1]
    assert (same.target, same["Authorization"], same["Cookie"], same["Host"], same["X-Own"]) == ("/x", "Bearer t", "a=b", "name.example", "1")
    for request, own in zip(other.requests, ["1", None]):
        assert (request["Authorization"], request["Cookie"], request["Host"], request["X-Own"], request["X-All"]) == (None, None, f"127.0.0.1:{other.port}", own, "2")


def test_cookies_of_redirects(go, recorder):
    server = recorder({"/login": to("/home", 303, ("Set-Cookie", "sid=1; Path=/")), "/home": reply()})
    go(server, 'http.post("/login", { form = { user = "x" }, redirects = 5 }); http.get("/next")')
    assert [(request.line, request["Cookie"]) for request in server.requests] == [("POST /login", None), ("GET /home", "sid=1"), ("GET /next", "sid=1")]


def test_a_redirect_ends_with_the_timeout_of_the_call(go, recorder, luabench):
    lasts = threading.Event()
    server = recorder(lambda request: to("/slow") if request.target == "/a" else lasts.wait(20) and None)
    out = go(server, 'local res = http.get("/a", { redirects = 1, timeout = 0.2 }); print(res.status, res.error, res.redirects)', status=3)
    lasts.set()
    assert out == ["0\ttimeout\t1"]
    assert counts(luabench) == {"started": 1, "timed_out": 1, "redirected": 1}


# What is expected --------------------------------------------------------------------------------------------------------


def test_expected_statuses(go, recorder, luabench):
    server = recorder(lambda request: reply(int(request.target[1:])))
    out = go(server, """
      local function try(status, expected)
        local res = http.get("/" .. status, { expect_status = expected, name = "x" })
        print(res.status, res.ok, res.error, res.error_text)
      end
      try(404, 404) try(200, 404) try(204, "2xx") try(302, "2xx") try(404, { "2xx", 404 }) try(500, { "2xx", 404 }) try(201, { 200, 201 })
    """)
    assert out == ["404\ttrue\tnil\tnil", "200\tfalse\tstatus\tstatus 200", "204\ttrue\tnil\tnil", "302\tfalse\tstatus\tstatus 302", "404\ttrue\tnil\tnil",
                   "500\tfalse\tstatus\tstatus 500", "201\ttrue\tnil\tnil"]
    assert counts(luabench) == {"started": 7, "succeeded": 4, "failed": 3}
    assert figures(luabench)["errors"] == {"status": 3}


def test_expect(go, recorder, luabench):
    server = recorder(lambda request: reply(500 if request.target == "/500" else 200, b'{"n":5}'))
    out = go(server, """
      local function try(path, expect)
        local res = http.get(path, { expect = expect, name = "x" })
        print(res.status, res.ok, res.error, res.error_text)
      end
      try("/", function(res) return res:json("n") == 5 end)
      try("/", function(res) return res:json("n") == 6, "n is " .. res:json("n") end)
      try("/", function(res) return false end)
      try("/", function(res) return nil end)
      try("/", function(res) sleep(0.01) return false, "after a while" end)
      try("/500", function(res) error("never called") end)
    """)
    assert out == ["200\ttrue\tnil\tnil", "200\tfalse\tunexpected\tn is 5", "200\tfalse\tunexpected\texpect returned false", "200\tfalse\tunexpected\texpect returned nil",
                   "200\tfalse\tunexpected\tafter a while", "500\tfalse\tstatus\tstatus 500"]
    assert counts(luabench) == {"started": 6, "succeeded": 1, "failed": 5}
    assert figures(luabench)["errors"] == {"status": 1, "unexpected": 4}
    assert figures(luabench)["latency"]["count"] == 6


def test_expect_that_fails_itself(go, recorder, luabench):
    server = recorder()
    go(server, 'http.get("/", { expect = function(res) return res.nothing.x end })', status=3)
    assert "script.lua:3: a response has no field `nothing`" in go.stderr
    assert counts(luabench) == {"started": 1, "failed": 1}
    go(server, 'http.get("/", { expect = function(res) end })', status=3)
    assert "script.lua:3: `expect` returned nothing; it must return true, or false and a text" in go.stderr


def test_an_interrupted_expect_is_counted_once(luabench, recorder):
    server = recorder()
    script = """scenario "s" { users = 3, duration = 0.2, graceful_stop = 0, run = function()
      http.get("/", { expect = function() sleep(60) return false end })
    end }"""
    scenario = luabench.result("--target", server.url, script=script)["scenarios"]["s"]
    assert scenario["requests"]["started"] == scenario["requests"]["succeeded"] == 3


# Contents ----------------------------------------------------------------------------------------------------------------


def raw_deflate(data):
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def test_decoding(go, recorder, luabench):
    text = b"hello, world\n" * 1000
    server = recorder({
        "/gzip": reply(200, gzip.compress(text), ("Content-Encoding", "gzip")), "/zlib": reply(200, zlib.compress(text), ("content-encoding", "deflate")),
        "/raw": reply(200, raw_deflate(text), ("Content-Encoding", "deflate")), "/twice": reply(200, zlib.compress(gzip.compress(text)), ("Content-Encoding", "gzip, deflate")),
        "/plain": reply(200, text), "/unknown": reply(200, b"abc", ("Content-Encoding", "compress"))})
    out = go(server, """
      for _, path in ipairs { "/gzip", "/zlib", "/raw", "/twice", "/plain" } do
        local res = http.get(path)
        print(path, #res.body, res.body == ("hello, world\\n"):rep(1000), res.size < 13000)
      end
      print(http.get("/unknown").body, http.head("/gzip").body == "")
    """)
    assert out == ["/gzip\t13000\ttrue\ttrue", "/zlib\t13000\ttrue\ttrue", "/raw\t13000\ttrue\ttrue", "/twice\t13000\ttrue\ttrue", "/plain\t13000\ttrue\tfalse", "abc\ttrue"]


def test_wrong_contents(go, recorder, luabench):
    server = recorder({
        "/bad": reply(200, b"not gzip", ("Content-Encoding", "gzip")), "/cut": reply(200, gzip.compress(b"x" * 1000)[:-9], ("Content-Encoding", "gzip")),
        "/bomb": reply(200, gzip.compress(b"\0" * 5_000_000), ("Content-Encoding", "gzip"))})
    out = go(server, 'for _, p in ipairs { "/bad", "/cut", "/bomb" } do local res = http.get(p); print(res.status, res.error, res.error_text) end', keys="http = { max_body = 4e6 },", status=3)
    assert out == ["0\tprotocol\tthe peer did not follow the protocol: the body is not valid gzip: incorrect header check",
                   "0\tprotocol\tthe peer did not follow the protocol: the body is not valid gzip: the data ends early",
                   "0\ttoo_large\tthe response was larger than allowed: the body is larger than allowed when its gzip is undone"]
    assert figures(luabench)["errors"] == {"protocol": 2, "too_large": 1}


def test_contents_as_they_come(go, recorder):
    data = gzip.compress(b"hello")
    server = recorder(reply(200, data, ("Content-Encoding", "gzip")))
    assert go(server, f'print(#http.get("/").body == {len(data)})', keys="http = { decode = false },") == ["true"]
    assert server.requests[0]["Accept-Encoding"] is None


def test_discarded_bodies(go, recorder, luabench):
    server = recorder(reply(200, b"x" * 1000, ("Content-Encoding", "gzip")))
    assert go(server, 'local res = http.get("/"); print(res.status, res.body == "", res.size)', keys="http = { discard_bodies = true },") == ["200\ttrue\t1000"]
    assert figures(luabench)["bytes"]["received"] > 1000


def test_json_paths(go, recorder):
    server = recorder(reply(200, b'{"data":{"items":[{"id":4111111111111111},{"id":8}],"none":null}}'))
    assert go(server, """
      local res = http.get("/")
      print(res:json("data.items[1].id") == 4111111111111111, res:json("data.items[2].id"), #res:json("data.items"))
      print(res:json("data.items[3].id"))
      print(res:json("data.none"))
      print(res:json().data.none == json.null)
    """) == ["true\t8\t2", "nil\tthe body has nothing at `data.items[3].id` (no `3` there)", "nil\t`data.none` is null", "true"]


PAGE = b"""<html><head><base href="/static/"><link rel=stylesheet href=a.css><script src="/s.js"></script></head>
<body><h1>Shop</h1><form><input name=csrf value="t0k&amp;en"></form><ul><li class=item>1</li><li class=item>2</li></ul><img src=i.png></body></html>"""


def test_html(go, recorder):
    server = recorder({"/": reply(200, PAGE, ("Content-Type", "text/html")), "/empty": reply(200, b"")})
    out = go(server, """
      local res = http.get("/")
      print(res:html("input[name=csrf]", "value"), res:html("h1"), res:html("h2"), res:html("h1", "id"))
      local doc = res:html()
      print(doc:first("li.item").text, #doc:all("li.item"), doc:xpath("count(//li)"), doc == res:html())
      for _, url in ipairs(res:assets()) do print((url:gsub("^http://[^/]*", ""))) end
      print((res:link("x"):gsub("^http://[^/]*", "")), (http.get("/empty"):link("x"):gsub("^http://[^/]*", "")))
      print(http.get("/empty"):html())
    """)
    assert out == ["t0k&en\tShop\tnil\tnil", "1\t2\t2\ttrue", "/static/a.css", "/s.js", "/static/i.png", "/static/x\t/x", "nil\tthe body is empty"]


def test_html_that_is_asked_for_wrongly(go, recorder):
    server = recorder(reply(200, PAGE))
    out = go(server, """
      local res = http.get("/")
      for _, f in ipairs {
        function() res:html("li:hover") end, function() res:html(5) end, function() res.html("li") end, function() res:html():first() end, function() res:assets("x") end,
        function() return res:html():first("li").txt end,
      } do print(select(2, pcall(f))) end
    """)
    assert [line.split(": ", 1)[1] for line in out] == [
        'res:html("li:hover"): :hover is not known', "res:html(css, attribute) needs a string, got 5", "res.html is called with a colon: res:html(...)",
        "node:first takes a CSS selector, not nil", "res:assets() takes no argument", "a node has no field `txt`; did you mean `text`?; it has text, name, first, all, xpath, attr"]


# Tags --------------------------------------------------------------------------------------------------------------------


def test_tags(luabench, recorder):
    server = recorder()
    script = """
      defaults { tags = { env = "test", team = "a" } }
      thresholds { "http.requests{page=cart}: count == 2", "http.requests{page=cart,n=2}: count == 1", "http.requests{env=test}: count == 4", "http.requests{team=b}: count == 4",
                   "http.requests{page=cart,name=GET /x}: count == 2", "iterations{team=b}: count == 1" }
      scenario "s" { iterations = 1, tags = { team = "b" }, run = function()
        http.get("/x")
        http.get("/x", { tags = { page = "cart" } })
        http.get("/x", { tags = { page = "cart", n = 2 } })
        http.get("/x", { tags = {} })
      end }
    """
    result = luabench.result("--target", server.url, script=script)
    (scenario,) = result["scenarios"].values()
    assert {name: each["requests"]["started"] for name, each in scenario["by_name"].items()} == {"GET /x": 2, "GET /x {page=cart}": 1, "GET /x {n=2, page=cart}": 1}
    assert [threshold["ok"] for threshold in result["thresholds"]][:6] == [True] * 6


def test_tags_that_nothing_has(luabench, recorder):
    server = recorder()
    script = 'thresholds { "http.requests{page=cart}: count > 0" } scenario "s" { iterations = 1, run = function() http.get("/", { tags = { page = "home" } }) end }'
    done = luabench.run("--target", server.url, script=script)
    assert done.returncode == 1 and "pages seen: home" in done.stdout


# Several at once ---------------------------------------------------------------------------------------------------------


def test_batch(go, recorder, luabench):
    together = threading.Barrier(3)

    def answer(request):
        if request.target.startswith("/wait"):
            together.wait(20)  # none is answered before all three are there
        return reply(200, request.line.encode(), ("Set-Cookie", "c=" + request.target[1:]))

    server = recorder(answer)
    server.lock = threading.Semaphore(10)  # answers are made at the same time
    out = go(server, """
      local list = http.batch({ "/wait1", { method = "POST", url = "/wait2", json = { 1 } }, { url = "/wait3", name = "own", expect_status = 404 } })
      for _, res in ipairs(list) do print(res.body, res.ok, res.error) end
      print(#http.batch({}), #http.batch({ "/a", "/b", "/c" }, { limit = 1 }))
      print(user.cookies:get("c"))
    """)
    assert out == ["GET /wait1\ttrue\tnil", "POST /wait2\ttrue\tnil", "GET /wait3\tfalse\tstatus", "0\t3", "c"]
    assert [request.target for request in server.requests[3:]] == ["/a", "/b", "/c"]
    assert counts(luabench) == {"started": 6, "succeeded": 5, "failed": 1}


def test_redirects_in_a_batch(go, recorder, luabench):
    server = recorder(lambda request: to("/b" + request.target[2:]) if request.target.startswith("/a") else reply(200, request.target.encode()))
    out = go(server, """
      for _, res in ipairs(http.batch { "/a1", "/a2", "/a3", "/b4" }) do print(res.body, res.redirects) end
    """, keys="http = { redirects = 2 },")
    assert out == ["/b1\t1", "/b2\t1", "/b3\t1", "/b4\t0"]
    assert counts(luabench) == {"started": 4, "succeeded": 4, "redirected": 3}


# The command line --------------------------------------------------------------------------------------------------------


def test_redirects_of_the_command_line(luabench, recorder):
    server = recorder({"/a": to("/b"), "/b": reply()})
    result = luabench.result(server.url + "/a", "-n", 1, "-c", 1, "--redirects", 3)
    (scenario,) = result["scenarios"].values()
    assert (scenario["requests"]["redirected"], scenario["status"]) == (1, {"200": 1})
    script = 'scenario "s" { iterations = 1, http = { redirects = 5 }, run = function() http.get("/a") end }'
    assert luabench.result("--target", server.url, "--redirects", 0, script=script)["scenarios"]["s"]["status"] == {"302": 1}


DEBUGGED = """
  local p = params { password = { "opensesame", "x", secret = true } }
  scenario "one" { users = 50, duration = "1m", http = { redirects = 1 }, run = function(user)
    user.auth = { bearer = "topsecret" }
    log.debug("begins")
    local res = http.post("/login", { form = { password = p.password } })
    check("is there", res.status == 200)
    check("is empty", res.body == "", "it is not")
  end }
  scenario "two" { rate = 100, duration = "1m", run = function() http.get("/none") end }
"""


def debugged_server(recorder):
    return recorder({"/login": to("/home", 302, ("Set-Cookie", "sid=crumbs; Path=/")), "/home": reply(200, b"hello\x1b[31m\nworld\n")})


def test_debug(luabench, recorder):
    server = debugged_server(recorder)
    done = luabench.run("--debug", "--target", server.url, script=DEBUGGED)
    assert done.returncode == 0 and done.stdout == ""
    assert sorted(server.lines) == ["GET /home", "GET /none", "POST /login"]
    for text in ["> POST /login\n> Host: ", "> Authorization: Bearer ***\n", "> Content-Length: 19\npassword=***\n", "< HTTP/1.1 302 X  (", "< Set-Cookie: sid=***; Path=/\n",
                 "> Cookie: sid=***\n", "hello\\x1b[31m\nworld\n", "< HTTP/1.1 404 X  (", "begins\n", 'scenario "one": iteration completed, 1 request\n',
                 'scenario "two": iteration completed, 1 request\n', "  ✓ is there\n", "  ✗ is empty (it is not)\n"]:
        assert text in done.stderr, (text, done.stderr)
    for secret in ["topsecret", "opensesame", "crumbs"]:
        assert secret not in done.stderr


def test_debug_with_secrets(luabench, recorder):
    done = luabench.run("--debug", "--show-secrets", "--only", "one", "--target", debugged_server(recorder).url, script=DEBUGGED)
    for text in ["> Authorization: Bearer topsecret\n", "password=opensesame\n", "< Set-Cookie: sid=crumbs; Path=/\n", "> Cookie: sid=crumbs\n"]:
        assert text in done.stderr


def test_debug_writes_no_result(luabench, recorder):
    (luabench.folder / "result.json").write_text("kept")
    script = 'scenario "s" { run = function() http.get("/") error("broken") end }'
    done = luabench.run("--debug", "-o", "result.json", "--threshold", "http.latency: max < 1us", "--target", recorder().url, script=script)
    assert done.returncode == 1
    assert (luabench.folder / "result.json").read_text() == "kept"
    assert 'scenario "s": script.lua:1: broken' in done.stderr and 'scenario "s": iteration failed, 1 request' in done.stderr


def test_debug_of_a_url(luabench, recorder):
    server = recorder(reply(200, b"hello"))
    done = luabench.run("--debug", "-X", "PUT", "-b", "body", "-c", 100, "-d", "10s", server.url.replace("//", "//me:password@") + "/x?y")
    assert done.returncode == 0 and server.lines == ["PUT /x?y"]
    assert "> PUT /x?y\n" in done.stderr and "> Content-Length: 4\nbody\n" in done.stderr and "//me:***@" in done.stderr and "password" not in done.stderr


# Over HTTP/2 -------------------------------------------------------------------------------------------------------------

H2_SERVER = """
  const { createHash } = require("crypto"), { gzipSync } = require("zlib");
  const server = require("http2").createServer();
  server.on("stream", (stream, headers) => {
    const hash = createHash("sha256");
    let size = 0;
    stream.on("data", data => { size += data.length; hash.update(data); });
    stream.on("error", () => {});
    stream.on("end", () => {
      const path = headers[":path"];
      if (path == "/login") stream.respond({ ":status": 302, location: "/see", "set-cookie": ["a=1; Path=/", "b=2; Path=/x"] }, { endStream: true });
      else if (path == "/gzip") { stream.respond({ ":status": 200, "content-encoding": "gzip" }); stream.end(gzipSync("hello")); }
      else if (path == "/bad") { stream.respond({ ":status": 200, "content-encoding": "gzip" }); stream.end("hello"); }
      else { stream.respond({ ":status": 200 }); stream.end([headers[":method"], size, hash.digest("hex"), headers["content-type"], headers.cookie, headers.authorization].join("|")); }
    });
  });
  server.listen(0, "127.0.0.1", () => console.log("listening on http://127.0.0.1:" + server.address().port));
"""


def test_all_of_it_over_http2(go, start_server, luabench):
    server = start_server("node", "-e", H2_SERVER)
    data = bytes(i * 31 % 253 for i in range(3_000_001))
    (luabench.folder / "large.bin").write_bytes(data)
    (luabench.folder / "small.bin").write_bytes(b"small")
    out = go(server, """
      print(http.post("/login", { form = { a = 1 }, redirects = 1, auth = { "me", "pw" } }).body)
      print(http.get("/x/y").body)
      print(http.get("/gzip").body, http.get("/bad").error)
      print(http.put("/", { file = "large.bin", cookies = false }).body)
      print(http.put("/", { file = "small.bin", cookies = false }).body)
      print(http.post("/", { multipart = { { "f", file = "large.bin" }, { "g", file = "small.bin" } } }).body:match("^POST|(%d+)|"))
      local list = {}
      for i = 1, 5 do list[i] = { method = "PUT", url = "/", file = "large.bin", cookies = false } end
      local answers = http.batch(list)
      for i = 1, 5 do print(answers[i].body) end
    """, keys='http = { version = "2" },')
    empty, large, small = (hashlib.sha256(each).hexdigest() for each in (b"", data, b"small"))
    assert out[:6] == [f"GET|0|{empty}||a=1|{basic('me', 'pw')}", f"GET|0|{empty}||b=2; a=1|", "hello\tprotocol", f"PUT|3000001|{large}|||", f"PUT|5|{small}|||", out[5]]
    assert 3_000_005 < int(out[5]) < 3_001_000
    assert out[6:] == [f"PUT|3000001|{large}|||"] * 5
    assert figures(luabench)["bytes"]["sent"] > 7 * 3_000_000


def test_a_file_that_becomes_shorter(luabench, recorder):
    """The server reads a part and stops, so that the file can be cut before its rest is read."""
    path = luabench.folder / "shrinks.bin"
    path.write_bytes(b"x" * 30_000_000)
    began, cut = threading.Event(), threading.Event()

    class Slow(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(1000)
            began.set()
            cut.wait(20)
            while self.request.recv(1 << 20):
                pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        script = 'scenario "s" { iterations = 1, run = function() local res = http.post("/", { file = "shrinks.bin" }) print(res.error, res.error_text) end }'
        process = luabench.start("--target", f"http://127.0.0.1:{server.server_address[1]}", "--quiet", script=script)
        assert began.wait(20)
        os.truncate(path, 100)
        cut.set()
        _, stderr = process.communicate(timeout=30)
        server.shutdown()
    assert "closed    the connection was closed before the response was complete: a file became shorter while it was sent" in stderr


def test_requests_of_on_start_and_on_stop_have_a_phase(luabench, recorder):
    server = recorder({"/x": reply(), "/moved": to("/x")})
    script = """
      thresholds { "http.requests{phase=on_start}: count == 6", "http.requests{phase=on_stop,page=bye}: count == 3", "http.requests{name=GET /x}: count == 12" }
      scenario "s" { users = 3, iterations_per_user = 2, http = { redirects = 1 },
        on_start = function() http.get("/x") http.get("/moved") end,
        run = function() http.get("/x") end,
        on_stop = function() http.get("/x", { tags = { page = "bye" } }) end,
      }
    """
    (scenario,) = luabench.result("--target", server.url, "-t", 1, script=script)["scenarios"].values()
    assert {name: each["requests"]["started"] for name, each in scenario["by_name"].items()} == {
        "GET /x": 6, "GET /x {phase=on_start}": 3, "GET /moved {phase=on_start}": 3, "GET /x {page=bye, phase=on_stop}": 3}
