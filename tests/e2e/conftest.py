"""What the end-to-end tests share: the program, and servers of several kinds to send it against.

    LUABENCH=build/debug/luabench pytest tests/e2e      (default: build/release/luabench)

Every server listens on a port of its own and ends with its test. `requests()` is the server's own count, so that a test can compare what
luabench says it did with what arrived.
"""
import json
import os
import random
import select
import shutil
import signal
import socket
import socketserver
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from certificates import Authority
from hostile import Hostile
from namespace import Namespace

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SERVERS = EXAMPLES / "servers"


def wait_until(condition, what, seconds=30):
    """Polls `condition` until it is true; an error that says `what` when it never is."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.01)
    return value


def get(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read().decode()


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Luabench:
    """The program under test. `script` is the text of a script, which is written to script.lua and given as the first argument."""

    path = os.environ.get("LUABENCH", str(ROOT / "build/release/luabench"))

    def __init__(self, folder):
        self.folder = folder
        self.more = []  # options of every run
        self.enter = []  # what stands before it, to run it elsewhere
        self.started = []

    def command(self, args, script):
        if script is not None:
            (self.folder / "script.lua").write_text(script)
            args = ["script.lua", *args]
        return [*self.enter, self.path, *map(str, [*args[:1], *self.more, *args[1:]])]

    def run(self, *args, script=None, timeout=60, **options):
        """Runs it to its end; the CompletedProcess has stdout and stderr as text."""
        return subprocess.run(self.command(args, script), cwd=self.folder, capture_output=True, text=True, timeout=timeout, **options)

    def start(self, *args, script=None, **options):
        """Starts it, standard output and error being pipes of text; see also finish()."""
        process = subprocess.Popen(self.command(args, script), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, **options)
        self.started.append(process)
        return process

    def result(self, *args, status=0, **options):
        """Runs it and returns the result file; fails unless the exit status is `status`."""
        done = self.run(*args, "-o", "result.json", **options)
        assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return self.saved_result()

    def saved_result(self):
        return json.loads((self.folder / "result.json").read_text())


def finish(process, timeout=30):
    """Waits for the end of a started process: exit status, standard output, standard error."""
    stdout, stderr = process.communicate(timeout=timeout)
    return process.returncode, stdout, stderr


class Server:
    """A server in a process of its own."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, **options)
        self.url = None

    def await_line(self):
        """Reads "listening on URL"."""
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline() if readable else ""
        assert "://" in line, f"the server did not say where it listens: {line!r}"
        self.url = line.split()[-1]
        return self

    def requests(self):
        return int(get(self.url + "/requests"))

    def stop(self, with_signal=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        self.process.wait(20)
        self.process.stdout.close()


class Nginx(Server):
    CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000000;
  default_type text/plain;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location = /hello {{ return 200 "hello, world\\n"; }}
  }}
}}
"""

    def __init__(self, folder, port):
        self.log = folder / "access.log"
        config = folder / "nginx.conf"
        config.write_text(self.CONFIG.format(folder=folder, port=port))
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        super().__init__([nginx, "-e", folder / "error.log", "-p", folder, "-c", config])
        self.url = f"http://127.0.0.1:{port}"
        wait_until(lambda: accepts(port), "nginx listens")

    def requests(self):
        """Lines of the access log. A line is written after its answer, so the server is ended first."""
        self.stop(signal.SIGQUIT)
        return len(self.log.read_text().splitlines())


class RawServer(socketserver.ThreadingTCPServer):
    """Answers each head that arrives with the same bytes, whatever they are; `answer` None never answers. `close` ends the connection
    after an answer. `connections` and `received` tell what came."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, answer, close=False):
        super().__init__(("127.0.0.1", 0), RawConnection)
        self.answer, self.close_after = answer, close
        self.connections, self.pieces = 0, []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def received(self):
        return b"".join(self.pieces)


class RawConnection(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.connections += 1
        pending = b""
        try:
            while data := self.request.recv(65536):
                self.server.pieces.append(data)
                pending += data
                while b"\r\n\r\n" in pending and self.server.answer is not None:
                    _, pending = pending.split(b"\r\n\r\n", 1)
                    self.request.sendall(self.server.answer)
                    if self.server.close_after:
                        return
        except OSError:
            pass  # the client went away


@pytest.fixture
def luabench(tmp_path):
    program = Luabench(tmp_path)
    yield program
    for process in program.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def free_port():
    """A function that gives a port nobody listens on, below those that the kernel gives to clients."""
    def pick():
        while True:
            port = random.randrange(10000, 32000)
            with socket.socket() as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                    return port
                except OSError:
                    continue
    return pick


@pytest.fixture
def start_server():
    """A function that starts a Server which says where it listens."""
    servers = []

    def start(*command, **options):
        servers.append(Server(command, **options))
        return servers[-1].await_line()
    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def start_target(start_server):
    """A function that starts the built-in target, on any port or a given one."""
    return lambda port=0: start_server(Luabench.path, "serve", "--port", port)


@pytest.fixture
def target(start_target):
    return start_target()


@pytest.fixture
def nginx(tmp_path, free_port):
    folder = tmp_path / "nginx"
    folder.mkdir()
    server = Nginx(folder, free_port())
    yield server
    server.stop()


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates") / "ours")


@pytest.fixture(scope="session")
def certificate(authority):
    """Of localhost, 127.0.0.1 and ::1: paths of certificate and key."""
    return authority.issue("server")


def runtime(name):
    path = SERVERS / "node_modules/.bin" / name
    return path if path.exists() else pytest.skip(f"{name} is not installed: (cd examples/servers && npm ci)")


@pytest.fixture
def node(start_server):
    return start_server("node", "node.mjs", cwd=SERVERS, env={**os.environ, "PORT": "0"})


@pytest.fixture
def deno(start_server):
    return start_server(runtime("deno"), "run", "--quiet", "--allow-net", "--allow-env=PORT", "deno.mjs", cwd=SERVERS,
                        env={**os.environ, "PORT": "0"})


@pytest.fixture
def bun(start_server):
    return start_server(runtime("bun"), "bun.mjs", cwd=SERVERS, env={**os.environ, "PORT": "0"})


@pytest.fixture
def raw_server():
    """A function that starts a RawServer."""
    servers = []

    def start(answer, **options):
        servers.append(RawServer(answer, **options))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return servers[-1]
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


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


@pytest.fixture
def namespace(luabench, tmp_path):
    """A function that makes a network of its own with these settings, in which luabench runs from then on."""
    spaces = []

    def make(*settings):
        spaces.append(Namespace(tmp_path, *settings))
        if spaces[-1].why:
            pytest.skip(spaces[-1].why)
        luabench.enter = spaces[-1].enter
        return spaces[-1]
    yield make
    for space in spaces:
        space.close()
