"""What servers answer wrong, or right but seldom: the exact outcome of each case, sent whole and byte by byte, with balanced books."""
import pytest

from framing_cases import BADLY, CHUNKED, CONTINUE, OK, TIMED_OUT, WELL, head
from hostile import FIN, Whole, run

split = pytest.mark.parametrize("split", [False, True], ids=["whole", "split"])


@split
@pytest.mark.parametrize("steps, connections, status", WELL.values(), ids=WELL)
def test_succeeds(luabench, hostile, steps, connections, status, split):
    server = hostile(steps, split)
    total = run(luabench, server)
    assert (total["status"], total["errors"]) == ({str(status): 3}, {})
    assert (server.connections, server.requests) == (connections, 3)
    assert total["bytes"]["received"] == 3 * sum(len(step) for step in steps if isinstance(step, bytes))


@split
@pytest.mark.parametrize("steps, connections, error", BADLY.values(), ids=BADLY)
def test_fails(luabench, hostile, steps, connections, error, split):
    server = hostile(steps, split)
    total = run(luabench, server)
    assert total["errors"] == {error: 3}
    assert (server.connections, server.requests) == (connections, 3)


@split
@pytest.mark.parametrize("line", [b"Content-Length: 5", CHUNKED, b"X-Nothing: 1"], ids=["length", "chunked", "nothing"])
def test_answer_to_head_has_no_body(luabench, hostile, line, split):
    server = hostile([head(line)], split)
    total = run(luabench, server, "-X", "HEAD")
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (1, 3)


@split
@pytest.mark.parametrize("extra", [b"x", OK, b"\r\n", TIMED_OUT], ids=["a byte", "an answer", "a blank line", "408"])
def test_what_is_left_over_is_never_the_next_answer(luabench, hostile, extra, split):
    server = hostile([OK[:-1], Whole(OK[-1:] + extra)], split)
    total = run(luabench, server)
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (3, 3)
    assert total["connections"]["unasked"] == 3


@split
@pytest.mark.parametrize("steps", [[], [b"HTTP/1.1 200"], [head(b"Content-Length: 9") + b"ok"], [head() + b"ok"], [CONTINUE]],
                         ids=["nothing", "half a head", "half a body", "body without an end", "100"])
def test_silence_is_a_timeout(luabench, hostile, steps, split):
    server = hostile(steps, split)
    total = run(luabench, server, timeout="80ms")
    assert (total["errors"], total["requests"]["timed_out"]) == ({"timeout": 3}, 3)
    assert server.connections == 3


@split
def test_lines_ended_by_lf_are_taken_when_asked(luabench, hostile, split):
    server = hostile([OK.replace(b"\r\n", b"\n")], split)
    total = run(luabench, server, "--lenient-http")
    assert (total["status"], total["errors"]) == ({"200": 3}, {})
    assert (server.connections, server.requests) == (1, 3)


def test_an_answer_before_the_request(luabench, hostile):
    """It is an answer when the request is on its way by the time that it is read, and an error before: never two, and nothing else is sent on that connection."""
    server = hostile([FIN], greeting=[OK])
    total = run(luabench, server)
    assert total["status"].get("200", 0) + total["errors"].get("protocol", 0) == 3
    assert server.connections == 3
