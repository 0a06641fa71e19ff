"""A server that records what comes, connection by connection, for tests that compare what several programs send."""
import socketserver
import threading
import time

import pytest


class Request:
    def __init__(self, method, path, headers, body, at):
        self.method, self.path, self.headers, self.body, self.at = method, path, headers, body, at

    def key(self):
        return self.method, self.path, tuple(sorted(self.headers)), self.body


class Recorder(socketserver.ThreadingTCPServer):
    """`answer(request)` gives status, header lines and body; `connections` are lists of requests, one list each."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Connection)
        self.answer, self.connections = answer, []
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def take(self):
        """What has come since the last call: the connections on which something came."""
        taken, self.connections = self.connections, []
        return [requests for requests in taken if requests]


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        requests = []
        self.server.connections.append(requests)
        try:
            while line := self.rfile.readline():
                method, path, version = line.decode().split()
                headers = []
                while (line := self.rfile.readline().decode().rstrip("\r\n")):
                    headers.append(tuple(line.split(": ", 1)))
                fields = {name.lower(): value for name, *rest in headers for value in rest or [""]}
                request = Request(method, path, headers, self.rfile.read(int(fields.get("content-length", 0))), time.monotonic())
                requests.append(request)
                if not self.answer(request, fields.get("connection", "keep-alive" if version == "HTTP/1.1" else "close").lower(), version):
                    return
        except (OSError, ValueError):
            pass  # the client went away in the middle

    def answer(self, request, wish, version):
        """`wish`: what the client wants of the connection. False when it ends with this answer."""
        status, lines, content = self.server.answer(request)
        head = "".join(f"{line}\r\n" for line in [f"HTTP/1.1 {status} x", f"Content-Length: {len(content)}", *lines])
        if version == "HTTP/1.0":
            head += f"Connection: {wish}\r\n"
        self.wfile.write(head.encode() + b"\r\n" + (b"" if request.method == "HEAD" else content))
        return wish == "keep-alive"


def hello(_):
    return 200, ["Content-Type: text/plain", "X-Kind: greeting"], b"hello"


@pytest.fixture
def recorder():
    servers = []

    def start(answer=hello):
        servers.append(Recorder(answer))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return servers[-1]
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
