"""nginx reloaded, restarted and killed under load: its access log and luabench's books add up.

nginx writes a line when it has handed an answer to the kernel; luabench counts an answer that it has read. With L lines and S answers:

    L = S               while nginx ends in order: it answers each request that it has read, and logs it
    S - K <= L          K workers killed: each is about one request at a time (a connection has one here), which may have been answered and not logged
    L <= S + F + R      answered and logged, but lost on the way with its connection: luabench has counted that as failed (F) or sent the request again (R)

A worker that ends keeps connections of HTTP/2 which were busy when it was told so; those end after 1000 requests, as nginx ends all of them.
"""
import os
import shutil
import signal
from pathlib import Path

import pytest

from conftest import Server, accepts, wait_until
from hostile import scenario_of

USERS, WORKERS = 20, 2
SCRIPT = f"""
scenario "load" {{ users = {USERS}, duration = "10m", run = function()
  if http.get("/hello", {{ expect_status = {{ 200, 410 }} }}).status == 410 then stop_user() end
end }}
"""


class Nginx:
    """Answers 200, or 410, on which the users go home."""

    CONFIG = """
daemon off;
worker_processes {workers};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  log_format status "$status";
  access_log {folder}/access.log status;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 1000;
  default_type text/plain;
  server {{
    listen 127.0.0.1:{port}{tls};
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    location = /hello {{ return {status} "hello, world\\n"; }}
  }}
}}
"""

    def __init__(self, folder, port, certificate, tls):
        folder.mkdir()
        self.folder, self.port, self.url = folder, port, f"http{'s' * tls}://127.0.0.1:{port}"
        self.words = {"folder": folder, "port": port, "certificate": certificate[0], "key": certificate[1], "workers": WORKERS, "tls": " ssl http2" if tls else ""}
        self.write_config(200)
        self.log = folder / "access.log"
        self.server, self.killed = None, 0
        self.start()

    def write_config(self, status):
        (self.folder / "nginx.conf").write_text(self.CONFIG.format(status=status, **self.words))

    def start(self):
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        self.server = Server([nginx, "-e", self.folder / "error.log", "-p", self.folder, "-c", self.folder / "nginx.conf"])
        wait_until(lambda: accepts(self.port), "nginx listens")

    def workers(self):
        master = self.server.process.pid
        return [int(pid) for pid in Path(f"/proc/{master}/task/{master}/children").read_text().split()]

    def lines(self, status):
        return self.log.read_text().split().count(status)

    def go_on(self):
        """Waits until it has answered some more."""
        before = self.log.stat().st_size
        wait_until(lambda: self.log.stat().st_size > before + 4 * 300, "it answers again")

    # What happens to it

    def reload(self):
        old = self.workers()
        self.server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: len(self.workers()) == WORKERS and not set(old) & set(self.workers()), "new workers are there, old ones gone")

    def restart(self):
        self.server.stop(signal.SIGQUIT)
        self.start()

    def kill_workers(self):
        old = self.workers()
        for pid in old:
            os.kill(pid, signal.SIGKILL)
        self.killed += len(old)
        wait_until(lambda: len(self.workers()) == WORKERS and not set(old) & set(self.workers()), "new workers are there")

    def kill(self):
        """The master first, so that it makes no new workers."""
        pids = [self.server.process.pid, *self.workers()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.killed += len(pids) - 1
        self.server.stop()
        self.start()


@pytest.fixture
def nginx(tmp_path, free_port, certificate):
    servers = []

    def start(tls):
        servers.append(Nginx(tmp_path / "nginx", free_port(), certificate, tls))
        return servers[-1]
    yield start
    for server in servers:
        server.server.stop()


@pytest.fixture(params=[False, True], ids=["HTTP/1.1", "HTTP/2"])
def load(request, luabench, nginx, authority):
    """A function that lets something happen to nginx, three times under load; nginx and the figures of the run."""
    def run(happens):
        server = nginx(request.param)
        process = luabench.start("--target", server.url, f"--allow-read={authority.path.parent}", "--cacert", authority.path, "-o", "result.json", script=SCRIPT)
        for _ in range(3):
            server.go_on()
            happens(server)
        server.go_on()
        server.write_config(410)
        server.server.process.send_signal(signal.SIGHUP)
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stdout + stderr
        server.server.stop(signal.SIGQUIT)
        total = scenario_of(luabench.saved_result())
        assert total["status"]["410"] == server.lines("410") == USERS
        return server, total
    return run


@pytest.mark.parametrize("happens, errors", [(Nginx.reload, set()), (Nginx.restart, {"connect", "closed", "reset", "tls"})], ids=["reloaded", "restarted"])
def test_in_order(load, happens, errors):
    """A reload is no error for anybody. A restart refuses connections for a moment, or loses some that nobody has read from: those are errors of their own."""
    server, total = load(happens)
    assert server.lines("200") == total["status"]["200"] > 900
    assert set(total["errors"]) <= errors


@pytest.mark.parametrize("happens", [Nginx.kill_workers, Nginx.kill], ids=["workers killed", "all killed"])
def test_killed(load, happens):
    server, total = load(happens)
    answered, lines, requests = total["status"]["200"], server.lines("200"), total["requests"]
    assert answered - server.killed <= lines <= answered + requests["failed"] + requests["retried"]
    assert answered > 900 and set(total["errors"]) <= {"connect", "closed", "reset", "tls"}
    assert sum(total["errors"].values()) + total["connections"]["closed_by_peer"] > 0  # it was noticed
