"""compare: servers are started, measured in rounds, judged and stopped, and nothing of them is left, whatever happens."""
import json
import os
import signal
import socket
import sys
import time

import jsonschema
import pytest

from conftest import ROOT, finish, wait_until

SERVER = '''
"""server.py PORT [WHAT...]: an HTTP server that misbehaves as it is told."""
import os, signal, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, what = int(sys.argv[1]), sys.argv[2:]
if "deaf" in what:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "fails" in what:
    print("Error: listen EADDRINUSE", file=sys.stderr)
    sys.exit(3)
if "daemon" in what and (os.fork() or os.setsid() or os.fork()):
    os._exit(0)
if "memory" in what:
    held = bytearray(os.urandom(1024) * (200 * 1024))
if "forks" in what and os.fork() == 0:      # a grandchild in a session of its own, whose parent is gone
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    open("orphan", "w").write(str(os.getpid()))
    while True:
        time.sleep(60)
if "spins" in what and os.fork() == 0:      # a child that takes as much of a core as it can get, and says how much
    while True:
        for _ in range(200000):
            pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # a response is one write
    asked = 0

    def do_GET(self):
        Handler.asked += 1
        if "dies" in what and Handler.asked > 20:
            print("out of luck", flush=True)
            os._exit(9)
        status = 503 if "unready" in what or "refuses" in what and Handler.asked > 3 else 200
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *arguments):
        pass


open(f"pid.{port}", "a").write(f"{os.getpid()}\\n")
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
'''

SCRIPT = '''
compare "two servers" {
  targets = { { name = "one", %(one)s }, { name = "two", %(two)s } },
  cases = { { name = "2 users", users = 2, iterations = %(iterations)s, warm_up = 0 } },
  rounds = %(rounds)s,
  run = function() check("is 200", http.get("/").status == 200) end,
}
'''


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


STAYS = ", restart = false"  # started once, which takes less time


def target(port, *what, more=STAYS):
    words = ", ".join(f'"{word}"' for word in [sys.executable, "server.py", str(port), *what])
    return f'command = {{ {words} }}, url = "http://127.0.0.1:{port}", stop_timeout = "200ms"{more}'


def script(one, two, iterations=50, rounds=6):
    return SCRIPT % {"one": one, "two": two, "iterations": iterations, "rounds": rounds}


@pytest.fixture
def folder(luabench):
    (luabench.folder / "server.py").write_text(SERVER)
    return luabench.folder


def exists(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] != "Z"


def pids(folder):
    return [int(pid) for file in [*folder.glob("pid.*"), *folder.glob("orphan")] for pid in file.read_text().split()]


def assert_nothing_left(folder):
    all_pids = pids(folder)
    assert all_pids
    for pid in all_pids:
        wait_until(lambda: not exists(pid), f"the end of process {pid}", seconds=5)


def test_every_slot_is_run_and_judged(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", "-o", "result.json", script=script(target(a, more=""), target(b, more="")))
    assert done.returncode == 0, done.stdout + done.stderr
    result = luabench.saved_result()
    jsonschema.validate(result, json.loads((ROOT / "docs/result.schema.json").read_text()))
    case = result["compare"]["two servers"]["cases"]["2 users"]
    assert set(case["targets"]) == {"one", "two"}
    for measured in case["targets"].values():
        assert len(measured["rounds"]) == 6
        assert measured["requests"]["succeeded"] == 6 * 50 == measured["latency"]["count"]
        assert measured["requests"]["failed"] == 0
        assert measured["rss_max"] > 5e6
    primary = [said for said in case["verdicts"] if said["primary"]]
    assert [(said["a"], said["b"], said["measure"]) for said in primary] == [("one", "two", "rate")]
    assert primary[0]["low"] <= primary[0]["ratio"] <= primary[0]["high"]
    assert primary[0]["text"] in " ".join(done.stdout.split())
    assert len(pids(folder)) == 12  # each was started anew in every round
    assert_nothing_left(folder)


def test_servers_that_stay_are_started_once(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", script=script(target(a), target(b)))
    assert done.returncode == 0, done.stderr
    assert len(pids(folder)) == 2
    assert_nothing_left(folder)


def test_a_slower_server_is_said_to_be_slower(luabench, folder):
    a, b = free_ports(2)
    serve = f'command = {{ "{luabench.path}", "serve", "--port", "%d" }}, url = "http://127.0.0.1:%d", ready = "/hello"'
    text = script(serve % (a, a), serve % (b, b)).replace('http.get("/")', 'http.get(http_path)')
    text = 'local http_path = "/delay/5"\n' + text.replace('cases = {', 'cases = { { name = "quick", users = 2, iterations = 10, warm_up = 0, run = function() http.get("/hello") end },')
    done = luabench.run("--allow-run", "-o", "result.json", script=text)
    assert done.returncode == 0, done.stderr
    cases = luabench.saved_result()["compare"]["two servers"]["cases"]
    assert cases["2 users"]["targets"]["one"]["latency"]["min"] >= 0.005 > cases["quick"]["targets"]["one"]["latency"]["median"]


@pytest.mark.parametrize("what", ["deaf", "forks"])
def test_nothing_outlives_the_run(luabench, folder, what):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", script=script(target(a, what), target(b)))
    assert done.returncode == 0, done.stderr
    assert_nothing_left(folder)


@pytest.mark.parametrize("times", [1, 2])
def test_nothing_outlives_ctrl_c(luabench, folder, times):
    a, b = free_ports(2)
    process = luabench.start("--allow-run", "-o", "result.json", script=script(target(a, "deaf", "forks"), target(b, "deaf", "forks"), iterations=100_000_000))
    wait_until(lambda: (folder / "orphan").exists() and pids(folder)[1:], "a server with an orphan")
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05 if times == 2 else 0)  # two signals at once are one
    status, stdout, stderr = finish(process)
    assert status == 130, stderr
    assert_nothing_left(folder)
    if times == 1:
        assert json.loads((folder / "result.json").read_text())["interrupted"] is True


def test_a_server_that_dies_is_given_up(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", "-o", "result.json", script=script(target(a), target(b, "dies")))
    assert done.returncode == 3
    assert "two ended in mid-run: it ended with status 9; the others go on" in done.stderr
    assert "    | out of luck" in done.stderr
    case = luabench.saved_result()["compare"]["two servers"]["cases"]["2 users"]
    assert len(case["targets"]["one"]["rounds"]) == 6
    assert [said["verdict"] for said in case["verdicts"]] == ["invalid"]
    assert_nothing_left(folder)


@pytest.mark.parametrize("what, more, expected", [
    ("fails", STAYS, ["two did not start: it ended with status 3", "    | Error: listen EADDRINUSE"]),
    ("daemon", STAYS, ["two did not start: it ended with status 0 and left a process behind: a server must stay in the foreground"]),
    ("unready", ', ready_timeout = "2s"', ["two was never ready", "did not answer well within 2 s: status 503"]),
])
def test_a_server_that_never_gets_ready(luabench, folder, what, more, expected):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", script=script(target(a), target(b, what, more=more)))
    assert done.returncode == 3
    for text in expected:
        assert text in done.stderr
    assert "cannot be judged: two" in done.stdout
    assert_nothing_left(folder)


def test_who_refuses_everybody_is_never_faster(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", "-o", "result.json", script=script(target(a), target(b, "refuses", more="")))
    assert done.returncode == 0, done.stderr
    verdicts = luabench.saved_result()["compare"]["two servers"]["cases"]["2 users"]["verdicts"]
    assert [(said["verdict"], said["measure"]) for said in verdicts] == [("worse", "failures")]
    done = luabench.run("--allow-run", "-o", "result.json", script=script(target(a, "refuses", more=""), target(b, "refuses", more="")))
    assert done.returncode == 4, done.stderr
    verdicts = luabench.saved_result()["compare"]["two servers"]["cases"]["2 users"]["verdicts"]
    assert {said["measure"]: said["verdict"] for said in verdicts if said["measure"] != "memory"} == {"rate": "invalid"}
    assert "cannot be judged: a slot has no such figure: nothing succeeded in it" in " ".join(done.stdout.split())
    assert_nothing_left(folder)


def test_the_script_makes_a_report_of_its_own(luabench, target):
    plain = f'url = "{target.url}", ready = "/hello"'
    text = script(plain, plain, iterations=5).replace('"/"', '"/hello"')
    done = luabench.run(script=text + 'report(function(summary) print("rounds:", summary.compare["two servers"].rounds) end)')
    assert done.returncode == 0, done.stderr
    assert "rounds:\t6" in done.stdout + done.stderr
    done = luabench.run("--script-timeout", "1s", script=text + "report(function() while true do end end)")
    assert done.returncode == 3 and "report() did not return within --script-timeout" in done.stderr and "two servers" in done.stdout


def test_a_port_that_is_taken(luabench, folder, target):
    one, = free_ports(1)
    taken = int(target.url.rsplit(":", 1)[1])
    words = script(globals()["target"](one), globals()["target"](taken))
    done = luabench.run("--allow-run", script=words)
    assert done.returncode == 3
    assert f"two cannot be started: something listens on 127.0.0.1:{taken} already" in done.stderr
    assert not list(folder.glob(f"pid.{taken}"))


def test_a_command_that_does_not_exist(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", script=script(target(a), f'command = {{ "no-such-program", "x" }}, url = "http://127.0.0.1:{b}"'))
    assert done.returncode == 3
    assert "two cannot be started: no-such-program: cannot start: No such file or directory" in done.stderr


def test_commands_need_leave(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run(script=script(target(a), target(b)))
    assert done.returncode == 2
    assert '--allow-run gives leave' in done.stderr
    assert not list(folder.glob("pid.*"))


def test_cpu_and_memory_of_a_server(luabench, folder):
    a, b = free_ports(2)
    text = script(target(a, "memory"), target(b)).replace('iterations = 50, warm_up = 0', 'duration = "300ms", warm_up = 0')
    done = luabench.run("--allow-run", "-o", "result.json", script=text)
    assert done.returncode == 0, done.stderr
    targets = luabench.saved_result()["compare"]["two servers"]["cases"]["2 users"]["targets"]
    more = (targets["one"]["rss_max"] - targets["two"]["rss_max"]) / 2**20
    assert 190 < more < 210
    for measured in targets.values():
        assert measured["cpu_share"] <= os.cpu_count() + 0.1
        assert measured["cpu_seconds"] > 0
    assert_nothing_left(folder)


def test_a_watched_server_is_not_stopped(luabench, target):
    port = target.url.rsplit(":", 1)[1]
    plain = f'url = "{target.url}", ready = "/hello"'
    done = luabench.run("-o", "result.json", script=script(f"{plain}, port = {port}", plain).replace('http.get("/")', 'http.get("/hello")'))
    assert done.returncode == 0, done.stderr
    targets = luabench.saved_result()["compare"]["two servers"]["cases"]["2 users"]["targets"]
    assert targets["one"]["rss_max"] > 1e6
    assert targets["two"]["rss_max"] is None
    assert target.requests() >= 2 * 6 * 50


def test_an_error_of_the_script_is_told(luabench, target):
    plain = f'url = "{target.url}", ready = "/hello"'
    done = luabench.run(script=script(plain, plain, iterations=2).replace('check("is 200", http.get("/").status == 200)', 'http.get("/hello") error("no")'))
    assert done.returncode == 1
    assert "script errors: script.lua:6: no" in done.stdout


def test_a_server_against_itself(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", "--aa", "--rounds", "7", "--lenient", "-o", "result.json", script=script(target(a), target(b)))
    assert done.returncode in (0, 4), done.stderr  # 4: this machine is not fit to compare
    comparison = luabench.saved_result()["compare"]["two servers"]
    assert comparison["twin"] == "one again"
    assert set(comparison["cases"]["2 users"]["targets"]) == {"one", "one again", "two"}
    assert "one against itself" in done.stdout
    assert_nothing_left(folder)


@pytest.mark.parametrize("words, expected", [
    (["-o", "x.ndjson"], '-o "x.ndjson": a comparison is written as FILE.json or FILE.html'), (["-o", "x.csv"], "FILE.json or FILE.html"), (["-c", "5"], "-c would change all cases"),
    (["--target", "http://127.0.0.1:1"], "--target is for a scenario"), (["--debug"], "--debug shows one iteration"),
    (["-L"], "-L is the table of one run"), (["--report", "wrk"], "--report wrk is of one run"), (["--threshold", "http.errors: rate < 1%"], "--threshold judges a run"),
    (["--interval", "1s"], "--interval shows how a run gets on"), (["-o", "no-folder/x.json"], "-o: cannot write no-folder/x.json: No such file or directory"),
    (["--rounds", "5"], "rounds = 6 is the least"), (["--rounds", "0"], "--rounds: must be 1 or more"),
])
def test_options_that_are_not_for_comparisons(luabench, folder, words, expected):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", *words, script=script(target(a), target(b)))
    assert done.returncode == 2 and expected in done.stderr, done.stderr
    assert not list(folder.glob("pid.*"))


def test_requests_that_outlast_their_slots_are_told(luabench, target):
    text = f'''
      compare "c" {{ targets = {{ {{ name = "one", url = "{target.url}" }}, {{ name = "two", url = "{target.url}" }} }}, rounds = 6, duration = "300ms", warm_up = "100ms", users = 3,
        graceful_stop = "5s", cases = {{ {{ name = "x" }} }}, run = function(user) http.get(user.id == 1 and "/delay/700" or "/delay/10") end }}'''
    done = luabench.run("--lenient", "-o", "result.json", "-o", "result.html", script=text)
    assert done.returncode == 0, done.stderr
    said = "one: 6 requests of the warm-up lasted through a whole slot: how long they took is in no figure, and the latencies look better for it"
    targets = luabench.saved_result()["compare"]["c"]["cases"]["x"]["targets"]
    assert [targets[name]["outlasting"] for name in ("one", "two")] == [6, 6] and targets["one"]["rounds"][0]["outlasting"] == 1
    assert said in " ".join(done.stdout.split()) and said in (luabench.folder / "result.html").read_text()


SEVERAL = '''
local function define(name, targets)
  compare(name) { targets = targets, baseline = "b", rounds = 8, duration = "1s", users = 1, warm_up = 0,
    cases = { { name = "light" }, { name = "heavy", users = 9 } }, run = function() http.get("/") end }
end
local function at(name) return { name = name, url = "http://127.0.0.1:1/" .. name } end
define("first", { at "a", at "b", at "c" })
define("second", { at "b", at "d" })
'''


@pytest.mark.parametrize("wanted, comparisons, targets, cases", [
    (["first"], ["first"], ["a", "b", "c"], ["light", "heavy"]), (["heavy"], ["first", "second"], ["a", "b", "c", "d"], ["heavy"]),
    (["a", "c"], ["first"], ["a", "c"], ["light", "heavy"]), (["b", "d", "light"], ["second"], ["b", "d"], ["light"]), (["second", "heavy"], ["second"], ["b", "d"], ["heavy"]),
])
def test_only_some_of_it(luabench, wanted, comparisons, targets, cases):
    done = luabench.run("--dry-run", *(word for name in wanted for word in ("--only", name)), script=SEVERAL)
    assert done.returncode == 0, done.stderr
    assert [name for name in ("first", "second") if f"{name}: " in done.stdout] == comparisons
    assert [name for name in "abcd" if f"target {name}: " in done.stdout] == targets
    assert [name for name in ("light", "heavy") if f"case {name}: " in done.stdout] == cases


def test_only_one_target_against_itself(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--allow-run", "--aa", "--only", "two", "--rounds", "6", "--lenient", "-o", "result.json", script=script(target(a), target(b), iterations=20))
    assert done.returncode in (0, 4), done.stderr
    assert set(luabench.saved_result()["compare"]["two servers"]["cases"]["2 users"]["targets"]) == {"two", "two again"}
    assert {int(path.suffix[1:]) for path in folder.glob("pid.*")} == {b}
    assert_nothing_left(folder)


@pytest.mark.parametrize("words, expected", [
    (["--only", "haevy"], '--only: there is no comparison, target or case "haevy"; did you mean `heavy`?'), (["--only", "a"], "--only leaves nothing to compare"),
    (["--only", "first", "--only", "d"], "--only leaves nothing to compare"),
])
def test_only_what_there_is(luabench, words, expected):
    done = luabench.run("--dry-run", *words, script=SEVERAL)
    assert done.returncode == 2 and expected in done.stderr, done.stderr
    assert 'The comparison "second" has the targets "b", "d" and the cases "light", "heavy"' in done.stderr


@pytest.mark.parametrize("key, expected", [
    ('name = "a\\nb"', "`name`: must be a line of text"), ('name = "\\27[31m"', "`name`: must be a line of text"), ('name = "x", port = 70000', "`port`: 70000 is more than 65535"),
    ('name = "x", pid = 1e12', "`pid`: 1000000000000 is more than 4194304"), ('name = "x", command = { "" }', "`command`: begins with the program"),
    ('name = "x", command = "node server.js"', '`command`: is a list of words, since no shell reads it: command = { "node", "server.js" }'), ('name = "x", urll = "y"', "unknown key `urll`; did you mean `url`?"),
])
def test_wrong_targets(luabench, key, expected):
    done = luabench.run("--dry-run", "--allow-run", script='compare "c" { targets = { { url = "http://127.0.0.1:1", %s }, { name = "two", url = "http://127.0.0.1:2" } }, '
                        'cases = { { name = "x", users = 1, iterations = 1 } }, run = function() end }' % key)
    assert done.returncode == 2
    assert 'script.lua:1: compare "c": targets, number 1: ' + expected in done.stderr, done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("before, inside", [('thresholds { "http.errors: rate < 1%" }', ""), ("", 'thresholds = { "http.errors: rate < 1%" },')])
def test_a_comparison_has_no_thresholds(luabench, before, inside):
    text = script('url = "http://127.0.0.1:1"', 'url = "http://127.0.0.1:2"').replace("rounds =", inside + "rounds =")
    done = luabench.run("--dry-run", script=before + text)
    assert done.returncode == 2
    assert "judge a run; a comparison has verdicts instead" in done.stderr


def test_dry_run_says_what_it_would_take(luabench, folder):
    a, b = free_ports(2)
    done = luabench.run("--dry-run", "--rounds", "8", script=script(target(a), target(b)))
    assert done.returncode == 0, done.stderr
    assert "two servers: one and two; 1 case, 8 rounds: 16 slots" in done.stdout
    assert not list(folder.glob("pid.*"))


@pytest.mark.parametrize("plan, slots", [("node-deno-latency", 40), ("node-deno-users", 60), ("node-deno-fibonacci", 60), ("http2-hello", 60), ("hello-node-deno-bun", 90)])
def test_ready_made_plans(luabench, plan, slots):
    done = luabench.run(ROOT / "scripts" / f"{plan}.lua", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert f" {slots} slots" in done.stdout
    quick = luabench.run(ROOT / "scripts" / f"{plan}.lua", "--dry-run", "-p", "quick=true")
    assert quick.returncode == 0, quick.stderr
