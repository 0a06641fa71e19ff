"""A server that misbehaves on demand: it reads a request head, then does the steps of a case, bytes to send and what to do between them.

    server = Hostile([b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhalf", FIN])

`connections` and `requests` are its own counts.
"""
import socket
import socketserver
import struct
import time

FIN, CLOSE, RESET = "FIN", "CLOSE", "RESET"  # the sending side is closed; both are; both are, with RST
PIECES = 1000  # the most pieces of one byte that bytes are split into; longer ones are sent in larger pieces


class Whole(bytes):
    """Bytes that are never split."""


class Hostile(socketserver.ThreadingTCPServer):
    """`steps` follow each request: a list of bytes, of what stands above, and of functions that are called; or a function that makes the list, given which request of its
    connection it is. `greeting`, steps at the start of each connection, before any request. `split`: one byte at a time. `most`: requests that a connection answers
    before it is closed; `pause`: seconds before each piece of bytes; `at_end` is called when a client has
    closed its side."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, steps, split=False, greeting=(), most=None, pause=0, at_end=None):
        super().__init__(("127.0.0.1", 0), Connection)
        self.steps, self.split, self.greeting, self.most, self.pause, self.at_end = steps, split, greeting, most, pause, at_end
        self.connections = self.requests = 0
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def steps_of(self, nth):
        return self.steps(nth) if callable(self.steps) else self.steps


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.connections += 1
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.do(self.server.greeting)
            answered = 0
            while answered != self.server.most and self.read_head():
                self.server.requests += 1
                answered += 1
                self.do(self.server.steps_of(answered))
        except OSError:
            pass  # the client went away, or this side ended the connection

    def read_head(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            data = self.request.recv(65536)
            if not data:
                return self.client_closed()
            head += data
        return True

    def client_closed(self):
        if self.server.at_end:
            self.server.at_end()
        return False

    def do(self, steps):
        for step in steps:
            if step == FIN:
                self.request.shutdown(socket.SHUT_WR)
            elif step in (CLOSE, RESET):
                self.end(step)
            elif callable(step):
                step()
            else:
                self.send(step)
        if CLOSE in steps or RESET in steps:
            raise ConnectionResetError

    def end(self, step):
        if step == RESET:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.request.close()

    def send(self, data):
        whole = not self.server.split or isinstance(data, Whole)
        size = len(data) if whole else 1 + len(data) // PIECES
        for at in range(0, len(data), size):
            time.sleep(self.server.pause)
            self.request.sendall(data[at:at + size])


def scenario_of(result):
    """The figures of the only scenario, whose books balance."""
    (total,) = result["scenarios"].values()
    requests, iterations = total["requests"], total["iterations"]
    assert result["unbalanced"] is None
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired"))
    assert sum(total["errors"].values()) == requests["started"] - requests["succeeded"]
    return total


def run(luabench, server, *options, timeout="2s", count=3, **more):
    """Sends `count` requests of one user; the figures of the result, whose books balance."""
    done = luabench.run(server.url, "-n", count, "-c", 1, "--timeout", timeout, *options, "-o", "result.json", **more)
    total = scenario_of(luabench.saved_result())
    assert done.returncode == (0 if total["status"] else 3), done.stderr
    assert total["requests"]["started"] == count
    return total
