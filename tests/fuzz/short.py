#!/usr/bin/env python3
"""A short run of every fuzz target, as a part of the tests: a fixed number of inputs from a fixed seed, beginning with conversations that make sense.

    tests/fuzz/short.py SOURCES BUILD      builds the targets with clang in the folder BUILD, and runs them; status 77: there is no clang with libFuzzer

A long one: BUILD/tests/fuzz/fuzz_NAME -max_total_time=600 BUILD/corpus/NAME
"""
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED = 77
RUNS = {"h1": 20000, "h1_server": 3000, "h2": 8000, "hist_decode": 3000}

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

SEEDS = {"h1": H1, "h1_server": H1_SERVER, "h2": H2, "hist_decode": [b"\x08\x02\x04\x01\x06", b"\x00" + b"\x7f\x02" * 20]}


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


def build(sources, folder):
    subprocess.run(["cmake", "-S", sources, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_COMPILER=clang", "-DLUABENCH_FUZZ=ON"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", *(f"fuzz_{name}" for name in RUNS)], check=True, stdout=subprocess.DEVNULL)


def run(name, folder):
    corpus = folder / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{i}").write_bytes(seed)
    with tempfile.TemporaryDirectory() as found: # so that every run is the same
        return subprocess.run([folder / "tests/fuzz" / f"fuzz_{name}", f"-runs={RUNS[name]}", "-seed=1", "-max_len=600", "-timeout=20", f"-artifact_prefix={folder}/{name}-",
                               found, corpus], capture_output=True, text=True)


def main():
    sources, folder = Path(sys.argv[1]), Path(sys.argv[2])
    require_fuzzer()
    build(sources, folder)
    with ThreadPoolExecutor(2) as threads:
        results = dict(zip(RUNS, threads.map(lambda name: run(name, folder), RUNS)))
    for name, result in results.items():
        print(f"{name}: {result.stderr.strip().splitlines()[-1]}" if result.returncode == 0 else f"{name} failed\n{result.stderr}")
    sys.exit(any(result.returncode for result in results.values()))


main()
