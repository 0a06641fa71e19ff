"""The cases T01 to T13 and X1: what the server does, how it is loaded, and what is true of it.

A case has a load, `closed` users or an open rate; times are milliseconds, `seconds` is the length of the run. T14, on comparisons, is tests/truth/comparisons.
"""
import truths


class Case:
    """
    name      as in the table; the first word is the case, the rest tells its loads apart
    law       of truthd's `reset`
    nominal   function(seconds) -> Truth by the closed form, or None
    stall     function(seconds) -> (length, period, first) of the server's sleeps, or None
    users     of the closed loop, or 0
    rate      of the open loop a second, or 0; `arrivals` constant or poisson
    timeout   seconds, given to the tool, or None
    replay    the recorded truth: "log" what the server took for each request; "stalls", "ramp" and "queue" what users who arrive on time would have seen
    drain     what the requests that pile up in a stall may add at least
    cells     of the score beside the quantiles and the mean: see score.py
    quick     part of the quick mode
    least_seconds   of a run: a shorter one has not enough to show
    latencies       whether the quantiles are scored
    """

    def __init__(self, name, exposes, law, nominal, **more):
        self.name, self.exposes, self.law, self.nominal = name, exposes, law, nominal
        self.stall = None
        self.users = self.rate = 0
        self.arrivals = "constant"
        self.timeout = None
        self.replay = "log"
        self.drain = 0.0
        self.cells = ()
        self.quick = True
        self.least_seconds = 0
        self.latencies = True
        self.__dict__.update(more)

    @property
    def model(self):
        return "open" if self.rate else "closed"

    def reset(self, seconds, later=0.0):
        """The line for truthd; `later` milliseconds are what the tool throws away first."""
        line = f"{self.law(seconds) if callable(self.law) else self.law} seed=1"
        if self.stall:
            length, period, first = self.stall(seconds)
            line += f" stall={length}:{period}:{first + later}"
        return line


def often(_):
    return 200, 2000, 1000


def once(seconds):
    return 2000, 0, seconds * 500


def ramp(seconds):
    return f"ramp:1:100:{seconds * 1000}"


RATE = ("rate",)
CASES = [
    Case("T01", "floor, own overhead", "null", lambda s: truths.fixed(0), users=1, cells=("rate", "little")),
    Case("T02", "plain correctness", "fixed:5", lambda s: truths.fixed(5), users=10, cells=RATE),
    Case("T03", "timer", "null", lambda s: truths.fixed(0), rate=1000, cells=("rate", "pacing")),
    Case("T04 constant", "arrival law", "fixed:2", lambda s: truths.fixed(2), rate=500, cells=("rate", "pacing")),
    Case("T04 poisson", "arrival law", "fixed:2", lambda s: truths.fixed(2), rate=500, arrivals="poisson", cells=("rate", "gaps")),
    Case("T05 closed", "invented samples", "two:1:20:0.08", lambda s: truths.two_points(1, 20, 0.08), users=10, cells=RATE),
    Case("T05 open", "invented samples", "two:1:20:0.08", lambda s: truths.two_points(1, 20, 0.08), rate=500, cells=RATE),
    Case("T06 closed", "histogram, ranks", "exp:10", lambda s: truths.exponential(10), users=20, cells=RATE, quick=False),
    Case("T06 open", "histogram, ranks", "exp:10", lambda s: truths.exponential(10), rate=1000, cells=RATE, quick=False),
    Case("T07 poisson", "burstiness", "queue-exp:1", None, rate=700, arrivals="poisson", cells=("rate", "gaps"), quick=False),
    Case("T07 constant", "burstiness", "queue-exp:1", None, rate=700, replay="queue", cells=RATE, quick=False),
    Case("T08 closed", "coordinated omission", "fixed:5", lambda s: truths.stalled_closed(200, 2000, 5, 10), users=10, stall=often, cells=RATE),
    Case("T08 open", "coordinated omission", "null", lambda s: truths.stalled_open(200, 2000), rate=1000, stall=often, replay="stalls", drain=2, cells=RATE),
    Case("T09 closed", "lost outliers", "fixed:5", lambda s: truths.stalled_closed(2000, s * 1000, 5, 10), users=10, stall=once, cells=RATE),
    Case("T09 open", "lost outliers", "null", lambda s: truths.stalled_open(2000, s * 1000), rate=1000, stall=once, replay="stalls", drain=20, cells=RATE),
    Case("T10 closed", "model, drift", ramp, lambda s: truths.ramp_closed(1, 100), users=10, cells=(*RATE, "drift"), quick=False, least_seconds=20),
    Case("T10 open", "model, drift", ramp, lambda s: truths.ramp_open(1, 100), rate=200, replay="ramp", cells=(*RATE, "drift"), quick=False,
         least_seconds=20),
    Case("T11", "accounting of failures", "mix", lambda s: truths.fixed(10), rate=500, timeout=1, cells=("n ok", "n 503", "n hang", "n reset", "slo p90", "slo p95")),
    Case("T12", "survivors at the end", "queue-det:10", lambda s: truths.overloaded(10, 200, s), rate=200, replay="queue", cells=("overload",), quick=False,
         least_seconds=20),
    Case("T13", "own stalls", "fixed:2", lambda s: truths.fixed(2), rate=500, cells=("flag",), quick=False, latencies=False),
    Case("X1", "time to first byte", "trickle:10:5", lambda s: truths.trickled(10, 5), users=10, cells=(*RATE, "ttfb"), quick=False),
]
