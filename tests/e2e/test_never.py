"""What never happens, whatever servers and scripts do: spinning on failures, two outcomes of one request, figures that are none, ends that do not come, endless lines."""
import csv
import json
import math
import re

import pytest

from hostile import CLOSE, FIN, RESET, scenario_of

# Spinning

# Tries of a user in a second, the last one begun in it and ended after it: rests of 10 ms doubling to 1 s, or of 1 ms doubling to 100 ms.
SLOWLY, QUICKLY = 8, 17
FAILS = {
    "closed port": ({}, 'http.get("/")', SLOWLY, "connect"),
    "closed port, new connections": ({"keep_alive": "false"}, 'http.get("/")', SLOWLY, "connect"),
    "no such name": ({}, f'http.get("http://{"a" * 70}.example/")', SLOWLY, "dns"),
    "proxy that is not there": ({"proxy": '"http://127.0.0.1:%d"'}, 'http.get("/")', SLOWLY, "connect"),
    "three at once": ({}, 'http.batch { "/", "/", "/" }', 3 * SLOWLY, "connect"),
    "and a Lua error": ({}, 'http.get("/") error("x")', SLOWLY, "connect"),
    "a Lua error": ({}, 'error("x")', QUICKLY, None),
}


@pytest.mark.parametrize("http, body, tries, error", FAILS.values(), ids=FAILS)
def test_failures_do_not_heat_a_core(luabench, free_port, http, body, tries, error):
    settings = ", ".join(f"{key} = {value}" for key, value in http.items()).replace("%d", str(free_port()))
    script = f'scenario "s" {{ users = 10, duration = "1s", http = {{ {settings} }}, run = function() {body} end }}'
    assert_idle(luabench, script, f"http://127.0.0.1:{free_port()}", tries, error)


@pytest.mark.parametrize("ends", [[FIN], [CLOSE], [RESET]], ids=["FIN", "close", "RST"])
def test_connections_that_are_ended_at_once_do_not_heat_a_core(luabench, hostile, ends):
    server = hostile([], greeting=ends)
    script = 'scenario "s" { users = 10, duration = "1s", run = function() http.get("/") end }'
    assert_idle(luabench, script, server.url, QUICKLY, {"closed", "reset", "connect"})


def test_on_start_that_fails_does_not_heat_a_core(luabench, free_port):
    script = 'scenario "s" { users = 10, duration = "1s", on_start = function() must("there", http.get("/").ok) end, run = function() end }'
    assert_idle(luabench, script, f"http://127.0.0.1:{free_port()}", SLOWLY, "connect")


def assert_idle(luabench, script, url, tries, error):
    luabench.run("--target", url, "-t", 1, "-o", "result.json", script=script)
    result = luabench.saved_result()
    total = scenario_of(result)
    assert 10 <= total["iterations"]["scheduled"] <= 10 * tries and total["requests"]["started"] <= 10 * tries
    assert set(total["errors"]) <= (error if isinstance(error, set) else {error})
    assert result["generator"]["cpu"] < 0.3


def test_arrivals_at_a_closed_port_are_as_many_as_are_due(luabench, free_port):
    result = luabench.result(f"http://127.0.0.1:{free_port()}/", "--rate", 200, "-d", "1s", "--lenient", status=3)
    assert scenario_of(result)["errors"] == {"connect": 200}


# Two outcomes of one request: test_chaos.py

# Figures that are none


def assert_figures(value, path="result"):
    """No number is negative, not finite, or so large that it can only stand for something else."""
    if isinstance(value, dict):
        for key, each in value.items():
            assert_figures(each, f"{path}.{key}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            assert_figures(each, f"{path}[{index}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        assert math.isfinite(value) and 0 <= value < 1e15, f"{path} is {value}"


NOTHING = 'scenario "s" { duration = "100ms", run = function() sleep("1s") end }'
RUNS = {
    "no request": (["--graceful-stop", "0"], NOTHING, [0]),
    "no iteration": (["-n", "1"], 'scenario "s" { run = function() error("x") end }', [3]),
    "one request": (["URL/hello", "-n", 1], None, [0]),
    "six requests": (["URL/hello", "-n", 6, "-c", 3], None, [0]),
    "refused": (["CLOSED/", "-n", 3, "-c", 1], None, [3]),
    "refused, open": (["CLOSED/", "--rate", 50, "-d", "200ms", "--lenient"], None, [3]),
    "all statuses wrong": (["URL/status/500", "-n", 10], None, [0, 3]),
    "all timed out": (["URL/delay/10000", "-n", 3, "-c", 3, "-T", "50ms"], None, [3]),
    "all interrupted": (["URL/delay/10000", "-d", "100ms", "-c", 3, "--graceful-stop", "0"], None, [3]),
    "all dropped but one": (["--target", "URL", "--lenient"], 'scenario "s" { rate = 100, duration = "300ms", max_users = 1, overflow = "drop", run = function() http.get("/delay/200") end }', [0, 3]),
    "all expired but one": (["--target", "URL", "--lenient", "-T", "50ms"], 'scenario "s" { rate = 100, duration = "300ms", max_users = 1, run = function() http.get("/delay/200") end }', [0, 3]),
    "stopped by the script": (["--target", "URL"], 'scenario "s" { run = function() http.get("/hello") stop_run("enough") end }', [3]),
    "setup failed": (["--target", "URL"], 'scenario "s" { setup = function() error("x") end, run = function() http.get("/hello") end }', [2, 3]),
    "one scenario without users' luck": (["--target", "URL"], 'scenario "a" { run = function() http.get("/hello") end } scenario "b" { start_after = "100ms", duration = "1ms", run = function() sleep("1s") end, graceful_stop = 0 }', [0]),
    "metrics without values": (["--target", "URL"], 'local t, r, g, c = metric.trend("t"), metric.rate("r"), metric.gauge("g"), metric.counter("c") scenario "s" { run = function() http.get("/hello") end }', [0]),
    "bodies of nothing": (["URL/bytes/0", "-n", 3], None, [0]),
    "HTTP/2": (["URL/hello", "-n", 3, "--http", "2"], None, [0]),
}


@pytest.mark.parametrize("args, script, statuses", RUNS.values(), ids=RUNS)
def test_figures_are_figures(luabench, target, free_port, args, script, statuses):
    words = [str(word).replace("URL", target.url).replace("CLOSED", f"http://127.0.0.1:{free_port()}") for word in args]
    outputs = ["result.json", "result.html", "result.csv", "result.ndjson", "result.hgrm", "result.jtl", "result.junit.xml"]
    done = luabench.run(*words, *(word for name in outputs for word in ("-o", name)), script=script)
    assert done.returncode in statuses, done.stdout + done.stderr
    refuse = lambda text: pytest.fail(f"{text} in the JSON")
    assert_figures(json.loads((luabench.folder / "result.json").read_text(), parse_constant=refuse))
    with open(luabench.folder / "result.csv", newline="") as file:
        for row in csv.DictReader(file):
            assert_figures({key: float(text) for key, text in row.items() if re.fullmatch(r"-?[\d.e+-]+|-?nan|-?inf", text or "")}, "row")
    for name, text in (("the report", done.stdout), *((name, (luabench.folder / name).read_text()) for name in ("result.hgrm", "result.ndjson", "result.jtl"))):
        assert not re.search(r"(?i)(?<![\w.])-?(nan|inf)(?![\w])|922337203685|18446744073|(?<![\w.])-1\b", text), f"{name}: {text}"


# Ends that do not come

ENDLESS = {
    "silent server": 'http.get("/delay/100000")',
    "users that sleep": 'sleep("1h")',
    "users that rest": 'http.get("http://127.0.0.1:1/")',
    "a script that computes": "while true do end",
    "a task": 'local t = spawn(function() http.get("/delay/100000") end) t:wait()',
    "a retry": 'pcall(function() while true do sleep("1ms") http.get("/hello") end end)',
}
WITH = {"closed": 'users = 3, duration = "300ms"', "open": 'rate = 20, duration = "300ms"', "on_stop": 'duration = "300ms", on_stop = function() sleep("1h") end'}


@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("keys", WITH.values(), ids=WITH)
def test_a_run_ends_in_time(luabench, target, body, keys):
    """By its own clock: duration, graceful stop, and a second more at most."""
    luabench.run("--target", target.url, "-t", 1, "--lenient", "-o", "result.json", script=f'scenario "s" {{ {keys}, graceful_stop = "200ms", run = function() {body} end }}')
    result = luabench.saved_result()
    assert result["scenarios"]["s"]["duration"] <= 0.3 + 0.2 + 1
    scenario_of(result)


# Endless lines

NOISY = {
    "requests that fail": ('http.get("/status/500")', ""),
    "prints": ('http.get("/hello") print("line")', ""),
    "logs of all kinds": ('http.get("/hello") log.info("a") log.warn("b") log.error("c")', ""),
    "checks that fail": ('check("no", http.get("/hello").status == 1)', ""),
    "Lua errors, each another one": ('http.get("/hello") error("x" .. user.iteration .. "-" .. user.id)', ""),
    "musts that fail, each another one": ('http.get("/hello") must("x" .. user.iteration, false)', ""),
}


@pytest.mark.parametrize("body", [body for body, _ in NOISY.values()], ids=NOISY)
def test_lines_are_bounded(luabench, target, body):
    """Twenty lines a second, a word about the others, and a report of bounded length."""
    done = luabench.run("--target", target.url, "-o", "result.json", "--lenient", script=f'scenario "s" {{ users = 50, duration = "1s", run = function(user) {body} end }}')
    seconds = luabench.saved_result()["duration"]
    assert len(done.stderr.splitlines()) <= 22 * (seconds + 2) + 40, done.stderr
    assert len(done.stdout.splitlines()) <= 150, done.stdout
