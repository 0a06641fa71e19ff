"""The closed forms of truths.py against simulation: of the law that truthd really has (`truthd LAW N` prints it without waiting), or of the model, with a fixed seed."""
import os
import random
import subprocess
from statistics import mean

import pytest
import truths
from truths import QUANTILES, nearest_rank

TRUTHD = os.environ["TRUTHD"]


def law(text, count=20000, seed=7):
    """(delay in milliseconds, outcome) of truthd's first requests."""
    lines = subprocess.run([TRUTHD, text, str(count), str(seed)], capture_output=True, text=True, check=True).stdout.splitlines()
    return [(int(delay) / 1e6, int(outcome)) for delay, outcome in map(str.split, lines)]


@pytest.mark.parametrize("text, truth", [
    ("null", truths.fixed(0)), ("fixed:5", truths.fixed(5)), ("two:1:20:0.08", truths.two_points(1, 20, 0.08)), ("exp:10", truths.exponential(10)),
])
def test_the_servers_law_is_the_closed_form(text, truth):
    delays = sorted(delay for delay, _ in law(text))
    for q in QUANTILES.values():
        assert truth.quantile(q - 0.0002) * 0.999 <= nearest_rank(delays, q) <= truth.quantile(q + 0.0002) * 1.001
    assert mean(delays) == pytest.approx(truth.mean, rel=0.001)


def test_any_window_of_the_law_has_its_quantiles():
    delays = [delay for delay, _ in law("exp:10", 60000)]
    for start in (0, 12345, 40000):
        ordered = sorted(delays[start:start + 20000])
        for q in QUANTILES.values():
            rank = 1 - 2.718281828459045 ** (-nearest_rank(ordered, q) / 10)
            assert abs(rank - q) < 0.00013


def test_the_mix_of_outcomes_is_exact_to_one_in_a_thousand():
    outcomes = [outcome for _, outcome in law("mix", 10000)]
    assert [outcomes.count(kind) / 10 for kind in range(4)] == pytest.approx([935, 30, 20, 15], abs=1)


def test_service_times_of_a_queue_are_independent():
    services = [delay for delay, _ in law("queue-exp:1", 50000)]
    assert mean(services) == pytest.approx(1, rel=0.02)
    lagged = mean((a - 1) * (b - 1) for a, b in zip(services, services[1:]))
    assert abs(lagged) < 0.02
    assert truths.kolmogorov_exponential(services) < 1.63


def poisson(rate, count, source):
    time = 0.0
    for _ in range(count):
        time += source.expovariate(rate / 1000)
        yield time


@pytest.mark.parametrize("truth, times", [
    (truths.poisson_queue(700, 1), lambda n: list(poisson(700, n, random.Random(1)))),
    (truths.paced_queue(700, 1), lambda n: truths.arrivals(700, n / 700)),
])
def test_a_queue_at_seven_tenths(truth, times):
    count = 400000
    services = [delay for delay, _ in law("queue-exp:1", count)]
    spent = sorted(truths.replay_queue(times(count), services))
    for q in (0.5, 0.9, 0.95, 0.99):
        assert nearest_rank(spent, q) == pytest.approx(truth.quantile(q), rel=0.05)
    assert mean(spent) == pytest.approx(truth.mean, rel=0.03)


def test_known_values_of_the_queues():
    assert [round(truths.poisson_queue(700, 1).quantile(q), 2) for q in QUANTILES.values()] == [2.31, 7.68, 9.99, 15.35, 23.03]
    assert [round(truths.paced_queue(700, 1).quantile(q), 2) for q in QUANTILES.values()] == [1.30, 4.32, 5.62, 8.64, 12.96]


@pytest.mark.parametrize("length, period, seconds", [(200, 2000, 30), (2000, 30000, 30), (2000, 8000, 8)])
def test_stalls_in_an_open_loop(length, period, seconds):
    stalls = [(start, start + length) for start in range(period // 2, seconds * 1000, period)]
    waits = sorted(truths.replay_stalls(truths.arrivals(1000, seconds), stalls, 0.0))
    truth = truths.stalled_open(length, period)
    for q in QUANTILES.values():
        assert nearest_rank(waits, q) == pytest.approx(truth.quantile(q), abs=length / 100)
    assert mean(waits) == pytest.approx(truth.mean, rel=0.01)


def closed_loop(delay, users, end):
    """Latencies of users who ask again at once; `delay(t)` of what is asked for at t. Users start spread over the first delay."""
    latencies = []
    for user in range(users):
        time = delay(0) * user / users
        while time < end:
            latencies.append(delay(time))
            time += latencies[-1]
    return latencies


def stalled_delay(base, length, period):
    """The server sleeps from period / 2 on, every period. An answer that is due in a sleep comes at its end; what is asked for in a sleep is read at its end."""
    def delay(time):
        first = period / 2 + max(0, (time - period / 2) // period) * period
        for begin in (first, first + period):
            if begin <= time < begin + length:
                return begin + length - time + base
            if begin <= time + base < begin + length:
                return begin + length - time
        return base
    return delay


def test_stalls_in_a_closed_loop():
    values = closed_loop(stalled_delay(5, 200, 2000), 10, 60000)
    truth = truths.stalled_closed(200, 2000, 5, 10)
    assert mean(values) == pytest.approx(truth.mean, rel=0.01)
    ordered = sorted(values)
    for q in (0.5, 0.9, 0.95, 0.99):
        assert nearest_rank(ordered, q) == truth.quantile(q) == 5
    assert nearest_rank(ordered, 0.999) == pytest.approx(truth.quantile(0.999), abs=2)


def test_a_ramp():
    delay = lambda time: 1 + 99 * min(time / 30000, 1)
    opened = sorted(map(delay, truths.arrivals(200, 30)))
    closed = sorted(closed_loop(delay, 10, 30000))
    for q in QUANTILES.values():
        assert nearest_rank(opened, q) == pytest.approx(truths.ramp_open(1, 100).quantile(q), rel=0.01)
        assert nearest_rank(closed, q) == pytest.approx(truths.ramp_closed(1, 100).quantile(q), rel=0.02)
    assert len(closed) == pytest.approx(13955, rel=0.01)


def test_overload_is_the_replay_of_a_queue():
    spent = sorted(truths.replay_queue(truths.arrivals(200, 20), [10] * 4000))
    truth = truths.overloaded(10, 200, 20)
    assert [nearest_rank(spent, q) for q in (0.5, 0.9, 0.99)] == pytest.approx([10005, 18005, 19805])
    assert [truth.quantile(q) for q in (0.5, 0.9, 0.99)] == pytest.approx([10005, 18005, 19805])
    assert mean(spent) == pytest.approx(truth.mean)


def test_the_test_of_gaps_tells_poisson_from_constant():
    source = random.Random(3)
    assert truths.kolmogorov_exponential([source.expovariate(1) for _ in range(20000)]) < 1.63
    assert truths.kolmogorov_exponential([1.0] * 20000) > 10
    assert truths.kolmogorov_exponential([source.uniform(0, 2) for _ in range(20000)]) > 10


def test_the_test_of_gaps_forgives_what_a_wake_up_takes_and_no_more():
    source = random.Random(4)
    gaps = [source.expovariate(0.7) for _ in range(20000)]
    together = [gap if gap > 0.06 else 0.005 for gap in gaps]
    assert truths.kolmogorov_exponential(together) > 1.63 > truths.kolmogorov_exponential(together, 0.1)
    assert truths.kolmogorov_exponential([gap if gap > 0.5 else 0.005 for gap in gaps], 0.1) > 10
    assert truths.kolmogorov_exponential([1 / 0.7] * 20000, 0.1) > 10
