"""The whole bench once, for two seconds: it keeps the run, prints the tables, and does not make again what is there. No figure is asserted: the machine may be busy."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the bench needs two cores")
def test_a_run_is_kept_shown_and_not_made_again(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- tables of tests/truth/truthbench -->\nold\n<!-- tables of tests/truth/truthbench -->\nafter\n")
    environment = {**os.environ, "LUABENCH_BUILD": str(Path(os.environ["TRUTHD"]).parents[2])}
    command = [sys.executable, HERE / "truthbench", "--seconds", "2", "--runs", "1", "--attempts", "1", "--only", "T02", "--tools", "luabench",
               "--results", tmp_path / "runs", "--write", page]
    first = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    (file,) = (tmp_path / "runs").glob("*.json")
    run = json.loads(file.read_text())
    assert run["requests"] > 100 and [one["name"] for one in run["cells"]] == ["p50", "p90", "p95", "mean", "p99", "p999", "rate"]
    assert first.startswith("T02") and "| luabench |" in first
    written, time = page.read_text(), file.stat().st_mtime_ns
    assert written.startswith("before\n") and written.endswith("after\n") and "old" not in written and "| luabench |" in written
    again = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert file.stat().st_mtime_ns == time and first.endswith(again)
    assert page.read_text() == written
