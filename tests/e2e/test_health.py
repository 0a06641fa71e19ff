"""luabench tells when it was the bottleneck itself: each event is made, and must be named. Nothing here needs a quiet machine: that only adds other warnings."""
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import finish, wait_until

PAUSE = 0.3  # seconds


def warnings(result):
    return "\n".join(result["generator"]["warnings"])


def stop_for_a_while(process, target, after):
    """Stops the process once the target has had `after` more requests."""
    seen = target.requests()
    wait_until(lambda: target.requests() >= seen + after, "requests arrive")
    process.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE)
    process.send_signal(signal.SIGCONT)


def test_a_process_that_was_stopped(luabench, target):
    process = luabench.start(target.url + "/hello", "-R", 300, "-d", "3s", "-o", "result.json")
    stop_for_a_while(process, target, 150)
    stop_for_a_while(process, target, 250)
    status, stdout, _ = finish(process)
    result = luabench.saved_result()
    stopped = [stall for stall in result["health"]["stalls"] if stall["cause"] == "stopped"]
    assert len([stall for stall in stopped if stall["length"] > 0.8 * PAUSE]) >= 2, result["health"]
    assert "the whole process stood still" in warnings(result)
    # a fifth of the time: more than p90 can bear
    assert status == 4 and result["health"]["verdict"] == "invalid" and not result["generator"]["trusted"]
    assert "exit         status 4: the figures are not to be trusted" in stdout
    (scenario,) = result["scenarios"].values()
    assert scenario["requests"]["succeeded"] == 900  # late, but all of them
    assert scenario["bias"]["p95"] > 0.1


def test_lenient_makes_it_a_warning(luabench, target):
    process = luabench.start(target.url + "/hello", "-R", 300, "-d", "2s", "--lenient", "-o", "result.json")
    stop_for_a_while(process, target, 100)
    status, _, _ = finish(process)
    result = luabench.saved_result()
    assert status == 0 and "the whole process stood still" in warnings(result)


def test_a_closed_run_is_only_doubtful(luabench, target):
    process = luabench.start(target.url + "/delay/5", "-c", 2, "-d", "2s", "-o", "result.json")
    stop_for_a_while(process, target, 100)
    status, _, _ = finish(process)
    result = luabench.saved_result()
    assert status == 0 and result["health"]["verdict"] == "doubtful" and "the whole process stood still" in warnings(result)


def test_a_function_that_computes(luabench, target):
    script = """
local function compute()
  local start = now()
  local sum = 0
  while now() - start < 0.05 do
    for i = 1, 100 do sum = sum + i end
  end
  return sum
end
scenario "s" { rate = 100, duration = "2s", run = function(user)
  http.get("/hello")
  if user.sequence % 10 == 0 then compute() end
end }
"""
    result = luabench.result("--target", target.url, "-t", 1, "--lenient", script=script)
    places = [place["where"] for place in result["health"]["slow_lua"]]
    # the line that the interpreter comes to: after a compiled loop, the one behind it
    assert any(re.match(r"script\.lua:[3-8], in function 'compute'$", place) for place in places), places
    said = warnings(result)
    assert ("in Lua: script.lua:" in said) or ("a Lua function was met that had computed for more than 2 ms: script.lua:" in said), said
    assert any(stall["length"] > 0.04 for stall in result["health"]["stalls"]), result["health"] # on a busy machine "waiting", for it had to wait as well


@pytest.fixture
def hogs():
    """Starts programs that do nothing but use the given core."""
    processes = []

    def start(core, count):
        for _ in range(count):
            processes.append(subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"]))
    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_other_programs_on_its_core(luabench, target, hogs):
    core = min(os.sched_getaffinity(0))
    hogs(core, 6)
    process = luabench.start(target.url + "/hello", "-R", 1000, "-d", "2s", "-t", 1, "-o", "result.json",
                             preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    finish(process)
    result = luabench.saved_result()
    assert result["health"]["run_queue_wait"] > 0.02
    assert "for a core" in warnings(result)


def test_no_event_no_name(luabench, target):
    """Whatever this machine does meanwhile: causes that were not there are not named."""
    result = luabench.result(target.url + "/hello", "-R", 200, "-d", "1s", "--lenient")
    assert "script.lua" not in warnings(result) and result["health"]["slow_lua"] == []
    assert result["health"]["verdict"] in ("good", "doubtful", "invalid")


def test_overload_is_said(luabench, target):
    """2 users, 10 ms each: 200/s at most, and 400/s are wanted."""
    script = 'scenario "s" { rate = 400, duration = "1s", max_users = 2, graceful_stop = "10s", run = function() http.get("/delay/10") end }'
    began = time.monotonic()
    result = luabench.result("--target", target.url, "--lenient", script=script)
    assert time.monotonic() - began < 30
    (scenario,) = result["scenarios"].values()
    assert scenario["flow"]["overloaded"] and scenario["flow"]["due"] == 400
    assert any(remark.startswith("overloaded: of 400 iterations due only") for remark in result["remarks"])
    assert scenario["iterations"]["completed"] == 400
    # what was answered later is not in the rate
    assert scenario["rate"] <= 200 * 1.05 and scenario["window"] == 1


def test_failures_never_make_it_faster(luabench, target):
    """Every third answer is a quick refusal: the quantiles of all are those of the good ones, and infinite from two thirds on."""
    script = """
scenario "s" { users = 1, iterations = 300, run = function(user)
  if user.iteration % 3 == 0 then http.get("/status/503") else http.get("/delay/5") end
end }
"""
    result = luabench.result("--target", target.url, script=script)
    (scenario,) = result["scenarios"].values()
    assert scenario["accepted"]["count"] == 200 and scenario["accepted"]["min"] >= 0.005
    everything = scenario["with_failures"]
    assert (everything["count"], everything["failed"], everything["unfinished"]) == (300, 100, 0)
    assert everything["median"] >= 0.005 and everything["p90"] is None


def test_what_is_unfinished_is_counted(luabench, target):
    script = 'scenario "s" { users = 4, duration = "1s", graceful_stop = 0, run = function(user) http.get(user.id <= 2 and "/delay/60000" or "/delay/10") end }'
    result = luabench.result("--target", target.url, script=script)
    (scenario,) = result["scenarios"].values()
    unfinished = scenario["requests"]["interrupted"]
    assert 2 <= unfinished <= 4 and scenario["unfinished"]["count"] == unfinished
    assert scenario["unfinished"]["max"] >= 0.9  # the age of those that hung
    assert scenario["with_failures"]["unfinished"] == unfinished
