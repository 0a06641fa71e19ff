"""What luabench says it did is what the servers say arrived, to the last request."""
import json
import re

import jsonschema
import pytest

from conftest import EXAMPLES, ROOT

HELLO = EXAMPLES / "hello.lua"
SERVERS = ["nginx", "node", "deno", "bun", "target"]


def only_scenario(result):
    (scenario,) = result["scenarios"].values()
    return scenario


def assert_all_succeeded(result, count, users):
    scenario = only_scenario(result)
    assert scenario["model"] == "closed"
    assert scenario["users_max"] == users
    assert scenario["iterations"] == {"scheduled": count, "completed": count, "failed": 0, "interrupted": 0, "dropped": 0, "expired": 0}
    requests = scenario["requests"]
    assert [requests[key] for key in ("started", "succeeded", "failed", "timed_out", "interrupted")] == [count, count, 0, 0, 0]
    assert scenario["status"] == {"200": count}
    assert scenario["errors"] == {}
    for summary in ("latency", "service"):
        assert scenario[summary]["count"] == count
    for check in ("status is 200", "says hello"):
        assert result["checks"][check]["passes"] == count
        assert result["checks"][check]["fails"] == 0


def assert_ordered(summary):
    keys = ["min", "q1", "median", "q3", "p90", "p95", "p99", "p999", "max"]
    values = [summary[key] for key in keys]
    assert values == sorted(values)
    assert 0 < summary["min"] <= summary["mean"] <= summary["max"]


@pytest.mark.parametrize("users", [1, 50, 300])
@pytest.mark.parametrize("kind", SERVERS)
def test_hello(request, luabench, kind, users):
    server = request.getfixturevalue(kind)
    result = luabench.result(HELLO, "--target", server.url, "--users", users, "--iterations", 3001)
    assert_all_succeeded(result, 3001, users)
    assert server.requests() == 3001


@pytest.mark.parametrize("kind", SERVERS)
def test_exact_iterations_over_threads(request, luabench, kind):
    server = request.getfixturevalue(kind)
    result = luabench.result(HELLO, "--target", server.url, "-t", 2, "-c", 50, "-n", 100003, timeout=240)
    assert_all_succeeded(result, 100003, 50)
    assert_ordered(only_scenario(result)["latency"])
    connections = only_scenario(result)["connections"]
    assert connections["max_open"] <= 50 <= connections["opened"]
    assert server.requests() == 100003


def test_one_user_keeps_one_connection(luabench, nginx):
    result = luabench.result(HELLO, "--target", nginx.url, "-c", 1, "-n", 200)
    connections = only_scenario(result)["connections"]
    assert (connections["opened"], connections["reused"]) == (1, 199)


def test_more_users_than_iterations(luabench, target):
    result = luabench.result(HELLO, "--target", target.url, "-t", 2, "-c", 50, "-n", 3)
    assert only_scenario(result)["iterations"]["completed"] == 3
    assert target.requests() == 3


def test_iterations_per_user(luabench, target):
    script = """
      scenario "each" { users = 7, iterations_per_user = 11, run = function() http.get("/hello") end }
    """
    result = luabench.result("--target", target.url, "-t", 2, script=script)
    assert only_scenario(result)["iterations"]["completed"] == 77
    assert target.requests() == 77


def test_two_scenarios_side_by_side(luabench, target):
    script = """
      scenario "a" { users = 3, iterations = 30, run = function() http.get("/hello") end }
      scenario "b" { users = 2, iterations = 40, run = function() http.get("/bytes/100") end }
    """
    scenarios = luabench.result("--target", target.url, script=script)["scenarios"]
    assert {name: s["requests"]["succeeded"] for name, s in scenarios.items()} == {"a": 30, "b": 40}
    assert list(scenarios["b"]["by_name"]) == ["GET /bytes/100"]
    assert target.requests() == 70


def test_user_ids_and_sequence_are_each_used_once(luabench, raw_server):
    server = raw_server(b"HTTP/1.1 204 No Content\r\n\r\n")
    script = """
      scenario "numbers" { users = 10, iterations = 400, run = function(user)
        http.get(("/%d/%d/%d"):format(user.id, user.sequence, user.iteration), { name = "numbers" })
      end }
    """
    luabench.result("--target", server.url, "-t", 2, script=script)
    seen = [tuple(map(int, match)) for match in re.findall(rb"GET /(\d+)/(\d+)/(\d+) ", server.received)]
    assert sorted(sequence for _, sequence, _ in seen) == list(range(1, 401))
    assert {user for user, _, _ in seen} == set(range(1, 11))
    for user in range(1, 11):
        iterations = [iteration for id, _, iteration in sorted(seen, key=lambda one: one[1]) if id == user]
        assert iterations == list(range(1, len(iterations) + 1))


def test_quick_mode(luabench, nginx):
    result = luabench.result(nginx.url + "/hello", "-c", 4, "-t", 2, "-n", 1000)
    scenario = only_scenario(result)
    assert scenario["requests"]["succeeded"] == 1000
    assert scenario["users_max"] == 4
    assert nginx.requests() == 1000


def test_result_follows_its_schema(luabench, target):
    result = luabench.result(HELLO, "--target", target.url, "-c", 2, "-d", "1500ms")
    schema = json.loads((ROOT / "docs/result.schema.json").read_text())
    jsonschema.validators.validator_for(schema).check_schema(schema)
    jsonschema.validate(result, schema)
    assert result["version"] == 1


def test_json_on_standard_output_is_the_same_result(luabench, target):
    done = luabench.run(HELLO, "--target", target.url, "-n", 10, "--json")
    assert done.returncode == 0
    assert only_scenario(json.loads(done.stdout))["requests"]["succeeded"] == 10
