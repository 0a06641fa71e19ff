"""Ctrl-C and SIGTERM: no grace for what runs, but its figures are printed and written; a second one ends at once."""
import signal

import pytest

from conftest import EXAMPLES, finish, wait_until

HELLO = EXAMPLES / "hello.lua"
WAITS = """
scenario "waits" { users = 4, duration = "1s", graceful_stop = "60s", run = function()
  http.get("/hello")
  http.get("/delay/50000")
end }
"""


def saved_scenario(luabench):
    (scenario,) = luabench.saved_result()["scenarios"].values()
    iterations, requests = scenario["iterations"], scenario["requests"]
    assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired"))
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    return scenario


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_in_the_first_second(luabench, target, number):
    run = luabench.start(HELLO, "--target", target.url, "-c", 20, "-t", 2, "-d", "10m", "-o", "result.json")
    wait_until(lambda: target.requests() >= 1, "the run has begun")
    run.send_signal(number)
    status, stdout, stderr = finish(run)
    assert status == 130, stderr
    assert "Interrupted" in stdout + stderr or "interrupted" in stdout + stderr
    scenario = saved_scenario(luabench)
    assert scenario["requests"]["succeeded"] >= 1
    assert scenario["requests"]["succeeded"] + scenario["requests"]["interrupted"] == scenario["requests"]["started"]
    assert scenario["requests"]["succeeded"] <= target.requests() <= scenario["requests"]["started"]


def test_before_the_first_answer(luabench, raw_server):
    server = raw_server(None)
    run = luabench.start(HELLO, "--target", server.url, "-c", 5, "-d", "10m", "-o", "result.json")
    wait_until(lambda: server.received.count(b"\r\n\r\n") == 5, "every user has asked")
    run.send_signal(signal.SIGINT)
    status, _, stderr = finish(run)
    assert status == 130, stderr
    scenario = saved_scenario(luabench)
    assert scenario["requests"] == {**scenario["requests"], "started": 5, "interrupted": 5, "succeeded": 0}
    assert scenario["iterations"]["interrupted"] == 5


def test_while_users_sleep(luabench, target):
    script = 'scenario "sleeps" { users = 5, run = function() http.get("/hello") sleep("10m") end }'
    run = luabench.start("--target", target.url, "-o", "result.json", script=script)
    wait_until(lambda: target.requests() == 5, "every user has asked")
    run.send_signal(signal.SIGINT)
    status, _, stderr = finish(run)
    assert status == 130, stderr
    assert saved_scenario(luabench)["iterations"]["interrupted"] == 5


def test_during_graceful_stop(luabench, target):
    run = luabench.start("--target", target.url, "-o", "result.json", script=WAITS)
    line = next(line for line in run.stderr if "waiting up to" in line)
    assert "60 s" in line and "4 users" in line
    run.send_signal(signal.SIGINT)
    status, _, stderr = finish(run)
    assert status == 130, stderr
    scenario = saved_scenario(luabench)
    assert scenario["iterations"]["interrupted"] == 4
    assert scenario["requests"]["interrupted"] == 4
    assert scenario["requests"]["succeeded"] == 4


def test_graceful_stop_comes_to_its_end_by_itself(luabench, target):
    script = WAITS.replace('graceful_stop = "60s"', 'graceful_stop = "200ms"')
    result = luabench.result("--target", target.url, script=script)
    (scenario,) = result["scenarios"].values()
    assert scenario["iterations"]["interrupted"] == 4


def test_running_iterations_finish_in_graceful_stop(luabench, target):
    script = WAITS.replace("/delay/50000", "/delay/500").replace('duration = "1s"', 'duration = "100ms"')
    result = luabench.result("--target", target.url, script=script)
    (scenario,) = result["scenarios"].values()
    assert scenario["iterations"]["completed"] == 4
    assert scenario["requests"]["succeeded"] == 8


def test_twice(luabench, target):
    """A loop in Lua takes the run some time to end; the second signal does not wait for that."""
    script = 'scenario "spins" { run = function() http.get("/hello") while true do end end }'
    run = luabench.start("--target", target.url, "--script-timeout", "10m", script=script)
    wait_until(lambda: target.requests() == 1, "the run has begun")
    run.send_signal(signal.SIGINT)
    wait_until(lambda: run.poll() is not None or run.send_signal(signal.SIGTERM), "it has ended")
    status, _, stderr = finish(run)
    assert status == 130 and "interrupted again: ended at once, without results" in stderr


def test_two_at_once(luabench, target):
    """As timeout(1) sends them, to the program and to its group: nobody has asked twice."""
    run = luabench.start(HELLO, "--target", target.url, "-d", "10m", "-o", "result.json")
    wait_until(lambda: target.requests() >= 1, "the run has begun")
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        run.send_signal(number)
    status, stdout, stderr = finish(run)
    assert status == 130, stderr
    assert saved_scenario(luabench)["requests"]["succeeded"] >= 1


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGXCPU])
def test_again_and_again(luabench, target, number):
    """As a terminal that goes away does, or a limit of CPU time: the teardown comes to its end, and the results are there."""
    script = 'scenario "s" { duration = "10m", run = function() http.get("/hello") end, teardown = function() sleep("300ms") http.get("/last") end }'
    run = luabench.start("--target", target.url, "-o", "result.json", script=script)
    wait_until(lambda: target.requests() >= 1, "the run has begun")
    wait_until(lambda: run.poll() is not None or run.send_signal(number), "it has ended")
    status, stdout, stderr = finish(run)
    assert (status, stderr) == (130, "")
    assert saved_scenario(luabench)["requests"]["succeeded"] >= 1


def test_the_target_ends_on_a_signal(start_target):
    server = start_target()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(20) in (0, 130)


LOADING = "while true do end"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_before_the_run_begins(luabench, number):
    process = luabench.start(script="print('loading') " + LOADING)
    assert "loading" in process.stderr.readline()
    process.send_signal(number)
    status, _, stderr = finish(process)
    assert (status, stderr) == (130, "luabench: interrupted before the run began; nothing was sent\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU])
def test_other_ends_are_as_ctrl_c(luabench, target, number):
    process = luabench.start("-o", "result.json", target.url + "/hello", "-d", "60s", "-c", "2")
    wait_until(lambda: target.requests() > 10, "some requests")
    process.send_signal(number)
    status, stdout, _ = finish(process)
    assert status == 130 and "interrupted" in stdout
    requests = luabench.saved_result()["total"]["requests"]
    assert requests["started"] == sum(requests[part] for part in ("succeeded", "failed", "timed_out", "interrupted"))


def test_signals_that_mean_nothing(luabench, target):
    """All others but those of a crash, and those that nobody can do anything about."""
    crash = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP}
    ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU}
    stops = {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
    process = luabench.start("-o", "result.json", target.url + "/hello", "-d", "1s", "-c", "2")
    wait_until(lambda: target.requests() > 10, "some requests")
    others = signal.valid_signals() - crash - ends - stops
    assert {signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGPROF, signal.SIGRTMIN, signal.SIGRTMAX} <= others
    for number in others:
        process.send_signal(number)
    status, stdout, stderr = finish(process)
    assert status == 0, stdout + stderr
    assert luabench.saved_result()["duration"] >= 1


def test_ignored_signals_stay_ignored(luabench, target):
    ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for what it starts in the background
    process = luabench.start(target.url + "/hello", "-d", "1s", "-c", "2", preexec_fn=ignore)
    wait_until(lambda: target.requests() > 10, "some requests")
    process.send_signal(signal.SIGINT)
    status, _, _ = finish(process)
    assert status == 0
