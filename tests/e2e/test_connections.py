"""Where connections go and where they come from: other hosts and addresses, Unix sockets, proxies, local addresses, address families."""
import base64
import json
import re
import socket
import socketserver
import ssl
import threading

import pytest

from certificates import Authority
from conftest import finish

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def scenario_of(result):
    (scenario,) = result["scenarios"].values()
    return scenario


def addresses_of(result):
    return {address: (each["opened"], each["failed"], each["requests"]) for address, each in scenario_of(result)["connections"]["by_address"].items()}


class Sink(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Answers each request; `heads` and `peers` keep what came from where."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, address=("127.0.0.1", 0), family=socket.AF_INET, context=None):
        self.address_family = family
        self.heads, self.peers, self.context = [], [], context
        super().__init__(address, SinkConnection)
        self.port = self.server_address[1] if family != socket.AF_UNIX else None

    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()


class SinkConnection(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.peers.append(self.client_address)
        connection = self.server.context.wrap_socket(self.request, server_side=True) if self.server.context else self.request
        pending = b""
        try:
            while data := connection.recv(65536):
                pending += data
                while b"\r\n\r\n" in pending:
                    head, pending = pending.split(b"\r\n\r\n", 1)
                    self.server.heads.append(head.decode())
                    connection.sendall(ANSWER)
        except OSError:
            pass


class Proxy(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """An HTTP proxy that knows CONNECT alone: `answer` None opens tunnels to where it is told."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, answer=None):
        self.heads, self.answer = [], answer
        super().__init__(("127.0.0.1", 0), ProxyConnection)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class ProxyConnection(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            if not (data := self.request.recv(1)):
                return
            head += data
        self.server.heads.append(head.decode().removesuffix("\r\n\r\n"))
        if self.server.answer is not None:
            self.request.sendall(self.server.answer)
            return
        host, port = re.match(rb"CONNECT \[?([^ ]*?)\]?:(\d+) HTTP/1\.1\r\n", head).groups()
        with socket.create_connection((host.decode(), int(port))) as server:
            self.request.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=pump, args=(server, self.request), daemon=True).start()
            pump(self.request, server)


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.fixture
def start():
    """A function that runs one of the servers above."""
    servers = []

    def run(server):
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return server
    yield run
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates") / "ours")


@pytest.fixture(scope="session")
def tls(authority):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*authority.issue("www.example.com", names="DNS:www.example.com,IP:127.0.0.1"))
    return context


# Other hosts and addresses


def test_connect_to(luabench, start):
    sink = start(Sink())
    result = luabench.result("http://www.example.com/a", "-n", 6, "-c", 2, "-t", 1, "--connect-to", f"other.example:80:127.0.0.1:1",
                             "--connect-to", f"www.example.com:80:127.0.0.1:{sink.port}")
    assert scenario_of(result)["requests"]["succeeded"] == 6
    assert all("Host: www.example.com" in head.split("\r\n") for head in sink.heads)
    assert addresses_of(result) == {f"127.0.0.1:{sink.port}": (2, 0, 6)}


def test_connect_to_keeps_the_name_of_the_certificate(luabench, start, authority, tls):
    sink = start(Sink(context=tls))
    result = luabench.result("https://www.example.com/", "-n", 2, "--cacert", authority.path, "--connect-to", f"::127.0.0.1:{sink.port}")
    assert scenario_of(result)["requests"]["succeeded"] == 2


def test_resolve_takes_addresses_in_turn(luabench, start):
    sink = start(Sink(("0.0.0.0", 0)))
    result = luabench.result(f"http://www.example.com:{sink.port}/", "-n", 40, "-c", 4, "-t", 1, "--no-keepalive",
                             "--resolve", f"www.example.com:{sink.port}:127.0.0.2,127.0.0.3")
    assert addresses_of(result) == {f"127.0.0.2:{sink.port}": (20, 0, 20), f"127.0.0.3:{sink.port}": (20, 0, 20)}
    text = luabench.run(f"http://www.example.com:{sink.port}/", "-n", 40, "-c", 4, "-t", 1, "--no-keepalive",
                        "--resolve", f"*:{sink.port}:127.0.0.2,127.0.0.3").stdout
    assert re.search(rf"addresses +127\.0\.0\.2:{sink.port} × 20, 127\.0\.0\.3:{sink.port} × 20$", text, re.M), text


def test_an_address_that_refuses_is_followed_by_the_next(luabench, start):
    sink = start(Sink(("127.0.0.2", 0)))
    result = luabench.result(f"http://www.example.com:{sink.port}/", "-n", 10, "-c", 1, "--no-keepalive",
                             "--resolve", f"www.example.com:{sink.port}:127.0.0.3,127.0.0.2")
    assert scenario_of(result)["requests"]["succeeded"] == 10
    assert addresses_of(result) == {f"127.0.0.2:{sink.port}": (10, 0, 10), f"127.0.0.3:{sink.port}": (0, 1, 0)}  # and not begun with again


def test_options_in_a_script(luabench, start):
    sink = start(Sink())
    script = f'''
      defaults {{ target = "http://a.example" }}
      scenario "one" {{ http = {{ connect_to = "a.example:80:127.0.0.1:{sink.port}" }}, run = function() check("1", http.get("/1").ok) end }}
      scenario "two" {{ http = {{ resolve = {{ "a.example:{sink.port}:127.0.0.1" }} }}, run = function() check("2", http.get("http://a.example:{sink.port}/2").ok) end }}
    '''
    result = luabench.result(script=script)
    assert all(check["fails"] == 0 for check in result["checks"].values()) and len(result["checks"]) == 2


def test_families(luabench, start):
    four, six = start(Sink()), start(Sink(("::1", 0), socket.AF_INET6))
    for option, sink, address in (("-4", four, "127.0.0.1"), ("-6", six, "[::1]")):
        result = luabench.result(f"http://localhost:{sink.port}/", "-n", 4, "-c", 1, option,
                                 "--resolve", f"localhost:{sink.port}:127.0.0.1,[::1]")
        assert addresses_of(result) == {f"{address}:{sink.port}": (1, 0, 4)}
    result = luabench.result(f"http://127.0.0.1:{four.port}/", "-n", 1, "-c", 1, "-6", status=3)
    assert scenario_of(result)["errors"] == {"dns": 1}
    assert "not of the family asked for" in result["error_texts"][0]["text"]


# Unix sockets


def test_unix_socket(luabench, start, tmp_path):
    path = str(tmp_path / "server.sock")
    sink = start(Sink(path, socket.AF_UNIX))
    result = luabench.result("http://www.example.com/a", "-n", 100, "-c", 10, "-t", 1, "--unix-socket", path)
    assert scenario_of(result)["requests"]["succeeded"] == 100 == len(sink.heads)
    assert sink.heads[0].startswith("GET /a HTTP/1.1\r\nHost: www.example.com\r\n")
    assert addresses_of(result) == {f"unix:{path}": (10, 0, 100)}


def test_unix_socket_with_tls(luabench, start, tmp_path, authority, tls):
    path = str(tmp_path / "server.sock")
    start(Sink(path, socket.AF_UNIX, tls))
    result = luabench.result("https://www.example.com/a", "-n", 10, "--unix-socket", path, "--cacert", authority.path)
    assert scenario_of(result)["requests"]["succeeded"] == 10


def test_unix_socket_with_a_short_queue(luabench, tmp_path):
    """connect() does not wait there: a full queue is tried again."""
    path = str(tmp_path / "server.sock")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(ANSWER)
    threading.Thread(target=serve, daemon=True).start()
    result = luabench.result("http://a/", "-n", 100, "-c", 50, "--no-keepalive", "--unix-socket", path)
    assert scenario_of(result)["requests"]["succeeded"] == 100
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_unix_socket_that_is_not_there(luabench):
    result = luabench.result("http://a/", "-n", 1, "-c", 1, "--unix-socket", "/no/such.sock", status=3)
    assert scenario_of(result)["errors"] == {"connect": 1}
    assert result["error_texts"][0]["text"] == "/no/such.sock: No such file or directory"
    done = luabench.run("http://a/", "-n", 1, "--unix-socket", "/" + "x" * 200)
    assert done.returncode == 2 and "--unix-socket: a path must have" in done.stderr


# Local addresses


def test_source_addresses_take_turns(luabench, start):
    sink = start(Sink())
    result = luabench.result(f"http://127.0.0.1:{sink.port}/", "-n", 30, "-c", 3, "-t", 1, "--no-keepalive",
                             "--source-address", "127.0.0.2", "--source-address", "127.0.0.3", "--source-address", "::1")
    assert scenario_of(result)["requests"]["succeeded"] == 30
    hosts = [host for host, _ in sink.peers]
    assert {host: hosts.count(host) for host in set(hosts)} == {"127.0.0.2": 15, "127.0.0.3": 15}


def test_more_connections_than_one_address_has_ports(luabench, start):
    """Each local address has ports of its own; within one, a port may serve several servers."""
    sinks = [start(Sink()) for _ in range(2)]
    script = f'''scenario "s" {{ http = {{ source_addresses = {{ "127.0.0.4" }} }}, run = function()
        check("a", http.get("http://127.0.0.1:{sinks[0].port}/").ok) check("b", http.get("http://127.0.0.1:{sinks[1].port}/").ok) end }}'''
    result = luabench.result(script=script)
    assert all(check["fails"] == 0 for check in result["checks"].values())


def test_source_address_of_another_machine(luabench):
    done = luabench.run("http://127.0.0.1:1/", "-n", 1, "--source-address", "192.0.2.1")
    assert done.returncode == 2
    assert done.stderr == "luabench: --source-address: no connection can come from 192.0.2.1: Cannot assign requested address\n"


# Proxies


def test_proxy_in_the_clear(luabench, start):
    sink = start(Sink())
    result = luabench.result("http://www.example.com:8080/a?b=c", "-n", 20, "-c", 2, "-t", 1, "--proxy", f"http://me:p%40ss@127.0.0.1:{sink.port}")
    assert scenario_of(result)["requests"]["succeeded"] == 20 and 1 <= len(sink.peers) <= 2  # one user may be quick enough for all
    assert sink.heads[0].startswith("GET http://www.example.com:8080/a?b=c HTTP/1.1\r\nHost: www.example.com:8080\r\n")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'me:p@ss').decode()}" in sink.heads[0].split("\r\n")
    assert addresses_of(result) == {f"127.0.0.1:{sink.port}": (2, 0, 20)}
    assert "p@ss" not in json.dumps(result) and "p%40ss" not in json.dumps(result)


def test_proxy_with_a_tunnel(luabench, start, authority, tls):
    sink, proxy = start(Sink(context=tls)), start(Proxy())
    result = luabench.result(f"https://127.0.0.1:{sink.port}/a", "-n", 50, "-c", 5, "-t", 1, "--cacert", authority.path,
                             "--proxy", proxy.url.replace("//", "//user:word@"))
    assert scenario_of(result)["requests"]["succeeded"] == 50
    assert len(proxy.heads) == 5
    assert proxy.heads[0] == (f"CONNECT 127.0.0.1:{sink.port} HTTP/1.1\r\nHost: 127.0.0.1:{sink.port}\r\n"
                              f"Proxy-Authorization: Basic {base64.b64encode(b'user:word').decode()}")
    assert sink.heads[0].startswith("GET /a HTTP/1.1\r\n") and "Proxy-Authorization" not in sink.heads[0]


@pytest.mark.parametrize("answer, error, text", [
    (b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "connect", "the proxy refused the tunnel: 407 Proxy Authentication Required"),
    (b"HTTP/1.1 502\r\n\r\n", "connect", "the proxy refused the tunnel: 502"),
    (b"SSH-2.0-x\r\n\r\n", "connect", "the proxy does not speak HTTP/1.1"),
    (b"", "connect", "the proxy closed the connection without an answer"),
    (b"HTTP/1.1 20", "connect", "the proxy closed the connection in the middle of its answer"),
    (b"HTTP/1.1 200 OK\n\n", "connect", "the proxy ends its lines by LF alone"),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 Forbidden\r\n\r\n", "connect", "the proxy refused the tunnel: 403 Forbidden"),
    (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20000 + b"\r\n\r\n", "connect", "the proxy's answer is too long"),
    (b"HTTP/1.1 200 OK\r\n\r\nhello", "connect", "the proxy sent more than its answer"),
])
def test_proxy_that_fails(luabench, start, answer, error, text):
    proxy = start(Proxy(answer))
    result = luabench.result("https://127.0.0.1:1/", "-n", 2, "-c", 1, "--proxy", proxy.url, status=3)
    assert scenario_of(result)["errors"] == {error: 2}
    assert [each["text"] for each in result["error_texts"]] == [text]


def test_silent_proxy(luabench):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        result = luabench.result("https://127.0.0.1:1/", "-n", 1, "-c", 1, "--connect-timeout", "0.2",
                                 "--proxy", f"127.0.0.1:{listener.getsockname()[1]}", status=3)
    assert scenario_of(result)["errors"] == {"connect_timeout": 1}
    assert result["error_texts"][0]["text"] == "while waiting for the proxy's answer"


def test_what_greets_is_no_proxy(luabench):
    """A server of mail, say, that waits for an answer to its greeting."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        run = luabench.start("https://127.0.0.1:1/", "-n", 1, "-c", 1, "--proxy", f"127.0.0.1:{listener.getsockname()[1]}", "-o", "result.json")
        with listener.accept()[0] as connection:
            connection.sendall(b"220 ready\r\n")
            assert finish(run)[0] == 3
    assert luabench.saved_result()["error_texts"][0]["text"] == "the proxy does not speak HTTP/1.1"


def test_proxy_that_is_not_there(luabench, free_port):
    result = luabench.result("http://www.example.com/", "-n", 1, "-c", 1, "--proxy", f"127.0.0.1:{free_port()}", status=3)
    assert scenario_of(result)["errors"] == {"connect": 1}
    assert result["error_texts"][0]["text"] == "the proxy: Connection refused"


# Requests on a connection


def test_requests_per_connection_over_tls(luabench, start, authority, tls):
    sink = start(Sink(context=tls))
    result = luabench.result(f"https://127.0.0.1:{sink.port}/", "-n", 20, "-c", 1, "--requests-per-connection", 4, "--cacert", authority.path)
    assert scenario_of(result)["requests"]["succeeded"] == 20
    assert len(sink.peers) == 5


# Pipelining

class InHands(socketserver.BaseRequestHandler):
    """Answers when `hand` requests have come, all of them at once, each with its path."""

    def handle(self):
        self.server.connections += 1
        waiting = b""
        while data := self.request.recv(65536):
            waiting += data
            heads = waiting.split(b"\r\n\r\n")
            if len(heads) <= self.server.hand:
                continue
            paths = [head.split()[1] for head in heads[:self.server.hand]]
            waiting = b"\r\n\r\n".join(heads[self.server.hand:])
            self.request.sendall(b"".join(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(path), path) for path in paths))


@pytest.fixture
def in_hands():
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), InHands)
    server.daemon_threads, server.connections, server.hand = True, 0, 4
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_batch_is_pipelined(luabench, in_hands):
    script = """scenario "s" { iterations = 5, http = { pipeline = 4 }, run = function()
        for i, res in ipairs(http.batch({ "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8" }, { limit = 8 })) do check("in order", res.body == "/" .. i) end
      end }"""
    result = luabench.result(in_hands.url, script=script)
    assert result["checks"]["in order"]["passes"] == 40 and result["checks"]["in order"]["fails"] == 0
    assert result["total"]["requests"]["succeeded"] == 40 and in_hands.connections == 1


def test_users_who_share_a_connection_pipeline(luabench, in_hands):
    script = 'scenario "s" { users = 4, iterations = 40, connections = 1, http = { pipeline = 4 }, run = function() http.get("/x") end }'
    assert luabench.result("-t1", in_hands.url, script=script)["total"]["requests"]["succeeded"] == 40
    assert in_hands.connections == 1


@pytest.mark.parametrize("key, message", {
    'version = "2"': '`pipeline` is of HTTP/1.1, and `version = "2"` excludes it: over HTTP/2 requests share a connection anyway',
    "keep_alive = false": "`pipeline` sends several requests over a connection, and with `keep_alive = false` each has its own",
}.items())
def test_what_excludes_pipelining(luabench, key, message):
    done = luabench.run("--dry-run", script=f'\nscenario "s" {{ run = function() end, http = {{ pipeline = 2, {key} }} }}')
    assert (done.returncode, done.stderr) == (2, f'luabench: script.lua:2: scenario "s": http: {message}\n')
