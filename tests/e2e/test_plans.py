"""The ready-made plans: each is run by its name, with parameters that make it short, and `luabench plans` lists them all."""
import os
import re

import pytest

from conftest import ROOT

SCRIPTS = ROOT / "scripts"
SHORT = {
    "smoke": ["requests=7"],
    "load": ["users=4", "ramp=100ms", "hold=300ms", "think=0.02", "p95=5s"],
    "stress": ["users=2", "ramp=20ms", "hold=100ms", "think=0.02"],
    "spike": ["users=2", "peak=12", "hold=150ms", "think=0.02"],
    "soak": ["rate=100", "duration=300ms", "p99=5s"],
    "breakpoint": ["to=200", "over=400ms", "p95=5s"],
}
MOST_USERS = {"smoke": 1, "load": 4, "stress": 8, "spike": 12}


def params(*pairs):
    return [word for pair in pairs for word in ("-p", pair)]


@pytest.fixture
def plans(luabench, monkeypatch):
    monkeypatch.setenv("LUABENCH_PATH", str(SCRIPTS))
    return luabench


@pytest.mark.parametrize("name", SHORT)
def test_plan(plans, target, name):
    result = plans.result(name, target.url, "--lenient", *params("path=/hello", *SHORT[name]))
    (scenario,) = result["scenarios"].values()
    assert set(result["scenarios"]) == {name}
    assert scenario["requests"]["succeeded"] == scenario["requests"]["started"] == target.requests() > 0
    assert result["thresholds"] and all(threshold["ok"] for threshold in result["thresholds"])
    if name in MOST_USERS:
        assert scenario["users_max"] == MOST_USERS[name]
    if name == "smoke":
        assert scenario["iterations"]["completed"] == 7


@pytest.mark.parametrize("name", SHORT)
def test_plan_finds_a_server_that_fails(plans, target, name):
    limits = params("path=/status/500", *SHORT[name])
    if name == "breakpoint":
        limits = params("path=/status/500", "to=200", "over=60s")  # which is not waited for
    done = plans.run(name, target.url, "--lenient", *limits)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"✗ .*http\.errors: rate", done.stdout)


def test_plans_are_listed(plans):
    done = plans.run("plans")
    assert done.returncode == 0, done.stderr
    names = sorted(path.stem for path in SCRIPTS.glob("*.lua"))
    assert set(names) >= set(SHORT)
    assert re.findall(r"^([\w-]+): .", done.stdout, re.M)[:len(names)] == names
    assert "    -p path=/ requests=10 slowest=1s\n" in done.stdout


def test_plans_of_other_folders(luabench, monkeypatch):
    (luabench.folder / "broken.lua").write_text("-- Not Lua.\nx y")
    (luabench.folder / "mine.lua").write_text('local p = params { token = { "t", "", secret = true } }\nscenario "a" { run = function() end }')
    (luabench.folder / "no plan.lua").write_text("")
    monkeypatch.setenv("LUABENCH_PATH", f"/no/such/folder:{luabench.folder}")
    done = luabench.run("plans")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("broken: Not Lua.\n    cannot be loaded: ")
    assert "\nmine\n    -p token=\n" in done.stdout
    assert "no plan" not in done.stdout
    done = luabench.run("mien")
    assert (done.returncode, "did you mean `luabench mine`?" in done.stderr) == (2, True), done.stderr
    done = luabench.run("plans", "mine")
    assert (done.returncode, "luabench PLAN --help" in done.stderr) == (2, True), done.stderr
