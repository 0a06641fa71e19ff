"""Figures while a run goes on: for Prometheus, and as lines for logs."""
import json
import re
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from conftest import finish, get, wait_until

SCRIPT = """
    scenario('a "b"', { users = 3, duration = "60s", run = function()
      local res = http.get("/hello")
      check("ok", res.ok)
      http.get("/status/500", { tags = { page = "x" } })
      sleep(0.005)
    end })
    scenario("open", { rate = 50, duration = "60s", run = function() http.get("/delay/3") end })
"""
SAMPLE = re.compile(r'^(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\.)*",?)*)\})? ([0-9.e+-]+)$')


class Scraped:
    """What a scrape says: samples by metric, each a pair of labels and value."""

    def __init__(self, text):
        self.metrics, self.types = {}, {}
        for line in text.splitlines():
            if line.startswith("# TYPE"):
                self.types[line.split()[2]] = line.split()[3]
            if line.startswith("#"):
                continue
            name, labels, value = SAMPLE.match(line).groups()
            pairs = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))
            self.metrics.setdefault(name, []).append((pairs, float(value)))

    def sum(self, metric, /, **wanted):
        return sum(value for labels, value in self.metrics.get(metric, []) if all(labels.get(key) == each for key, each in wanted.items()))


@pytest.fixture
def live(luabench, target):
    """A run that goes on, and the address of its figures."""
    process = luabench.start(target.url, "--quiet", "--prometheus", "127.0.0.1:0", "-o", "result.json", script=SCRIPT)
    line = process.stderr.readline()
    assert line.startswith("figures for Prometheus: http://127.0.0.1:"), line
    return process, line.split()[-1]


def scrape_with_figures(url):
    return wait_until(lambda: (found := Scraped(get(url))).sum("luabench_requests_started_total") > 0 and found, "figures are there")


def test_figures_are_those_of_the_run(live, luabench):
    process, url = live
    first = scrape_with_figures(url)
    later = wait_until(lambda: (found := Scraped(get(url))).sum("luabench_elapsed_seconds") > first.sum("luabench_elapsed_seconds") and found, "newer figures")
    for name, kind in first.types.items():
        if kind == "counter":
            for labels, value in first.metrics.get(name, []):
                assert later.sum(name, **labels) >= value, (name, labels)
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    result = luabench.saved_result()
    shop = result["scenarios"]['a "b"']
    assert 0 < later.sum("luabench_responses_total", status="500") <= shop["status"]["500"]
    assert 0 < later.sum("luabench_checks_total", check="ok", result="pass") <= result["checks"]["ok"]["passes"]
    assert 0 < later.sum("luabench_received_bytes_total") <= result["total"]["bytes"]["received"]
    assert later.sum("luabench_users", scenario='a \\"b\\"') == 3
    assert {labels["name"] for labels, _ in later.metrics["luabench_requests_started_total"]} == {"GET /hello", "GET /status/500 {page=x}", "GET /delay/3"}


def test_histograms_add_up(live):
    found = scrape_with_figures(live[1])
    for labels, count in found.metrics["luabench_latency_seconds_count"]:
        buckets = [value for each, value in found.metrics["luabench_latency_seconds_bucket"] if labels.items() <= each.items()]
        assert buckets == sorted(buckets) and buckets[-1] == count > 0
        outcomes = found.sum("luabench_requests_total", outcome="succeeded", **labels) + found.sum("luabench_errors_total", error="status", **labels)
        assert count == outcomes
    below = found.sum("luabench_latency_seconds_bucket", name="GET /delay/3", le="0.0025")
    assert below == 0  # it takes 3 ms
    assert found.sum("luabench_latency_seconds_sum", name="GET /delay/3") >= 0.003 * found.sum("luabench_latency_seconds_count", name="GET /delay/3")


def test_promtool_has_nothing_to_say(live):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (Debian: prometheus)")
    scrape_with_figures(live[1])
    done = subprocess.run(["promtool", "check", "metrics"], input=get(live[1]), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_prometheus_server_reads_it(live, tmp_path, free_port):
    if not shutil.which("prometheus"):
        pytest.skip("prometheus is not installed (Debian: prometheus)")
    process, url = live
    address, port = urllib.parse.urlsplit(url).netloc, free_port()
    (tmp_path / "prometheus.yml").write_text(json.dumps({"scrape_configs": [
        {"job_name": "luabench", "scrape_interval": "200ms", "scrape_timeout": "200ms", "static_configs": [{"targets": [address]}]}]}))
    server = subprocess.Popen(["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def query(expression):
        try:
            reply = json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})))
        except OSError:
            return None
        values = [float(each["value"][1]) for each in reply["data"]["result"]]
        return values[0] if values and values[0] > 0 else None
    try:
        wait_until(lambda: query("sum(luabench_responses_total)"), "Prometheus has responses", 60)
        assert query("up") == 1
        quantile = query('histogram_quantile(0.5, sum by (le) (luabench_latency_seconds_bucket{name="GET /delay/3"}))')
        assert 0.0025 <= quantile <= 0.1
        counted = query('sum(luabench_requests_started_total{name="GET /hello"})')
        process.send_signal(signal.SIGINT)
        finish(process)
        assert counted <= json.loads((tmp_path / "result.json").read_text())["scenarios"]['a "b"']["by_name"]["GET /hello"]["requests"]["started"]
    finally:
        server.terminate()
        server.wait()


def test_other_requests(live):
    _, url = live
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(url + "/more")
    assert caught.value.code == 404 and caught.value.read() == b"luabench: the figures of the run are at /metrics\n"
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(url, data=b"x" * 10, timeout=10)
    assert caught.value.code in (404, 413)
    assert "/metrics" in get(url.removesuffix("metrics"))


def test_rude_clients_do_no_harm(live):
    _, url = live
    place = urllib.parse.urlsplit(url)
    silent = [socket.create_connection((place.hostname, place.port), timeout=10) for _ in range(40)]
    silent[-1].sendall(b"\x16\x03\x01 no request\r\n\r\n")
    assert silent[-1].recv(100).startswith(b"HTTP/1.1 400 ")
    silent[-2].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 3)  # sent ahead, and never read
    for connection in silent[:5]:
        connection.close()
    assert scrape_with_figures(url)
    for connection in silent[5:]:
        connection.close()


@pytest.mark.parametrize("address", ["9095", "127.0.0.1", "127.0.0.1:99999", "a b:1", "http://127.0.0.1:1", ""])
def test_wrong_addresses(luabench, target, address):
    done = luabench.run(f"{target.url}/hello", "-n", "1", f"--prometheus={address}")
    assert done.returncode == 2 and "--prometheus" in done.stderr and target.requests() == 0


def test_a_port_that_is_taken(luabench, target):
    done = luabench.run(f"{target.url}/hello", "-n", "1", "--prometheus", target.url.removeprefix("http://"))
    assert done.returncode == 2 and "the port is taken" in done.stderr and target.requests() == 0


def test_a_line_a_second(luabench, target):
    done = luabench.run(f"{target.url}/delay/5", "-c", "2", "-d", "3500ms", "--interval", "1s")
    lines = [line for line in done.stderr.splitlines() if re.match(r"^\d+ s( \(.*\))?: ", line)]
    assert len(lines) >= 3 and all("requests/s" in line and "p99" in line for line in lines)
    assert [int(line.split()[0]) for line in lines] == sorted({int(line.split()[0]) for line in lines})
