"""HTTP/2 against nginx, h2o, Node.js, Deno and the built-in target: what luabench says it did is what arrived, and every fault ends as it should."""
import getpass
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import threading
from collections import Counter

import pytest

from conftest import EXAMPLES, SERVERS, Luabench, Server, accepts, runtime, wait_until

HELLO = EXAMPLES / "hello-h2.lua"
MB = 1000 * 1000


def only_scenario(result):
    (scenario,) = result["scenarios"].values()
    return scenario


def checked(result):
    """The scenario of a result whose books balance."""
    scenario = only_scenario(result)
    requests, iterations, connections = scenario["requests"], scenario["iterations"], scenario["connections"]
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    assert requests["failed"] + requests["timed_out"] == sum(scenario["errors"].values())
    assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired"))
    assert connections["opened"] == sum(each["opened"] for each in connections["agreed"])
    return scenario


def assert_all_succeeded(result, count):
    scenario = checked(result)
    assert scenario["requests"]["started"] == scenario["requests"]["succeeded"] == count
    assert scenario["errors"] == {} and scenario["status"] == {"200": count}
    assert all(check["passes"] == count and check["fails"] == 0 for check in result["checks"].values())
    assert {each["http"] for each in scenario["connections"]["agreed"]} == {"2"}
    return scenario


# Servers. Each has a url, ca (what --cacert is given) and requests(), its own count, which may end it.


class Nginx(Server):
    """`log` has a line a request: connection, status, protocol."""

    CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  log_format h2 "$connection|$status|$server_protocol";
  access_log {folder}/access.log h2 buffer=64k;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  default_type text/plain;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    keepalive_requests {most};
    location = /hello {{ return 200 "hello, world\\n"; }}
  }}
}}
"""

    def __init__(self, folder, port, authority, certificate, most):
        folder.mkdir()
        config = folder / "nginx.conf"
        config.write_text(self.CONFIG.format(folder=folder, port=port, certificate=certificate[0], key=certificate[1], most=most))
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        super().__init__([nginx, "-e", folder / "error.log", "-p", folder, "-c", config])
        self.folder, self.ca, self.url = folder, authority.path, f"https://127.0.0.1:{port}"
        wait_until(lambda: accepts(port), "nginx listens")

    def log(self):
        self.stop(signal.SIGQUIT)
        return [line.split("|") for line in (self.folder / "access.log").read_text().splitlines()]

    def requests(self):
        return len(self.log())


class H2o(Server):
    CONFIG = """
user: {user}
pid-file: {folder}/pid
error-log: {folder}/error.log
access-log: {{ path: {folder}/access.log, format: "%s|%H" }}
num-threads: 1
num-ocsp-updaters: 1
hosts:
  default:
    listen:
      host: 127.0.0.1
      port: {port}
      ssl: {{ certificate-file: {certificate}, key-file: {key}, ocsp-update-interval: 0 }}
    paths:
      /: {{ file.dir: {folder}/pages }}
"""

    def __init__(self, folder, port, authority, certificate):
        (folder / "pages").mkdir(parents=True)
        (folder / "pages/hello").write_text("hello, world\n")
        config = folder / "h2o.conf"
        config.write_text(self.CONFIG.format(folder=folder, port=port, certificate=certificate[0], key=certificate[1], user=getpass.getuser()))
        super().__init__(["h2o", "-c", config], stderr=subprocess.DEVNULL)
        self.folder, self.ca, self.url = folder, authority.path, f"https://127.0.0.1:{port}"
        wait_until(lambda: accepts(port), "h2o listens")

    def requests(self):
        self.stop()
        return len((self.folder / "access.log").read_text().splitlines())


def count_at(server, name=None):
    """What the built-in target or an example server has counted."""
    trust = ["--cacert", server.ca] if server.ca else ["--http2-prior-knowledge"]
    done = subprocess.run(["curl", "-sS", *trust, server.url + "/requests" + (f"/{name}" if name else "")], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.fixture(autouse=True)
def leave_to_read_certificates(luabench, authority):
    luabench.more.append(f"--allow-read={authority.path.parent}")


@pytest.fixture
def start_nginx(tmp_path, free_port, authority, certificate):
    servers = []

    def start(most=1000000000):
        servers.append(Nginx(tmp_path / f"nginx{len(servers)}", free_port(), authority, certificate, most))
        return servers[-1]
    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def nginx(start_nginx):
    return start_nginx()


@pytest.fixture
def h2o(tmp_path, free_port, authority, certificate):
    server = H2o(tmp_path / "h2o", free_port(), authority, certificate)
    yield server
    server.stop()


def counting(server, ca):
    server.ca = ca
    server.requests = lambda: count_at(server)
    return server


@pytest.fixture
def example_environment(tmp_path):
    folder = tmp_path / "certificates"
    subprocess.run([SERVERS / "make-certificate", folder], check=True, capture_output=True)
    return {**os.environ, "PORT": "0", "CERTIFICATES": str(folder)}


@pytest.fixture
def node(start_server, example_environment):
    server = start_server("node", "node-h2.mjs", cwd=SERVERS, env=example_environment)
    return counting(server, example_environment["CERTIFICATES"] + "/cert.pem")


@pytest.fixture
def deno(start_server, example_environment):
    server = start_server(runtime("deno"), "run", "--quiet", "--allow-net", "--allow-read", "--allow-env=PORT,CERTIFICATES", "deno-h2.mjs", cwd=SERVERS,
                          env=example_environment)
    return counting(server, example_environment["CERTIFICATES"] + "/cert.pem")


@pytest.fixture
def serve(start_server, tmp_path):
    """A function that starts the built-in target with these options, over TLS unless told otherwise."""
    def start(*options, tls=True):
        path = tmp_path / "cert.pem"
        server = start_server(Luabench.path, "serve", "--port", 0, *(["--tls", "--cert-out", path] if tls else []), *options)
        return counting(server, path if tls else None)
    return start


@pytest.fixture
def target(serve):
    return serve()


@pytest.fixture
def clear(serve):
    return serve(tls=False)


@pytest.fixture
def against(luabench):
    """A function that runs a script's scenario over HTTP/2, with further keys and the text of `run`, against a server; returns the result."""
    def run(server, text, *options, status=0, keys="", http="", **more):
        ca = f'ca = "{server.ca}", ' if server.ca else ""
        script = f'scenario "s" {{ {keys} http = {{ version = "2", {ca}{http} }}, run = function(user)\n{text}\nend }}'
        return luabench.result("--target", server.url, *options, script=script, status=status, **more)
    return run


# Counts


@pytest.mark.parametrize("users", [10, 25, 50])
@pytest.mark.parametrize("kind", ["nginx", "h2o", "node", "deno", "target", "clear"])
def test_ten_thousand_requests(request, luabench, kind, users):
    server = request.getfixturevalue(kind)
    trust = ["--cacert", server.ca] if server.ca else []
    scenario = assert_all_succeeded(luabench.result(HELLO, "--target", server.url, *trust, "-c", users, timeout=240), 10000)
    assert scenario["users_max"] == users == scenario["connections"]["opened"] == scenario["connections"]["max_open"]
    assert scenario["requests"]["retried"] == 0
    assert server.requests() == 10000


GET = 'check("200", http.get("/hello").status == 200)'


def test_a_server_that_says_goaway(against, start_nginx):
    """nginx ends a connection after 1000 requests; streams that it has not looked at are not in its log."""
    server = start_nginx(most=1000)
    assert_all_succeeded(against(server, GET, keys="users = 40, connections = 4, iterations = 100000,", timeout=240), 100000)
    by_connection = Counter(connection for connection, _, _ in server.log())
    assert sum(by_connection.values()) == 100000
    assert max(by_connection.values()) <= 1000 and len(by_connection) >= 100


# Streams


def test_users_share_connections(against, start_nginx):
    server = start_nginx()
    scenario = assert_all_succeeded(against(server, GET, keys="users = 50, connections = 3, iterations = 5000,"), 5000)
    assert scenario["connections"]["opened"] == scenario["connections"]["max_open"] == 3
    log = server.log()
    assert len(log) == 5000 and len({connection for connection, _, _ in log}) == 3


def test_streams_option(luabench, target):
    result = luabench.result(target.url + "/hello", "--cacert", target.ca, "-c", 100, "-m", 10, "-n", 5000)
    scenario = assert_all_succeeded(result, 5000)
    assert scenario["connections"]["opened"] == 10
    assert count_at(target, "hello") == 5000


def test_streams_need_http2(luabench, clear, serve):
    done = luabench.run(clear.url + "/hello", "-c", 4, "-m", 2, "-n", 4)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "luabench: -m is the number of streams on a connection, and HTTP/1.1 has none; http:// speaks HTTP/2 with --http 2 alone\n"
    server = serve("--http", "1.1")
    result = luabench.result(server.url + "/hello", "--cacert", server.ca, "-c", 4, "-m", 2, "-n", 8)
    assert "connections spoke HTTP/1.1, which has no streams: with -m, users had to wait for a free one" in result["remarks"]


def test_waiting_for_a_stream_is_blocked_time(against, serve):
    """Ten users, one stream, 10 ms an answer: each waits for the nine others."""
    server = serve("--streams", 1)
    text = 'local res = http.get("/delay/10"); check("200", res.status == 200); check("blocked", user.iteration == 1 or res.time.blocked >= 0.08)'
    scenario = assert_all_succeeded(against(server, text, "-t", 1, keys="users = 10, connections = 1, iterations_per_user = 10,"), 100)
    assert scenario["blocked"]["median"] >= 0.08
    assert scenario["service"]["median"] >= 0.01
    assert scenario["connections"]["opened"] == 1
    assert count_at(server, "delay") == 100


SIZES = [16383, 16384, 16385, 65535, 65536, 10 * MB]

ECHO = """
local body = ("0123456789abcdef"):rep(SIZE / 16 + 1):sub(1, SIZE - 4) .. ("%04d"):format(user.id)
local res = http.post("/echo", { body = body })
check("200", res.status == 200)
check("the same", res.body == body)
"""


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "clear"])
@pytest.mark.parametrize("size", SIZES)
def test_bodies_both_ways(against, serve, size, tls):
    server = serve(tls=tls)
    times = 1 if size > MB else 10
    result = against(server, ECHO.replace("SIZE", str(size)), "-t", 1, keys=f"users = 32, connections = 1, iterations_per_user = {times},", timeout=240)
    scenario = assert_all_succeeded(result, 32 * times)
    assert scenario["connections"]["opened"] == 1
    assert scenario["bytes"]["sent"] >= 32 * times * size and scenario["bytes"]["received"] >= 32 * times * size
    assert count_at(server, "echo") == 32 * times


# Faults: GOAWAY


def test_goaway_after_some_requests(against, serve):
    server = serve("--goaway-after", 10)
    scenario = assert_all_succeeded(against(server, GET, keys="users = 1, iterations = 100,"), 100)
    assert scenario["connections"]["opened"] == 10
    assert scenario["requests"]["retried"] == 0, "one request at a time is never beyond the last one"
    assert count_at(server, "hello") == 100


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "clear"])
def test_goaway_with_streams_in_flight(against, serve, tls):
    server = serve("--goaway-after", 10, tls=tls)
    scenario = assert_all_succeeded(against(server, GET, "-t", 1, keys="users = 40, connections = 1, iterations = 2000,"), 2000)
    assert scenario["connections"]["opened"] >= 200
    assert scenario["requests"]["retried"] > 0
    assert count_at(server, "hello") == 2000, "what was beyond the last stream was not looked at"


def test_goaway_that_lets_the_others_finish(against, target):
    """Nine requests are waiting for their answers when the tenth brings GOAWAY."""
    text = 'check("200", http.get(user.id == 10 and "/goaway" or "/delay/50").status == 200)'
    scenario = assert_all_succeeded(against(target, text, "-t", 1, keys="users = 10, connections = 1, iterations_per_user = 5,"), 50)
    assert scenario["requests"]["retried"] + count_at(target, "delay") + count_at(target, "goaway") >= 50
    assert (count_at(target, "delay"), count_at(target, "goaway")) == (45, 5)


@pytest.mark.parametrize("code", [0, 2, 11])
def test_goaway_with_a_code(against, target, code):
    scenario = assert_all_succeeded(against(target, f'check("200", http.get("/goaway/{code}").status == 200)', keys="iterations = 5,"), 5)
    assert scenario["connections"]["opened"] == 5 == count_at(target, "goaway")


# Faults: silence


class Relay(socketserver.ThreadingTCPServer):
    """Carries connections to a port. The first of them gets `most` bytes of answers; then it is silent, and not closed."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port, most):
        super().__init__(("127.0.0.1", 0), RelayedConnection)
        self.to, self.most, self.connections = port, most, 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class RelayedConnection(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.connections += 1
        left = self.server.most if self.server.connections == 1 else 1 << 30
        with socket.create_connection(("127.0.0.1", self.server.to)) as there:
            threading.Thread(target=self.carry, args=(there,), daemon=True).start()
            while data := there.recv(65536):
                if left > 0:
                    self.request.sendall(data)
                left -= len(data)

    def carry(self, there):
        try:
            while data := self.request.recv(65536):
                there.sendall(data)
            there.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of the two is gone


@pytest.fixture
def relay(clear):
    server = Relay(int(clear.url.rsplit(":", 1)[1]), 500)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    server.ca = None
    yield server
    server.shutdown()
    server.server_close()


def test_a_connection_that_falls_silent(against, relay):
    """Requests on it time out, for about a second more than the first; then another connection is opened, on which none does."""
    result = against(relay, 'http.get("/hello")', "-c", 1, "-n", 40, http='timeout = "600ms"')
    scenario = checked(result)
    assert relay.connections == scenario["connections"]["opened"] == 2
    assert scenario["errors"].keys() == {"timeout"} and 2 <= scenario["errors"]["timeout"] <= 10
    assert scenario["requests"]["retried"] == 0


def test_a_silent_page_is_no_silent_connection(against, clear):
    """Its server answers PING."""
    scenario = checked(against(clear, 'http.get("/delay/60000")', "-c", 1, "-n", 5, status=3, http='timeout = "400ms"'))
    assert scenario["errors"] == {"timeout": 5} and scenario["connections"]["opened"] == 1


# Faults: resets


CODES = {0: "NO_ERROR", 1: "PROTOCOL_ERROR", 2: "INTERNAL_ERROR", 8: "CANCEL", 11: "ENHANCE_YOUR_CALM", 13: "HTTP_1_1_REQUIRED"}


@pytest.mark.parametrize("code", CODES)
def test_reset_streams(against, target, code):
    """A named error that says the code; the connection and its other streams go on."""
    text = f"""
    local res = http.get("/reset/{code}")
    check("reset", res.status == 0 and res.error == "reset")
    check("says why", res.error_text:find("{CODES[code]}", 1, true))
    check("goes on", http.get("/hello").status == 200)"""
    result = against(target, text, keys="users = 4, iterations_per_user = 10,")
    scenario = checked(result)
    assert scenario["errors"] == {"reset": 40} and scenario["requests"]["succeeded"] == 40
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    assert scenario["connections"]["opened"] == 4
    assert scenario["requests"]["retried"] == 0
    assert (count_at(target, "reset"), count_at(target, "hello")) == (40, 40)


def test_reset_in_the_middle_of_a_body(against, target):
    text = """
    local res = http.get("/reset/8/20000")
    check("reset", res.status == 0 and res.error == "reset" and res.body == "")
    check("says how far", res.error_text:find("CANCEL", 1, true))
    check("goes on", http.get("/hello").status == 200)"""
    result = against(target, text, keys="users = 2, iterations_per_user = 10,")
    scenario = checked(result)
    assert scenario["errors"] == {"reset": 20} and scenario["connections"]["opened"] == 2
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]


def test_refused_streams(against, target):
    """REFUSED_STREAM is retried once, POST too: the server says that it did nothing."""
    for method in ("get", "post"):
        before = count_at(target, "reset")
        result = against(target, f'check("refused", http.{method}("/reset/7").error == "refused_stream")', keys="users = 2, iterations = 20,", status=3)
        scenario = checked(result)
        assert scenario["errors"] == {"refused_stream": 20} and scenario["requests"]["retried"] == 20
        assert result["checks"]["refused"]["fails"] == 0
        assert count_at(target, "reset") - before == 40


def test_refused_streams_without_retry(against, target):
    scenario = checked(against(target, 'http.get("/reset/7")', keys="iterations = 10,", http="retry = false", status=3))
    assert scenario["errors"] == {"refused_stream": 10} and scenario["requests"]["retried"] == 0
    assert count_at(target, "reset") == 10


# Faults: the connection


def test_connections_that_are_closed(against, target):
    """One that is new when it is closed is an error; a reused one is retried once, on a new one."""
    text = """
    check("hello", http.get("/hello").status == 200)
    local res = http.get("/close")
    check("closed", res.status == 0 and res.error == "closed")"""
    result = against(target, text, keys="users = 2, iterations = 10,")
    scenario = checked(result)
    assert scenario["errors"] == {"closed": 10} and scenario["requests"]["succeeded"] == 10
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    assert scenario["requests"]["retried"] == 10 and count_at(target, "close") == 20


def test_connections_that_are_closed_in_the_middle_of_a_body(against, target):
    text = 'local res = http.get("/close/20000"); check("closed", res.status == 0 and res.error == "closed")'
    result = against(target, text, keys="users = 2, iterations = 10,", status=3)
    scenario = checked(result)
    assert scenario["errors"] == {"closed": 10} and scenario["connections"]["opened"] == 10
    assert result["checks"]["closed"]["fails"] == 0
    assert scenario["requests"]["retried"] == 0 and count_at(target, "close") == 10


# Faults: stream limits


def test_no_streams_allowed(against, serve):
    server = serve("--streams", 0)
    result = against(server, 'local res = http.get("/hello"); check("timeout", res.error == "timeout")',
                     keys="users = 4, iterations = 8,", http='timeout = "300ms"', status=3)
    scenario = checked(result)
    assert scenario["errors"] == {"timeout": 8} and scenario["requests"]["timed_out"] == 8
    assert "while waiting for a free stream" in {each["text"] for each in result["error_texts"]}
    assert result["checks"]["timeout"]["fails"] == 0
    assert count_at_other(server) == 0


def count_at_other(server):
    """A server that allows no streams can be asked over HTTP/1.1 alone."""
    done = subprocess.run(["curl", "-sS", "--http1.1", "--cacert", server.ca, server.url + "/requests"], capture_output=True, text=True, timeout=30)
    return int(done.stdout)


@pytest.mark.parametrize("limit", [1, 3])
def test_few_streams_allowed(against, serve, limit):
    server = serve("--streams", limit)
    scenario = assert_all_succeeded(against(server, GET, "-t", 1, keys="users = 20, connections = 1, iterations = 2000,"), 2000)
    assert scenario["connections"]["opened"] == 1
    assert count_at(server, "hello") == 2000


@pytest.mark.parametrize("page", ["/streams/1", "/streams/3", "/streams/0/50", "/window/0/50", "/window/1", "/window/100"])
def test_limits_that_change_in_mid_run(against, target, page):
    """One of twenty users has the limits changed while the others upload and download on the same connection."""
    text = f"""
    if user.id == 7 and user.iteration % 5 == 0 then
      check("changed", http.get("{page}").status == 200)
    elseif user.id == 7 and user.iteration % 5 == 3 then
      check("changed", http.get("/streams/100").status == 200 and http.get("/window/65535").status == 200)
    else
      local body = ("x"):rep(user.id * 20)
      local res = http.post("/echo", {{ body = body }})
      check("the same", res.status == 200 and res.body == body)
    end"""
    result = against(target, text, "-t", 1, keys="users = 20, connections = 1, iterations_per_user = 50,", timeout=240)
    scenario = checked(result)
    assert scenario["errors"] == {} and scenario["requests"]["timed_out"] == 0
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    if not page.startswith("/streams"):
        assert scenario["connections"]["opened"] == 1
    assert scenario["connections"]["opened"] <= 1 + scenario["requests"]["retried"], "a stream that was begun too late is sent again on a new connection"
    assert scenario["requests"]["succeeded"] == 19 * 50 + 30 + 10 + 20
    assert count_at(target, "echo") == 19 * 50 + 30


# Faults: windows


def test_no_window(against, serve):
    """A request without a body goes through, one with a body never does."""
    server = serve("--window", 0)
    text = """
    check("hello", http.get("/hello").status == 200)
    local res = http.post("/echo", { body = "x", timeout = "300ms" })
    check("timeout", res.error == "timeout")"""
    result = against(server, text, keys="users = 2, iterations = 4,")
    scenario = checked(result)
    assert scenario["errors"] == {"timeout": 4} and scenario["requests"]["succeeded"] == 4
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    assert (count_at(server, "hello"), count_at(server, "echo")) == (4, 0)


@pytest.mark.parametrize("window, size", [(1, 2000), (2, 5000), (1000, 100000), (65536, MB)])
def test_small_windows(against, serve, window, size):
    server = serve("--window", window)
    scenario = assert_all_succeeded(against(server, ECHO.replace("SIZE", str(size)), "-t", 1, keys="users = 8, connections = 1, iterations_per_user = 3,"), 24)
    assert scenario["connections"]["opened"] == 1 and count_at(server, "echo") == 24


def test_a_window_that_opens(against, target):
    """The body waits for the window, and for nothing else."""
    text = """
    check("closes", http.get("/window/0/100").status == 200)
    local body = ("x"):rep(100000)
    local res = http.post("/echo", { body = body })
    check("the same", res.body == body)"""
    result = against(target, text, keys="users = 3, iterations = 9,")
    assert_all_succeeded_pairs(result, 9)
    assert count_at(target, "echo") == 9


def assert_all_succeeded_pairs(result, iterations):
    scenario = checked(result)
    assert scenario["requests"]["succeeded"] == scenario["requests"]["started"] == 2 * iterations
    assert scenario["errors"] == {}
    assert all(check["passes"] == iterations and check["fails"] == 0 for check in result["checks"].values()), result["checks"]


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_a_slow_reader(luabench, serve, version):
    """100 kB at 400 kB/s: the answer cannot come before a quarter of a second has passed, less the first piece."""
    server = serve("--read-rate", 400000)
    script = f"""scenario "s" {{ http = {{ version = "{version}", ca = "{server.ca}" }}, iterations = 3, run = function(user) {ECHO.replace("SIZE", "100000")}
    check("slow", res.time.total >= 0.2) end }}"""
    result = luabench.result("--target", server.url, script=script)
    scenario = checked(result)
    assert scenario["requests"]["succeeded"] == 3
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]


# Faults: an answer before the request's end


REJECTED = """
local res = http.post("/reject", { body = ("x"):rep(10000000) })
check("413", res.status == 413 and res.error == "status")
check("goes on", http.get("/hello").status == 200)
"""


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "clear"])
def test_rejected_uploads(against, serve, tls):
    """The upload ends with the answer, and the connection goes on: its window is not used up by what nobody wanted."""
    server = serve(tls=tls)
    result = against(server, REJECTED, "-t", 1, keys="users = 8, connections = 1, iterations = 80,")
    scenario = checked(result)
    assert scenario["errors"] == {"status": 80} and scenario["status"] == {"200": 80, "413": 80}
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    assert scenario["connections"]["opened"] == 1
    assert scenario["bytes"]["sent"] < 80 * 10 * MB, "not all of the bodies was sent"
    assert (count_at(server, "reject"), count_at(server, "hello")) == (80, 80)


def test_rejected_uploads_over_http1(luabench, serve):
    server = serve()
    script = f'scenario "s" {{ http = {{ version = "1.1", ca = "{server.ca}" }}, users = 4, iterations = 20, run = function() {REJECTED} end }}'
    result = luabench.result("--target", server.url, script=script)
    scenario = checked(result)
    assert scenario["errors"] == {"status": 20} and scenario["status"] == {"200": 20, "413": 20}
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    assert (count_at(server, "reject"), count_at(server, "hello")) == (20, 20)


# Faults over HTTP/1.1


FAULTS_1 = {"/reset/8": "reset", "/reset/8/1000": "reset", "/close": "closed", "/close/1000": "closed"}


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "clear"])
@pytest.mark.parametrize("page", FAULTS_1)
def test_faults_over_http1(luabench, serve, page, tls):
    server = serve(tls=tls)
    ca = f'ca = "{server.ca}"' if tls else ""
    script = f"""scenario "s" {{ users = 3, iterations = 30, http = {{ version = "1.1", retry = false, {ca} }}, run = function()
      local res = http.get("{page}")
      check("fails", res.status == 0 and res.error == "{FAULTS_1[page]}")
      check("goes on", http.get("/hello").status == 200)
    end }}"""
    result = luabench.result("--target", server.url, script=script)
    scenario = checked(result)
    assert scenario["errors"] == {FAULTS_1[page]: 30} and scenario["requests"]["succeeded"] == 30
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    assert (count_at(server, page.split("/")[1]), count_at(server, "hello")) == (30, 30)


def test_goaway_after_over_http1(luabench, serve):
    server = serve("--goaway-after", 10)
    script = f'scenario "s" {{ http = {{ version = "1.1", ca = "{server.ca}" }}, iterations = 100, run = function() {GET} end }}'
    scenario = checked(luabench.result("--target", server.url, script=script))
    assert scenario["requests"]["succeeded"] == 100 and scenario["connections"]["opened"] == 10
    assert scenario["requests"]["retried"] == 0
