"""`luabench serve` over TLS and HTTP/2, with curl and with frames made by hand (RFC 9113): the same pages, and clients that misbehave.

As in test_serve.py, each server must end with status 0 and nothing on standard error.
"""
import os
import socket
import ssl
import struct
import subprocess

import pytest

from conftest import Luabench, wait_until
from test_serve import MIB, pattern, read_to_end, start

__all__ = ["start"]  # a fixture

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8  # types of frames
END_STREAM, END_HEADERS = 1, 4  # flags


def frame(kind, stream=0, payload=b"", flags=0):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def setting(number, value):
    return struct.pack(">HI", number, value)


HUGE_WINDOWS = frame(SETTINGS, payload=setting(4, 2**31 - 1)) + frame(WINDOW_UPDATE, payload=struct.pack(">I", 2**31 - 1 - 65535))


def request(stream, path, method="GET", ends=True):
    """HEADERS whose fields are literals (RFC 7541 6.2.2)."""
    fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "x")]
    block = b"".join(b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in fields)
    return frame(HEADERS, stream, block, END_HEADERS | (END_STREAM if ends else 0))


def read_frame(connected):
    """(type, flags, stream, payload), None at the end of the connection."""
    head = read_exactly(connected, 9)
    if head is None:
        return None
    payload = read_exactly(connected, int.from_bytes(head[:3], "big"))
    return head[3], head[4], int.from_bytes(head[5:], "big"), payload


def read_exactly(connected, length):
    data = b""
    while len(data) < length:
        piece = connected.recv(length - len(data))
        if not piece:
            return None
        data += piece
    return data


def read_until(connected, kind, stream):
    """The payload of the first such frame."""
    while (one := read_frame(connected)) is not None:
        if (one[0], one[2]) == (kind, stream):
            return one[3]
    raise AssertionError("the connection ended")


@pytest.fixture
def secure(start, tmp_path):
    server = start("--tls", "--cert-out", tmp_path / "cert.pem")
    server.ca = tmp_path / "cert.pem"
    return server


def curl(*arguments):
    return subprocess.run(["curl", "-sS", *map(str, arguments)], capture_output=True, timeout=60)


WAYS = {"1.1": ["--http1.1"], "2": ["--http2-prior-knowledge"], "1.1 tls": ["--http1.1"], "2 tls": ["--http2"]}


@pytest.mark.parametrize("way", WAYS)
def test_the_pages_are_the_same(start, tmp_path, way):
    tls = "tls" in way
    server = start(*(["--tls", "--cert-out", tmp_path / "cert.pem"] if tls else []))
    base = f"http{'s' if tls else ''}://127.0.0.1:{server.port}"
    options = [*WAYS[way], *(["--cacert", tmp_path / "cert.pem"] if tls else [])]
    body = os.urandom(3 * MIB)
    (tmp_path / "body").write_bytes(body)

    def get(path, *more):
        done = curl(*options, *more, "-w", "|%{http_code} %{http_version}", base + path)
        assert done.returncode == 0, done.stderr
        content, _, status = done.stdout.rpartition(b"|")
        return content, status.decode()
    version = way.split()[0]
    assert get("/hello") == (b"hello, world\n", f"200 {version}")
    assert get("/bytes/5M") == (pattern(5 * MIB), f"200 {version}")
    assert get("/chunked/1000/1000") == (pattern(1000000), f"200 {version}")
    assert get("/fibonacci/20") == (b"6765\n", f"200 {version}")
    assert get("/delay/20") == (b"20 ms later\n", f"200 {version}")
    assert get("/status/204") == (b"", f"204 {version}")
    assert get("/nothing")[1] == f"404 {version}"
    assert get("/hello", "-X", "DELETE")[1] == f"405 {version}"
    assert get("/bytes/100", "--head")[1] == f"200 {version}"
    assert get("/echo", "--data-binary", f"@{tmp_path}/body") == (body, f"200 {version}")
    assert get("/echo", "-T", tmp_path / "body") == (body, f"200 {version}")
    head = get("/echo", "-H", "X-Mine: it")[0].decode()
    assert head.startswith(f"GET /echo HTTP/{version}\r\n") and "x-mine: it\r\n" in head.lower() and f"host: 127.0.0.1:{server.port}\r\n" in head.lower()
    assert get("/requests") == (b"12\n", f"200 {version}")


# TLS


def test_the_certificate(secure):
    for host in ("127.0.0.1", "localhost"):
        assert curl("--cacert", secure.ca, f"https://{host}:{secure.port}/hello").stdout == b"hello, world\n"
    assert curl(f"https://127.0.0.1:{secure.port}/hello").returncode == 60, "nobody else has signed it"
    other = curl("--cacert", secure.ca, "--resolve", f"other.test:{secure.port}:127.0.0.1", f"https://other.test:{secure.port}/hello")
    assert other.returncode == 60, "it is for other names"


def test_a_certificate_that_cannot_be_written(tmp_path):
    done = subprocess.run([Luabench.path, "serve", "--port", "0", "--tls", "--cert-out", tmp_path / "no/cert.pem"], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"luabench serve: cannot write the certificate to {tmp_path}/no/cert.pem: No such file or directory\n"


@pytest.mark.parametrize("version, offers, agreed", [("1.1", ["h2", "http/1.1"], "http/1.1"), ("2", ["h2", "http/1.1"], "h2"), ("auto", ["http/1.1", "h2"], "h2"),
                                                     ("auto", ["http/1.1"], "http/1.1"), ("auto", [], None), ("1.1", ["h2"], "alert"), ("2", ["http/1.1"], "alert")])
def test_alpn(start, tmp_path, version, offers, agreed):
    server = start("--tls", "--cert-out", tmp_path / "cert.pem", "--http", version)
    context = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    if offers:
        context.set_alpn_protocols(offers)
    with server.connect() as plain:
        if agreed == "alert":
            with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
                context.wrap_socket(plain, server_hostname="localhost")
        else:
            with context.wrap_socket(plain, server_hostname="localhost") as secured:
                assert secured.selected_alpn_protocol() == agreed


def test_without_alpn_the_first_bytes_decide(secure):
    context = ssl.create_default_context(cafile=secure.ca)
    for data, answer in ((b"GET /hello HTTP/1.0\r\n\r\n", b"HTTP/1.1 200"), (PREFACE + frame(SETTINGS), b"\0\0\x0c\x04")):
        with context.wrap_socket(secure.connect(), server_hostname="localhost") as secured:
            secured.sendall(data)
            assert secured.recv(100).startswith(answer)


def test_no_handshake(secure):
    """What is not TLS, half of it, and nothing at all."""
    nothing = secure.connect()
    half = secure.connect()
    half.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    plain = secure.connect()
    plain.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    assert not read_to_end(plain).startswith(b"HTTP/")
    assert curl("--cacert", secure.ca, f"https://127.0.0.1:{secure.port}/hello").stdout == b"hello, world\n"
    assert nothing.fileno() >= 0 and half.fileno() >= 0


# Beginning


def test_the_preface_in_pieces(start):
    server = start()
    connected = server.connect()
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in PREFACE + frame(SETTINGS) + request(1, "/hello"):
        connected.sendall(bytes([byte]))
    assert read_frame(connected)[0] == SETTINGS
    assert read_until(connected, DATA, 1) == b"hello, world\n"


def test_one_version_alone(start):
    assert start("--http", "1.1").raw(PREFACE).startswith(b"HTTP/1.1 505 ")
    connected = start("--http", "2").connect()
    connected.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    frames = []
    while one := read_frame(connected):
        frames.append(one[0])
    assert HEADERS not in frames and DATA not in frames


def test_what_is_not_http2_behind_the_preface(start):
    server = start()
    for rest in (b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", frame(PING, payload=b"short"), frame(SETTINGS) + frame(DATA, 1, b"x"),
                 frame(SETTINGS) + request(2, "/hello"), frame(SETTINGS) + frame(HEADERS, 1, b"\xff\xff\xff\xff\xff", END_HEADERS)):
        connected = server.connect()
        connected.sendall(PREFACE + rest)
        kinds = []
        while one := read_frame(connected):
            kinds.append(one[0])
        assert kinds[-1] == GOAWAY and HEADERS not in kinds
    assert server.get("/hello") == b"hello, world\n"


# Load


def test_streams_do_not_wait_for_each_other(start):
    server = start()
    connected = server.connect()
    connected.sendall(PREFACE + frame(SETTINGS) + request(1, "/delay/200") + request(3, "/hello") + request(5, "/delay/1"))
    ended = []
    while len(ended) < 3:
        kind, flags, stream, _ = read_frame(connected)
        if kind == DATA and flags & END_STREAM:
            ended.append(stream)
    assert ended == [3, 5, 1]


# A sanitizer would keep what is freed.
KEEP_NOTHING = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1:" + os.environ.get("ASAN_OPTIONS", "")}


def test_clients_that_do_not_read_cost_no_memory(start):
    server = start(env=KEEP_NOTHING)
    data = PREFACE + HUGE_WINDOWS + b"".join(request(2 * i + 1, "/bytes/1G") for i in range(100))
    before = server.rss()
    for _ in range(20):
        connected = server.connect()
        connected.sendall(data)
        assert read_frame(connected)[0] == SETTINGS
        read_until(connected, DATA, 1)
    assert server.get("/hello") == b"hello, world\n"
    assert server.rss() - before < 40 * MIB, "a megabyte of what waits, and the streams, for each of 20 connections"


@pytest.mark.parametrize("flood", [frame(PING, payload=b"12345678"), frame(SETTINGS), frame(SETTINGS, payload=setting(4, 1000))], ids=["ping", "empty settings", "settings"])
def test_floods(start, flood):
    """Each frame wants an answer, and none is read: the connection ends, or what waits stays small."""
    server = start(env=KEEP_NOTHING)
    before = server.rss()
    connected = server.connect()
    try:
        connected.sendall(PREFACE + frame(SETTINGS))
        for _ in range(200):
            connected.sendall(flood * 1000)
    except OSError:
        pass
    assert server.get("/hello") == b"hello, world\n"
    assert server.rss() - before < 16 * MIB


def test_streams_that_are_given_up(start):
    """Before their answer, while it is delayed and while it is sent; the connection goes on."""
    server = start()
    connected = server.connect()
    connected.sendall(PREFACE + HUGE_WINDOWS)
    stream = 1
    for path in ("/delay/30", "/delay/1000", "/bytes/1M", "/hello", "/echo") * 20:
        connected.sendall(request(stream, path, "POST" if path == "/echo" else "GET", path != "/echo"))
        connected.sendall(frame(RST_STREAM, stream, struct.pack(">I", 8)))
        stream += 2
    connected.sendall(request(stream, "/delay/60"))
    assert read_until(connected, DATA, stream) == b"60 ms later\n"


def test_clients_that_go_away(start):
    server = start()
    for path in ("/delay/50", "/delay/60000", "/bytes/1G", "/echo"):
        for resets in (True, False):
            connected = socket.create_connection((server.host, server.port))
            connected.sendall(PREFACE + HUGE_WINDOWS + b"".join(request(2 * i + 1, path, ends=path != "/echo") for i in range(10)))
            assert read_frame(connected)[0] == SETTINGS
            if resets:
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connected.close()
    wait_until(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) < 16, "the connections are closed")
    assert server.get("/hello") == b"hello, world\n"


def test_the_end_with_streams_open(start):
    server = start()
    connected = server.connect()
    connected.sendall(PREFACE + frame(SETTINGS) + request(1, "/delay/60000") + request(3, "/bytes/1G") + request(5, "/echo", "POST", False))
    read_until(connected, DATA, 3)


def test_threads(start, tmp_path):
    server = start("--tls", "--cert-out", tmp_path / "cert.pem", "--threads", 3)
    done = subprocess.run(["h2load", "-n", "3000", "-c", "12", "-m", "5", f"https://127.0.0.1:{server.port}/hello"], capture_output=True, text=True, timeout=60)
    assert "3000 succeeded" in done.stdout, done.stdout
    assert curl("--cacert", tmp_path / "cert.pem", f"https://127.0.0.1:{server.port}/requests").stdout == b"3000\n"
