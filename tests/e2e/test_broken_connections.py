"""What servers do to connections: they refuse, close, reset and stall them, at every moment. The exact outcome of each, with balanced books."""
import socket
import threading

import pytest

from conftest import wait_until
from framing_cases import CONTINUE, OK, TIMED_OUT
from hostile import CLOSE, FIN, RESET, run, scenario_of

# Not there


def test_refused(luabench, free_port):
    result = luabench.result(f"http://127.0.0.1:{free_port()}/", "-n", 5, "-c", 1, status=3)
    total = scenario_of(result)
    assert (total["errors"], total["connections"]["opened"]) == ({"connect": 5}, 0)
    assert [each["text"] for each in result["error_texts"]] == ["Connection refused"]


@pytest.fixture
def fill():
    """A function that makes a listener at an address whose queue has room for two connections, and is full: the kernel throws away what else comes."""
    sockets = []

    def make(host, port=0, family=socket.AF_INET):
        listener = socket.create_server((host, port), family=family, backlog=1)
        sockets.extend([listener, *(socket.create_connection(listener.getsockname()[:2]) for _ in range(2))])
        return listener
    yield make
    for each in sockets:
        each.close()


@pytest.mark.parametrize("silent", [False, True], ids=["refused", "silent"])
def test_dead_ipv6_and_live_ipv4(luabench, hostile, fill, silent):
    """All requests succeed. An address that is dead is not begun with again soon: one that is silent takes a second, once."""
    server = hostile([OK])
    if silent:
        fill("::1", server.port, socket.AF_INET6)
    result = luabench.result(f"http://www.example.com:{server.port}/", "-n", 20, "-c", 1, "--no-keepalive",
                             "--resolve", f"www.example.com:{server.port}:[::1],127.0.0.1")
    total = scenario_of(result)
    assert (total["status"], server.connections) == ({"200": 20}, 20)
    assert total["connections"]["by_address"] == {
        f"127.0.0.1:{server.port}": {"opened": 20, "failed": 0, "requests": 20}, f"[::1]:{server.port}": {"opened": 0, "failed": 1, "requests": 0}}


def test_a_backlog_that_is_overrun(luabench, fill):
    """The kernel throws away what does not fit into the queue: those connections are not made in time, and nothing is sent."""
    port = fill("127.0.0.1").getsockname()[1]
    result = luabench.result(f"http://127.0.0.1:{port}/", "-n", 20, "-c", 10, "--connect-timeout", "150ms", status=3)
    total = scenario_of(result)
    assert (total["errors"], total["connections"]["opened"], total["bytes"]["sent"]) == ({"connect_timeout": 20}, 0, 0)
    assert {each["text"] for each in result["error_texts"]} == {"while connecting"}


def test_a_backlog_that_was_overrun(luabench, fill):
    """The kernel tries again after a second: when there is room by then, every request is answered."""
    listener = fill("127.0.0.1")
    run = luabench.start(f"http://127.0.0.1:{listener.getsockname()[1]}/", "-n", 10, "-c", 10, "-o", "result.json")
    wait_until(lambda: connecting_to(listener) == 10, "ten connections are being made")
    listener.listen(512)
    threading.Thread(target=answer_all, args=(listener,), daemon=True).start()
    run.wait(60)
    total = scenario_of(luabench.saved_result())
    assert (total["status"], total["connections"]["opened"]) == ({"200": 10}, 10)
    assert total["connect"]["min"] >= 0.9


def connecting_to(listener):
    """How many sockets are in the state SYN_SENT towards it."""
    port = f":{listener.getsockname()[1]:04X} 02 "
    with open("/proc/net/tcp") as table:
        return sum(port in line for line in table)


def answer_all(listener):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        connection.settimeout(1)
        try:
            if connection.recv(65536):
                connection.sendall(OK)
        except OSError:
            pass


# Closed right after it was made


def test_closed_right_after_accept(luabench, hostile):
    server = hostile([], greeting=[FIN])
    assert run(luabench, server)["errors"] == {"closed": 3}
    assert server.connections == 3


def test_reset_right_after_accept(luabench, hostile):
    """The reset may come before the client has seen that it is connected."""
    server = hostile([], greeting=[RESET])
    errors = run(luabench, server)["errors"]
    assert set(errors) <= {"connect", "reset"}
    assert (sum(errors.values()), server.requests) == (3, 0)


# Closed after some requests, with the next one on its way


def test_closed_behind_the_answer_without_saying_so(luabench, hostile):
    """The server's side alone: the next request is sent on a new connection, whether the end is seen before it or by it, and counted once."""
    server = hostile([OK, FIN])
    total = run(luabench, server)
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert server.connections == 3


@pytest.mark.parametrize("most", [1, 100])
def test_closed_after_so_many_requests(luabench, hostile, most):
    server = hostile([OK], most=most)
    total = run(luabench, server, count=3 * most)
    assert (total["status"], total["errors"]) == ({"200": 3 * most}, {})
    assert server.connections == 3


@pytest.mark.parametrize("end, error", [(FIN, "closed"), (CLOSE, "closed"), (RESET, "reset")])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_closed_instead_of_the_second_answer(luabench, hostile, method, end, error):
    """What looks the same as a close that crosses the request: a GET is sent once more, a POST may have been carried out and is not."""
    server = hostile(lambda nth: [OK] if nth == 1 else [end])
    total = run(luabench, server, "-X", method)
    again = method == "GET"
    assert (total["status"], total["errors"]) == (({"200": 3}, {}) if again else ({"200": 2}, {error: 1}))
    assert (total["requests"]["retried"], server.requests, server.connections) == ((2, 5, 3) if again else (0, 3, 2))


def test_a_request_is_sent_again_once(luabench, hostile):
    """On connections of one answer each, that answer is to a request sent again: it cannot be sent a third time."""
    server = hostile(lambda nth: [OK] if server.requests == 1 else [RESET])
    total = run(luabench, server)
    assert (total["status"], total["errors"]) == ({"200": 1}, {"reset": 2})
    assert (total["requests"]["retried"], server.requests, server.connections) == (1, 4, 3)


# While the user thinks


THINKS = """
scenario "thinks" { users = 1, iterations = 3, run = function()
  check("answered", http.%s("%s").ok)
  http.get("%s")
end }
"""
IDLE = {"FIN": [FIN], "close": [CLOSE], "RST": [RESET], "408": [TIMED_OUT, CLOSE], "408 alone": [TIMED_OUT], "an answer": [OK], "a byte": [b"x"], "100": [CONTINUE]}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("steps", IDLE.values(), ids=IDLE)
def test_while_idle(luabench, hostile, steps, method):
    """It happens after the user has asked another server, which answers behind it. Nobody's answer, nobody's error; the next request goes elsewhere."""
    asked, done = threading.Semaphore(0), threading.Semaphore(0)
    server, other = hostile([OK, asked.acquire, *steps, done.release]), hostile([asked.release, done.acquire, OK])
    total = scenario_of(luabench.result(script=THINKS % (method.lower(), server.url, other.url)))
    assert (total["status"], total["errors"], total["requests"]["retried"]) == ({"200": 6}, {}, 0)
    assert (server.connections, server.requests, other.connections) == (3, 3, 1)
    assert total["connections"]["unasked"] == (3 if isinstance(steps[0], bytes) else 0)


def test_half_closed(luabench, hostile):
    """The client closes its side, too, while the user still thinks: the server would keep the connection else."""
    asked, gone = threading.Semaphore(0), threading.Semaphore(0)
    server, other = hostile([OK, asked.acquire, FIN], at_end=gone.release), hostile([asked.release, gone.acquire, OK])
    total = scenario_of(luabench.result(script=THINKS % ("get", server.url, other.url)))
    assert (total["status"], total["errors"]) == ({"200": 6}, {})
    assert (server.connections, total["connections"]["closed_by_peer"]) == (3, 3)


# Stalled


def test_a_byte_now_and_then_is_a_timeout_of_the_whole_response(luabench, hostile):
    server = hostile([OK], split=True, pause=0.05)
    total = run(luabench, server, timeout="120ms")
    assert (total["errors"], total["requests"]["timed_out"]) == ({"timeout": 3}, 3)
    assert server.connections == 3


def test_a_slow_answer_within_the_timeout_succeeds(luabench, hostile):
    server = hostile([CONTINUE, OK], pause=0.05)
    total = run(luabench, server, timeout="20s")
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (1, 3)
    assert total["latency"]["min"] >= 0.1

