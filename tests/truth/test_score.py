"""The score of truthbench: a perfect report passes every cell, one that hides or invents does not; and what the tools print is read as it is meant."""
import json

import pytest
import score
import tools
import truths
from cases import CASES
from truthd import RECORD, Journal

CASE = {case.name: case for case in CASES}
FLOOR = score.Floor(0.05, 0.1, 0.2)


def journal(times, spent, stalls=(), outcomes=None):
    raw = b"".join(RECORD.pack(round(t * 1e6) + 1, round((t + s) * 1e6) + 1, round((t + s) * 1e6) + 1, 1, n, outcomes[n] if outcomes else 0, 200)
                   for n, (t, s) in enumerate(zip(times, spent)))
    begin = round(times[0] * 1e6) + 1
    return Journal(raw, {"stalls": [[start * 1e6 + begin, end * 1e6 + begin] for start, end in stalls], "connections": 1, "cpu": 0.0})


def report(latency, rate=None, counts=()):
    made = tools.Report()
    made.latency, made.rate, made.counts = latency, rate, dict(counts)
    return made


def shifted(truth, by):
    return {name: value + by for name, value in truth.figures().items()}


def wrong(cells):
    return {one["name"] for one in cells if one["ok"] is False}


def test_a_perfect_report_passes_and_one_of_another_delay_does_not():
    case, times = CASE["T02"], [k * 0.5 for k in range(16000)]
    seen = journal(times, [5.0] * 16000)
    rate = 2000
    assert not wrong(score.cells_of(case, report(shifted(truths.fixed(5), 0.05), rate), seen, 8, 0, FLOOR))
    late = score.cells_of(case, report(shifted(truths.fixed(5), 0.35), rate * 1.05), seen, 8, 0, FLOOR)
    assert wrong(late) == {"p50", "p90", "p95", "mean", "p99", "rate"}
    assert all(one["error"] > 0 for one in late)


def test_leaving_a_stall_out_is_seen():
    case, times = CASE["T08 open"], truths.arrivals(1000, 8)
    stalls = [(start, start + 200) for start in range(1000, 8000, 2000)]
    seen = journal(times, [0.0] * 8000, stalls)
    assert not wrong(score.cells_of(case, report(shifted(truths.stalled_open(200, 2000), 0.05)), seen, 8, 0, FLOOR))
    assert wrong(score.cells_of(case, report(shifted(truths.fixed(0), 0.05)), seen, 8, 0, FLOOR)) == {"p95", "p99", "p999", "mean"}


def test_a_server_that_is_off_its_law_is_seen():
    times = [k * 2.0 for k in range(4000)]
    assert score.nominal_error(CASE["T02"], journal(times, [5.0] * 4000), 8) < 1e-6
    assert score.nominal_error(CASE["T02"], journal(times, [5.2] * 4000), 8) == pytest.approx(0.04)
    assert score.nominal_error(CASE["T08 open"], journal(times, [0.0] * 4000), 8) is None


def test_what_piles_up_in_a_stall_may_take_its_time():
    times = [0.0, 50.0, 51.0] + [201.0 + k * 0.05 for k in range(100)] + [207.0, 300.0]
    seen = journal(times, [0.0] * len(times), [(100, 200)])
    assert score.drain(CASE["T08 open"], seen) == pytest.approx(5.95, abs=0.01)
    assert score.drain(CASE["T08 closed"], seen) == 0


def test_bad_pacing_gaps_and_counts_are_seen():
    even = journal(truths.arrivals(500, 8), [2.0] * 4000)
    bunched = journal([k // 10 * 20.0 for k in range(4000)], [2.0] * 4000)
    perfect = report(shifted(truths.fixed(2), 0.05))
    assert not wrong(score.cells_of(CASE["T04 constant"], perfect, even, 8, 0, FLOOR))
    assert wrong(score.cells_of(CASE["T04 constant"], perfect, bunched, 8, 0, FLOOR)) == {"pacing"}
    assert wrong(score.cells_of(CASE["T04 poisson"], perfect, even, 8, 0, FLOOR)) == {"gaps"}
    mixed = journal(truths.arrivals(500, 1), [10.0] * 500, outcomes=[0] * 460 + [1] * 20 + [2] * 12 + [3] * 8)
    counted = report(shifted(truths.fixed(10), 0.05), counts={"ok": 460, "503": 20, "hang": 11})
    counted.with_failures = {"p90": 10.05, "p95": 10.05}
    cells = score.cells_of(CASE["T11"], counted, mixed, 1, 0, FLOOR)
    assert wrong(cells) == {"n hang", "slo p95"}
    counted.with_failures["p95"] = None
    assert wrong(score.cells_of(CASE["T11"], counted, mixed, 1, 0, FLOOR)) == {"n hang"}
    assert [one["ok"] for one in cells if one["name"] == "n reset"] == [None]


@pytest.mark.parametrize("case", [case for case in CASES if case.nominal], ids=lambda case: case.name)
def test_every_case_has_finite_truths_in_order(case):
    figures = case.nominal(8).figures()
    ordered = [figures[name] for name in truths.QUANTILES]
    assert ordered == sorted(ordered) and all(value >= 0 for value in ordered)
    assert case.reset(8).split()[0]


WRK = """  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.15ms   53.16us   3.39ms   91.46%
  Latency Distribution
     50%    2.14ms
     90%    2.19ms
     99%    1.02s
  3676 requests in 2.00s, 595.91KB read
  Socket errors: connect 0, read 3, write 0, timeout 7
  Non-2xx or 3xx responses: 20
Requests/sec:   1837.38
"""


def test_wrk():
    seen = tools.Wrk().parse(WRK, CASE["T02"], None)
    assert seen.latency == {"p50": 2.14, "p90": 2.19, "p99": 1020, "mean": 2.15, "max": 3.39}
    assert seen.rate == 1837.38 and seen.counts == {"ok": 3656, "503": 20, "hang": 7, "reset": 3}
    assert seen.step == 10


def test_hey():
    seen = tools.Hey().parse("""  Slowest:	0.0032 secs
  Average:	0.0023 secs
  Requests/sec:	99.7912
  50%% in 0.0023 secs
  99%% in 0.0027 secs
Status code distribution:
  [200]	198 responses
Error distribution:
  [2]	Get "http://127.0.0.1:1/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
""", CASE["T02"], None)
    assert seen.latency == pytest.approx({"p50": 2.3, "p99": 2.7, "mean": 2.3, "max": 3.2})
    assert seen.counts == {"ok": 198, "503": 0, "hang": 2, "reset": 0}


def test_bombardier():
    result = {"req2xx": 90, "req5xx": 3, "rps": {"mean": 100.4},
              "latency": {"mean": 2212.2, "max": 2446, "percentiles": {"50": 2208, "99": 2325}}}
    seen = tools.Bombardier().parse(json.dumps({"result": result}), CASE["T02"], None)
    assert seen.latency == pytest.approx({"p50": 2.208, "p99": 2.325, "mean": 2.2122, "max": 2.446})
    assert seen.counts == {"ok": 90, "503": 3}


def test_h2load(tmp_path):
    (tmp_path / "h2load.log").write_text("1796098263759468\t200\t2198\n1796098263759464\t503\t226\n1796098263759460\t200\t2233\n")
    seen = tools.H2load().parse("finished in 2.00s, 100.00 req/s, 16.21KB/s\nrequests: 4 total, 4 started, 4 done, 2 succeeded, 1 failed, 1 errored, 0 timeout",
                                CASE["T02"], tmp_path)
    assert seen.latency["p50"] == 2.198 and seen.latency["max"] == 2.233
    assert seen.counts == {"ok": 2, "503": 1, "hang": 0, "reset": 1}


def test_printed_steps():
    assert tools.step_of("2.14ms") == pytest.approx(0.01) and tools.step_of("1.02s") == pytest.approx(10)
    assert tools.milliseconds("45us") == pytest.approx(0.045) and tools.milliseconds("1.5m") == 90000
