"""--share I/N: what several machines carry of one load is the load, each of it once."""
import pytest

WHOLE = {
    "closed": 'users = 7, iterations = 50',
    "each": 'users = 7, iterations_per_user = 4',
    "open": 'rate = 200, duration = 0.5, max_users = 40, arrivals = "constant"',
    "poisson": 'rate = 200, duration = 0.5, max_users = 40, arrivals = "poisson_exact"',
    "few": 'rate = 200, duration = 0.5, max_users = 4',
}
SCRIPT = """
local ids = file.lines("ids.txt", { mode = "unique" })
scenario "s" { %s, run = function(user)
  http.get("/hello", { name = ("%%.0f %%.0f %%s %%.0f"):format(user.id, user.sequence, ids:next(), random.int(1, 1e9)) })
end }
"""


def scenario_of(result):
    (scenario,) = result["scenarios"].values()
    return scenario


def seen(luabench, target, load, *args):
    """What the iterations of a run were: (user, number, row, random number), and its result."""
    (luabench.folder / "ids.txt").write_text("".join(f"{i}\n" for i in range(300)))
    done = luabench.run("--lenient", "--seed", 5, "--target", target.url, "-o", "result.json", *args, script=SCRIPT % WHOLE[load], timeout=30)
    assert done.returncode == 0, done.stderr
    result = luabench.saved_result()
    return [tuple(map(int, name.split())) for name in scenario_of(result)["by_name"]], result


@pytest.mark.parametrize("load", WHOLE)
def test_shares_make_the_whole(luabench, target, load):
    """Machines with one, two and three threads."""
    whole, alone = seen(luabench, target, load)
    planned = scenario_of(alone)["load"]
    users = planned["users"] or planned["max_users"]
    parts, results = [], []
    for i in range(3):
        part, result = seen(luabench, target, load, "--share", f"{i + 1}/3", "-t", i + 1)
        parts += part
        results.append(result)
        (luabench.folder / f"{i}.json").write_text((luabench.folder / "result.json").read_text())
        assert all((number - 1) % min(3, users) == i for _, number, _, _ in part)
        assert all(row % 3 == i for _, _, row, _ in part)
        assert f"share {i + 1}/3" in " ".join(luabench.run("report", f"{i}.json").stdout.split())
    numbers = sorted(number for _, number, _, _ in parts)
    assert len(parts) == len(whole) == len(set(numbers))
    if load != "each": # there a user's iterations are its own
        assert numbers == sorted(number for _, number, _, _ in whole) == list(range(1, len(whole) + 1))
    assert len({row for _, _, row, _ in parts}) == len(parts)
    assert target.requests() == 2 * len(whole)
    loads = [scenario_of(result)["load"] for result in results]
    for key in ("users", "iterations", "rate", "max_users"):
        assert sum(each[key] or 0 for each in loads) == pytest.approx(planned[key] or 0)
    if load in ("open", "poisson"): # an iteration draws the same numbers, whoever carries it
        assert {number: drawn for _, number, _, drawn in parts} == {number: drawn for _, number, _, drawn in whole}
    if load == "each":
        assert sorted((user, drawn) for user, _, _, drawn in parts) == sorted((user, drawn) for user, _, _, drawn in whole)
    assert sum(scenario_of(result)["requests"]["succeeded"] for result in results) == len(whole)


@pytest.mark.parametrize("share, message", {
    "0/3": '--share: "0/3" is not a share; the second of three is 2/3', "4/3": '--share: "4/3" is not a share; the second of three is 2/3',
    "2": '--share: "2" is not a share; the second of three is 2/3', "8/9": "--share 8/9: of 7 users this share has none",
}.items())
def test_wrong_shares(luabench, share, message):
    done = luabench.run("--share", share, script='scenario "s" { target = "http://x", users = 7, iterations = 9, run = function() end }')
    assert done.returncode == 2
    assert done.stderr == f"luabench: {message}\n"


def test_connections_are_shared_out(luabench, target):
    script = 'scenario "s" { users = 8, connections = 4, iterations = 80, run = function() http.get("/hello") end }'
    opened = 0
    for i in range(2):
        luabench.run("--share", f"{i + 1}/2", "--target", target.url, "-o", "result.json", script=script)
        opened += scenario_of(luabench.saved_result())["connections"]["opened"]
    assert opened <= 4 and target.requests() == 80
    done = luabench.run("--share", "1/5", "--target", target.url, script=script)
    assert done.returncode == 2 and done.stderr == 'luabench: --share 1/5: 4 connections of scenario "s" are too few for 5 shares\n'
