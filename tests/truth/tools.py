"""The load testers: how each is told to make a case's load, and what its report says. To add one: a subclass of Tool at the end of the file.

A Report holds milliseconds; what the tool does not say is absent. Each tool gets one thread where it lets one choose, and the options that its documentation gives for
this kind of load, nothing else.
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from truths import QUANTILES, nearest_rank

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("LUABENCH_BUILD", ROOT / "build/release"))
PEERS = ROOT / "build/peers"  # where `peers` puts what Debian does not have
OPEN_CONNECTIONS = 100        # of the tools that need a bound in an open load
PERCENTS = {"p50": "50", "p90": "90", "p95": "95", "p99": "99", "p999": "99.9"}


class Report:
    def __init__(self):
        self.latency = {}  # p50 .. p999, mean, max
        self.counts = {}   # ok, 503, hang, reset: as far as the tool tells them apart
        self.rate = None   # answers a second
        self.ttfb = None   # mean
        self.round = None  # mean of a user's whole iteration, where the tool tells it beside the latency
        self.flags = []    # what it says against its own figures
        self.notes = {}    # drift, overload: whether it says so
        self.with_failures = {}  # p90, p95 .. of all arrivals, where a failure was never answered; None: too many were not
        self.step = 0.0    # of the printed latencies


def milliseconds(text):
    """'1.23ms', '45us', '2.00s', '1.5m' -> milliseconds"""
    value, unit = re.fullmatch(r"([\d.]+)\s*(us|µs|ms|s|m|h)", text).groups()
    return float(value) * {"us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3, "m": 6e4, "h": 3.6e6}[unit]


def step_of(text):
    """The printed step of '1.23ms', in milliseconds."""
    number = re.match(r"[\d.]+", text)[0]
    digits = len(number.partition(".")[2])
    return milliseconds(f"1{text[len(number):]}") / 10**digits


class Tool:
    name = program = ""
    models = ("closed", "open")
    laws = ("constant",)
    discards = 0  # seconds at the start that the tool leaves out
    environment = {}
    input = None

    def path(self):
        """Ours first, then the system's; None when there is none."""
        own = PEERS / "bin" / self.program
        return str(own) if own.exists() else shutil.which(self.program)

    def version(self):
        return ""

    def can(self, case):
        return case.model in self.models and case.arrivals in self.laws

    def connections(self, case):
        return case.users or OPEN_CONNECTIONS

    def said(self, *command, pattern=r"v?(\d+\.\d+[\w.-]*)"):
        output = subprocess.run([self.path(), *command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        found = re.search(pattern, output.stdout + output.stderr)
        return found[1] if found else "?"


def summary_of(report, summary, factor=1000.0):
    """One of luabench's summaries."""
    names = {"median": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p999", "mean": "mean", "max": "max"}
    for theirs, ours in names.items():
        if summary.get(theirs) is not None:
            report.latency[ours] = summary[theirs] * factor


class Luabench(Tool):
    name = "luabench"
    laws = ("constant", "poisson")

    def path(self):
        program = Path(os.environ.get("LUABENCH", BUILD / "luabench"))
        return str(program) if program.exists() else None

    def version(self):
        return self.said("--version")

    def command(self, url, case, seconds, folder):
        load = ["-c", case.users] if case.users else ["-R", case.rate]
        if case.arrivals == "poisson":
            load += ["--arrivals", "poisson_exact", "--seed", 1]
        if case.timeout:
            load += ["-T", f"{case.timeout}s"]
        return [self.path(), url, *load, "-t", 1, "-d", f"{seconds}s", "--quiet", "--json"]

    def parse(self, output, case, folder):
        result, report = json.loads(output), Report()
        (scenario,) = result["scenarios"].values()
        summary_of(report, scenario["latency_from_intended"] if case.rate else scenario["latency"])
        if case.timeout:  # of answers with an accepted status alone, and with the others as never answered
            summary_of(report, scenario["accepted"])
            report.with_failures = {name: value and value * 1000 for name, value in scenario["with_failures"].items() if name.startswith("p")}
        report.rate = scenario["rate"]
        report.ttfb = scenario["wait"]["mean"] and scenario["wait"]["mean"] * 1000
        report.round = scenario["iteration_duration"]["mean"] * 1000
        status, errors = scenario["status"], scenario["errors"]
        report.counts = {"ok": status.get("200", 0), "503": status.get("503", 0), "hang": errors.get("timeout", 0),
                         "reset": errors.get("reset", 0) + errors.get("closed", 0)}
        generator = result["generator"]
        report.flags = [] if generator["trusted"] and not generator["warnings"] else generator["warnings"] or ["not trusted"]
        words = " ".join([*result["remarks"], *generator["warnings"], *result["notices"]])
        steady = scenario.get("steady") or {}
        report.notes = {"drift": steady.get("class") not in (None, "flat"), "overload": "overload" in words.lower() or bool(scenario.get("overloaded"))}
        return report


class Wrk(Tool):
    name = program = "wrk"
    models = ("closed",)

    def version(self):
        return self.said("-v", pattern=r"wrk (?:debian/)?(\S+)")

    def command(self, url, case, seconds, folder):
        timeout = ["--timeout", f"{case.timeout}s"] if case.timeout else []
        return [self.path(), "-t1", f"-c{self.connections(case)}", f"-d{seconds + self.discards}s", *timeout, "--latency", url]

    def parse(self, output, case, folder):
        report = Report()
        for percent, text in re.findall(r"^ +(\d+(?:\.\d+)?)%\s+([\d.]+[a-z]+)$", output, re.M):
            for name, wanted in PERCENTS.items():
                if float(percent) == float(wanted):
                    report.latency[name] = milliseconds(text)
                    report.step = max(report.step, step_of(text))
        mean, most = re.search(r"Latency\s+(\S+)\s+\S+\s+(\S+)", output).groups()
        if mean[0].isdigit():
            report.latency["mean"], report.latency["max"] = milliseconds(mean), milliseconds(most)
        report.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
        total = int(re.search(r"(\d+) requests in", output)[1])
        bad = int((re.search(r"Non-2xx or 3xx responses: (\d+)", output) or [0, 0])[1])
        errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", output)
        report.counts = {"ok": total - bad, "503": bad, "hang": int(errors[4]) if errors else 0, "reset": int(errors[2]) if errors else 0}
        return report


class Wrk2(Wrk):
    name = program = "wrk2"
    models = ("open",)
    discards = 10  # it calibrates for that long

    def command(self, url, case, seconds, folder):
        return [*super().command(url, case, seconds, folder), f"-R{case.rate}"]

    def parse(self, output, case, folder):
        report = super().parse(output, case, folder)
        spectrum = re.findall(r"^ +([\d.]+) +(0\.\d+|1\.0+) +(\d+)", output, re.M)
        rows = [(float(share), float(value)) for value, share, _ in spectrum]
        for name, q in QUANTILES.items():
            if name not in report.latency and rows:
                report.latency[name] = next(value for share, value in rows if share >= q)
        return report


class Hey(Tool):
    name = program = "hey"

    def version(self):
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "hey"], capture_output=True, text=True).stdout or "?"

    def path(self):
        return shutil.which("hey")

    def command(self, url, case, seconds, folder):
        pace = ["-q", case.rate / self.connections(case)] if case.rate else []
        timeout = ["-t", case.timeout] if case.timeout else []
        return [self.path(), "-cpus", 1, "-z", f"{seconds}s", "-c", self.connections(case), *pace, *timeout, url]

    def parse(self, output, case, folder):
        report = Report()
        report.step = 0.1
        for name, percent in PERCENTS.items():
            found = re.search(rf"^\s+{percent}%+ in ([\d.]+) secs", output, re.M)
            if found:
                report.latency[name] = float(found[1]) * 1000
        report.latency["mean"] = float(re.search(r"Average:\s+([\d.]+)", output)[1]) * 1000
        report.latency["max"] = float(re.search(r"Slowest:\s+([\d.]+)", output)[1]) * 1000
        report.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
        count = lambda status: int((re.search(rf"\[{status}\]\s+(\d+) responses", output) or [0, 0])[1])
        errors = [(int(n), text) for n, text in re.findall(r"^\s+\[(\d+)\]\s+(Get .*)$", output, re.M)]
        hang = sum(n for n, text in errors if re.search("Timeout|deadline|timeout", text))
        report.counts = {"ok": count(200), "503": count(503), "hang": hang, "reset": sum(n for n, _ in errors) - hang}
        return report


class H2load(Tool):
    name = program = "h2load"

    def connections(self, case):
        return case.users or 10

    def version(self):
        return self.said("--version", pattern=r"nghttp2/(\S+)")

    def command(self, url, case, seconds, folder):
        pace = ["--rps", case.rate / self.connections(case)] if case.rate else []
        timeout = ["-N", f"{case.timeout}s"] if case.timeout else []
        return [self.path(), "--h1", "-t1", f"-c{self.connections(case)}", "-D", seconds, *pace, *timeout, f"--log-file={folder}/h2load.log", url]

    def parse(self, output, case, folder):
        """It prints no percentiles: they are taken from its log of requests, all of them."""
        report = Report()
        rows = [line.split() for line in (folder / "h2load.log").read_text().splitlines()]
        taken = sorted(int(taken) / 1000 for _, status, taken in rows if status == "200")
        report.latency = {**{name: nearest_rank(taken, q) for name, q in QUANTILES.items()}, "mean": sum(taken) / len(taken), "max": taken[-1]}
        report.rate = float(re.search(r"finished in \S+, ([\d.]+) req/s", output)[1])
        failed, errored, timeout = map(int, re.search(r"(\d+) failed, (\d+) errored, (\d+) timeout", output).groups())
        report.counts = {"ok": len(taken), "503": sum(status == "503" for _, status, _ in rows), "hang": timeout, "reset": errored - timeout}
        return report


class Bombardier(Tool):
    name = program = "bombardier"

    def version(self):
        return go_version(self.path())

    def command(self, url, case, seconds, folder):
        pace = ["-r", case.rate] if case.rate else []
        timeout = ["-t", f"{case.timeout}s"] if case.timeout else []
        return [self.path(), "-c", self.connections(case), "-d", f"{seconds}s", "-l", *pace, *timeout, "-p", "r", "-o", "json", url]

    def parse(self, output, case, folder):
        result, report = json.loads(output)["result"], Report()
        for name, percent in PERCENTS.items():
            if percent in result["latency"]["percentiles"]:
                report.latency[name] = result["latency"]["percentiles"][percent] / 1000
        report.latency["mean"], report.latency["max"] = result["latency"]["mean"] / 1000, result["latency"]["max"] / 1000
        report.rate = result["rps"]["mean"]
        report.counts = {"ok": result["req2xx"], "503": result["req5xx"]}  # its errors are in the text report alone
        return report


def go_version(path):
    if not shutil.which("go"):
        return "?"
    output = subprocess.run(["go", "version", "-m", path], capture_output=True, text=True).stdout
    found = re.search(r"^\s+mod\s+\S+\s+(\S+)", output, re.M)
    return found[1] if found else "?"


class Vegeta(Tool):
    name = program = "vegeta"

    def version(self):
        return go_version(self.path())

    def command(self, url, case, seconds, folder):
        (folder / "targets").write_text(f"GET {url}\n")
        load = [f"-rate={case.rate}/1s"] if case.rate else ["-rate=0", f"-workers={case.users}", f"-max-workers={case.users}"]
        timeout = [f"-timeout={case.timeout}s"] if case.timeout else []
        return [self.path(), "attack", f"-targets={folder}/targets", f"-output={folder}/vegeta.bin", f"-duration={seconds}s", *load, *timeout]

    def parse(self, output, case, folder):
        made = subprocess.run([self.path(), "report", "-type=json", folder / "vegeta.bin"], capture_output=True, text=True, check=True).stdout
        result, report = json.loads(made), Report()
        names = {"p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th", "mean": "mean", "max": "max"}
        report.latency = {ours: result["latencies"][theirs] / 1e6 for ours, theirs in names.items()}
        report.rate = result["throughput"]
        codes = result["status_codes"]
        report.counts = {"ok": codes.get("200", 0), "503": codes.get("503", 0)}
        report.failed = codes.get("0", 0)
        return report


K6_SCRIPT = """
import http from 'k6/http'
export const options = {{
  discardResponseBodies: true, summaryTrendStats: ['avg', 'max', 'p(50)', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)'],
  scenarios: {{ load: {load} }},
}}
export default function () {{ http.get('{url}', {{ timeout: '{timeout}s' }}) }}
"""


class K6(Tool):
    name = program = "k6"
    environment = {"K6_NO_USAGE_REPORT": "true"}

    def version(self):
        return self.said("version", pattern=r"k6 v?(\S+)")

    def command(self, url, case, seconds, folder):
        load = ({"executor": "constant-arrival-rate", "rate": case.rate, "timeUnit": "1s", "preAllocatedVUs": 2500} if case.rate else
                {"executor": "constant-vus", "vus": case.users})
        script = folder / "k6.js"
        script.write_text(K6_SCRIPT.format(load=json.dumps({**load, "duration": f"{seconds}s"}), url=url, timeout=case.timeout or 60))
        return [self.path(), "run", "--quiet", "--no-color", "--address", "", "--summary-export", folder / "k6.json", script]

    def parse(self, output, case, folder):
        metrics, report = json.loads((folder / "k6.json").read_text())["metrics"], Report()
        trend = metrics["http_req_duration"]
        names = {"p(50)": "p50", "p(90)": "p90", "p(95)": "p95", "p(99)": "p99", "p(99.9)": "p999", "avg": "mean", "max": "max"}
        report.latency = {ours: trend[theirs] for theirs, ours in names.items() if theirs in trend}
        report.rate = metrics["http_reqs"]["rate"]
        report.ttfb, report.round = metrics["http_req_waiting"]["avg"], metrics["iteration_duration"]["avg"]
        report.flags = ["dropped iterations"] if "dropped_iterations" in metrics else []
        return report


class Oha(Tool):
    name = program = "oha"

    def version(self):
        return self.said("--version")

    def command(self, url, case, seconds, folder):
        pace = ["-q", case.rate, "--latency-correction"] if case.rate else []
        timeout = ["-t", f"{case.timeout}s"] if case.timeout else []
        return [self.path(), "-z", f"{seconds}s", "-c", self.connections(case), *pace, *timeout, "--no-tui", "--output-format", "json", url]

    def parse(self, output, case, folder):
        result, report = json.loads(output), Report()
        for name, percent in PERCENTS.items():
            value = result["latencyPercentiles"].get(f"p{percent}")
            if value is not None:
                report.latency[name] = value * 1000
        report.latency["mean"], report.latency["max"] = result["summary"]["average"] * 1000, result["summary"]["slowest"] * 1000
        report.rate = result["summary"]["requestsPerSec"]
        status, errors = result["statusCodeDistribution"], result["errorDistribution"]
        hang = sum(count for text, count in errors.items() if "timeout" in text.lower())
        report.counts = {"ok": status.get("200", 0), "503": status.get("503", 0), "hang": hang,
                         "reset": sum(n for text, n in errors.items() if "timeout" not in text.lower() and "deadline" not in text.lower())}
        if "firstByte" in result.get("details", {}):
            report.ttfb = result["details"]["firstByte"]["average"] * 1000
        return report


class Autocannon(Tool):
    name = program = "autocannon"

    def path(self):
        own = ROOT / "tests/bench/node_modules/.bin/autocannon"
        return str(own) if own.exists() else None

    def version(self):
        return json.loads((ROOT / "tests/bench/node_modules/autocannon/package.json").read_text())["version"]

    def command(self, url, case, seconds, folder):
        pace = ["-R", case.rate] if case.rate else []
        timeout = ["-t", case.timeout] if case.timeout else []
        return [self.path(), "--json", "--no-progress", "-c", self.connections(case), "-d", seconds, *pace, *timeout, url]

    def parse(self, output, case, folder):
        result, report = json.loads(output[output.index("{"):]), Report()
        report.step = 1.0
        names = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99_9", "mean": "average", "max": "max"}
        report.latency = {ours: result["latency"][theirs] for ours, theirs in names.items()}
        report.rate = result["requests"]["average"]
        report.counts = {"ok": result["2xx"], "503": result["5xx"], "hang": result["timeouts"], "reset": result["errors"] - result["timeouts"]}
        return report


class Reference(Tool):
    """The floor, in the cases that it can do."""

    name = program = "refc"

    def path(self):
        return str(BUILD / "tests/truth/refc")

    def can(self, case):
        return case.name in ("T01", "T03")

    def command(self, url, case, seconds, folder):
        return [self.path(), re.search(r":(\d+)", url)[1], seconds, case.rate]

    def parse(self, output, case, folder):
        result, report = json.loads(output), Report()
        report.rate = result["rate"]
        report.latency = {name: result[name] for name in ("p50", "p90", "p95", "p99", "p999", "mean", "max")}
        return report


TOOLS = [Reference(), Luabench(), Wrk(), Wrk2(), Vegeta(), K6(), Oha(), Bombardier(), Hey(), H2load(), Autocannon()]
