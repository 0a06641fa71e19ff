"""What servers answer wrong, or right but seldom: the steps of `Hostile` for each case, and its exact outcome for three requests of one user."""
from hostile import FIN, RESET

REUSED, EACH = 1, 3  # connections of three requests


def head(*lines, status=b"HTTP/1.1 200 OK"):
    return b"".join(line + b"\r\n" for line in (status, *lines, b""))


def fields(count, size):
    """`count` header lines of `size` bytes."""
    return [b"X-%05d: " % number + b"v" * (size - 11) for number in range(count)]


LENGTH, CHUNKED, CLOSES = b"Content-Length: 2", b"Transfer-Encoding: chunked", b"Connection: close"
OK = head(LENGTH) + b"ok"
NO_CONTENT, UNCHANGED = b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 Not Modified"
CONTINUE, HINTS = head(status=b"HTTP/1.1 100 Continue"), head(b"Link: </a.css>; rel=preload", status=b"HTTP/1.1 103 Early Hints")
TIMED_OUT = head(b"Content-Length: 0", CLOSES, status=b"HTTP/1.1 408 Request Timeout")

# Steps, connections for three requests, status: all three succeed.
WELL = {
    "body ended by EOF": ([head() + b"ok", FIN], EACH, 200),
    "body ended by EOF with close": ([head(CLOSES) + b"ok", FIN], EACH, 200),
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
    "70 KB of trailers": ([head(CHUNKED) + b"2\r\nok\r\n0\r\n" + b"\r\n".join(fields(70, 1000)) + b"\r\n\r\n"], REUSED, 200),
    "chunk extension of 70 KB": ([head(CHUNKED) + b"2;a=" + b"b" * 70000 + b"\r\nok\r\n0\r\n\r\n"], REUSED, 200),
    "chunks of one byte": ([head(CHUNKED) + b"1\r\no\r\n" * 1000 + b"0\r\n\r\n"], REUSED, 200),
    "chunked in HTTP/1.0": ([head(CHUNKED, b"Connection: keep-alive", status=b"HTTP/1.0 200 OK") + b"2\r\nok\r\n0\r\n\r\n"], EACH, 200),
    "coding behind chunked": ([head(CHUNKED + b", gzip") + b"ok", FIN], EACH, 200),
    "upper-case size": ([head(CHUNKED) + b"1F\r\n" + b"o" * 31 + b"\r\n0\r\n\r\n"], REUSED, 200),
    "zero-padded size": ([head(CHUNKED) + b"0000000002\r\nok\r\n0000\r\n\r\n"], REUSED, 200),
    "status without reason": ([head(LENGTH, status=b"HTTP/1.1 200") + b"ok"], REUSED, 200),
    "status with an empty reason": ([head(LENGTH, status=b"HTTP/1.1 200 ") + b"ok"], REUSED, 200),
    "folded header": ([head(b"X-Folded: a", b" b", b"\tc", LENGTH) + b"ok"], REUSED, 200),
    "another transfer coding": ([head(b"Transfer-Encoding: gzip") + b"ok", FIN], EACH, 200),
    "5 KB of headers": ([head(LENGTH, *fields(50, 100)) + b"ok"], REUSED, 200),
    "70 KB of headers": ([head(LENGTH, *fields(70, 1000)) + b"ok"], REUSED, 200),
    "1000 headers": ([head(LENGTH, *fields(1000, 20)) + b"ok"], REUSED, 200),
    "no body by its length": ([head(b"Content-Length: 0")], REUSED, 200),
    "length with blanks": ([head(b"Content-Length: \t 2 ") + b"ok"], REUSED, 200),
    "names in other cases": ([head(b"cONTENT-lENGTH: 2") + b"ok"], REUSED, 200),
    "bytes above 127 in a header": ([head(b"X-Text: \xe9\xff", LENGTH) + b"ok"], REUSED, 200),
    "empty header values": ([head(LENGTH, b"X-Empty:", b"X-Blank:   ") + b"ok"], REUSED, 200),
    "HTTP/1.0": ([head(LENGTH, status=b"HTTP/1.0 200 OK") + b"ok", FIN], EACH, 200),
    "HTTP/1.0 with keep-alive": ([head(LENGTH, b"Connection: keep-alive", status=b"HTTP/1.0 200 OK") + b"ok"], REUSED, 200),
    "closed after each": ([head(LENGTH, CLOSES) + b"ok", FIN], EACH, 200),
}

# Steps, connections for three requests, the error: all three fail with it.
BADLY = {
    "lengths that differ": ([head(LENGTH, b"Content-Length: 3") + b"ok!"], EACH, "protocol"),
    "lengths that are equal": ([head(LENGTH, LENGTH) + b"ok"], EACH, "protocol"),
    "a list of equal lengths": ([head(b"Content-Length: 2, 2") + b"ok"], EACH, "protocol"),
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
    "CR in a header": ([head(b"X-Cr: a\rb", LENGTH) + b"ok"], EACH, "protocol"),
    "blank in a header's name": ([head(b"X Blank: a", LENGTH) + b"ok"], EACH, "protocol"),
    "header without a name": ([head(b": a", LENGTH) + b"ok"], EACH, "protocol"),
    "300 KB of headers": ([head(LENGTH, *fields(300, 1000)) + b"ok"], EACH, "too_large"),
    "101 unasked": ([head(b"Upgrade: other", b"Connection: Upgrade", status=b"HTTP/1.1 101 Switching Protocols")], EACH, "protocol"),
    "garbage": ([b"\x00\xff\x01garbage\r\n\r\n"], EACH, "protocol"),
    "nothing, then FIN": ([FIN], EACH, "closed"),
    "nothing, then RST": ([RESET], EACH, "reset"),
    "half a head, then FIN": ([b"HTTP/1.1 200 OK\r\nContent-", FIN], EACH, "closed"),
    "half a head, then RST": ([b"HTTP/1.1 200 OK\r\nContent-", RESET], EACH, "reset"),
    "size that is no number": ([head(CHUNKED) + b"zz\r\nok\r\n0\r\n\r\n"], EACH, "protocol"),
    "negative size": ([head(CHUNKED) + b"-2\r\nok\r\n0\r\n\r\n"], EACH, "protocol"),
    "size written as in C": ([head(CHUNKED) + b"0x2\r\nok\r\n0\r\n\r\n"], EACH, "protocol"),
    "no size": ([head(CHUNKED) + b"\r\nok\r\n0\r\n\r\n"], EACH, "protocol"),
    "chunk lines ended by LF": ([head(CHUNKED) + b"2\nok\n0\n\n"], EACH, "protocol"),
    "trailer without a colon": ([head(CHUNKED) + b"2\r\nok\r\n0\r\ngarbage\r\n\r\n"], EACH, "protocol"),
    "size beyond 64 bits": ([head(CHUNKED) + b"fffffffffffffffff\r\nok"], EACH, "protocol"),
    "chunk longer than its size": ([head(CHUNKED) + b"2\r\nok!\r\n0\r\n\r\n"], EACH, "protocol"),
    "chunks without the last, then FIN": ([head(CHUNKED) + b"2\r\nok\r\n", FIN], EACH, "closed"),
    "body ended by RST": ([head() + b"ok", RESET], EACH, "reset"),
    "100, then FIN": ([CONTINUE, FIN], EACH, "closed"),
    "503 that keeps the connection": ([head(LENGTH, status=b"HTTP/1.1 503 Service Unavailable") + b"no"], REUSED, "status"),
}
