"""Holds a report against the truth: the cells of a case, each with its error and whether it is within tolerance.

The tolerances are what a perfect tool needs on loopback: a timer's lateness, two wake-ups and three digits of a histogram (p50 to p95 and the mean 1%, at least 0.1 ms;
p99 2% and 0.2 ms; p99.9 3% and 0.5 ms), what the reference client saw at that moment where that is more, and the step in which the tool prints.
"""
import bisect
import math
from statistics import median

import truths
from truths import QUANTILES

TOLERANCE = {"p50": (0.1, 0.01), "p90": (0.1, 0.01), "p95": (0.1, 0.01), "mean": (0.1, 0.01), "p99": (0.2, 0.02), "p999": (0.5, 0.03)}
RATE = 0.01
PACING = 0.3  # milliseconds, p99 at the server
ACCEPTING = 10  # milliseconds from the end of a stall to the first answer, when many connections wait to be accepted
BLUR = 0.1    # of a gap between arrivals, as the server sees it: two wake-ups. What one wake-up of the tool sends together comes with no gap at all


class Floor:
    """What the reference client measured against a server that answers at once, less what the server itself took: round trip, p99 and p99.9, milliseconds."""

    def __init__(self, r, p99, p999):
        self.r, self.p99, self.p999 = r, p99, p999


def cell(name, reported, truth, tolerance):
    """`error` is ln(reported / truth): positive when it overstates, negative when it hides."""
    if reported is None:
        return {"name": name, "reported": None, "truth": truth, "ok": None}
    error = math.log(reported / truth) if reported > 0 and truth > 0 else None
    return {"name": name, "reported": reported, "truth": truth, "tolerance": tolerance, "error": error, "ok": abs(reported - truth) <= tolerance}


def verdict(name, ok, reported=None, truth=None):
    """A cell that is right or wrong, without an error."""
    return {"name": name, "reported": reported, "truth": truth, "ok": ok}


def truth_of(case, journal, seconds, later, services=()):
    """The recorded truth. `later` milliseconds at the start were not measured by the tool; `services` are the law's first service times, for a queue's replay."""
    times = truths.arrivals(case.rate, seconds) if case.rate else []
    own = [record.spent - (record.due - record.read) for record in journal.records if record.outcome == "ok" and record.written is not None]
    late = median(own) if own else 0.0  # what the server adds to a delay by itself
    if case.replay == "stalls":
        return truths.sample(truths.replay_stalls([time + later for time in times], journal.stalls, late))
    if case.replay == "queue":
        return truths.sample([spent + late for spent in truths.replay_queue(times, services)])
    if case.replay == "ramp":
        return truths.sample([1 + 99 * min((time + later) / (seconds * 1000), 1) + late for time in times])
    return truths.sample(journal.spent(later))


def drain(case, journal):
    """What waits for the server when a stall ends is accepted (ACCEPTING) and answered one after another: how long that took at most, until the server had nothing to do for half
    a gap of arrivals. No tool's doing, and not in the replay."""
    if case.replay != "stalls":
        return 0.0
    longest, times = case.drain, sorted(record.written for record in journal.records if record.written is not None)
    for _, end in journal.stalls:
        later = times[bisect.bisect_left(times, end):]
        last = later[0] if later and later[0] - end < ACCEPTING else end
        for time in later:
            if time - last > 500 / case.rate:
                break
            last = time
        longest = max(longest, last - end)
    return longest


def latency_cells(case, report, truth, floor, piled):
    expected = truth.figures()
    for name, (least, share) in TOLERANCE.items():
        value = expected[name] + floor.r
        tolerance = max(least, share * value, {"p99": floor.p99, "p999": floor.p999}.get(name, 0), report.step) + piled
        yield cell(name, report.latency.get(name), value, tolerance)


def reads_of(journal, after=0.0):
    """When requests were read, in order, from `after` milliseconds on."""
    return sorted(record.read for record in journal.records if record.read >= after)


def gaps_of(reads):
    return [b - a for a, b in zip(reads, reads[1:])]


def pacing(reads, rate):
    """How far from its time each request came, by the server's clock: ordered, after the median offset is taken out. Requests that a tool left out count as late ones."""
    offsets = [read - k * 1000 / rate for k, read in enumerate(reads)]
    middle = median(offsets)
    return sorted(abs(offset - middle) for offset in offsets)


def rate_cell(case, report, journal, seconds, discards):
    """Open: what reached the server, against the rate that was asked for. Closed: what the tool says, against the server's count; what is under way at the end may count or
    not."""
    if case.rate:
        reached = len(reads_of(journal, discards * 1000)) / seconds
        return cell("rate", reached, case.rate, case.rate * RATE + 1 / seconds)
    counted = len(journal.records) / seconds
    return cell("rate", report.rate, counted, counted * RATE + case.users / seconds)


def little_cell(case, report):
    """Throughput times the time of a user's round is the number of users: if not, the tool spends time that it does not tell of."""
    mean = report.round or report.latency.get("mean")
    return cell("little", report.rate * mean / 1000 if mean else None, case.users, case.users * 0.02)


def gaps_cell(reads):
    distance = truths.kolmogorov_exponential(gaps_of(reads), BLUR)
    return verdict("gaps", distance < 1.63, distance, 1.63)


def count_cell(name, report, journal):
    kind = name.split()[1]
    count = report.counts.get(kind)
    return verdict(name, None if count is None else count == journal.count(kind), count, journal.count(kind))


def failures_cell(name, report, journal, floor):
    """A quantile of all who arrived, failures being endless: a truthful tool says that it does not exist when more than a share of 1 - q failed."""
    good = sorted(journal.spent())
    rank = math.ceil(QUANTILES[name.split()[1]] * len(journal.records) - 1e-9)
    truth = good[rank - 1] + floor.r if rank <= len(good) else None
    if name.split()[1] not in report.with_failures:
        return verdict(name, None)
    reported = report.with_failures[name.split()[1]]
    if truth is None or reported is None:
        return verdict(name, truth is None and reported is None, "failed" if reported is None else reported, "failed" if truth is None else truth)
    return cell(name, reported, truth, max(0.1, 0.02 * truth))


def extra_cell(name, case, report, journal, seconds, discards, floor):
    if name == "rate":
        return rate_cell(case, report, journal, seconds, discards)
    if name == "little":
        return little_cell(case, report)
    if name == "pacing":
        p99 = truths.nearest_rank(pacing(reads_of(journal, discards * 1000), case.rate), 0.99)
        return verdict("pacing", p99 <= PACING, p99, PACING)
    if name == "gaps":
        return gaps_cell(reads_of(journal, discards * 1000))
    if name == "ttfb":
        return cell("ttfb", report.ttfb, floor.r, 0.1)
    if name == "flag":
        return verdict("flag", bool(report.flags), "; ".join(report.flags) or "nothing")
    if name.startswith("slo "):
        return failures_cell(name, report, journal, floor)
    if name.startswith("n "):
        return count_cell(name, report, journal)
    return verdict(name, report.notes.get(name, False), report.notes.get(name))


def cells_of(case, report, journal, seconds, discards, floor, services=()):
    """All cells of one run."""
    cells = []
    if case.latencies:
        truth = truth_of(case, journal, seconds, discards * 1000, services)
        cells = list(latency_cells(case, report, truth, floor, drain(case, journal)))
    return cells + [extra_cell(name, case, report, journal, seconds, discards, floor) for name in case.cells]


def nominal_error(case, journal, seconds):
    """How far the delays that the server meant to make are from the law's: the largest share of p50 to p99 (of a millisecond at least). A check of the server, not of the
    machine; None where the closed form is of another population."""
    if case.nominal is None or case.replay != "log" or case.stall or case.name.startswith(("T10", "X1")):
        return None
    meant = truths.sample([record.due - record.read for record in journal.records if record.outcome == "ok"])
    truth = case.nominal(seconds)
    quantiles = [q for name, q in QUANTILES.items() if name != "p999"]
    return max(abs(meant.quantile(q) - truth.quantile(q)) / max(1, truth.quantile(q)) for q in quantiles)
