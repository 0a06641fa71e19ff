"""What a perfect tool would report: closed forms of the cases, in milliseconds, and quantiles by nearest rank.

A Truth has `quantile(q)` and `mean`. Latencies of an open model are those of users who arrive at their times whatever the server does; those of a closed model are of users
who wait for one answer before they ask again. Derivations are beside each form.
"""
import math

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class Truth:
    def __init__(self, quantile, mean):
        self.quantile, self.mean = quantile, mean

    def figures(self):
        return {**{name: self.quantile(q) for name, q in QUANTILES.items()}, "mean": self.mean}


def nearest_rank(ordered, q):
    """The smallest value that a share of at least q does not exceed."""
    return ordered[max(0, math.ceil(q * len(ordered) - 1e-9) - 1)]


def sample(values):
    """The truth of these latencies themselves."""
    ordered = sorted(values)
    return Truth(lambda q: nearest_rank(ordered, q), sum(ordered) / len(ordered))


def fixed(delay):
    return Truth(lambda q: delay, delay)


def two_points(low, high, share):
    return Truth(lambda q: low if q <= 1 - share else high, low + (high - low) * share)


def exponential(mean):
    return Truth(lambda q: -mean * math.log1p(-q), mean)


def poisson_queue(rate, service):
    """M/M/1: the time in the system is exponential with the rate mu - lambda."""
    return exponential(1 / (1 / service - rate / 1000))


def paced_queue(rate, service):
    """D/M/1: exponential with mu (1 - s), where s is the root below 1 of s = exp(-(1 - s) / rho)."""
    load, s = rate / 1000 * service, 0.5
    for _ in range(1000):
        s = math.exp(-(1 - s) / load)
    return exponential(service / (1 - s))


def stalled_open(length, period, base=0.0):
    """Arrivals are spread evenly over a period of which the server sleeps `length`: P(L > base + x) = (length - x) / period, that is
    Q(q) = base + max(0, length - period (1 - q)); the mean is base + length^2 / 2 period."""
    return Truth(lambda q: base + max(0.0, length - period * (1 - q)), base + length * length / (2 * period))


def stalled_closed(length, period, base, users):
    """In a period the users wait for the sleep once each, for base at least, and go round every base in the rest of the time. An answer that a sleep holds up was asked for
    at a time spread over [0, base] before it, so it takes length + base / 2 on average, and base + length when it was asked for just before."""
    quick = users * (period - length) / base - users
    share = users / (users + quick)
    return Truth(lambda q: base if q <= 1 - share else length + base * (q - 1 + share) / share, base * (1 - share) + (length + base / 2) * share)


def ramp_open(first, last):
    """The delay is uniform over the run."""
    return Truth(lambda q: first + (last - first) * q, (first + last) / 2)


def ramp_closed(first, last):
    """Slow answers make few: the density of samples is 1 / d(t), so Q(q) = first (last / first)^q."""
    ratio = last / first
    return Truth(lambda q: first * ratio**q, (last - first) / math.log(ratio))


def overloaded(service, rate, seconds):
    """D/D/1 that gets more than it can do: the k-th waits k times what it is behind."""
    behind, count = service - 1000 / rate, round(rate * seconds)
    return Truth(lambda q: service + behind * (math.ceil(q * count - 1e-9) - 1), service + behind * (count - 1) / 2)


def trickled(pieces, gap):
    return fixed((pieces - 1) * gap)


def arrivals(rate, seconds):
    """Times of the arrivals of a constant rate, milliseconds from the start: the k-th at (k + 1/2) / rate."""
    return [(k + 0.5) * 1000 / rate for k in range(round(rate * seconds))]


def replay_queue(times, services):
    """What the k-th of these arrivals spends in a queue of one server (Lindley's recursion)."""
    free, spent = 0.0, []
    for time, service in zip(times, services):
        free = max(free, time) + service
        spent.append(free - time)
    return spent


def replay_stalls(times, stalls, base):
    """What arrivals at these times wait: to the end of the stall that they fall into, then `base`."""
    waits = []
    for time in times:
        end = next((end for start, end in stalls if start <= time < end), time)
        waits.append(end - time + base)
    return waits


def kolmogorov_exponential(gaps, blur=0.0):
    """sqrt(n) times the largest distance between these gaps' distribution and the exponential one of the same mean, where each gap may be off by `blur`. Below 1.63 at the 1%
    level (less than that for a mean that is estimated, so the test is on the safe side)."""
    ordered, count = sorted(gaps), len(gaps)
    mean = sum(ordered) / count
    below = lambda gap: -math.expm1(-max(gap, 0.0) / mean)
    return math.sqrt(count) * max(max((i + 1) / count - below(gap + blur), below(gap - blur) - i / count) for i, gap in enumerate(ordered))
