"""A script's own metrics, its thresholds and its report: the figures are known from what the script does, and each mistake has its message."""
import json
import math

import pytest

DO_NOTHING = '\nscenario "s" { run = function() end }\n'


def own(luabench, text, *args, status=0, **options):
    return luabench.result(*args, script=text, status=status, **options)["metrics"]


METRICS = """
local orders, load, paid, size, wait = metric.counter("shop.orders"), metric.gauge("shop.load"), metric.rate("shop.paid"), metric.trend("shop.size"),
  metric.trend("shop.wait", { unit = "s" })
scenario "s" { users = 4, iterations = 100, run = function(user)
  local n = user.sequence
  orders:add()
  orders:add(0.5, { page = n % 2 == 0 and "even" or "odd" })
  load:set(n)
  paid:add(n <= 25)
  size:add(n, { page = "x", n = n % 3 })
  wait:add(n / 1000)
end }
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_values_are_kept_and_merged(luabench, threads):
    metrics = own(luabench, METRICS, "-t", threads)
    orders, load, paid, size, wait = (metrics["shop." + name] for name in ("orders", "load", "paid", "size", "wait"))
    assert orders["count"] == 150 and orders["samples"] == 200
    assert {key: value["count"] for key, value in orders["series"].items()} == {"s": 100, "s, page=even": 25, "s, page=odd": 25}
    assert (load["min"], load["max"]) == (1, 100) and 1 <= load["value"] <= 100
    assert (paid["count"], paid["hits"], paid["rate"]) == (100, 25, 0.25)
    summary = size["summary"]
    assert (summary["count"], summary["min"], summary["max"]) == (100, 1, 100)
    assert math.isclose(summary["mean"], 50.5) and math.isclose(summary["median"], 50, rel_tol=1e-3)
    assert size["series"]["s, n=1, page=x"]["samples"] == 34
    assert wait["unit"] == "s" and math.isclose(wait["summary"]["p99"], 0.099, rel_tol=1e-3)


def test_the_report_shows_them(luabench):
    done = luabench.run(script=METRICS + 'metric.counter("never")')
    assert "shop.orders: 150 (" in done.stdout
    assert "shop.paid: 25.0% (25 of 100)" in done.stdout
    assert "shop.wait: median 50.0 ms, p95 95" in done.stdout, done.stdout
    assert "never: no value" in done.stdout


HOLD = ["shop.orders: count == 150", "shop.orders{page=even}: count == 25, rate > 1/s", "shop.load: min == 1, max <= 100", "shop.paid: rate >= 25%",
        "shop.size: p(95) <= 95.1, mean == 50.5", "shop.size{n=0}: count == 33", "shop.wait: p(99) < 100ms, max == 100ms", "shop.orders{scenario=s}: count > 100"]
FAIL = ["shop.orders: count < 150", "shop.paid: rate > 25%", "shop.load: max < 100", "shop.wait: p(99) < 98ms", "shop.size{n=7}: count > 0"]


@pytest.mark.parametrize("threshold", HOLD)
def test_thresholds_over_them_hold(luabench, threshold):
    assert luabench.run(script=f"thresholds {{ '{threshold}' }}\n" + METRICS).returncode == 0


@pytest.mark.parametrize("threshold", FAIL)
def test_thresholds_over_them_fail(luabench, threshold):
    assert luabench.run(script=f"thresholds {{ '{threshold}' }}\n" + METRICS).returncode == 1


def test_a_tag_that_was_not_seen_lists_those_that_were(luabench):
    done = luabench.run("--threshold", "shop.orders{page=none}: count > 0", script=METRICS)
    assert done.returncode == 1 and "no data: pages seen: " in done.stdout, done.stdout


WRONG_METRICS = {
    "metric.counter()": 'metric.counter needs a name of letters, digits, points and dashes: metric.counter("shop.checkout"), not nil',
    'metric.counter("a b")': 'metric.counter needs a name of letters, digits, points and dashes: metric.counter("shop.checkout"), not "a b"',
    'metric.counter("http.mine")': "metric.counter: names that begin with `http` are those of luabench; choose another one",
    'metric.gauge("a") metric.rate("a")': 'metric.rate("a"): it is a gauge already',
    'metric.trend("a", { unit = "ms" })': 'metric.trend: times are in seconds everywhere: { unit = "s" }',
    'metric.trend("a", { units = "s" })': "metric.trend: unknown key `units`; did you mean `unit`?",
    'metric.rate("a", { unit = "s" })': "metric.rate takes a name",
    'metric.histogram("a")': "metric has no function `histogram`; here it is called `trend`",
    'metric.counter("a"):add()': "a:add is called while the script is loaded, when there are no users yet; call it in `run`",
    'metric.counter("a").inc()': 'a counter has a:add(), and no "inc"',
    'metric.counter("a").add(1)': "call it with a colon: a:add(...)",
    'metric.counter("a").x = 1': "a metric cannot be assigned to; write a:add(...)",
}


@pytest.mark.parametrize("line, message", WRONG_METRICS.items(), ids=WRONG_METRICS)
def test_wrong_definitions(luabench, line, message):
    done = luabench.run(script="\n" + line + DO_NOTHING)
    assert done.returncode == 2 and done.stderr == f"luabench: script.lua:2: {message}\n"


WRONG_VALUES = {
    'count:add("1")': 'count:add takes a number, not "1"',
    "count:add(-1)": "count:add takes a number from 0, not -1",
    "count:add(0/0)": "count:add takes a number, not ",
    "count:add(1, 'x')": 'count: the last argument is a table of tags: { page = "cart" }, not "x"',
    "count:add(1, { [1] = 2 })": 'count: tags are names and texts: { page = "cart" }, not 1 = "2"',
    "count:add(1, {}, 1)": "count:add takes a value and a table of tags",
    "level:set()": "level:set takes a number, not nil",
    "share:add(1)": "share:add takes true or false, not 1",
    "times:add(-1)": "times:add takes a number from 0, not -1",
}


@pytest.mark.parametrize("line, message", WRONG_VALUES.items(), ids=WRONG_VALUES)
def test_wrong_values(luabench, line, message):
    done = luabench.run(script=f"""local count, level, share, times = metric.counter("count"), metric.gauge("level"), metric.rate("share"), metric.trend("times")
      scenario "s" {{ run = function() {line} end }}""")
    assert done.returncode == 3 and f"script.lua:2: {message}" in done.stderr, done.stderr


# Thresholds

ITERATE = '\nscenario "a" { iterations = 10, run = function() check("x", true) end }\nscenario "b" { iterations = 5, run = function() end, thresholds = { %s } }\n'


def test_thresholds_of_the_script_and_of_a_scenario(luabench):
    result = luabench.result(script='thresholds { "iterations: count == 15", "checks: rate == 1" }\nthresholds "iterations{scenario=a}: count == 10"'
                             + ITERATE % '"iterations: count == 5"')
    assert [(each["metric"], each["scenario"], each["value"]) for each in result["thresholds"] if not each["implicit"]] == [
        ("iterations", None, 15), ("checks", None, 1), ("iterations{scenario=a}", None, 10), ("iterations", "b", 5)]


# 300 iterations: every third status is a 503, once an iteration a POST and a PURGE; a batch, a task and a nested group in the group.
KINDS = """scenario "s" { users = 3, iterations = 300, on_start = function() http.get("/hello") end,
  run = function(user)
    http.get("/status/" .. (user.sequence % 3 == 0 and 503 or 200), { name = "S" })
    group("pay", function()
      http.post("/echo", { body = "x" })
      group("card", function() http.get("/hello") end)
      http.batch { "/bytes/10", "/bytes/20" }
      spawn(function() group("late", function() http.get("/hello") end) end):wait()
    end)
    group("payment", function() http.request { method = "PURGE", url = "/echo", redirects = 1 } end)
  end }
"""
KINDS_KNOWN = {
    "http.latency{status=200}: count": 3 + 200 + 300 * 6, "http.latency{status=5xx, method=GET}: count": 100, "http.latency{error=status, name=S}: count": 100,
    "http.service{group=pay}: count": 1500, "http.wait{group=pay/card}: count": 300, "http.latency{group=pay/late}: count": 300, "http.latency{group=payment}: count": 300,
    "http.requests{method=POST}: count": 300, "http.requests{method=GET, status=503}: count": 100, "http.requests{method=PURGE, group=payment, status=503}: count": 0,
    "http.errors{status=503}: rate": 100 / 2103, "http.errors{status=503, name=S}: rate": 1 / 3, "http.errors{method=POST}: rate": 0, "http.errors{method=GET, error=status}: rate": 100 / 1503,
    "http.requests{phase=on_start}: count": 3, "http.latency{phase=run, method=GET}: count": 1500, "http.bytes_received{status=503}: count": None,
}
KINDS_UNMET = {"http.latency{status=404}": "no data: statuses seen: 200, 503", "http.errors{method=TRACE}": "no data: methods seen: GET, POST, PURGE",
               "http.latency{group=none}": "no data: groups seen: pay, pay/card, pay/late, payment", "http.latency{error=timeout}": "no data: errors seen: status",
               "http.latency{phase=on_stop}": "no data: phases seen: on_start, run"}


@pytest.mark.parametrize("threads", [1, 2])
def test_kinds_of_requests_are_kept_apart(luabench, target, threads):
    texts = [text + (" >= 0" if "rate" in text or "bytes" in text else " > 0") for text in KINDS_KNOWN]
    texts += [f"{each}: {'rate < 100%' if 'errors' in each else 'max < 1h'}" for each in KINDS_UNMET]
    result = luabench.result("-t", threads, target.url, status=1, script=KINDS + "thresholds {\n" + "".join(f"  {json.dumps(text)},\n" for text in texts) + "}\n")
    found = {f"{each['metric']}: {each['expression'].split()[0]}": each for each in result["thresholds"] if not each["implicit"]}
    known = {name: value for name, value in KINDS_KNOWN.items() if value is not None}
    assert {name: found[name]["value"] for name in known} == pytest.approx(known)
    assert found["http.bytes_received{status=503}: count"]["value"] >= 100 * len("HTTP/1.1 503 Service Unavailable\r\n\r\n")
    seen = {name.split(":")[0]: each["text"] for name, each in found.items() if each["value"] is None}
    assert {name: sorted_list(text) for name, text in seen.items()} == KINDS_UNMET


def sorted_list(text):
    """The list at the end of a text, in order: threads differ in what they see first."""
    head, _, names = text.rpartition(": ")
    return f"{head}: {', '.join(sorted(names.split(', ')))}"


@pytest.mark.parametrize("threads", [1, 2])
def test_checks_are_kept_by_scenario(luabench, threads):
    script = """thresholds { "checks{scenario=a}: rate == 100%", "checks{scenario=b, check=same}: rate == 0%", "checks{check=same}: rate == 50%" }
      scenario "a" { users = 2, iterations = 10, run = function() check("same", true) end }
      scenario "b" { users = 2, iterations = 10, run = function() check("same", false, "no") check("other", true) end }"""
    result = luabench.result("-t", threads, script=script)
    assert result["checks"]["same"] == {"index": result["checks"]["same"]["index"], "passes": 10, "fails": 10, "why": "no"}


def test_no_data_fails_unless_it_may_be_empty(luabench):
    assert luabench.run(script='thresholds { "http.latency: p(95) < 1s" }' + DO_NOTHING).returncode == 1
    assert luabench.run(script='thresholds { { "http.latency: p(95) < 1s", empty = "ok" } }' + DO_NOTHING).returncode == 0


def test_a_threshold_ends_the_run(luabench, target):
    """Half of the checks fail: the run of an hour ends as soon as that is seen, in every thread, as a failed threshold."""
    script = """thresholds { { "checks: rate > 90%", abort = true }, { "no.such.thing: max < 5", empty = "ok", abort = true } }
      local thing = metric.trend("no.such.thing")
      scenario "s" { users = 4, duration = "1h", run = function(user)
        check("is even", user.sequence % 2 == 0) http.get("/hello") sleep(0.01) end }"""
    done = luabench.run("-t", 2, "--target", target.url, "-o", "result.json", script=script)
    assert done.returncode == 1, done.stderr
    assert "by a threshold: checks: rate > 90% is not so" in done.stderr
    result = luabench.saved_result()
    assert any("by a threshold: checks: rate > 90% is not so" in notice for notice in result["notices"])
    iterations = result["scenarios"]["s"]["iterations"]
    assert iterations["completed"] > 0
    assert iterations["scheduled"] == iterations["completed"] + iterations["interrupted"]


def test_a_threshold_that_holds_ends_nothing_and_after_waits(luabench):
    script = """thresholds { { "checks: rate > 10%", abort = true }, { "checks: rate > 90%", abort = true, after = "1h" } }
      scenario "s" { users = 2, duration = "2.5s", run = function(user) check("is even", user.sequence % 2 == 0) sleep(0.01) end }"""
    done = luabench.run("-o", "result.json", script=script)
    assert done.returncode == 1 and "by a threshold" not in done.stderr
    assert luabench.saved_result()["duration"] >= 2.5


WRONG_THRESHOLDS = {
    'thresholds { "http.latency: p(95) < 200" }': 'thresholds: "http.latency: p(95) < 200": 200 what? write 200ms',
    'thresholds { "http.latencies: p(95) < 200ms" }': 'thresholds: "http.latencies: p(95) < 200ms": unknown metric "http.latencies", did you mean "http.latency"?',
    'thresholds { "http.latency{nam=x}: max < 1s" }': 'thresholds: "http.latency{nam=x}: max < 1s": http.latency cannot be narrowed by "nam", did you mean "name"?',
    "thresholds { 5 }": 'thresholds: 5 is no threshold; write thresholds { "http.latency: p(95) < 200ms"',
    "thresholds(5)": "thresholds: must be a table of texts, not 5",
    'thresholds { { "checks: rate > 1%", abrt = true } }': "thresholds: unknown key `abrt`; did you mean `abort`?",
    'thresholds { { "checks: rate > 1%", abort = 1 } }': "thresholds: `abort` must be a boolean, not 1",
    'thresholds { { "checks: rate > 1%", after = "1s" } }': "thresholds: `after` says from when on `abort` ends the run, and there is no abort = true",
    'thresholds { { "checks: rate > 1%", abort = true, after = "soon" } }': "thresholds: `after`: \"soon\" is not a duration",
    'thresholds { { "checks: rate > 1%", empty = true } }': "thresholds: `empty` must be a string, not true",
    'thresholds { { "checks: rate > 1%", empty = "no" } }': 'thresholds: `empty` is "ok" or "fail", not "no"',
    "thresholds { { abort = true } }": "thresholds: the text of the threshold is missing",
    'thresholds { abort = true, "checks: rate > 1%" }': "thresholds: `abort` stands without its braces",
}


@pytest.mark.parametrize("line, message", WRONG_THRESHOLDS.items(), ids=WRONG_THRESHOLDS)
def test_wrong_thresholds(luabench, line, message):
    done = luabench.run(script="\n" + line + DO_NOTHING)
    assert done.returncode == 2 and done.stderr.startswith(f"luabench: script.lua:2: {message}"), done.stderr


def test_wrong_thresholds_of_a_scenario(luabench):
    done = luabench.run(script=ITERATE % '"iterations: cont == 5"')
    assert done.returncode == 2
    assert done.stderr.startswith('luabench: script.lua:3: scenario "b": thresholds: "iterations: cont == 5": iterations is a counter and has no "cont"')


# The report

def test_report_is_given_the_results_and_writes_files_with_leave(luabench):
    script = """report(function(summary)
      local s = summary.scenarios.s
      print("COMPLETED " .. s.iterations.completed .. " " .. tostring(summary.stopped) .. " " .. summary.metrics.m.count)
      return { ["summary.txt"] = "completed " .. s.iterations.completed }
    end)
    local m = metric.counter("m")
    scenario "s" { iterations = 7, run = function() m:add(2) end }"""
    done = luabench.run("--allow-write=.", script=script)
    assert done.returncode == 0 and "COMPLETED 7 nil 14" in done.stderr, done.stderr
    assert (luabench.folder / "summary.txt").read_text() == "completed 7"
    (luabench.folder / "summary.txt").unlink()
    done = luabench.run(script=script)
    assert done.returncode == 3 and f"report: \"summary.txt\": a script may not write files; --allow-write={luabench.folder.resolve()} gives leave" in done.stderr
    assert not (luabench.folder / "summary.txt").exists()


WRONG_REPORTS = {
    "report()": "report takes one function: report(function(summary) ... end), not nil",
    "report(print) report(print)": "report is used twice; the first is at script.lua:2",
}


@pytest.mark.parametrize("line, message", WRONG_REPORTS.items(), ids=WRONG_REPORTS)
def test_wrong_report(luabench, line, message):
    done = luabench.run(script="\n" + line + DO_NOTHING)
    assert done.returncode == 2 and done.stderr == f"luabench: script.lua:2: {message}\n"


@pytest.mark.parametrize("body, message", [('error("oh")', "report: script.lua:1: oh"), ("return 5", "report returns nothing or a table of files, not 5"),
                                           ("return { 5 }", "report returns a table of texts by file name")])
def test_a_report_that_goes_wrong(luabench, body, message):
    done = luabench.run(script=f"report(function() {body} end)" + DO_NOTHING)
    assert done.returncode == 3 and message in done.stderr
    assert "iterations" in done.stdout  # ours is printed all the same


# Names without end.

ENDLESS = """
local own = metric.counter "own"
scenario "s" { users = 10, iterations = 10000, run = function(user)
  local n = user.sequence
  group("group " .. n, function()
    local res = http.get("/hello", { name = "page " .. n, tags = { item = n } })
    check("check " .. n, res.status == 200)
    own:add(1, { item = n })
  end)
end }
"""


def test_names_are_bounded_and_nothing_is_lost(luabench, target):
    result = luabench.result("--target", target.url, script=ENDLESS)
    names, series = result["scenarios"]["s"]["by_name"], result["metrics"]["own"]["series"]
    assert [len(kept) for kept in (names, result["checks"], result["groups"], series)] == [501, 201, 201, 1001]
    assert names["(other)"]["requests"]["succeeded"] == 9500 and sum(each["requests"]["started"] for each in names.values()) == 10000
    assert result["checks"]["(other)"]["passes"] == 9800 and result["groups"]["(other)"]["count"] == 9800
    assert series["(other)"]["count"] == 9000 and sum(each["count"] for each in series.values()) == 10000
    remarks = result["remarks"]
    assert 'too many different names of requests: 9,500 requests are together under (other); give requests whose path or tags vary one name: { name = "GET /item/:id" }' in remarks
    assert "too many different checks, groups, sets of tags of own: those that came last are together under (other)" in remarks
