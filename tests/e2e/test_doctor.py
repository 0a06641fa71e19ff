"""`luabench doctor`: what it says of this machine, against what the system says itself."""
import os
import re
import resource
import signal
from pathlib import Path

from conftest import finish, wait_until


def test_what_it_says_is_so(luabench):
    done = luabench.run("doctor")
    assert done.returncode == 0, done.stderr
    said = dict(re.findall(r"^(\w[\w ]*?) {2,}(.*)$", done.stdout, re.M))
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert said["ports"].startswith(f"{last - first + 1:,}, ")
    assert said["descriptors"].startswith(f"{resource.getrlimit(resource.RLIMIT_NOFILE)[1]:,}, ")
    assert said["backlog"].startswith(f"{int(Path('/proc/sys/net/core/somaxconn').read_text()):,} at most")
    assert said["processors"].startswith(f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}, ")
    for line in ("timers", "loopback"):
        assert len(re.findall(r"[\d.]+ (?:µs|ms|s) (?:median|p99|at most)", said[line])) == 3
    assert re.match(r"[\d,]+/s against luabench's own target, ", said["one thread"])
    assert re.search(r"-R [\d,]+ for each of -t", done.stdout)


def test_ctrl_c_leaves_nothing(luabench):
    """Interrupted when its target is there: status 130, and the target is gone."""
    process = luabench.start("doctor")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: children.read_text().split(), "its target is started")
    started = children.read_text().split()
    process.send_signal(signal.SIGINT)
    status, _, errors = finish(process)
    assert status == 130, errors
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "its target is gone")


def test_wrong_use(luabench):
    assert luabench.run("doctor", "now").stderr == 'luabench: doctor takes no argument "now"\n'
    assert luabench.run("doctor", "now").returncode == 2
    assert luabench.run("doctor", "--fast").returncode == 2
    assert "what this machine can measure" in luabench.run("doctor", "--help").stdout
