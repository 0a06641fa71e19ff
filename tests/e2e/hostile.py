"""A server that misbehaves on demand: it reads a request head, then does the steps of a case, bytes to send and what to do between them.

    server = Hostile([b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhalf", FIN])

`connections` and `requests` are its own counts.
"""
import socket
import socketserver
import struct
import time

FIN, RESET = "FIN", "RESET"
PIECES = 4000  # the most pieces of one byte that bytes are split into; longer ones are sent in larger pieces


class Whole(bytes):
    """Bytes that are never split."""


class Hostile(socketserver.ThreadingTCPServer):
    """`steps` follow each request; `greeting`, steps at the start of each connection, before any request. `split`: one byte at a time.
    `most`: requests that a connection answers before it is closed; `pause`: seconds before each piece of bytes."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, steps, split=False, greeting=(), most=None, pause=0):
        super().__init__(("127.0.0.1", 0), Connection)
        self.steps, self.split, self.greeting, self.most, self.pause = steps, split, greeting, most, pause
        self.connections = self.requests = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.connections += 1
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.do(self.server.greeting)
            answered = 0
            while answered != self.server.most and self.read_head():
                self.server.requests += 1
                self.do(self.server.steps)
                answered += 1
        except OSError:
            pass  # the client went away, or this side ended the connection

    def read_head(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            data = self.request.recv(65536)
            if not data:
                return False
            head += data
        return True

    def do(self, steps):
        for step in steps:
            if step == FIN:
                self.request.shutdown(socket.SHUT_WR)
            elif step == RESET:
                self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.request.close()
                raise ConnectionResetError
            else:
                self.send(step)

    def send(self, data):
        whole = not self.server.split or isinstance(data, Whole)
        size = len(data) if whole else 1 + len(data) // PIECES
        for at in range(0, len(data), size):
            time.sleep(self.server.pause)
            self.request.sendall(data[at:at + size])
