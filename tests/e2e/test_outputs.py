"""The files of -o: each format against what the others say, what other programs read in them, and what happens when they cannot be written."""
import csv
import json
import os
import shutil
import signal
import subprocess
import threading
import xml.etree.ElementTree as xml

import jsonschema
import pytest

from conftest import ROOT, finish, wait_until

READERS = ROOT / "tests/e2e/readers"
SCHEMA = json.loads((ROOT / "docs/result.schema.json").read_text())
ALL = ["json", "html", "csv", "ndjson", "hgrm", "hlog", "jtl", "junit.xml"]


def outputs(*endings):
    return [word for ending in endings for word in ("-o", f"out.{ending}")]


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def nearest_rank(values, quantile):
    values = sorted(values)
    return values[max(1, -(-len(values) * quantile // 1).__int__()) - 1]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run with every output, in the open model, with errors; the folder and the result."""
    folder = tmp_path_factory.mktemp("outputs")
    program = os.environ.get("LUABENCH", str(ROOT / "build/release/luabench"))
    server = subprocess.Popen([program, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]
    (folder / "script.lua").write_text("""
        scenario("=shop, a", { rate = 400, duration = "2s", run = function()
          http.get("/hello")
          local res = http.get("/status/503", { name = "=1+1" })
          check("is up, \\"today\\"", res.ok, "<503>")
        end })
    """)
    limits = ["--threshold", "http.latency: p(50) < 10s", "--threshold", "http.errors: rate < 1%"]
    done = subprocess.run([program, "script.lua", url, *limits, *outputs(*ALL)], cwd=folder, capture_output=True, text=True, timeout=60)
    server.terminate()
    server.wait()
    server.stdout.close()
    assert done.returncode in (1, 4), done.stdout + done.stderr  # 4: a busy machine
    return folder, json.loads((folder / "out.json").read_text())


def test_json_fits_the_schema(run):
    jsonschema.validate(run[1], SCHEMA)


def test_ndjson_has_a_line_for_each_request(run):
    folder, result = run
    lines = lines_of(folder / "out.ndjson")
    total = result["total"]
    assert len(lines) == total["requests"]["started"] == 1600
    assert sum(line["status"] == 200 for line in lines) == total["status"]["200"] == 800
    assert sum(line["error"] == "status" for line in lines) == total["errors"]["status"] == 800
    assert sum(line["received"] for line in lines) == total["bytes"]["received"]
    assert sum(line["sent"] for line in lines) == total["bytes"]["sent"]
    assert {line["phase"] for line in lines} == {"run"} and {line["http"] for line in lines} == {"1.1"}
    assert all(line["user"] >= 1 for line in lines)


@pytest.mark.parametrize("name", ["latency", "latency_from_intended", "blocked", "wait", "connect"])
def test_ndjson_and_json_agree_on_times(run, name):
    folder, result = run
    values = [line[name] for line in lines_of(folder / "out.ndjson") if line[name] is not None]
    summary = result["total"][name]
    assert len(values) == summary["count"]
    assert max(values) == pytest.approx(summary["max"], abs=1e-9) and min(values) == pytest.approx(summary["min"], abs=1e-9)
    for field, quantile in (("median", 0.5), ("p99", 0.99)):  # to the three digits of a histogram
        assert nearest_rank(values, quantile) == pytest.approx(summary[field], rel=2e-3, abs=2e-9)


def test_ndjson_phases_are_within_the_request(run):
    for line in lines_of(run[0] / "out.ndjson"):
        assert line["due"] <= line["started"] <= line["ended"]
        assert line["ended"] - line["started"] == pytest.approx(line["latency"], abs=3e-6)
        parts = sum(line[part] or 0 for part in ("blocked", "dns", "connect", "tls", "wait", "receive"))
        assert parts <= line["latency"] + 1e-8


def test_csv_has_a_row_a_second(run):
    folder, result = run
    rows = list(csv.DictReader((folder / "out.csv").open()))
    assert len(rows) == len(result["series"])
    for row, second in zip(rows, result["series"]):
        assert int(row["requests"]) == second["requests"] and int(row["errors"]) == second["errors"]
        assert float(row["latency_p99"]) == pytest.approx(second["latency"]["p99"], rel=1e-6)


def test_jtl_has_jmeters_columns(run):
    folder, result = run
    rows = list(csv.DictReader((folder / "out.jtl").open()))
    assert len(rows) == result["total"]["requests"]["started"]
    assert {row["label"] for row in rows} == {"GET /hello", "'=1+1"}  # no formula
    assert {row["success"] for row in rows if row["responseCode"] == "503"} == {"false"}
    assert {row["threadName"].rsplit(" ", 1)[0] for row in rows} == {"'=shop, a"}
    started = sorted(int(row["timeStamp"]) for row in rows)
    assert started[-1] - started[0] < 2500


def test_junit_has_thresholds_and_checks(run):
    root = xml.parse(run[0] / "out.junit.xml").getroot()
    cases = {(case.get("classname"), case.get("name")): case.find("failure") for case in root.iter("testcase")}
    assert cases["thresholds", "http.latency: p(50) < 10s"] is None
    assert cases["thresholds", "http.errors: rate < 1%"] is not None
    assert cases["checks", 'is up, "today"'].get("message") == "800 of 800 failed: <503>"
    failures = [failure for failure in cases.values() if failure is not None]
    assert int(root.get("tests")) == len(cases) and int(root.get("failures")) == len(failures)


def hdr_reader(path):
    if not (READERS / "node_modules").exists():
        pytest.skip("hdr-histogram-js is not installed: (cd tests/e2e/readers && npm ci)")
    done = subprocess.run(["node", READERS / "hlog.mjs", path], capture_output=True, text=True, timeout=60, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_hdrhistograms_own_reader_reads_the_log(run):
    folder, result = run
    *intervals, total = hdr_reader(folder / "out.hlog")
    latency = result["total"]["latency_from_intended"]
    seconds = [each for each in intervals if each["tag"] is None]
    assert [each["count"] for each in seconds] == [second["latency"]["count"] for second in result["series"] if second["latency"]["count"]]
    assert total["count"] == latency["count"]
    for field, quantile in (("p50", "median"), ("p99", "p99")):
        assert total[field] / 1e9 == pytest.approx(latency[quantile], rel=1e-3)
    tagged = [each for each in intervals if each["tag"]]
    assert [each["count"] for each in tagged] == [latency["count"]] and tagged[0]["max"] / 1e9 == pytest.approx(latency["max"], rel=1e-3)


def test_percentiles_are_those_of_hdrhistogram(run):
    """Row by row what HdrHistogram's outputPercentileDistribution says of the same counts."""
    folder, _ = run
    rows = [line for line in (folder / "out.hgrm").read_text().splitlines() if not line.startswith("#")]
    theirs = [line for line in hdr_reader(folder / "out.hlog")[-1]["distribution"].splitlines() if not line.startswith("#")]
    assert rows == theirs and len(rows) > 20


def test_setup_and_warm_up_are_told_apart(luabench, target):
    script = """
        scenario("s", { users = 1, duration = "600ms", warm_up = "300ms", setup = function() http.get("/hello") end, teardown = function() http.get("/hello") end,
          run = function() http.get("/hello") sleep(0.01) end })
    """
    result = luabench.result(target.url, *outputs("ndjson", "jtl"), script=script)
    phases = [line["phase"] for line in lines_of(luabench.folder / "out.ndjson")]
    assert phases.count("setup") == phases.count("teardown") == 1
    assert phases.count("run") == result["total"]["requests"]["started"]
    assert phases.count("warm_up") == result["scenarios"]["s"]["warm_up"]["requests"]["started"] > 0
    assert len(phases) == target.requests()
    assert len((luabench.folder / "out.jtl").read_text().splitlines()) == 1 + phases.count("run")


def test_redirects_are_one_request(luabench, raw_server):
    server = raw_server(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
    script = 'scenario("s", { users = 1, iterations = 5, run = function() http.get("/", { redirects = 2 }) end })'
    done = luabench.run(server.url, *outputs("json", "ndjson"), script=script)
    lines, total = lines_of(luabench.folder / "out.ndjson"), json.loads((luabench.folder / "out.json").read_text())["total"]
    assert len(lines) == total["requests"]["started"] == 5 and total["requests"]["redirected"] == 10, done.stdout
    for line in lines:
        assert line["earlier"] > 0 and line["latency"] >= line["earlier"]


def test_interrupted_requests_have_their_lines(luabench, raw_server):
    server = raw_server(None)
    process = luabench.start(f"{server.url}/hello", "-c", "3", "-d", "30s", *outputs("json", "ndjson"))
    wait_until(lambda: server.received.count(b"GET") == 3, "three requests have arrived")
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    lines = lines_of(luabench.folder / "out.ndjson")
    assert [line["error"] for line in lines] == ["interrupted"] * 3
    assert [line["latency"] for line in lines] == [None] * 3
    assert sorted(line["user"] for line in lines) == [1, 2, 3]


def test_secrets_are_hidden(luabench, target):
    script = """
        local given = params { token = { "none", "what opens the door", secret = true } }
        scenario("s", { users = 1, iterations = 1, run = function() http.get("/hello/" .. given.token) end })
    """
    luabench.run(target.url, "-p", "token=s3cr3t", *outputs("ndjson", "jtl"), script=script)
    for ending in ("ndjson", "jtl"):
        text = (luabench.folder / f"out.{ending}").read_text()
        assert "/hello/***" in text and "s3cr3t" not in text


@pytest.mark.parametrize("ending", ALL)
def test_a_full_disk_keeps_no_result_back(luabench, target, ending):
    os.symlink("/dev/full", luabench.folder / f"out.{ending}")
    done = luabench.run(f"{target.url}/hello", "-n", "20", "-c", "2", *outputs(ending))
    assert done.returncode == 3
    assert "scheduled 20 = completed 20" in done.stdout
    assert "cannot write" in done.stderr and f"out.{ending}: No space left on device" in done.stderr


def test_what_is_missing_in_a_log_is_counted(luabench, target):
    os.symlink("/dev/full", luabench.folder / "out.ndjson")
    done = luabench.run(f"{target.url}/hello", "-n", "20", "-c", "2", *outputs("ndjson"))
    assert "20 requests are missing in it" in done.stderr


def test_a_pipe_that_nobody_reads_holds_nothing_up(luabench, target):
    os.mkfifo(luabench.folder / "out.ndjson")
    reader = os.open(luabench.folder / "out.ndjson", os.O_RDONLY | os.O_NONBLOCK)
    done = luabench.run(f"{target.url}/hello", "-n", "2000", "-c", "2", *outputs("ndjson"))
    os.close(reader)
    assert done.returncode == 3 and "completed 2,000" in done.stdout
    assert "requests are missing in it" in done.stderr


def test_a_pipe_that_is_read_gets_every_line(luabench, target):
    os.mkfifo(luabench.folder / "out.ndjson")
    received = []

    def read():
        with open(luabench.folder / "out.ndjson") as pipe:
            received.extend(pipe)
    thread = threading.Thread(target=read)
    thread.start()
    done = luabench.run(f"{target.url}/hello", "-n", "2000", "-c", "2", *outputs("ndjson"))
    thread.join()
    assert done.returncode == 0 and len([json.loads(line) for line in received]) == 2000


@pytest.mark.parametrize("ending", ALL)
def test_what_cannot_be_written_is_said_before_anything_is_sent(luabench, target, ending):
    done = luabench.run(f"{target.url}/hello", "-n", "1", "-o", f"no/such/folder/out.{ending}")
    assert done.returncode == 2 and f"cannot write no/such/folder/out.{ending}: No such file or directory" in done.stderr
    assert target.requests() == 0


@pytest.mark.parametrize("name, wrong", [
    ("out.xml", "the ending says the format; known: FILE.json, FILE.html, FILE.csv, FILE.ndjson, FILE.hgrm, FILE.hlog, FILE.jtl, FILE.junit.xml"),
    ("json", "the ending says the format"), (".json", "the ending says the format"), ("-", "standard output gets the result with --json"),
])
def test_unknown_endings(luabench, target, name, wrong):
    done = luabench.run(f"{target.url}/hello", "-n", "1", "-o", name)
    assert done.returncode == 2 and wrong in done.stderr and target.requests() == 0


@pytest.mark.parametrize("first, second", [("out.json", "out.json"), ("out.json", "./out.json"), ("out.ndjson", "sub/../out.ndjson"), ("out.json", "link/out.json")])
def test_one_file_for_two_outputs(luabench, target, first, second):
    (luabench.folder / "sub").mkdir()
    os.symlink(".", luabench.folder / "link")
    done = luabench.run(f"{target.url}/hello", "-n", "1", "-o", first, "-o", second)
    assert done.returncode == 2 and f"-o {second} is given twice" in done.stderr and target.requests() == 0


def jmeter():
    """The command; examples/jmeter/run installs it."""
    installed = ROOT / "build/jmeter/bin/ApacheJMeter.jar"
    program = os.environ.get("JMETER") or shutil.which("jmeter")
    if program:
        return [program]
    if installed.exists() and shutil.which("java"):
        return ["java", "-Xmx512m", "-Djava.awt.headless=true", "-jar", installed]
    pytest.skip("JMeter is not installed: examples/jmeter/run installs it into build/jmeter; another one: JMETER=.../bin/jmeter")


def test_jmeters_own_dashboard_reads_the_jtl(run, tmp_path):
    folder, result = run
    subprocess.run([*jmeter(), "-g", folder / "out.jtl", "-o", tmp_path / "dashboard", "-j", tmp_path / "jmeter.log"], check=True, timeout=300, capture_output=True)
    statistics = json.loads((tmp_path / "dashboard/statistics.json").read_text())
    total = statistics["Total"]
    assert total["sampleCount"] == result["total"]["requests"]["started"]
    assert total["errorCount"] == result["total"]["requests"]["failed"]
    assert total["meanResTime"] == pytest.approx(result["total"]["latency_from_intended"]["mean"] * 1e3, abs=0.6)


@pytest.mark.parametrize("ending", ["json", "html", "csv", "hgrm", "hlog", "junit.xml"])
def test_a_pipe_that_nobody_reads(luabench, target, ending):
    path = luabench.folder / f"pipe.{ending}"
    os.mkfifo(path)
    done = luabench.run(target.url + "/hello", "-n", "5", "-o", path.name)
    assert done.returncode == 3 and f"pipe.{ending}: nobody reads this pipe" in done.stderr, done.stderr
    assert "5 responses" in done.stdout  # printed all the same
