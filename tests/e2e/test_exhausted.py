"""What this machine runs out of: local ports, descriptors, addresses to come from. Own errors, a hint, no spinning, and everything else goes on."""
import resource

import pytest

from conftest import Luabench
from hostile import scenario_of

PORTS = 10
# In a run of a second a user that gets no connection asks at 0, 10, 30, 70, 150, 310 and 630 ms, and once more after the second is over, as its iteration has begun.
TRIES = 8


def target_in(space, start_server):
    """Nobody else has ports there. This one is none of those that clients are given."""
    return start_server(*space.enter, Luabench.path, "serve", "--port", 8080)


def test_local_ports(luabench, namespace, start_server):
    """As many connections as there are ports; the other users are told so, and wait longer and longer."""
    space = namespace(f"ipv4/ip_local_port_range=40001 {40000 + PORTS}")
    target = target_in(space, start_server)
    result = luabench.result(target.url + "/hello", "-c", 30, "-d", "1s", "-t", 1)
    total = scenario_of(result)
    assert total["connections"]["max_open"] == PORTS
    assert set(total["errors"]) == {"no_ports"}
    assert 30 - PORTS <= total["errors"]["no_ports"] <= (30 - PORTS) * TRIES
    assert total["requests"]["succeeded"] > PORTS
    assert any("ran out of local ports (more: sysctl net.ipv4.ip_local_port_range, or several --source-address)" in text for text in result["generator"]["warnings"])


def test_each_source_address_has_its_ports(luabench, namespace, start_server):
    space = namespace(f"ipv4/ip_local_port_range=40001 {40000 + PORTS}")
    target = target_in(space, start_server)
    total = scenario_of(luabench.result(target.url + "/delay/100", "-c", 30, "-n", 30, "-t", 1, *(f"--source-address=127.0.0.{n}" for n in range(2, 5))))
    assert (total["status"], total["connections"]["opened"]) == ({"200": 30}, 30)


def test_no_address_to_come_from(luabench, namespace):
    """That is no lack of ports."""
    namespace("ipv6/conf/all/disable_ipv6=1")
    result = luabench.result("http://[::1]:1/", "-n", 2, "-c", 1, status=3)
    assert scenario_of(result)["errors"] == {"connect": 2}
    assert [each["text"] for each in result["error_texts"]] == ["Cannot assign requested address"]


def test_no_address_of_one_family_to_come_from(luabench, namespace, start_server):
    space = namespace("ipv6/conf/all/disable_ipv6=1")
    space.hosts.write_text("::1 both\n127.0.0.1 both\n")
    port = target_in(space, start_server).url.split(":")[-1]
    assert scenario_of(luabench.result(f"http://both:{port}/hello", "-n", 20, "-c", 2))["status"] == {"200": 20}


@pytest.mark.parametrize("most", [30, 60])
def test_descriptors(luabench, target, most):
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    outputs = [word for name in ("a.csv", "a.ndjson", "a.html") for word in ("-o", name)]
    result = luabench.result(target.url + "/hello", "-c", 100, "-d", "1s", "-t", 1, *outputs, preexec_fn=limit)
    total = scenario_of(result)
    assert set(total["errors"]) == {"no_descriptors"}
    assert 5 < total["connections"]["max_open"] < most
    assert 100 - most < total["errors"]["no_descriptors"] <= (100 - total["connections"]["max_open"]) * TRIES
    assert total["requests"]["succeeded"] > 0
    assert any("ran out of open files (more: ulimit -n)" in text for text in result["generator"]["warnings"])
    assert all((luabench.folder / name).stat().st_size for name in ("a.csv", "a.ndjson", "a.html"))


@pytest.mark.parametrize("most", range(5, 20, 3))
def test_too_few_descriptors_to_begin(luabench, free_port, most):
    """Either the run does not begin and that is said, or its request has an outcome."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    done = luabench.run(f"http://127.0.0.1:{free_port()}/", "-n", 1, "-c", 1, "-o", "result.json", preexec_fn=limit)
    assert done.returncode == 3
    if "luabench: too few files can be opened for 1 thread (raise the limit: ulimit -n)\n" != done.stderr:
        assert set(scenario_of(luabench.saved_result())["errors"]) <= {"connect", "no_descriptors"}, done.stderr
