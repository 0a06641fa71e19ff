"""What the benches share: pinned processes, the CPU time they used, an nginx of their own, and tables."""
import os
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LUABENCH = os.environ.get("LUABENCH", str(ROOT / "build/release/luabench"))

NGINX_CONFIG = """
daemon off;
worker_processes 1;
worker_rlimit_nofile 40000;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 30000; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  default_type text/plain;
  server {{
    listen 127.0.0.1:{port} backlog=8192;
    location = /hello {{ return 200 "Hello, World!"; }}
    location = /cookie {{ add_header Set-Cookie "session=$request_id; Path=/; HttpOnly"; return 200 "Hello, World!"; }}
    location = /status {{ stub_status; }}
  }}
  {more}
}}
"""


def install():
    """The other programs come from Debian and npm, as listed in .ci/packages and package-lock.json."""
    subprocess.run([ROOT / ".ci/install", "bench"], check=True)
    if not (HERE / "node_modules").exists():
        subprocess.run(["npm", "ci", "--loglevel", "error"], cwd=HERE, check=True)


def raise_descriptor_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def pinned(core, command):
    return ["taskset", "-c", str(core), *map(str, command)]


def cores():
    """Two cores that share as little as possible: the first is the client's, the last the server's."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        sys.exit("two cores are needed: one for the client, one for the server")
    return allowed[0], allowed[-1]


class Nginx:
    """nginx with one worker on one core; `with Nginx(core) as nginx: nginx.url`. `more` gives further servers of its configuration, out of the folder where their
    files are."""

    def __init__(self, core, more=lambda folder: ""):
        self.folder = Path(tempfile.mkdtemp(prefix="luabench-"))
        self.port = free_port()
        config = self.folder / "nginx.conf"
        config.write_text(NGINX_CONFIG.format(folder=self.folder, port=self.port, more=more(self.folder)))
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        self.process = subprocess.Popen(pinned(core, [nginx, "-e", self.folder / "error.log", "-p", self.folder, "-c", config]))
        self.url = f"http://127.0.0.1:{self.port}"
        self.asked = self.answered = 0  # see has_answered

    def __enter__(self):
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.01)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)

    def status(self):
        with urllib.request.urlopen(self.url + "/status") as response:
            return response.read().decode()

    def idle_connections(self):
        return int(re.search(r"Waiting: (\d+)", self.status())[1])

    def has_answered(self, requests):
        """True when so many requests have come since this was true last, not counting those to /status."""
        self.asked += 1
        answered = int(re.search(r"requests\n(?: \d+){2} (\d+)", self.status())[1]) - self.asked
        if answered < self.answered + requests:
            return False
        self.answered = answered
        return True


def free_port():
    """A port below those that the kernel gives to clients."""
    while True:
        port = random.randrange(10000, 32000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


class Usage:
    """What a finished process used: seconds of wall, CPU and user time, and what it printed."""

    def __init__(self, command, environment=None):
        with tempfile.TemporaryFile("w+") as output:
            begin = time.perf_counter()
            process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=subprocess.STDOUT, env=environment)
            _, status, used = os.wait4(process.pid, 0)
            self.wall = time.perf_counter() - begin
            process.returncode = self.status = os.waitstatus_to_exitcode(status)
            output.seek(0)
            self.output = output.read()
        self.user = used.ru_utime
        self.cpu = used.ru_utime + used.ru_stime
        if self.status != 0:
            sys.exit(f"exit status {self.status} of {' '.join(map(str, command))}\n{self.output}")


def resident(pid):
    """Bytes of memory that a process has resident."""
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def table(head, rows):
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def spread(values, digits):
    return [f"{value:.{digits}f}" for value in (median(values), min(values), max(values))]
