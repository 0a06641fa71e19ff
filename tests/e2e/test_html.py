"""The HTML report in a real browser: charts are drawn, nothing is fetched, no error is on the console, and what comes from outside stays text."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import ROOT

BROWSER = ROOT / "tests/e2e/browser"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""


def look(report):
    """What four views of a report (window, phone, dark, print) show: see browser/look.mjs."""
    if not CHROMIUM or not (BROWSER / "node_modules").exists():
        pytest.skip("no browser: chromium and (cd tests/e2e/browser && npm ci)")
    done = subprocess.run(["node", "look.mjs", report], cwd=BROWSER, capture_output=True, text=True, timeout=120, env={**os.environ, "CHROMIUM": CHROMIUM})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_sound(views, charts):
    for view in views:
        assert view["errors"] == [] and view["requests"] == [] and view["dialogs"] == [], view
        assert view["overflow"] <= 0, f"{view['name']}: wider than the page by {view['overflow']} pixels"
        assert view["drawn"] == "drawn"
        assert len(view["asked"]) >= charts and len(view["charts"]) == len(view["asked"])
        assert min(view["charts"]) > 20, f"an empty chart: {view['charts']}"  # a blank canvas has one colour
    by_name = {view["name"]: view for view in views}
    assert by_name["window"]["background"] != by_name["dark"]["background"]


def test_the_report_of_a_run(luabench, target):
    script = """
    scenario "browse" { users = 5, duration = "3s", run = function()
      local res = group("front", function() return http.get("/hello") end)
      check("is hello", res.body == "hello, world\\n")
      check("is never true", false, "by design")
      sleep("5ms")
    end }
    """
    done = luabench.run("--target", target.url, "-o", "report.html", "-o", "result.json", script=script)
    assert done.returncode == 0, done.stdout + done.stderr
    views = look(luabench.folder / "report.html")
    assert_sound(views, 4)
    started = luabench.saved_result()["total"]["requests"]["started"]
    assert f"{started:,}" in views[0]["text"]
    assert "is never true" in views[0]["text"] and "by design" in views[0]["text"]


def test_the_report_of_a_comparison(luabench, target):
    script = f"""
    compare "the same twice" {{
      targets = {{ {{ name = "one", url = "{target.url}", ready = "/hello", port = {target.url.rsplit(":", 1)[1]} }}, {{ name = "two", url = "{target.url}", ready = "/hello" }} }},
      cases = {{ {{ name = "2 users", users = 2, iterations = 500, warm_up = 0 }}, {{ name = "steady", rate = 2000, duration = "500ms", warm_up = "100ms" }} }},
      rounds = 6,
      run = function() http.get("/hello") end,
    }}
    """
    done = luabench.run("--lenient", "-o", "report.html", "-o", "result.json", script=script)
    assert done.returncode == 0, done.stdout + done.stderr
    views = look(luabench.folder / "report.html")
    assert_sound(views, 8)
    for case in luabench.saved_result()["compare"]["the same twice"]["cases"].values():
        for verdict in case["verdicts"]:
            assert verdict["text"] in views[0]["text"]


def test_what_comes_from_outside_stays_text(luabench, target):
    evil = "</script><img src=http://evil.test/x onerror=alert(1)>"
    script = f"""
    local evil = [[{evil}]]
    scenario "{evil}<script>alert(2)</script>" {{ users = 2, iterations = 20, run = function(user)
      check(evil .. "\\27[31m", false, evil)
      http.get("/hello", {{ name = evil }})
      group(evil, function() http.get("/status/500", {{ name = "'\\"><svg onload=alert(3)>" }}) end)
      error(evil)
    end }}
    """
    done = luabench.run("--target", target.url, "-o", "report.html", script=script)
    assert done.returncode in (1, 3), done.stderr
    text = (luabench.folder / "report.html").read_text()
    assert "\x1b" not in text
    ours = text[:text.index("<script>")]  # before the bundle, which has such texts of its own
    assert "<img" not in ours and "<svg" not in ours and "alert(1)" in ours
    views = look(luabench.folder / "report.html")
    for view in views:
        assert view["errors"] == [] and view["requests"] == [] and view["dialogs"] == []
        assert "onerror=alert(1)" in view["text"]
