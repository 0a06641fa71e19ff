"""The tables of truthbench, in Markdown: who is right how often, case by case the error of each cell, and what was measured."""
import math
import os
import platform
from collections import defaultdict
from pathlib import Path
from statistics import median

from cases import CASES

COLUMNS = ["p50", "p90", "p95", "p99", "p999", "mean"]
SAID = ["drift", "overload", "flag"]  # cells of what a tool says in words
MARK = "<!-- tables of tests/truth/truthbench -->"
BUSY = 0.7  # of a core: a tool above it is measured at its limit


def number(value):
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) and abs(value) >= 10 else f"{value:.3g}"


def is_small(one):
    """A latency so short that a share of it says nothing."""
    return one["name"] in (*COLUMNS, "ttfb") and one["truth"] < 1


def error_size(one):
    """'+3.1%' of a cell's error; far off it is a factor, below a millisecond the difference."""
    error = one.get("error")
    if one["name"] in SAID:
        return "says so" if one["ok"] else "says nothing"
    if error is None:
        return number(one["reported"]) if one["reported"] is not None else "-"
    if is_small(one):
        difference = (one["reported"] - one["truth"]) * 1000
        return f"{difference:+.0f} µs" if abs(difference) < 1000 else f"{difference / 1000:+.1f} ms"
    return f"{math.expm1(error) * 100:+.1f}%" if abs(error) < 1 else f"{'×' if error > 0 else '÷'}{math.exp(abs(error)):.3g}"


def error_text(one):
    """Bold when it is out of tolerance."""
    if one["ok"] is None:
        return "n/a"
    return error_size(one) if one["ok"] else f"**{error_size(one)}**"


def line(run):
    """One run on one line, for who watches."""
    if "failed" in run:
        return f"{run['case']:13} {run['tool']:10} FAILED {run['failed']}"
    bad = [f"{one['name']} {number(one['reported'])} for {number(one['truth'])}" for one in run["cells"] if one["ok"] is False]
    there = sum(one["ok"] is not None for one in run["cells"])
    noise = f" ~ noisy ({run['floor99']:.2f} ms, {run['foreign']:.0%})" if run["noise"] else ""
    return f"{run['case']:13} {run['tool']:10} {there - len(bad)}/{there}{noise} {'; '.join(bad)}"


def merged(runs):
    """Several runs of the same case and tool: the median error of each cell; right when most were."""
    if len(runs) == 1:
        return runs[0]["cells"]
    cells = []
    for same in zip(*(run["cells"] for run in runs)):
        ordered = sorted(same, key=lambda one: (one.get("error") is None, one.get("error") or 0))
        known = [one["ok"] for one in same if one["ok"] is not None]
        ok = None if not known else sum(known) * 2 > len(known)
        cells.append({**ordered[len(ordered) // 2], "ok": ok})
    return cells


def marks(runs):
    texts = []
    if any(run["noise"] for run in runs):
        texts.append("~")
    if any(run["cpu"] > BUSY for run in runs):
        texts.append("cpu")
    if any(run.get("step", 0) >= 0.1 for run in runs):
        texts.append("res")
    return " ".join(texts)


def cases_table(groups, versions):
    lines = []
    for case in CASES:
        mine = [(tool, groups[case.name, tool]) for tool in versions if (case.name, tool) in groups]
        if not mine:
            continue
        load = f"{case.users} users" if case.users else f"{case.rate}/s, {case.arrivals}"
        lines += [f"\n**{case.name}**: {case.exposes}; {load}\n"]
        names = COLUMNS + list(case.cells) if case.latencies else list(case.cells)
        lines += ["| tool | " + " | ".join(names) + " | |", "| --- |" + " ---: |" * len(names) + " --- |"]
        truth = {one["name"]: one["truth"] for one in mine[0][1][0]["cells"]}
        lines.append("| *truth* | " + " | ".join(f"*{number(truth.get(name))}*" if number(truth.get(name)) else "" for name in names) + " | |")
        for tool, runs in mine:
            if any("failed" in run for run in runs):
                lines.append(f"| {tool} | " + " | ".join("-" for _ in names) + " | no report |")
                continue
            cells = {one["name"]: one for one in merged(runs)}
            lines.append(f"| {tool} | " + " | ".join(error_text(cells[name]) if name in cells else "" for name in names) + f" | {marks(runs)} |")
    return lines


def summary_table(groups, versions):
    lines = ["| tool | version | cells right | median error | worst error, where |", "| --- | --- | ---: | ---: | --- |"]
    for tool, version in versions.items():
        cells = [(case, one) for (case, name), runs in groups.items() if name == tool for one in merged(runs) if one["ok"] is not None]
        if not cells:
            continue
        errors = [(abs(one["error"]), case, one) for case, one in cells if one.get("error") is not None and (not is_small(one) or not one["ok"])]
        worst = max(errors, key=lambda item: (not item[2]["ok"], item[0])) if errors else None
        where = f"{error_size(worst[2])}: {worst[2]['name']} of {worst[1]}" if worst else ""
        middle = f"{median(item[0] for item in errors) * 100:.2f}%" if errors else ""
        lines.append(f"| {tool} | {version} | {sum(one['ok'] for _, one in cells)} of {len(cells)} | {middle} | {where} |")
    return lines


def machine(runs):
    clock = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text().strip()
    model = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "?")
    backlog = Path("/proc/sys/net/core/somaxconn").read_text().strip()
    floors = [run for run in runs if "r" in run]
    if not floors:
        return []
    priority = "; server and tools had real-time priority before them" if any(run.get("realtime") for run in floors) else ""
    return [f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, clock {clock}, somaxconn {backlog}; runs of {min(run['seconds'] for run in runs)} s; floor: round trip "
            f"{median(run['r'] for run in floors) * 1000:.0f} µs, p99 {median(run['floor99'] for run in floors) * 1000:.0f} µs, p99.9 "
            f"{median(run['floor999'] for run in floors) * 1000:.0f} µs (medians over {len(floors)} runs, {sum(run['noise'] > 0 for run in floors)} of them disturbed). Other programs "
            f"used {median(run['foreign'] for run in floors):.0%} of a core meanwhile (median){priority}.\n"]


def all_tables(runs, versions):
    groups = defaultdict(list)
    for run in runs:
        groups[run["case"], run["tool"]].append(run)
    return "\n".join([*machine(runs), *summary_table(groups, versions), *cases_table(groups, versions)])


def write_between_marks(file, text, mark=MARK):
    before, _, rest = file.read_text().partition(mark)
    _, _, after = rest.partition(mark)
    file.write_text(f"{before}{mark}\n{text}\n{mark}{after}")
