"""The table of T14: true ratios from what servers took, verdicts on replays by luabench's own statistics. No server and no luabench is run."""
import json
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

LOADER = SourceFileLoader("comparisons", str(Path(__file__).parent / "comparisons"))
comparisons = module_from_spec(spec_from_loader("comparisons", LOADER))
LOADER.exec_module(comparisons)


def test_the_true_ratio_is_that_of_delay_and_round_trip():
    figures = [{"p50": 5, "p99": 5, "mean": 5.225}, {"p50": 5, "p99": 50, "mean": 5.675}]
    assert comparisons.truth_of("tail", figures, 0.1) == {"rate": 5.325 / 5.775, "p50": 1, "p99": pytest.approx(50.1 / 5.1)}
    assert comparisons.truth_of("drift", figures, 0.1) == {"rate": 1, "p50": 1, "p99": 1}


def test_replays_say_what_the_rounds_show():
    slower = [(100 + k, 1.10 * (100 + k)) for k in range(10)]
    assert {said["verdict"] for said in comparisons.replays("tail", slower, "p99", 20)} == {"worse"}
    assert {said["verdict"] for said in comparisons.replays("tail", slower, "rate", 20)} == {"better"}
    turned = {said["verdict"] for said in comparisons.replays("same", slower, "p99", 50)}
    assert "no_difference" in turned  # who is who is drawn anew


def test_the_table_counts_intervals_and_verdicts(tmp_path):
    said = {"verdict": "worse", "ratio": 9.8, "low": 9.5, "high": 10.2, "text": ""}
    for number, truth in enumerate((9.8, 12)):
        kept = {"kind": "tail", "status": 4 * number, "truth": {"rate": 1, "p50": 1, "p99": truth}, "verdicts": {"10 users": {}, "500/s": {"p99": said}},
                "rounds": {"500/s": {"p99": [(5 + k / 100, 49) for k in range(10)]}}}
        (tmp_path / f"{number}.json").write_text(json.dumps(kept))
    text = comparisons.table(tmp_path, 3)
    assert "| tail | 500/s | p99 | 10.900 | 9.800 to 9.800 | 1 of 2 | 2× slower | 0 of 3 | 3× slower |" in text
    assert "In 1 of the comparisons luabench itself said" in text
