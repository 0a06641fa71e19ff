#!/usr/bin/env python3
"""Chaos: 200 users, and servers that choose at random among everything that tests/e2e/framing_cases.py knows, byte by byte or whole, and that close, reset, stall and
refuse. It is ended by Ctrl-C; then the books must balance, on both sides, and nothing may be left open or grow.

    tests/e2e/chaos.py [--seconds 600] [--seed N] [LUABENCH]      LUABENCH: build/release/luabench

The seed is printed; the same one gives the same choices, though not in the same order.
"""
import argparse
import contextlib
import fcntl
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from framing_cases import BADLY, OK, WELL
from hostile import CLOSE, FIN, RESET, Hostile

USERS = 200
PIPE = 4096  # bytes: less than a result
SCRIPT = """
local urls = { URLS }
local returned = metric.counter "returned"
scenario "chaos" {
  users = USERS, duration = "10h", http = { timeout = "300ms", redirects = 3 },
  run = function(user)
    local method = random.pick { "GET", "GET", "GET", "HEAD", "POST" }
    local res = http.request { method = method, url = random.pick(urls), body = method == "POST" and "body" or nil }
    returned:add(1)
    if res.ok then check("a body is whole", method == "HEAD" or res.status ~= 200 or #res.body == tonumber(res.headers["Content-Length"] or #res.body)) end
  end,
}
"""


class Chance:
    """Random choices that threads share."""

    def __init__(self, seed):
        self.random, self.lock = random.Random(seed), threading.Lock()

    def pick(self, choices):
        with self.lock:
            return self.random.choice(choices)


def pause():
    time.sleep(0.02)


def behaviours():
    """Lists of steps: half of them answer well, so that connections live long enough to be reused."""
    badly = [steps for steps, *_ in BADLY.values()] + [
        [], [OK[:-1]], [OK, CLOSE], [OK, RESET], [CLOSE], [OK[:20], pause, OK[20:]], [OK + OK], [OK + b"\r\n"], [OK, pause, OK], [OK[:-1], pause, FIN], [OK[:9], pause, RESET]]
    well = [steps for steps, *_ in WELL.values()]
    return badly + well * (1 + len(badly) // len(well)) + [[OK]] * len(badly)


@contextlib.contextmanager
def servers(seed):
    """The servers, and a port at which nobody listens, as URLs."""
    chance, choices = Chance(seed), behaviours()

    def steps(_):
        return chance.pick(choices)
    kinds = [Hostile(steps), Hostile(steps, split=True), Hostile(steps, most=1), Hostile(steps, most=100), Hostile(steps, pause=0.005),
             Hostile(steps, greeting=[FIN]), Hostile(steps, greeting=[RESET]), Hostile(steps, greeting=[OK])]
    for server in kinds:
        server.handle_error = lambda *_: None  # of a client that went away in between
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        yield kinds, [server.url for server in kinds[:5]] * 3 + [server.url for server in kinds[5:]] + [f"http://127.0.0.1:{nobody.getsockname()[1]}/"]
    for server in kinds:
        server.shutdown()
        server.server_close()


class Run:
    """The program under the load that it makes. Standard output is a pipe which is read only when told, so that the process can be looked at between its end of work and its end."""

    def __init__(self, luabench, folder, urls, seed):
        text = SCRIPT.replace("URLS", ", ".join(f'"{url}"' for url in urls)).replace("USERS", str(USERS))
        Path(folder, "chaos.lua").write_text(text)
        self.errors = Path(folder, "stderr").open("w+")
        self.process = subprocess.Popen([luabench, "chaos.lua", "--seed", str(seed), "--json", "--quiet", "-t", "2"], cwd=folder, stdout=subprocess.PIPE, stderr=self.errors,
                                        env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1:" + os.environ.get("ASAN_OPTIONS", "")}, pipesize=PIPE)
        self.memory = []  # of the process, in MB, each half second

    def status(self, key):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1])

    def sockets(self):
        folder = Path(f"/proc/{self.process.pid}/fd")
        return sum(os.readlink(each).startswith("socket:") for each in folder.iterdir())

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, f"it ended by itself: {self.process.returncode}\n{self.stderr()}"
            self.memory.append(self.status("VmRSS") / 1024)
            time.sleep(0.5)

    def stop(self):
        """Ctrl-C; the sockets that are left when it prints."""
        self.process.send_signal(signal.SIGINT)
        end = time.monotonic() + 60
        while self.printed() < PIPE:
            assert self.process.poll() is None and time.monotonic() < end, f"it does not print a result\n{self.stderr()}"
            time.sleep(0.01)
        return self.sockets()

    def printed(self):
        """Bytes that wait in its pipe."""
        return struct.unpack("i", fcntl.ioctl(self.process.stdout, termios.FIONREAD, b"\0" * 4))[0]

    def result(self):
        text = self.process.stdout.read()
        self.process.wait(60)
        return json.loads(text)

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()


def check_books(result, kinds):
    """Every request has one outcome, here and there."""
    (total,) = result["scenarios"].values()
    requests, iterations = total["requests"], total["iterations"]
    returned = result["metrics"]["returned"]["count"]
    assert result["unbalanced"] is None
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired"))
    assert sum(total["errors"].values()) == requests["started"] - requests["succeeded"]
    assert returned == iterations["completed"]
    unseen = requests["started"] - requests["interrupted"] - returned  # those that were answered when Ctrl-C kept their users from going on
    assert 0 <= unseen <= iterations["interrupted"] <= USERS and requests["interrupted"] <= USERS, (returned, requests, iterations)
    answered = sum(server.requests for server in kinds)
    assert requests["succeeded"] <= answered <= requests["started"] + requests["retried"], (answered, requests)
    assert result["script_errors"]["count"] == 0, result["script_errors"]
    assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]
    assert set(total["errors"]) <= {"closed", "reset", "protocol", "timeout", "too_large", "connect", "status", "interrupted"}, total["errors"]
    return total


def growth(memory):
    """MB between the means of the second and the last fifth: what comes before is warming up."""
    fifth = max(1, len(memory) // 5)

    def mean(values):
        return sum(values) / len(values)
    return mean(memory[-fifth:]) - mean(memory[fifth:2 * fifth])


def run(luabench, seconds, seed, most_growth):
    """What happened, in words; an AssertionError when it should not have."""
    threading.stack_size(256 * 1024)
    with tempfile.TemporaryDirectory() as folder, servers(seed) as (kinds, urls):
        this = Run(luabench, folder, urls, seed)
        try:
            this.watch(seconds)
            left = this.stop()
            result = this.result()
        finally:
            this.process.kill()
        assert this.process.returncode == 130, f"status {this.process.returncode}\n{this.stderr()}"
        assert left == 0, f"{left} sockets are left open"
        assert "Sanitizer" not in this.stderr(), this.stderr()
        total = check_books(result, kinds)
        grown = growth(this.memory)
        assert grown <= most_growth, f"memory grows: {this.memory}"
        requests = total["requests"]
        return (f"{requests['started']} requests, {requests['succeeded']} succeeded, {requests['retried']} retried, {requests['interrupted']} interrupted, errors {total['errors']}; "
                f"servers saw {sum(server.requests for server in kinds)} on {sum(server.connections for server in kinds)} connections; "
                f"memory {this.memory[-1]:.1f} MB, {grown:+.1f} MB since it was warm; no socket left")


def new_seed():
    return random.randrange(1 << 31)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("luabench", nargs="?", type=Path, default=Path(__file__).resolve().parents[2] / "build/release/luabench")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=new_seed())
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored, which a program that is started inherits
    print(f"seed {given.seed}", flush=True)
    print(run(given.luabench.resolve(), given.seconds, given.seed, most_growth=10))


if __name__ == "__main__":
    sys.exit(main())
