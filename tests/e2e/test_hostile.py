"""What servers do wrong, or right but seldom: the exact outcome of each behaviour, sent whole and byte by byte, with balanced books."""
import threading

import pytest

from hostile import FIN, RESET, Hostile, Whole

REUSED, EACH = 1, 3  # connections of three requests


def head(*lines, status=b"HTTP/1.1 200 OK"):
    return b"".join(line + b"\r\n" for line in (status, *lines, b""))


def fields(count, size):
    """`count` header lines of `size` bytes."""
    return [b"X-%05d: " % number + b"v" * (size - 11) for number in range(count)]


LENGTH, CHUNKED, CLOSE = b"Content-Length: 2", b"Transfer-Encoding: chunked", b"Connection: close"
OK = head(LENGTH) + b"ok"
NO_CONTENT, UNCHANGED = b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 Not Modified"
CONTINUE, HINTS = head(status=b"HTTP/1.1 100 Continue"), head(b"Link: </a.css>; rel=preload", status=b"HTTP/1.1 103 Early Hints")
TIMED_OUT = head(b"Content-Length: 0", CLOSE, status=b"HTTP/1.1 408 Request Timeout")

# Steps, connections for three requests, status: all three succeed.
WELL = {
    "body ended by EOF": ([head() + b"ok", FIN], EACH, 200),
    "body ended by EOF with close": ([head(CLOSE) + b"ok", FIN], EACH, 200),
    "204": ([head(status=NO_CONTENT)], REUSED, 204),
    "204 with a length": ([head(b"Content-Length: 5", status=NO_CONTENT)], REUSED, 204),
    "204 with chunked": ([head(CHUNKED, status=NO_CONTENT)], REUSED, 204),
    "304": ([head(status=UNCHANGED)], REUSED, 304),
    "304 with a length": ([head(b"Content-Length: 5", status=UNCHANGED)], REUSED, 304),
    "304 with chunked": ([head(CHUNKED, status=UNCHANGED)], REUSED, 304),
    "100 unasked": ([CONTINUE + OK], REUSED, 200),
    "100 a hundred times": ([CONTINUE * 100 + OK], REUSED, 200),
    "100 twice": ([CONTINUE * 2 + OK], REUSED, 200),
    "103": ([HINTS + OK], REUSED, 200),
    "103 twice": ([HINTS * 2 + OK], REUSED, 200),
    "chunk extensions": ([head(CHUNKED) + b'2;a=b;c="d e"\r\nok\r\n0;last\r\n\r\n'], REUSED, 200),
    "trailers": ([head(CHUNKED) + b"2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Empty:\r\n\r\n"], REUSED, 200),
    "upper-case size": ([head(CHUNKED) + b"1F\r\n" + b"o" * 31 + b"\r\n0\r\n\r\n"], REUSED, 200),
    "zero-padded size": ([head(CHUNKED) + b"0000000002\r\nok\r\n0000\r\n\r\n"], REUSED, 200),
    "status without reason": ([head(LENGTH, status=b"HTTP/1.1 200") + b"ok"], REUSED, 200),
    "status with an empty reason": ([head(LENGTH, status=b"HTTP/1.1 200 ") + b"ok"], REUSED, 200),
    "folded header": ([head(b"X-Folded: a", b" b", b"\tc", LENGTH) + b"ok"], REUSED, 200),
    "another transfer coding": ([head(b"Transfer-Encoding: gzip") + b"ok", FIN], EACH, 200),
    "5 KB of headers": ([head(LENGTH, *fields(50, 100)) + b"ok"], REUSED, 200),
    "70 KB of headers": ([head(LENGTH, *fields(70, 1000)) + b"ok"], REUSED, 200),
    "1000 headers": ([head(LENGTH, *fields(1000, 20)) + b"ok"], REUSED, 200),
    "empty header values": ([head(LENGTH, b"X-Empty:", b"X-Blank:   ") + b"ok"], REUSED, 200),
    "HTTP/1.0": ([head(LENGTH, status=b"HTTP/1.0 200 OK") + b"ok", FIN], EACH, 200),
    "HTTP/1.0 with keep-alive": ([head(LENGTH, b"Connection: keep-alive", status=b"HTTP/1.0 200 OK") + b"ok"], REUSED, 200),
    "closed after each": ([head(LENGTH, CLOSE) + b"ok", FIN], EACH, 200),
}

# Steps, connections for three requests, the error: all three fail with it.
BADLY = {
    "lengths that differ": ([head(LENGTH, b"Content-Length: 3") + b"ok!"], EACH, "protocol"),
    "lengths that are equal": ([head(LENGTH, LENGTH) + b"ok"], EACH, "protocol"),
    "length and chunked": ([head(LENGTH, CHUNKED) + b"2\r\nok\r\n0\r\n\r\n"], EACH, "protocol"),
    "negative length": ([head(b"Content-Length: -1") + b"ok"], EACH, "protocol"),
    "length beyond 64 bits": ([head(b"Content-Length: 99999999999999999999") + b"ok"], EACH, "protocol"),
    "length larger than allowed": ([head(b"Content-Length: 9999999999999") + b"ok"], EACH, "too_large"),
    "length that is no number": ([head(b"Content-Length: two") + b"ok"], EACH, "protocol"),
    "length with a sign": ([head(b"Content-Length: +2") + b"ok"], EACH, "protocol"),
    "empty length": ([head(b"Content-Length:") + b"ok"], EACH, "protocol"),
    "shorter body, then FIN": ([head(b"Content-Length: 9") + b"ok", FIN], EACH, "closed"),
    "shorter body, then RST": ([head(b"Content-Length: 9") + b"ok", RESET], EACH, "reset"),
    "status of one digit": ([head(LENGTH, status=b"HTTP/1.1 2 OK") + b"ok"], EACH, "protocol"),
    "status 099": ([head(LENGTH, status=b"HTTP/1.1 099 OK") + b"ok"], EACH, "protocol"),
    "status 600": ([head(LENGTH, status=b"HTTP/1.1 600 OK") + b"ok"], EACH, "protocol"),
    "status of four digits": ([head(LENGTH, status=b"HTTP/1.1 2000 OK") + b"ok"], EACH, "protocol"),
    "status behind two spaces": ([head(LENGTH, status=b"HTTP/1.1  200 OK") + b"ok"], EACH, "protocol"),
    "another protocol": ([head(LENGTH, status=b"RTSP/1.0 200 OK") + b"ok"], EACH, "protocol"),
    "HTTP/3.7": ([head(LENGTH, status=b"HTTP/3.7 200 OK") + b"ok"], EACH, "protocol"),
    "lines ended by LF": ([OK.replace(b"\r\n", b"\n")], EACH, "protocol"),
    "blank line before the status": ([b"\r\n" + OK], EACH, "protocol"),
    "header without a colon": ([head(b"garbage", LENGTH) + b"ok"], EACH, "protocol"),
    "space before the colon": ([head(b"Content-Length : 2") + b"ok"], EACH, "protocol"),
    "NUL in a header": ([head(b"X-Nul: a\0b", LENGTH) + b"ok"], EACH, "protocol"),
    "300 KB of headers": ([head(LENGTH, *fields(300, 1000)) + b"ok"], EACH, "too_large"),
    "101 unasked": ([head(b"Upgrade: other", b"Connection: Upgrade", status=b"HTTP/1.1 101 Switching Protocols")], EACH, "protocol"),
    "garbage": ([b"\x00\xff\x01garbage\r\n\r\n"], EACH, "protocol"),
    "nothing, then FIN": ([FIN], EACH, "closed"),
    "nothing, then RST": ([RESET], EACH, "reset"),
    "half a head, then FIN": ([b"HTTP/1.1 200 OK\r\nContent-", FIN], EACH, "closed"),
    "half a head, then RST": ([b"HTTP/1.1 200 OK\r\nContent-", RESET], EACH, "reset"),
    "size that is no number": ([head(CHUNKED) + b"zz\r\nok\r\n0\r\n\r\n"], EACH, "protocol"),
    "size beyond 64 bits": ([head(CHUNKED) + b"fffffffffffffffff\r\nok"], EACH, "protocol"),
    "chunk longer than its size": ([head(CHUNKED) + b"2\r\nok!\r\n0\r\n\r\n"], EACH, "protocol"),
    "chunks without the last, then FIN": ([head(CHUNKED) + b"2\r\nok\r\n", FIN], EACH, "closed"),
    "body ended by RST": ([head() + b"ok", RESET], EACH, "reset"),
    "100, then FIN": ([CONTINUE, FIN], EACH, "closed"),
    "503 that keeps the connection": ([head(LENGTH, status=b"HTTP/1.1 503 Service Unavailable") + b"no"], REUSED, "status"),
}


@pytest.fixture
def hostile():
    """A function that starts a Hostile server."""
    servers = []

    def start(*args, **options):
        servers.append(Hostile(*args, **options))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return servers[-1]
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def run(luabench, server, *options, timeout="2s", count=3):
    """Runs `count` requests; the figures of the result, whose books balance."""
    done = luabench.run(server.url, "-n", count, "-c", 1, "--timeout", timeout, *options, "-o", "result.json")
    result = luabench.saved_result()
    (total,) = result["scenarios"].values()
    requests = total["requests"]
    assert done.returncode == (0 if total["status"] else 3), done.stderr
    assert result["unbalanced"] is None
    assert requests["started"] == count
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    assert sum(total["errors"].values()) == requests["started"] - requests["succeeded"]
    return total


split = pytest.mark.parametrize("split", [False, True], ids=["whole", "split"])


@split
@pytest.mark.parametrize("steps, connections, status", WELL.values(), ids=WELL)
def test_succeeds(luabench, hostile, steps, connections, status, split):
    server = hostile(steps, split)
    total = run(luabench, server)
    assert (total["status"], total["errors"]) == ({str(status): 3}, {})
    assert (server.connections, server.requests) == (connections, 3)
    assert total["bytes"]["received"] == 3 * sum(len(step) for step in steps if isinstance(step, bytes))


@split
@pytest.mark.parametrize("steps, connections, error", BADLY.values(), ids=BADLY)
def test_fails(luabench, hostile, steps, connections, error, split):
    server = hostile(steps, split)
    total = run(luabench, server)
    assert total["errors"] == {error: 3}
    assert (server.connections, server.requests) == (connections, 3)


@split
@pytest.mark.parametrize("line", [b"Content-Length: 5", CHUNKED, b"X-Nothing: 1"], ids=["length", "chunked", "nothing"])
def test_answer_to_head_has_no_body(luabench, hostile, line, split):
    server = hostile([head(line)], split)
    total = run(luabench, server, "-X", "HEAD")
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (1, 3)


@split
@pytest.mark.parametrize("extra", [b"x", OK, b"\r\n", TIMED_OUT], ids=["a byte", "an answer", "a blank line", "408"])
def test_what_is_left_over_is_never_the_next_answer(luabench, hostile, extra, split):
    server = hostile([OK[:-1], Whole(OK[-1:] + extra)], split)
    total = run(luabench, server)
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (3, 3)
    assert total["connections"]["unasked"] == 3


@split
@pytest.mark.parametrize("steps", [[], [b"HTTP/1.1 200"], [head(b"Content-Length: 9") + b"ok"], [head() + b"ok"], [CONTINUE]],
                         ids=["nothing", "half a head", "half a body", "body without an end", "100"])
def test_silence_is_a_timeout(luabench, hostile, steps, split):
    server = hostile(steps, split)
    total = run(luabench, server, timeout="80ms")
    assert (total["errors"], total["requests"]["timed_out"]) == ({"timeout": 3}, 3)
    assert server.connections == 3


def test_closed_behind_the_answer_without_saying_so(luabench, hostile):
    """Whether the end is seen before the next request or by it: that one is sent on a new connection, and counted once."""
    server = hostile([OK, FIN])
    total = run(luabench, server)
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert server.connections == 3


def test_closed_right_after_accept(luabench, hostile):
    server = hostile([], greeting=[FIN])
    assert run(luabench, server)["errors"] == {"closed": 3}
    assert server.connections == 3


def test_reset_right_after_accept(luabench, hostile):
    """The reset may come before the client has seen that it is connected."""
    server = hostile([], greeting=[RESET])
    errors = run(luabench, server)["errors"]
    assert set(errors) <= {"connect", "reset"}
    assert (sum(errors.values()), server.requests) == (3, 0)


@pytest.mark.parametrize("most", [1, 100])
def test_closed_after_so_many_requests(luabench, hostile, most):
    server = hostile([OK], most=most)
    total = run(luabench, server, count=3 * most)
    assert (total["status"], total["errors"]) == ({"200": 3 * most}, {})
    assert server.connections == 3


def test_a_byte_now_and_then_is_a_timeout_of_the_whole_response(luabench, hostile):
    server = hostile([OK], split=True, pause=0.05)
    total = run(luabench, server, timeout="120ms")
    assert (total["errors"], total["requests"]["timed_out"]) == ({"timeout": 3}, 3)
    assert server.connections == 3


def test_a_slow_answer_within_the_timeout_succeeds(luabench, hostile):
    server = hostile([CONTINUE, OK], pause=0.05)
    total = run(luabench, server, timeout="20s")
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (1, 3)
    assert total["latency"]["min"] >= 0.1


@split
def test_lines_ended_by_lf_are_taken_when_asked(luabench, hostile, split):
    server = hostile([OK.replace(b"\r\n", b"\n")], split)
    total = run(luabench, server, "--lenient-http")
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (1, 3)
