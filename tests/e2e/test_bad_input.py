"""Whatever a script, a command line or a server does wrong: a clear message, the right exit status, nothing sent or nothing lost."""
import re
import signal

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
