"""truthd at work, and luabench against it. What is asserted holds on the busiest machine: counts, and lower bounds that nothing can undercut. An answer cannot be there before
the server wrote it, and a user who arrives while the server sleeps cannot be answered before it wakes; so every quantile of a truthful report is at least the recorded one."""
import json
import os
import socket
import subprocess

import pytest
import truths
from truthd import Truthd

LUABENCH = os.environ["LUABENCH"]
ROUNDING = 0.9994  # of the histogram: half of its step


@pytest.fixture(scope="module")
def server():
    with Truthd(os.environ["TRUTHD"]) as server:
        yield server


def luabench(server, *options):
    run = subprocess.run([LUABENCH, server.url, "-t", "1", "--quiet", "--json", *options], capture_output=True, text=True, timeout=60)
    (scenario,) = json.loads(run.stdout)["scenarios"].values()
    return scenario


def assert_not_below(summary, truth):
    for name, q in (("median", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        assert summary[name] * 1000 >= truth.quantile(q) * ROUNDING, name
    assert summary["mean"] * 1000 >= truth.mean * ROUNDING


@pytest.mark.parametrize("law", ["null", "fixed:5", "two:1:20:0.08", "exp:3", "queue-exp:1"])
def test_a_closed_loop_is_counted_exactly_and_hides_nothing(server, law):
    server.reset(f"{law} seed=1")
    scenario = luabench(server, "-c", "5", "-n", "400")
    journal = server.journal()
    assert len(journal.records) == journal.count("ok") == scenario["status"]["200"] == scenario["latency"]["count"] == 400
    assert journal.connections == scenario["connections"]["opened"] == 5
    assert_not_below(scenario["latency"], truths.sample(journal.spent()))


def test_the_server_never_answers_early(server):
    server.reset("two:1:20:0.08 seed=1")
    luabench(server, "-c", "10", "-n", "300")
    for record in server.journal().records:
        assert record.written >= record.due >= record.read + 1 - 1e-6


def test_an_open_loop_hides_no_stall(server):
    """Arrivals go on while the server sleeps: those that were due then wait at least until it wakes."""
    server.reset("null seed=1 stall=300:0:400")
    scenario = luabench(server, "-R", "500", "-d", "1s")
    journal = server.journal()
    assert len(journal.records) == scenario["iterations"]["scheduled"] == 500
    assert len(journal.stalls) == 1
    # As many arrivals fall into the stall wherever it is; the grid of arrivals may lie up to a gap of 2 ms otherwise.
    waits = truths.sample(truths.replay_stalls(truths.arrivals(500, 1), journal.stalls, 0.0))
    for name, q in (("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        assert scenario["latency_from_intended"][name] * 1000 >= (waits.quantile(q) - 2) * ROUNDING


def test_an_overloaded_queue_shows_those_who_wait(server):
    server.reset("queue-det:10 seed=1")
    scenario = luabench(server, "-R", "200", "-d", "1s")
    assert scenario["latency_from_intended"]["count"] == 200
    # Requests that a busy machine sends together may be served in another order, which changes quantiles, but not the mean.
    assert scenario["latency_from_intended"]["mean"] * 1000 >= truths.overloaded(10, 200, 1).mean * ROUNDING


def test_failures_are_told_apart_and_counted_exactly(server):
    server.reset("mix seed=1")
    scenario = luabench(server, "-R", "500", "-d", "1s", "-T", "2s")
    journal = server.journal()
    counted = {kind: journal.count(kind) for kind in ("ok", "503", "hang", "reset")}
    assert sum(counted.values()) == 500
    assert counted["ok"] == scenario["status"]["200"] and counted["503"] == scenario["status"]["503"] == scenario["errors"]["status"]
    assert counted["hang"] == scenario["errors"]["timeout"]
    assert counted["reset"] == scenario["errors"].get("reset", 0) + scenario["errors"].get("closed", 0)


def test_a_trickled_answer_has_an_early_first_byte_and_a_late_last_one(server):
    server.reset("trickle:10:5 seed=1")
    scenario = luabench(server, "-c", "2", "-n", "20")
    journal = server.journal()
    assert all(record.spent >= 45 - 1e-6 for record in journal.records)
    assert_not_below(scenario["latency"], truths.sample(journal.spent()))


def test_control_refuses_what_it_does_not_know(server):
    for line in ("reset", "reset nothing", "reset fixed", "reset fixed:-1", "reset two:1:2", "reset null speed=2"):
        assert server.ask(line).strip() != b"ok"
    with pytest.raises(ValueError, match="no such law"):
        server.reset("fixed:x")


def test_requests_that_come_in_pieces_and_ones_that_come_together(server):
    server.reset("null seed=1")
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHo")
        client.sendall(b"st: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        seen = b""
        while seen.count(b"HTTP/1.1 200 OK") < 3 or not seen.endswith(b"x" * 100):
            piece = client.recv(65536)
            assert piece
            seen += piece
    assert server.journal().count("ok") == 3
