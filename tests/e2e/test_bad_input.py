"""Whatever a script, a command line or a server does wrong: a clear message, the right exit status, nothing sent or nothing lost."""
import os
import re
import resource
import shlex
import signal
import subprocess
import unicodedata
from pathlib import Path

import pytest

from conftest import EXAMPLES, finish, wait_until

HELLO = EXAMPLES / "hello.lua"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ASK = 'scenario "ask" { users = 2, iterations = 10, http = { timeout = "300ms" }, run = function() http.get("/") end }'


def scenario_of(result):
    (scenario,) = result["scenarios"].values()
    return scenario


def assert_balanced(scenario):
    iterations, requests = scenario["iterations"], scenario["requests"]
    assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired"))
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    assert sum(scenario["errors"].values()) == requests["failed"] + requests["timed_out"] + requests["interrupted"]


# What is wrong before the start: exit status 2 and not a byte sent.

NOTHING_SENT = {
    "syntax error": ('scenario "a" {\n  users = = 1\n}', r"script\.lua:2:.*'='"),
    "error while loading": ('local x = 1\nerror("no luck today")', r"script\.lua:2: no luck today"),
    "unknown key": ('scenario "s1" {\n  durration = "1s",\n  run = function() end }', r"script\.lua:[123].*durration.*duration"),
    "key of another place": ('scenario "s1" { timeout = "1s", run = function() end }', r"timeout.*http"),
    "key of another tool": ('scenario "s1" { vus = 3, run = function() end }', r"vus.*users"),
    "wrong type": ('scenario "s1" { users = {}, run = function() end }', r"users"),
    "bad duration": ('scenario "s1" { duration = "5 parsecs", run = function() end }', r"duration.*parsecs"),
    "no run": ('scenario "s1" { users = 1 }', r"s1.*run|run.*s1"),
    "no users": ('scenario "s1" { users = 0, run = function() end }', r"users"),
    "same name twice": ('scenario "s1" { run = function() end }\nscenario "s1" { run = function() end }', r"s1"),
    "no scenario": ("local x = 1", r"scenario"),
    "http while loading": ('http.get("http://127.0.0.1:1/")', r"scenario"),
    "undeclared global": ('scenaro "s1" { run = function() end }', r"scenaro.*scenario"),
}


@pytest.mark.parametrize("script, message", NOTHING_SENT.values(), ids=NOTHING_SENT)
def test_wrong_script_sends_nothing(luabench, raw_server, script, message):
    server = raw_server(OK)
    done = luabench.run("--target", server.url, script=script)
    assert done.returncode == 2, done.stderr
    assert re.search(message, done.stderr), done.stderr
    assert done.stdout == ""
    assert server.connections == 0


WRONG_COMMAND_LINES = {
    "missing script": (["no-such-file.lua"], r"no-such-file\.lua"),
    "unknown option": ([HELLO, "--durration", "1s"], r"--durration"),
    "body where a duration belongs": (["http://127.0.0.1:1/", "-d", '{"a":1}'], r"-b"),
    "bad number": ([HELLO, "-c", "many"], r"many"),
    "no users": ([HELLO, "-c", "0"], r"-c|users"),
    "bad URL": (["http://:80:80/"], r"http://:80:80/"),
    "output that cannot be written": ([HELLO, "-o", "no/such/folder/x.json"], r"no/such/folder/x\.json"),
    "unknown kind of output": ([HELLO, "-o", "x.docx"], r"x\.docx"),
}


@pytest.mark.parametrize("args, message", WRONG_COMMAND_LINES.values(), ids=WRONG_COMMAND_LINES)
def test_wrong_command_line_sends_nothing(luabench, raw_server, args, message):
    server = raw_server(OK)
    done = luabench.run(*args, *(["--target", server.url] if args[0] == HELLO else []))
    assert done.returncode == 2, done.stderr
    assert re.search(message, done.stderr), done.stderr
    assert server.connections == 0


def test_no_target(luabench):
    done = luabench.run(script='scenario "s1" { run = function() http.get("/") end }')
    assert done.returncode != 0
    assert "target" in done.stderr + done.stdout


# Mistakes that show in the run only.

def test_runtime_error_is_shown_once_and_the_run_goes_on(luabench, raw_server):
    server = raw_server(OK)
    script = """
      local function third(user)
        if user.sequence % 3 == 0 then error("boom") end
      end
      scenario "ask" { users = 2, iterations = 30, run = function(user) third(user) http.get("/") end }
    """
    done = luabench.run("--target", server.url, "-o", "result.json", script=script)
    scenario = scenario_of(luabench.saved_result())
    assert done.returncode == 1, done.stderr
    assert scenario["iterations"]["failed"] == 10
    assert scenario["iterations"]["completed"] == 20
    assert scenario["requests"]["succeeded"] == 20
    assert_balanced(scenario)
    assert done.stderr.count("stack traceback") == 1, done.stderr
    assert "script.lua:3: boom" in done.stderr
    assert "script_errors: count == 0" in done.stdout
    assert re.search(r"10 × .*script\.lua:3: boom", done.stdout)


def test_traceback_shows_the_script_alone(luabench):
    script = """local function inner() error("boom") end
      local function outer() group("g", function()
        inner()
      end) return 1 end
      scenario "s" { run = function()
        outer()
      return 1 end }"""
    done = luabench.run("-o", "result.json", script=script)
    kind = luabench.saved_result()["script_errors"]["kinds"][0]
    lines = [line.strip() for line in kind["traceback"].splitlines()]
    assert lines == ["script.lua:1: boom", "stack traceback:", "script.lua:1: in function 'inner'", "script.lua:3: in function <script.lua:2>",
                     "script.lua:2: in function 'outer'", "script.lua:6: in function <script.lua:5>"]
    assert "[C]" not in done.stdout + done.stderr and "lua/luabench/" not in done.stdout + done.stderr


def test_every_iteration_dies_of_an_error(luabench, raw_server):
    server = raw_server(OK)
    done = luabench.run("--target", server.url, script='scenario "s" { iterations = 5, run = function() local x = nil + 1 end }')
    assert done.returncode == 3, done.stderr
    assert "script.lua:1" in done.stdout + done.stderr
    assert server.connections == 0


def test_a_bad_argument_has_the_line_of_the_script(luabench, target):
    script = 'scenario "s" {\n run = function()\n  http.get(nil)\n end }'
    done = luabench.run("--target", target.url, script=script)
    assert done.returncode == 3
    assert "script.lua:3" in done.stdout + done.stderr


def test_must_and_fail_end_an_iteration_without_being_script_errors(luabench, target):
    script = """
      scenario "s" { iterations = 9, run = function(user)
        if user.sequence % 3 == 1 then fail("no more") end
        must("is second", user.sequence % 3 == 2)
        http.get("/hello")
      end }
    """
    result = luabench.result("--target", target.url, script=script)
    assert scenario_of(result)["iterations"]["failed"] == 6
    assert scenario_of(result)["requests"]["succeeded"] == 3
    assert [result["checks"]["is second"][key] for key in ("passes", "fails")] == [3, 3]


def test_nothing_to_do(luabench):
    done = luabench.run("-o", "result.json", script='scenario "idle" { iterations = 5, run = function() end }')
    scenario = scenario_of(luabench.saved_result())
    assert done.returncode == 0, done.stderr
    assert scenario["iterations"]["completed"] == 5
    assert scenario["requests"]["started"] == 0
    assert scenario["latency"]["count"] == 0
    assert scenario["latency"]["median"] is None
    assert "n/a" in done.stdout
    assert "nan" not in done.stdout.lower()


# Servers that are not there, or not right.

def assert_all_failed(luabench, done, error, count=10):
    """No whole response came: exit status 3, each request counted under the name of its error."""
    scenario = scenario_of(luabench.saved_result())
    assert done.returncode == 3, done.stderr
    assert scenario["errors"] == {error: count}
    assert scenario["requests"]["started"] == count
    assert scenario["requests"]["succeeded"] == 0
    assert scenario["status"] == {}
    assert error in done.stdout + done.stderr
    assert_balanced(scenario)
    return scenario


def test_closed_port(luabench, free_port):
    done = luabench.run("--target", f"http://127.0.0.1:{free_port()}", "-o", "result.json", script=ASK)
    assert_all_failed(luabench, done, "connect")


def test_unknown_host(luabench):
    script = 'scenario "ask" { iterations = 3, run = function() http.get("http://no-such-host.invalid/") end }'
    done = luabench.run("-o", "result.json", script=script)
    assert_all_failed(luabench, done, "dns", 3)


def test_server_that_never_answers(luabench, raw_server):
    done = luabench.run("--target", raw_server(None).url, "-o", "result.json", script=ASK)
    scenario = assert_all_failed(luabench, done, "timeout")
    assert scenario["requests"]["timed_out"] == 10


BROKEN_ANSWERS = {
    "garbage": (b"\x00\x01garbage\r\n\r\n", "protocol"),
    "another protocol": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "protocol"),
    "bad length": (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "protocol"),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk", "protocol"),
    "bad chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n", "protocol"),
    "no answer": (b"", "closed"),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-Le", "closed"),
    "half a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "closed"),
    "half a chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nhalf", "closed"),
}


@pytest.mark.parametrize("answer, error", BROKEN_ANSWERS.values(), ids=BROKEN_ANSWERS)
def test_broken_answer(luabench, raw_server, answer, error):
    done = luabench.run("--target", raw_server(answer, close=True).url, "-o", "result.json", script=ASK)
    assert_all_failed(luabench, done, error)


def test_bytes_that_answer_no_request_are_told(luabench, raw_server):
    server = raw_server(OK + b"EXTRA")
    done = luabench.run(server.url, "-c", "2", "-n", "20", "-o", "result.json")
    scenario = scenario_of(luabench.saved_result())
    connections = scenario["connections"]
    assert done.returncode == 0, done.stderr
    assert (scenario["requests"]["succeeded"], scenario["status"]) == (20, {"200": 20})
    assert (connections["opened"], connections["unasked"], connections["closed_by_peer"], connections["reused"]) == (20, 20, 0, 0)
    assert "20 connections were given up: the server sent bytes that answer" in done.stdout


def test_body_ended_by_the_end_of_the_connection_is_whole(luabench, raw_server):
    server = raw_server(b"HTTP/1.0 200 OK\r\n\r\nhello", close=True)
    script = """
      scenario "s" { iterations = 10, run = function()
        local res = http.get("/")
        check("whole", res.ok and res.body == "hello" and res.version == "1.0", res.error_text)
      end }
    """
    result = luabench.result("--target", server.url, script=script)
    assert result["checks"]["whole"]["passes"] == 10
    assert server.connections == 10


def test_a_500_is_a_whole_response_and_a_failed_request(luabench, target):
    script = 'scenario "s" { iterations = 4, run = function() check("is 500", http.get("/status/500").status == 500) end }'
    result = luabench.result("--target", target.url, script=script)
    scenario = scenario_of(result)
    assert scenario["errors"] == {"status": 4}
    assert scenario["status"] == {"500": 4}
    assert scenario["requests"]["failed"] == 4
    assert result["checks"]["is 500"]["passes"] == 4


def test_server_killed_and_started_again(luabench, start_target, free_port):
    """Nothing is lost but what was on its way when the server died: both lives are in the books."""
    port = free_port()
    server = start_target(port)
    run = luabench.start(HELLO, "--target", server.url, "-c", 8, "-t", 2, "-d", "60s", "-o", "result.json")
    wait_until(lambda: server.requests() > 500, "the first server gets requests")
    server.stop(signal.SIGKILL)
    server = start_target(port)
    wait_until(lambda: server.requests() > 500, "the second server gets requests")
    run.send_signal(signal.SIGINT)
    status, stdout, stderr = finish(run)
    assert status == 130, stderr
    scenario = scenario_of(luabench.saved_result())
    assert_balanced(scenario)
    assert scenario["requests"]["succeeded"] > 1000 - 8
    assert set(scenario["errors"]) <= {"connect", "closed", "reset", "interrupted"}
    assert sum(count for name, count in scenario["errors"].items() if name != "interrupted") >= 1


# A script that never returns.

STUCK = """
scenario "stuck here" { users = 3, iterations = 100, run = function(user)
  http.get("/hello")
  if user.sequence == 50 then
    while true do end
  end
end }
"""


def assert_stuck_run_is_told(luabench, stdout, stderr):
    shown = stdout + stderr
    assert "stuck here" in shown, shown
    assert re.search(r"script\.lua:[2-7]", shown), shown
    scenario = scenario_of(luabench.saved_result())
    assert scenario["requests"]["succeeded"] >= 50 - 3  # three users: up to two others may be in the middle of theirs
    assert_balanced(scenario)


def test_endless_loop_ends_by_script_timeout(luabench, target):
    done = luabench.run("--target", target.url, "-t", 1, "--script-timeout", "500ms", "-o", "result.json", script=STUCK)
    assert done.returncode == 3, done.stderr
    assert_stuck_run_is_told(luabench, done.stdout, done.stderr)


def test_endless_loop_ends_by_interrupt(luabench, target):
    run = luabench.start("--target", target.url, "-t", 1, "--script-timeout", "10m", "-o", "result.json", script=STUCK)
    wait_until(lambda: target.requests() >= 50, "the loop has begun")
    run.send_signal(signal.SIGINT)
    status, stdout, stderr = finish(run)
    assert status == 130, stderr
    assert_stuck_run_is_told(luabench, stdout, stderr)


# Scripts and bodies that are not files on a disk.

THREADS = 'scenario "s1" { users = 4, iterations = 20, run = function() http.post("/", { body = "x" }) end }'


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "fifo"])
def test_script_through_a_pipe(luabench, raw_server, name):
    """Every thread has a state of its own that loads the script; a pipe can be read but once."""
    server = raw_server(OK)
    if name == "fifo":
        os.mkfifo(luabench.folder / "fifo")
        process = luabench.start("fifo", "-t", "2", "--target", server.url)
        (luabench.folder / "fifo").write_text(THREADS)
    else:
        process = luabench.start(name, "-t", "2", "--target", server.url, stdin=subprocess.PIPE)
        process.stdin.write(THREADS)
        process.stdin.close()
        process.stdin = None
    status, stdout, stderr = finish(process)
    assert status == 0, stderr
    assert "20 iterations in all" in stdout
    assert "succeeded 20" in stdout or "started 20 = succeeded 20" in stdout


def test_silent_pipe_says_that_it_is_waited_for(luabench):
    os.mkfifo(luabench.folder / "fifo")
    process = luabench.start("fifo", "--dry-run")
    assert "waiting for fifo" in process.stderr.readline()
    (luabench.folder / "fifo").write_text(ASK)
    status, stdout, _ = finish(process)
    assert status == 0
    assert 'scenario "ask"' in stdout


def test_body_through_a_pipe(luabench, target):
    done = luabench.run(target.url + "/echo", "-n", "40", "-c", "4", "-t", "2", "-f", "-", "-o", "result.json", input="hello body")
    assert done.returncode == 0, done.stderr
    assert luabench.saved_result()["total"]["bytes"]["received"] >= 40 * len("hello body")


ENDLESS = {
    "device": (["/dev/zero"], r"/dev/zero: it is a device"),
    "body from a device": (["http://127.0.0.1:1/", "-f", "/dev/zero"], r"-f: cannot read /dev/zero: it is a device"),
    "wrk's script from a device": (["-s", "/dev/full", "http://127.0.0.1:1/"], r"/dev/full: it is a device"),
    "body from a folder": (["http://127.0.0.1:1/", "-f", "."], r"-f: cannot read \.: it is a folder"),
    "large script": (["sparse.lua"], r"sparse\.lua: it is larger than 16 MiB"),
    "large body": (["http://127.0.0.1:1/", "-f", "sparse.lua"], r"-f: cannot read sparse\.lua: it is larger than 256 MiB"),
    "authorities from a device": (["https://127.0.0.1:1/", "--cacert", "/dev/zero"], r"--cacert: cannot read /dev/zero: it is no regular file"),
}


@pytest.mark.parametrize("args, message", ENDLESS.values(), ids=ENDLESS)
def test_what_has_no_end_is_refused(luabench, args, message):
    with open(luabench.folder / "sparse.lua", "wb") as sparse:
        sparse.truncate(5 << 30)
    done = luabench.run(*args)
    assert done.returncode == 2
    assert re.search(message, done.stderr), done.stderr


# What belongs to the top of a script.

TOO_LATE = {
    "run": 'scenario "s1" { run = function() scenario "s2" { run = print } end }',
    "on_start": 'scenario "s1" { on_start = function() defaults { users = 2 } end, run = function() end }',
    "setup": 'scenario "s1" { setup = function() thresholds { "checks: rate > 5%" } end, run = function() end }',
    "teardown": 'scenario "s1" { teardown = function() params { x = 1 } end, run = function() end }',
    "report": 'scenario "s1" { run = function() end }\nreport(function() metric.counter "x" end)',
    "compare": 'scenario "s1" { run = function() compare "x" {} end }',
}


@pytest.mark.parametrize("script", TOO_LATE.values(), ids=TOO_LATE)
def test_definitions_while_the_script_runs(luabench, script):
    done = luabench.run("--target", "http://127.0.0.1:1", script=script)
    assert done.returncode != 0
    assert re.search(r"script\.lua:\d: [\w.]+ is called while the script runs; .* top of the script", done.stderr), done.stderr


# Errors that are no texts are counted by what they are, not by where they lie in memory.

RAISED = {
    "nothing": ("error()", "an error that is nil was raised"),
    "table": ("error({})", "an error that is a table was raised"),
    "true": ("error(true)", "an error that is true was raised"),
    "number": ("error(42)", "script.lua:1: 42"),
    "table with a text": ('error(setmetatable({}, { __tostring = function() return "mine" end }))', "mine"),
    "table whose text is none": ("error(setmetatable({}, { __tostring = function() error(1) end }))", "an error was raised whose __tostring gives no text"),
    "empty": ('error("", 0)', "an error was raised whose text is empty"),
    "control characters": (r'error("\27[31mred")', "script.lua:1: \x1b[31mred"),
}


@pytest.mark.parametrize("statement, text", RAISED.values(), ids=RAISED)
def test_error_objects(luabench, statement, text):
    done = luabench.run("-o", "result.json", script='scenario "s1" { iterations = 5, run = function() %s end }' % statement)
    assert done.returncode == 3
    (kind,) = luabench.saved_result()["script_errors"]["kinds"]
    assert kind["count"] == 5
    assert kind["text"].startswith(text)
    assert "\x1b" not in done.stderr + done.stdout and "(null)" not in done.stderr + done.stdout


def test_long_error_is_cut(luabench):
    done = luabench.run("-o", "result.json", script='scenario "s1" { iterations = 2, run = function() error(("ü"):rep(1e6)) end }')
    (kind,) = luabench.saved_result()["script_errors"]["kinds"]
    assert len(kind["text"].encode()) < 5000 and kind["text"].endswith("bytes in all)")
    assert len(done.stdout) + len(done.stderr) < 10000


def test_user_vars_takes_tables_alone(luabench):
    done = luabench.run(script='scenario "s1" { run = function(user) user.vars = 1 end }')
    assert "user.vars.NAME = 1" in done.stderr


# The message of an option names it as it was typed, the value, and what is expected.

OPTION_MESSAGES = {
    "long name": (["--users", "x"], r'--users: "x" is not a count; write 50'),
    "joined": (["--duration=z"], r'--duration: "z" is not a duration'),
    "another tool's": (["--vus", "x"], r'--vus: "x"'),
    "empty": (["--cacert", ""], r"--cacert: its value is empty; write --cacert ca\.pem"),
    "stages": (["--stages", "0/1s"], r'--stages: "0/1s": there is no stage with more than 0 users'),
    "stage without a time": (["--stages", "1/"], r'--stages: "1/": "" is not a duration'),
    "stages without time": (["--stages", "5/0"], r'--stages: "5/0": they take no time$'),
    "socket": (["--unix-socket", "x" * 200], r"--unix-socket: a path must have"),
    "source": (["--source-address", "192.0.2.1"], r"--source-address: no connection can come from 192\.0\.2\.1"),
    "certificate": (["--cert", "nope.pem"], r"--cert: cannot read nope\.pem"),
    "authorities": (["--cacert", "nope.pem"], r"--cacert: cannot read nope\.pem"),
    "key": (["--key", "nope.pem"], r"--key is that of a certificate, and there is none: --cert is missing"),
    "two ways": (["--unix-socket", "x", "--proxy", "http://a:1"], r"--unix-socket and --proxy both say"),
    "warm-up": (["--warm-up", "20s"], r"--warm-up \(20 s\) leaves nothing of the 10 s"),
    "folder": (["--root", "nope"], r'--root: "nope": there is no such folder'),
    "users": (["-c", "64M"], r"-c: 64,000,000 users are more than"),
}


@pytest.mark.parametrize("args, message", OPTION_MESSAGES.values(), ids=OPTION_MESSAGES)
def test_message_names_the_option(luabench, args, message):
    done = luabench.run("http://127.0.0.1:1/", "--dry-run", *args)
    assert done.returncode == 2
    assert re.search("^luabench: .*" + message, done.stderr, re.M), done.stderr


def test_message_does_not_steer_the_terminal(luabench):
    done = luabench.run("http://127.0.0.1:1/", "-f", "\x1b[31mx")
    assert "\x1b" not in done.stderr and "\\x1b[31mx" in done.stderr


def test_sizes_and_rates_take_the_suffixes_of_counts(luabench):
    assert luabench.run("http://127.0.0.1:1/", "--dry-run", "--script-memory", "64M").returncode == 0
    assert "1000/s" in luabench.run("http://127.0.0.1:1/", "--dry-run", "-R", "1k").stdout


# luabench new

NO_NAMES = {
    "empty": ("", r"no name for a script"), "dots": ("..", r"no name for a script"), "an option": ("-x", r"new takes the name"), "two lines": ("a\nb", r"a line of text"),
    "long": ("x" * 300, r"304 bytes"), "folder": ("nope/shop", r'there is no folder "nope"'), "only a folder": ("./", r"no name for a script"),
}


@pytest.mark.parametrize("name, message", NO_NAMES.values(), ids=NO_NAMES)
def test_new_refuses_what_is_no_name(luabench, name, message):
    done = luabench.run("new", name)
    assert done.returncode == 2
    assert re.search(message, done.stderr), done.stderr
    assert list(luabench.folder.iterdir()) == []


@pytest.mark.parametrize("name", ["shop", "my shop.lua", "it's"])
def test_new_says_how_to_run_it(luabench, target, name):
    """The printed command works in a shell as it stands, and so does that in the script's first line."""
    done = luabench.run("new", name)
    assert done.returncode == 0, done.stderr
    words = shlex.split(re.search("try it with: luabench (.*)", done.stdout)[1])
    assert luabench.run(words[0], target.url, "--dry-run").returncode == 0
    (line, *_) = (luabench.folder / words[0]).read_text().splitlines()
    assert shlex.split(re.search(" luabench (.*)$", line)[1]) == [words[0]]
    assert "is there already" in luabench.run("new", name).stderr


def test_threads_beyond_reason(luabench):
    for command in (["serve", "-t", "100000"], ["http://127.0.0.1:1/", "--threads", "100000"]):
        done = luabench.run(*command)
        assert done.returncode == 2
        assert f'{command[1]}: "100000" threads are too many; the most is 1024' in done.stderr


# The end of the report.

def test_a_run_that_began_nothing(luabench, target):
    done = luabench.run(target.url, "-R", "1e-9", "-d", "100ms", "--lenient")
    assert done.returncode == 0  # every threshold held
    assert "scheduled 0" in done.stdout and "no iteration was started" in done.stdout


def test_the_seed_is_shown_where_something_is_random(luabench, target):
    assert "seed" not in luabench.run(target.url, "-n", "1").stdout
    assert "seed 42" in luabench.run(target.url, "-n", "1", "--seed", "42").stdout
    assert "seed" in luabench.run(script='scenario "s1" { run = function() random() end }').stdout


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_no_line_is_wider_than_the_terminal(luabench, target, columns):
    script = '''for _, name in ipairs { "浏览商店首页并且购买很多很多东西", "short" } do
      scenario(name) { iterations = 3, run = function()
        http.get("/status/404", { name = "名前がとても長いリクエスト" })
        http.get("/hello")
        check("状態コードは二百です、いつもそうあるべきです", false)
      end }
    end'''
    done = luabench.run("--target", target.url, "-L", script=script, env={**os.environ, "COLUMNS": str(columns)})
    assert done.returncode == 0, done.stderr
    assert max(map(columns_of, done.stdout.splitlines())) <= columns
    assert "浏" in done.stdout and "\\x" not in done.stdout and "\ufffd" not in done.stdout


WRONG_SERVE = {
    "unknown option": (["--root", "/nope"], r"unknown option --root; luabench serve --help"), "port": (["--port", "70000"], r'--port: "70000" is not a port'),
    "empty host": (["--host", ""], r"--host: its value is empty"), "window": (["--window", "3G"], r"--window: .* too large"),
    "rate": (["--read-rate", "0"], r"--read-rate: it must be more than 0"), "certificate": (["--cert-out", "x"], r"--cert-out .* --tls"),
}


@pytest.mark.parametrize("args, message", WRONG_SERVE.values(), ids=WRONG_SERVE)
def test_wrong_options_of_serve(luabench, args, message):
    done = luabench.run("serve", *args, timeout=20)
    assert done.returncode == 2
    assert re.search(message, done.stderr), done.stderr


# What the machine lacks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("files", range(5, 41))
def test_too_few_files(luabench, target, files):
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    done = luabench.run(target.url + "/hello", "-n", "10", "-t", "2", "-c", "8", "--quiet", preexec_fn=limit)
    assert done.returncode in (0, 3), (done.returncode, done.stderr)
    if done.returncode == 3:
        assert "ulimit -n" in done.stderr or "no whole response came" in done.stdout or "cannot" in done.stderr, done.stderr


@pytest.mark.parametrize("megabytes", [60, 100, 140, 200])
def test_too_little_memory(luabench, target, megabytes):
    if b"__asan_init" in Path(luabench.path).read_bytes():
        pytest.skip("the sanitizers take address space without bounds")
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    done = luabench.run(target.url + "/hello", "-c", "10000", "-n", "10000", "-t", "2", "--quiet", preexec_fn=limit)
    assert done.returncode in (0, 3), (done.returncode, done.stderr)
    if done.returncode == 3:
        assert "not enough memory" in done.stderr or "cannot be started" in done.stderr or "no whole response" in done.stdout, done.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["help", "http.get"], ["new", "made.lua"], ["script.lua", "--dry-run"], ["serve", "--port", "0"]])
def test_standard_output_is_full(luabench, words):
    (luabench.folder / "script.lua").write_text('scenario "s" { iterations = 1, run = function() end }')
    with open("/dev/full", "w") as full:
        done = subprocess.run([luabench.path, *words], cwd=luabench.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
    assert done.returncode == 3 or words[0] == "serve" and done.returncode != 0
    assert "No space left on device" in done.stderr


def test_standard_output_is_closed(luabench, target):
    done = subprocess.run([luabench.path, target.url + "/hello", "-n", "10", "--quiet", "-o", "result.json"], cwd=luabench.folder, preexec_fn=lambda: os.close(1),
                          stderr=subprocess.PIPE, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (3, "luabench: cannot print the results: it is closed\n")
    assert luabench.saved_result()["total"]["requests"]["succeeded"] == 10
