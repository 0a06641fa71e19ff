"""The fuzz targets: how many inputs of each the short run takes, what they begin with, and how they are built."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
SKIPPED = 77
MOST_BYTES = 600
RUNS = {"h1": 20000, "h1_server": 3000, "h2": 8000, "hist_decode": 3000, "rows": 100000, "url": 10000, "cookies": 4000, "options": 700, "results": 200}
LUA = {"url", "cookies", "options", "results"}  # lua.c; it looks for leaks at the end, not after each input

# tests/fuzz/h1.c: kind, limit of the body, seed; then what the peer sends
H1 = [kind + b"\x01\x05" + answers for kind in (b"\x00", b"\x01", b"\x02", b"\x10", b"\x20") for answers in (
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" * 3,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
)]

# tests/fuzz/h1_server.c: how it is cut, what is answered; then what the peer sends
H1_SERVER = [b"\x05" + answer + request for answer in (b"\x00", b"\x40", b"\x98") for request in (
    b"GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n" * 2,
    b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabcHEAD / HTTP/1.0\r\n\r\n",
    b"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
)]

# tests/fuzz/h2.c: most streams, whether the peer has spoken; then steps
SUBMIT, CANCEL, WRITE = b"\x00\x00", b"\x01\x00", b"\x02"


def frame(kind, stream, value=0):
    return bytes([kind << 4 | 6, stream, value])


HEAD, HEAD_AND_END, INFORMATION, DATA, RESET, GOAWAY, STREAMS, WINDOW, TRAILER = 0, 1, 2, 3, 4, 5, 6, 7, 11
H2 = [b"\x00\x00" + steps for steps in (
    SUBMIT + WRITE + frame(HEAD, 1) + frame(DATA, 1, 1) + (SUBMIT + WRITE + frame(HEAD, 3) + frame(DATA, 3, 1)),
    SUBMIT * 4 + WRITE + frame(INFORMATION, 1) + frame(HEAD_AND_END, 1) + frame(HEAD, 3) + frame(TRAILER, 3) + frame(RESET, 5, 8) + CANCEL,
    SUBMIT * 4 + WRITE + frame(GOAWAY, 3) + frame(HEAD_AND_END, 1) + frame(RESET, 3, 7),
    frame(STREAMS, 0, 1) + SUBMIT * 3 + WRITE + frame(HEAD_AND_END, 1) + frame(STREAMS, 0, 0) + WRITE + frame(STREAMS, 0, 2) + WRITE,
    b"\x00\x02\x00\x03" + WRITE + frame(WINDOW, 1) + frame(HEAD, 1) + frame(DATA, 1, 1) + WRITE,
)]

# tests/fuzz/rows.c: the format; then the file
ROWS = [b"\x00name,age\r\n\"x \"\"y\"\" z\",2\r\n\r\nc,d", b"\x01\xef\xbb\xbfa,\"b\nc\"d,\n,", b"\x02one\r\ntwo\n\nlast", b'\x03[1, {"a": ["\\"]"]}, -2.5e3, []]', b"\x03 []"]

URL = [b"http://u:p@h.example:80/a/../b?c#d\n../x?y", b"https://[::1]/\n//other.example/./..", b"http://h?q\nhttp:x", b"HTTP://h:1/%2e\n?\xff"]

# tests/fuzz/cookies.lua: the place; then a line of Set-Cookie each
COOKIES = [place + b"\na=b; Path=/x; Domain=a.example; Secure\nc = d ;Max-Age=5; Expires=Wed, 09 Jun 2031 10:18:14 GMT\n=x\ne=; domain=.example; path=/x/y; httponly" for place in (b"0", b"1", b"5")]

# tests/fuzz/options.lua: how a table is built, or words of a command line
OPTIONS = [bytes(range(1, 200)), bytes(range(0, 240, 3)), bytes(range(250, 0, -5)), b"-c\n10\n-d\n1m30s\n-R\n100/s\n-H\nA: b", b"--stages\n10/30s,100/5m\n--threshold\nhttp.errors: rate < 1%",
           b"-X\nPOST\n-b\nx\n--connect-to\na:1:b:2\n--resolve\na:1:127.0.0.1\n-n\n5"]

# tests/fuzz/results.lua: who reads which document; then edits of it. Or a text in JSON
RESULTS = [bytes([who]) + edit for who in range(20) for edit in (b"", b"\x01\x02\x00\x07\x08\x10")] + [b"la\xff?\xc0\xc0\xc0@\xc0\xc0\xc02\xc0\xc0\xc0tenc\xca"] + [b'[1,-2.5e3,"\\ud83d\\ude00",{"a":null}]', b"{}", b'{"luabench":"0","version":1}']

SEEDS = {"h1": H1, "h1_server": H1_SERVER, "h2": H2, "hist_decode": [b"\x08\x02\x04\x01\x06", b"\x00" + b"\x7f\x02" * 20],
         "rows": ROWS, "url": URL, "cookies": COOKIES, "options": OPTIONS, "results": RESULTS}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def require_fuzzer():
    if not shutil.which("clang"):
        skip("clang is not installed")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "try.c")
        source.write_text("int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return data && size ? 0 : 0; }\n")
        tried = subprocess.run(["clang", "-fsanitize=fuzzer,address", source, "-o", Path(folder, "try")], capture_output=True, text=True)
        if tried.returncode:
            skip(f"clang has no libFuzzer: {tried.stderr.strip()}")


def build(folder):
    """Builds all targets in `folder`."""
    require_fuzzer()
    subprocess.run(["cmake", "-S", SOURCES, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_COMPILER=clang", "-DLUABENCH_FUZZ=ON"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", *(f"fuzz_{name}" for name in RUNS)], check=True, stdout=subprocess.DEVNULL)


def command(folder, name, *more):
    """What runs a target built in `folder`."""
    return [folder / "tests/fuzz" / f"fuzz_{name}", *(["-detect_leaks=0"] if name in LUA else []), *more]


def write_seeds(folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(SEEDS[name]):
        (folder / f"seed-{i}").write_bytes(seed)
