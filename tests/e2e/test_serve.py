"""`luabench serve`, the built-in target: every path and the rules of HTTP/1.1 (RFC 9110, RFC 9112), with http.client, sockets and curl.

The server of each test must end with status 0 and nothing on standard error: under a sanitizer that is the check for leaks, too.
"""
import http
import http.client
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LUABENCH = os.environ.get("LUABENCH", str(ROOT / "build/release/luabench"))
PATTERN = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n"
MIB = 1 << 20
PATHS = ["/", "/hello", "/echo", "/fibonacci/10", "/delay/1", "/status/200", "/bytes/100", "/chunked/3/10", "/requests"]


def pattern(length):
    return (PATTERN * (length // 64 + 1))[:length]


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


class Serve:
    def __init__(self, *args, **options):
        self.process = subprocess.Popen([LUABENCH, "serve", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        **options)
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        self.line = self.process.stdout.readline() if readable else ""
        found = re.fullmatch(r"luabench serve: listening on https?://(\[.*\]|[^:]*):(\d+)\n", self.line)
        assert found, (self.line, self.process.poll() and self.process.stderr.read())
        self.host, self.port = found[1].strip("[]"), int(found[2])
        self.sockets = []

    def connect(self):
        """A socket that ends with the server."""
        connected = socket.create_connection((self.host, self.port), timeout=60)
        self.sockets.append(connected)
        return connected

    def client(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=60)

    def request(self, method, path, **options):
        """(status, headers, body) on a connection of its own."""
        client = self.client()
        client.request(method, path, **options)
        response = client.getresponse()
        answer = response.status, response.headers, response.read()
        client.close()
        return answer

    def get(self, path):
        return self.request("GET", path)[2]

    def count(self, name=None):
        return int(self.get("/requests" + (f"/{name}" if name is not None else "")))

    def raw(self, data):
        """Sends bytes and reads to the end of the connection."""
        connected = self.connect()
        connected.sendall(data)
        return read_to_end(connected)

    def rss(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, with_signal=signal.SIGTERM):
        """Ends it and returns (exit status, rest of standard output, standard error)."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        stdout, stderr = self.process.communicate(timeout=60)
        for connected in self.sockets:
            connected.close()
        return self.process.returncode, stdout, stderr


@pytest.fixture
def start():
    """A function that starts a server; each must end well."""
    servers = []

    def start_one(*args, **options):
        servers.append(Serve("--port", 0, *args, **options))
        return servers[-1]
    yield start_one
    ends = [server.end() for server in servers]
    assert ends == [(0, "", "")] * len(servers)


@pytest.fixture
def serve(start):
    return start()


def read_to_end(connected):
    pieces = []
    while piece := connected.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def read_answers(connected, count, heads=False):
    """Reads `count` answers with Content-Length; their bodies, or (status line, body)."""
    stream, answers = connected.makefile("rb"), []
    for _ in range(count):
        status, length = stream.readline().decode().strip(), 0
        while (line := stream.readline()) != b"\r\n":
            assert line, f"the connection ended after {len(answers)} of {count} answers"
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = stream.read(length)
        answers.append((status, body) if heads else body)
    return answers


def heads(path, **headers):
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode()


# paths


def test_hello(serve):
    client = serve.client()
    for _ in range(200):  # on one connection
        client.request("GET", "/hello")
        response = client.getresponse()
        assert response.status == 200
        assert response.headers.items() == [("Server", "luabench"), ("Content-Type", "text/plain"), ("Content-Length", "13")]
        assert response.read() == b"hello, world\n"
    client.close()


def test_list_names_every_path(serve):
    text = serve.get("/").decode()
    for path in PATHS[1:]:
        assert "/" + path.split("/")[1] in text
    status, _, body = serve.request("GET", "/nothing/here")
    assert status == 404 and b"/fibonacci/N" in body


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "MADE-UP"])
def test_echo_answers_the_body(serve, method):
    for length in [0, 1, 4095, 4096, 4097, 100_000, 3 * MIB]:
        body = os.urandom(length)
        status, headers, echoed = serve.request(method, "/echo/below?a=b", body=body, headers={"Content-Type": "text/x; y=z"})
        assert (status, headers["content-type"]) == (200, "text/x; y=z")
        assert echoed == body


def test_echo_without_type_is_bytes(serve):
    status, headers, body = serve.request("POST", "/echo", body=b"abc")
    assert (status, headers["content-type"], body) == (200, "application/octet-stream", b"abc")


def test_echo_of_chunks(serve):
    pieces = [b"x" * n for n in (1, 15, 16, 17, 70_000)]
    status, _, body = serve.request("POST", "/echo", body=iter(pieces), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    assert (status, body) == (200, b"".join(pieces))


def test_echo_takes_64_mib_and_no_more(serve):
    body = os.urandom(MIB) * 64
    assert serve.request("POST", "/echo", body=body)[2] == body
    connected = serve.connect()
    connected.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (64 * MIB + 1))
    connected.sendall(body[:MIB])  # sent nevertheless: the answer must not be lost by a reset
    answer = read_to_end(connected)
    assert answer.startswith(b"HTTP/1.1 413 ") and b"Connection: close\r\n" in answer


def test_too_large_chunked_body(serve):
    connected = serve.connect()
    connected.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    try:
        for _ in range(65):
            connected.sendall(b"100000\r\n" + bytes(MIB) + b"\r\n")
    except OSError:
        pass
    assert connected.recv(13) == b"HTTP/1.1 413 "


def test_echo_of_get_is_the_head(serve):
    head = b"GET /echo/x?y=%20z HTTP/1.1\r\nHost: x\r\nX-Odd:   spaces \t kept \r\nx-odd: Twice\r\n\r\n"
    connected = serve.connect()
    connected.sendall(head)
    assert read_answers(connected, 1) == [head]


def test_fibonacci(serve):
    for n in [*range(25), 30]:
        assert serve.get(f"/fibonacci/{n}") == b"%d\n" % fibonacci(n)


def test_fibonacci_takes_exponential_time(serve):
    serve.get("/fibonacci/20")
    before = serve.cpu_seconds()
    assert serve.get("/fibonacci/36") == b"14930352\n"
    assert serve.cpu_seconds() - before > 0.01  # 48 million calls; a loop would need none


@pytest.mark.parametrize("path", [
    "/fibonacci", "/fibonacci/", "/fibonacci/51", "/fibonacci/-1", "/fibonacci/1x", "/fibonacci/1/2", "/fibonacci/99999999999999999999999",
    "/delay", "/delay/x", "/delay/600001", "/delay/600000.1", "/delay/1.x", "/status", "/status/abc", "/status/100", "/status/199", "/status/600",
    "/bytes", "/bytes/1073741825", "/bytes/2G", "/bytes/1025M", "/bytes/1kk", "/chunked/1", "/chunked/1/0", "/chunked/2/1G", "/chunked/1/2/3",
    "/hello/x", "/requests/unknown"])
def test_wrong_arguments(serve, path):
    status, headers, body = serve.request("GET", path)
    assert status == 400
    assert "/" + path.split("/")[1] in body.decode(), "the answer shows the right form"


@pytest.mark.parametrize("path, least", [("/delay/0", 0), ("/delay/0.5", 0.0005), ("/delay/20", 0.02), ("/delay/150.25", 0.15025)])
def test_delay_is_never_too_short(serve, path, least):
    client = serve.client()
    client.connect()
    for _ in range(3):
        before = time.monotonic()
        client.request("POST", path)
        assert client.getresponse().read().endswith(b" ms later\n")
        assert time.monotonic() - before >= least
    client.close()


def test_others_are_served_during_a_delay(serve):
    waiting = [serve.connect() for _ in range(50)]
    for connected in waiting:
        connected.sendall(heads("/delay/600000"))
    for _ in range(100):
        assert serve.get("/hello") == b"hello, world\n"
    assert select.select(waiting, [], [], 0)[0] == []


def test_delays_end_in_order(serve):
    delays = [900, 600, 300]
    waiting = {serve.connect(): delay for delay in delays}
    for connected, delay in waiting.items():
        connected.sendall(heads(f"/delay/{delay}"))
    order = []
    while waiting:
        for connected in select.select(list(waiting), [], [], 30)[0]:
            assert read_answers(connected, 1)[0].startswith(b"%d ms" % waiting[connected])
            order.append(waiting.pop(connected))
    assert order == sorted(delays)


def test_every_status(serve):
    client = serve.client()
    for code in range(200, 600):
        client.request("GET", f"/status/{code}")
        response = client.getresponse()
        body = response.read()
        assert response.status == code
        if code in (204, 205, 304):
            assert body == b""
            assert response.headers["content-length"] == {204: None, 205: "0", 304: None}[code]  # RFC 9110 8.6
        else:
            assert body.decode() == f"{code} {response.reason}".strip() + "\n"
        assert (response.headers["location"] == "/hello") == (code in (301, 302, 303, 307, 308))
    client.close()


def test_reasons_are_those_of_the_registry(serve):
    for status in http.HTTPStatus:
        if status >= 200 and status not in (413, 414, 416, 418, 422):  # Python 3.11 has their names before RFC 9110; 418 is reserved
            client = serve.client()
            client.request("GET", f"/status/{status.value}")
            assert client.getresponse().reason.lower() == status.phrase.lower()
            client.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_status_of_any_method(serve, method):
    assert serve.request(method, "/status/201", body=b"x")[0] == 201


@pytest.mark.parametrize("text, length", [("0", 0), ("1", 1), ("64", 64), ("4096", 4096), ("4097", 4097), ("65536", 65536), ("65537", 65537),
                                          ("1k", 1024), ("1K", 1024), ("3M", 3 * MIB), ("33554433", 33554433)])
def test_bytes(serve, text, length):
    status, headers, body = serve.request("GET", f"/bytes/{text}")
    assert (status, headers["content-length"], headers["content-type"]) == (200, str(length), "application/octet-stream")
    assert body == pattern(length)


@pytest.mark.parametrize("text", ["1G", "1024M", "1048576k", "1073741824"])
def test_bytes_up_to_one_gibibyte(serve, text):
    assert serve.request("HEAD", f"/bytes/{text}")[1]["content-length"] == str(1 << 30)


def split_chunks(data):
    chunks = []
    while True:
        size, data = data.split(b"\r\n", 1)
        size = int(size, 16)
        chunks.append(data[:size])
        assert data[size:size + 2] == b"\r\n"
        data = data[size + 2:]
        if not size:
            assert data == b""
            return chunks[:-1]


@pytest.mark.parametrize("count, size", [(0, 5), (1, 1), (3, 10), (1000, 1), (7, 65535), (5, 65536), (5, 65537), (300, 4096), (2, 3 * MIB)])
def test_chunked(serve, count, size):
    answer = serve.raw(heads(f"/chunked/{count}/{size}", Connection="close"))
    head, body = answer.split(b"\r\n\r\n", 1)
    assert b"\r\nTransfer-Encoding: chunked" in head and b"Content-Length" not in head
    chunks = split_chunks(body)
    assert [len(chunk) for chunk in chunks] == [size] * count
    assert b"".join(chunks) == pattern(count * size)


def test_chunked_to_http_1_0_ends_with_the_connection(serve):
    answer = serve.raw(b"GET /chunked/3/100000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    head, body = answer.split(b"\r\n\r\n", 1)
    assert b"chunked" not in head and b"\r\nConnection: close" in head
    assert body == pattern(300_000)


@pytest.mark.parametrize("path", PATHS + ["/nothing", "/fibonacci/x", "/bytes/100000", "/status/404", "/status/204", "/chunked/1/100000"])
def test_head_is_get_without_content(serve, path):
    client = serve.client()
    answers = []
    for method in ["GET", "HEAD", "HEAD"]:  # a content after HEAD would make the next answer unreadable
        client.request(method, path)
        response = client.getresponse()
        answers.append((response.status, response.headers.items()))
        assert (response.read() == b"") == (method == "HEAD" or path == "/status/204")
    assert answers[0] == answers[1] == answers[2]
    client.close()


@pytest.mark.parametrize("path", ["/", "/hello", "/fibonacci/1", "/bytes/1", "/chunked/1/1", "/requests"])
def test_methods_that_a_path_does_not_have(serve, path):
    client = serve.client()
    for method in ["POST", "PUT", "DELETE", "PATCH", "FOO"]:
        client.request(method, path, body=b"x" * 100_000)
        response = client.getresponse()
        assert (response.status, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
        response.read()
    client.request("OPTIONS", path)
    response = client.getresponse()
    assert (response.status, response.headers["allow"], response.read()) == (204, "GET, HEAD, OPTIONS", b"")
    client.request("OPTIONS", "*")
    assert client.getresponse().status == 204
    client.close()


def test_requests_are_counted(serve):
    asked = {"": 2, "hello": 7, "echo": 3, "fibonacci": 4, "delay": 2, "status": 5, "bytes": 6, "chunked": 1, "other": 8, "refused": 0}
    path = {"": "", "fibonacci": "fibonacci/5", "delay": "delay/1", "status": "status/500", "bytes": "bytes/1M", "chunked": "chunked/x"}
    for name, times in asked.items():
        for _ in range(times):
            serve.get("/" + path.get(name, name))
    serve.raw(b"nonsense\r\n\r\n")
    asked["refused"] += 1
    assert {name: serve.count(name) for name in asked} == asked
    assert serve.count() == sum(asked.values())
    assert serve.count("requests") == 0


def test_query_and_absolute_form(serve):
    assert serve.get("/hello?x=/y") == b"hello, world\n"
    connected = serve.connect()
    connected.sendall(b"GET http://example.org:81/fibonacci/6?z HTTP/1.1\r\nHost: x\r\n\r\nGET http://example.org HTTP/1.1\r\nHost: x\r\n\r\n")
    answers = read_answers(connected, 2)
    assert answers[0] == b"8\n" and b"/fibonacci/N" in answers[1]


# the protocol


def test_100_continue(serve):
    connected = serve.connect()
    connected.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert connected.recv(1000) == interim
    connected.sendall(b"hello")
    assert read_answers(connected, 1, heads=True) == [("HTTP/1.1 200 OK", b"hello")]


def test_100_continue_is_not_sent_for_a_body_that_is_refused(serve):
    connected = serve.connect()
    connected.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n")
    assert connected.recv(13) == b"HTTP/1.1 413 "


@pytest.mark.parametrize("request_head, stays", [
    (b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", True),
    (b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", False),
    (b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: TE, Close\r\n\r\n", False),
    (b"GET /hello HTTP/1.0\r\n\r\n", False),
    (b"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
    (b"POST /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", False),
])
def test_persistence(serve, request_head, stays):
    connected = serve.connect()
    connected.sendall(request_head)
    read_answers(connected, 1)
    if stays:
        connected.sendall(heads("/fibonacci/7", Connection="close"))
        assert read_answers(connected, 1) == [b"13\n"]
    assert connected.recv(1) == b""


def test_pipelined_requests_are_answered_in_order(serve):
    count = 3000
    connected = serve.connect()
    sender = threading.Thread(target=connected.sendall, args=(b"".join(heads(f"/bytes/{i}") for i in range(count)),))
    sender.start()
    assert read_answers(connected, count) == [pattern(i) for i in range(count)]
    sender.join()


def test_pipelined_behind_a_delay(serve):
    connected = serve.connect()
    post = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + b"a" * 300_000
    sender = threading.Thread(target=connected.sendall, args=(
        heads("/delay/100") + heads("/fibonacci/9") + post + heads("/delay/10") + heads("/bytes/100000") + heads("/delay/1") + heads("/hello"),))
    sender.start()
    answers = read_answers(connected, 7)
    sender.join()
    assert [answers[0], answers[3], answers[5]] == [b"100 ms later\n", b"10 ms later\n", b"1 ms later\n"]
    assert [answers[1], answers[2], answers[4], answers[6]] == [b"34\n", b"a" * 300_000, pattern(100_000), b"hello, world\n"]


def test_head_behind_a_delay(serve):
    """The request is long gone from the buffer that it was read into when it is answered."""
    connected = serve.connect()
    connected.sendall((b"HEAD /delay/100 HTTP/1.1\r\nHost: x\r\n\r\n" + heads("/fibonacci/5")) * 3)
    for _ in range(50):
        assert serve.request("POST", "/echo", body=b"GET " * 20_000)[0] == 200
    stream = connected.makefile("rb")

    def read_head():
        lines = list(iter(stream.readline, b"\r\n"))
        assert lines[0] == b"HTTP/1.1 200 OK\r\n"
        return [line for line in lines if line.startswith(b"Content-Length")]
    for _ in range(3):
        assert read_head() == [b"Content-Length: 13\r\n"]
        assert read_head() == [b"Content-Length: 2\r\n"] and stream.read(2) == b"5\n"


def test_requests_in_small_pieces(serve):
    connected = serve.connect()
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in b"\r\nPOST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + heads("/fibonacci/8"):
        connected.sendall(bytes([byte]))
    assert read_answers(connected, 2) == [b"abc", b"21\n"]


BAD_REQUESTS = {
    "words": (b"hello\r\n\r\n", 400),
    "a TLS client": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "zeros": (bytes(100), 400),
    "no version": (b"GET / HTTP/x.y\r\n\r\n", 400),
    "no Host": (b"GET /hello HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    "no colon": (b"GET /hello HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
    "folded line": (b"GET /hello HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400),
    "list of lengths": (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n", 400),
    "length and chunks": (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunk size": (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
    "expectation": (b"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nContent-Length: 1\r\n\r\n", 417),
    "HTTP/2.0": (b"GET /hello HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    "almost HTTP/2's preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\n", 505),
    "long header": (b"GET /hello HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", 431),
    "many headers": (b"GET /hello HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", 431),
    "long path": (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_what_is_not_understood(serve, name):
    data, status = BAD_REQUESTS[name]
    answers = serve.raw(data + heads("/hello") * 3)
    assert re.findall(rb"HTTP/1\.1 (\d{3}) ", answers) == [b"%d" % status], "it is the last answer"
    assert b"\r\nConnection: close\r\n" in answers
    assert serve.get("/hello") == b"hello, world\n"


def test_a_client_that_closes_its_side_is_answered(serve):
    for path, body in [("/fibonacci/5", b"5\n"), ("/delay/50", b"50 ms later\n"), ("/bytes/5M", pattern(5 * MIB))]:
        connected = serve.connect()
        connected.sendall(heads(path) + heads("/hello"))
        connected.shutdown(socket.SHUT_WR)
        assert read_answers(connected, 2) == [body, b"hello, world\n"]
        assert connected.recv(1) == b""


def test_clients_that_go_away(serve):
    for data in [heads("/bytes/1G"), heads("/delay/30"), heads("/chunked/1000/1000") * 100, b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
                 b"GET /he", b""]:
        for reset in [True, False]:
            connected = socket.create_connection((serve.host, serve.port))
            connected.sendall(data)
            if data:
                select.select([connected], [], [], 0.01)
            if reset:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connected.close()
    assert serve.get("/delay/50") == b"50 ms later\n"  # the delays of those who went have ended by then
    assert serve.get("/hello") == b"hello, world\n"


# load


def test_many_connections_and_delays_under_load(serve):
    count = 1000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    before = serve.count()
    waiting, due = {}, {}
    for i in range(count):
        connected = serve.connect()
        due[connected] = time.monotonic() + 0.2
        connected.sendall(heads("/delay/200") if i % 2 else heads("/delay/200") + heads(f"/bytes/{i}"))
        waiting[connected] = i
    for i in range(200):  # others meanwhile
        assert serve.get(f"/fibonacci/{i % 10}") == b"%d\n" % fibonacci(i % 10)
    for connected, i in waiting.items():
        answers = read_answers(connected, 2 - i % 2)
        assert time.monotonic() >= due[connected]
        assert answers == [b"200 ms later\n", pattern(i)][:len(answers)]
    assert serve.count() - before == count + count // 2 + 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_slow_readers_cost_no_memory(serve):
    serve.get("/bytes/1M")
    before = serve.rss()
    slow = [serve.connect() for _ in range(20)]
    for i, connected in enumerate(slow):
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connected.sendall(heads("/bytes/100M" if i % 2 else "/chunked/100000/1000"))
    assert serve.get("/hello") == b"hello, world\n"
    read = {connected: 0 for connected in slow}
    for _ in range(50):
        for connected in slow:
            read[connected] += len(connected.recv(20_000))
    assert serve.rss() - before < 16 * MIB
    connected, rest = slow[1], b""
    while read[connected] < 100 * MIB:
        rest = connected.recv(MIB)
        assert rest
        read[connected] += len(rest)
    assert rest.endswith(pattern(64)[-len(rest):])
    assert serve.rss() - before < 16 * MIB


@pytest.mark.parametrize("first", ["/hello", "/delay/600000"])
def test_clients_that_only_send_are_not_read(start, first):
    """They pipeline requests and read nothing until the server takes no more."""
    serve = start(env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"})  # otherwise memory that was freed would count
    before = serve.rss()
    for _ in range(10):
        connected = serve.connect()
        connected.sendall(heads(first))
        connected.setblocking(False)
        requests, sent, idle = heads("/bytes/4000") * 1000, 0, 0
        while idle < 20 and sent < 64 * MIB:
            try:
                sent += connected.send(requests[sent % len(requests):])
                idle = 0
            except BlockingIOError:
                serve.get("/hello")  # the server has had a turn
                idle += 1
        assert sent < 64 * MIB
    assert serve.rss() - before < 16 * MIB


def test_nothing_is_lost_when_a_client_reads_late(serve):
    count, connected = 20_000, serve.connect()
    sender = threading.Thread(target=connected.sendall, args=(heads("/bytes/1000") * count,))
    sender.start()
    while serve.get("/hello") and serve.count("bytes") < 100:
        pass
    sender.join(0.5)  # blocked by now, or not: both must do
    assert set(read_answers(connected, count)) == {pattern(1000)}
    sender.join()


def test_threads(start):
    serve = start("--threads", 4)
    for _ in range(100):
        assert serve.get("/hello") == b"hello, world\n"
    assert serve.count("hello") == 100, "the counts of all threads"


def test_another_client_counts_alike(start):
    if not (ab := shutil.which("ab")):
        pytest.skip("ab is not installed")
    serve = start("--threads", 2)
    done = subprocess.run([ab, "-q", "-n", "20003", "-c", "50", "-k", f"http://{serve.host}:{serve.port}/hello"], capture_output=True, text=True, timeout=60)
    assert "Complete requests:      20003" in done.stdout and "Failed requests:        0" in done.stdout, done.stdout + done.stderr
    assert serve.count() == 20003


def test_curl(serve, tmp_path):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    url, body = f"http://{serve.host}:{serve.port}", os.urandom(2 * MIB)
    (tmp_path / "body").write_bytes(body)

    def curl(*args):
        return subprocess.run(["curl", "-sS", "--fail", *args], capture_output=True, check=True, timeout=60, cwd=tmp_path).stdout
    assert curl("-T", "body", url + "/echo") == body  # with Expect: 100-continue
    assert curl("-H", "Transfer-Encoding: chunked", "--data-binary", "@body", url + "/echo") == body
    assert curl("--http1.0", url + "/chunked/10/10") == pattern(100)
    assert curl("--http2", url + "/hello") == b"hello, world\n"  # asks for an upgrade, which is not given
    assert curl("-L", url + "/status/307") == b"hello, world\n"
    assert curl(url + "/bytes/10", url + "/fibonacci/20", url + "/chunked/2/5") == pattern(10) + b"6765\n" + pattern(10)


# starting and ending


def test_one_line_on_standard_output(start):
    serve = start()
    assert (serve.host, serve.line.count("\n")) == ("127.0.0.1", 1)


def test_two_servers(start):
    one, two = start(), start()
    assert one.port != two.port
    one.get("/hello")
    assert (one.count(), two.count()) == (1, 0)


def failed_start(*args, **options):
    done = subprocess.run([LUABENCH, "serve", *map(str, args)], capture_output=True, text=True, timeout=60, **options)
    assert done.stdout == ""
    assert done.stderr.count("\n") >= 1
    return done.returncode, done.stderr


@pytest.mark.parametrize("first, second", [(1, 1), (1, 3), (3, 1), (3, 3)])
def test_a_port_that_is_taken(start, first, second):
    serve = start("--threads", first)
    status, text = failed_start("--port", serve.port, "--threads", second)
    assert status == 3 and f"port {serve.port}" in text and "taken" in text
    assert serve.get("/hello") == b"hello, world\n"


def test_a_port_is_free_again_after_the_end(start):
    serve = start()
    serve.raw(heads("/hello", Connection="close"))  # the server closes first: its side of the connection lingers in TIME_WAIT
    assert serve.end() == (0, "", "")
    again = Serve("--port", serve.port)
    assert again.get("/hello") == b"hello, world\n"
    assert again.end() == (0, "", "")


def test_hosts_that_cannot_be(start):
    status, text = failed_start("--port", 0, "--host", "192.0.2.1")  # TEST-NET-1: nobody's
    assert status == 3 and "192.0.2.1" in text and "does not have that address" in text
    status, text = failed_start("--port", 0, "--host", "no such host")
    assert status == 3 and "no such host" in text and "not known" in text


def test_a_port_without_permission():
    if os.geteuid() or int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) <= 80:
        pytest.skip("needs root, who becomes nobody, and ports that are root's")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(LUABENCH, folder)
        done = subprocess.run([program, "serve", "--port", "80"], capture_output=True, text=True, timeout=60, user="nobody", cwd="/")
    assert (done.returncode, done.stdout) == (3, "") and "no permission" in done.stderr


def test_ipv6(start):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    serve = start("--host", "::1")
    assert f"http://[::1]:{serve.port}\n" in serve.line
    assert serve.get("/hello") == b"hello, world\n"


def test_names(start):
    assert start("--host", "localhost").get("/hello") == b"hello, world\n"


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("threads", [1, 3])
def test_ends_in_the_middle_of_anything(start, with_signal, threads):
    serve = start("--threads", threads)
    for data in [heads("/bytes/1G"), heads("/delay/600000"), heads("/delay/600000") * 100, heads("/chunked/1000000/100") * 3, b"GET /he",
                 b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n" + bytes(100_000), b"nonsense\r\n" * 100]:
        for _ in range(5):
            serve.connect().sendall(data)
    serve.get("/hello")
    for _ in range(threads):
        serve.connect().sendall(heads("/fibonacci/50"))
    before = serve.cpu_seconds()
    while serve.cpu_seconds() < before + 0.1:
        time.sleep(0.01)  # it is computing now
    assert serve.end(with_signal) == (0, "", "")


def test_raises_the_limit_of_descriptors(start):
    serve = start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 1000)))
    connections = [serve.connect() for _ in range(300)]
    for connected in connections:
        connected.sendall(heads("/hello"))
    for connected in connections:
        assert read_answers(connected, 1) == [b"hello, world\n"]


def test_without_free_descriptors_connections_wait():
    serve = Serve("--port", 0, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)))
    first = serve.connect()
    connections = [serve.connect() for _ in range(100)]
    for connected in connections:
        connected.sendall(heads("/hello"))
    before = serve.cpu_seconds()
    first.sendall(heads("/delay/1000"))
    assert read_answers(first, 1) == [b"1000 ms later\n"]
    assert serve.cpu_seconds() - before < 0.1, "it must not spin"
    answered = select.select(connections, [], [], 0)[0]
    assert 20 < len(answered) < 60
    for connected in answered:
        connected.close()
    rest = [connected for connected in connections if connected not in answered]
    for connected in rest:
        assert read_answers(connected, 1) == [b"hello, world\n"]
        connected.close()
    status, stdout, stderr = serve.end()
    assert (status, stdout, stderr.count("\n")) == (0, "", 1)
    assert "cannot accept" in stderr
