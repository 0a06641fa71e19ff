"""Servers that go away and come back while a run goes on: killed, restarted, stopped, their name taken away. The run goes on; every request has one outcome."""
import signal
import threading
import time

from conftest import Luabench, finish, wait_until
from hostile import scenario_of

# Says what the last request came to, each time that is something else than before.
TELLS = """
local last = {}
scenario "tells" { users = 2, duration = "10m", http = { keep_alive = %s }, run = function()
  local res = http.get("/hello")
  local now = res.error or "answered"
  if now ~= last.now then print("now: " .. now) end
  last.now = now
end }
"""


class Run:
    """A run that goes on until end(). until() waits until requests come to that."""

    def __init__(self, luabench, url, keep_alive=True):
        self.luabench, self.now = luabench, None
        self.process = luabench.start("--target", url, "-t", 1, "-o", "result.json", script=TELLS % str(keep_alive).lower())
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stderr:
            if "now: " in line:
                self.now = line.split("now: ")[1].strip()

    def until(self, wanted):
        wait_until(lambda: self.now == wanted, f"requests come to {wanted}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 130
        return scenario_of(self.luabench.saved_result())


def test_killed_and_restarted(luabench, start_target, free_port):
    port = free_port()
    target = start_target(port)
    run = Run(luabench, target.url)
    run.until("answered")
    before = target.requests()
    target.stop(signal.SIGKILL)
    run.until("connect")
    target = start_target(port)
    run.until("answered")
    total = run.end()
    assert set(total["errors"]) <= {"connect", "reset", "closed", "interrupted"}
    assert total["requests"]["succeeded"] >= before + target.requests() - 2 and total["errors"]["connect"] > 0  # two users may have been interrupted


STOPPED = """
scenario "closed" { users = 2, duration = "5s", run = function() http.get("/hello") end }
scenario "open" { rate = 100, duration = "5s", run = function() http.get("/hello") end }
"""


def test_stopped_for_three_seconds(luabench, target):
    """No error: all of it is latency. In the open model that of each arrival counts from when it was due: the slowest tenth, those due in the first half second of three, take 2.5 s or more."""
    run = luabench.start("--target", target.url, "--lenient", "-o", "result.json", script=STOPPED)
    wait_until(lambda: target.requests() > 100, "the run has begun")
    target.process.send_signal(signal.SIGSTOP)
    time.sleep(3)
    target.process.send_signal(signal.SIGCONT)
    status, stdout, stderr = finish(run, 60)
    assert status == 0, stdout + stderr
    result = luabench.saved_result()
    closed, opened = result["scenarios"]["closed"], result["scenarios"]["open"]
    assert (closed["errors"], closed["requests"]["retried"], opened["errors"], opened["requests"]["retried"]) == ({}, 0, {}, 0)
    assert closed["requests"]["started"] == closed["requests"]["succeeded"] and closed["latency"]["max"] >= 2.95
    assert opened["requests"]["succeeded"] == opened["iterations"]["scheduled"] == 500
    assert opened["latency"]["p90"] >= 2.45 and opened["latency"]["mean"] >= 0.85  # 3 s * 3 s / 2 / 5 s, were there nothing else


def test_a_name_that_is_gone(luabench, namespace, start_server):
    """Nobody asks for the name while its address serves. When that is dead, too, the error is the name's, until it is there again."""
    space = namespace()
    serve = lambda: start_server(*space.enter, Luabench.path, "serve", "--port", 8080)
    there = space.hosts.read_text() + "127.0.0.1 there.example\n"
    space.hosts.write_text(there)
    target = serve()
    run = Run(luabench, "http://there.example:8080", keep_alive=False)
    run.until("answered")
    space.hosts.write_text("")
    target.stop(signal.SIGKILL)
    run.until("dns")
    serve()
    space.hosts.write_text(there)
    run.until("answered")
    total = run.end()
    assert set(total["errors"]) <= {"connect", "dns", "reset", "closed", "interrupted"}
    assert total["errors"]["dns"] > 0 and total["requests"]["succeeded"] > 1
