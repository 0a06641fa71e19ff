"""Who runs when: both models, warm-ups, setup and teardown, tasks, groups. What luabench says is compared with what the server has counted."""
import re
import signal

import pytest

from conftest import finish, get, wait_until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture(autouse=True)
def lenient(luabench):
    """Whether this machine keeps a schedule is not what these tests are about."""
    luabench.more = ["--lenient"]


def scenario_of(result):
    (scenario,) = result["scenarios"].values()
    return scenario


def assert_balanced(result):
    for scenario in result["scenarios"].values():
        iterations, requests = scenario["iterations"], scenario["requests"]
        assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired"))
        assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    assert result["unbalanced"] is None


def run(luabench, target, script, *args, **options):
    result = luabench.result("--target", target.url, *args, script=script, **options)
    assert_balanced(result)
    return result


def page(target, name):
    """How often the built-in target has answered that page."""
    return int(get(f"{target.url}/requests/{name}"))


# The closed model.

def test_users_come_and_go_by_stages(luabench, target):
    """Users 1 to 3, then 1 alone, then 1 to 4. Those that go do so after their iteration; on a machine that stands still they may not have gone before they
    are wanted again."""
    script = """
      scenario "stages" {
        stages = { { users = 3, hold = 0.6 }, { users = 1, hold = 0.6 }, { users = 4, over = 0.2, hold = 0.4 } },
        on_start = function() http.get("/bytes/1") end,
        on_stop = function() http.get("/chunked/1/1") end,
        run = function(user) http.get("/echo/" .. user.id, { name = "user " .. user.id }) pace("10ms") end,
      }
    """
    scenario = scenario_of(run(luabench, target, script, "-t", 2))
    assert scenario["users_max"] <= 4
    assert {name for name in scenario["by_name"] if name.startswith("user")} == {"user 1", "user 2", "user 3", "user 4"}
    assert page(target, "bytes") == page(target, "chunked") in (4, 5, 6)
    assert scenario["iterations"]["failed"] == 0
    assert scenario["load"]["stages"][2] == {"users": 4, "over": 0.2, "hold": 0.4}
    assert scenario["latency_from_intended"] is None


def test_stages_down_to_nobody(luabench, target):
    script = 'scenario "s" { stages = { { users = 5, over = 0.3 }, { users = 0, over = 0.3 } }, run = function() http.get("/hello") pace("5ms") end }'
    scenario = scenario_of(run(luabench, target, script))
    assert scenario["users_max"] <= 5
    assert scenario["requests"]["succeeded"] == target.requests() > 0


def test_a_user_that_is_taken_away_finishes_its_iteration(luabench, target):
    script = """
      scenario "s" { stages = { { users = 2, hold = 0.2 }, { users = 1, hold = 0.4 } }, run = function()
        http.get("/delay/400")
        http.get("/hello")
      end }
    """
    scenario = scenario_of(run(luabench, target, script))
    assert scenario["iterations"]["interrupted"] == 0
    assert page(target, "delay") == page(target, "hello")


def test_scenarios_begin_one_after_another(luabench, target):
    script = """
      scenario "first" { users = 1, iterations = 1, run = function() http.get("/hello") end }
      scenario "second" { users = 1, iterations = 1, start_after = "100ms", run = function() http.get("/hello") end }
    """
    result = run(luabench, target, script)
    assert result["duration"] >= 0.1
    assert target.requests() == 2


def test_on_start_that_fails_is_a_failed_iteration_and_tried_again(luabench, target):
    script = """
      local attempts = 0
      scenario "s" { users = 1, iterations = 5,
        on_start = function(user)
          attempts = attempts + 1
          if attempts <= 2 then fail("not yet") end
          user.vars.token = attempts
        end,
        run = function(user)
          check("was welcomed once", user.vars.token == 3)
          http.get("/hello")
        end }
    """
    result = run(luabench, target, script)
    iterations = scenario_of(result)["iterations"]
    assert (iterations["scheduled"], iterations["failed"], iterations["completed"]) == (5, 2, 3)
    assert result["checks"]["was welcomed once"]["passes"] == 3
    assert result["failures"]["texts"] == ["not yet"]
    assert target.requests() == 3


def test_on_start_and_on_stop_are_once_for_each_user(luabench, target):
    script = """
      scenario "s" { users = 7, iterations_per_user = 3,
        on_start = function() http.get("/bytes/1") end,
        on_stop = function(user) check("has had all", user.iteration == 3) http.get("/chunked/1/1") end,
        run = function() http.get("/hello") end }
    """
    result = run(luabench, target, script, "-t", 2)
    assert (page(target, "bytes"), page(target, "hello"), page(target, "chunked")) == (7, 21, 7)
    assert scenario_of(result)["iterations"]["completed"] == 21
    assert result["checks"]["has had all"]["passes"] == 7


def test_fresh_users_are_new_visitors(luabench, target):
    script = """
      scenario "s" { users = 1, iterations = 4, fresh = true,
        on_start = function(user) user.vars.seen = (user.vars.seen or 0) + 1 end,
        run = function(user)
          check("vars are empty", user.vars.seen == 1 and user.vars.left == nil)
          user.vars.left = true
          http.get("/hello")
          http.get("/hello")
        end }
    """
    result = run(luabench, target, script)
    connections = scenario_of(result)["connections"]
    assert (connections["opened"], connections["reused"]) == (4, 4)
    assert result["checks"]["vars are empty"]["passes"] == 4


# The open model.

@pytest.mark.parametrize("arrivals", ["constant", "poisson_exact"])
@pytest.mark.parametrize("threads", [1, 2])
def test_arrivals_are_exact(luabench, target, arrivals, threads):
    script = 'scenario "s" { rate = 1000, duration = "3s", run = function() http.get("/hello") end }'
    result = run(luabench, target, script, "-t", threads, "--arrivals", arrivals)
    scenario = scenario_of(result)
    assert scenario["model"] == "open"
    assert scenario["iterations"] == {"scheduled": 3000, "completed": 3000, "failed": 0, "interrupted": 0, "dropped": 0, "expired": 0}
    assert target.requests() == 3000
    assert scenario["latency_from_intended"]["count"] == scenario["latency"]["count"] == 3000
    assert scenario["latency_from_intended"]["max"] >= scenario["latency"]["max"]
    assert result["generator"]["schedule_slip"]["count"] == 3000
    assert result["duration"] >= 2.99


def test_poisson_arrivals_repeat_with_their_seed(luabench, target):
    script = 'scenario "s" { rate = 500, duration = "1s", arrivals = "poisson", run = function() http.get("/hello") end }'
    counts = {scenario_of(run(luabench, target, script, "--seed", 7, "-t", threads))["iterations"]["completed"] for threads in (1, 2)}
    assert len(counts) == 1
    assert 400 < counts.pop() < 600


def test_rates_in_stages(luabench, target):
    script = 'scenario "s" { stages = { { rate = 400, over = 1 }, { rate = 100, hold = 1 } }, run = function() http.get("/hello") end }'
    result = run(luabench, target, script, "-t", 2)
    assert scenario_of(result)["iterations"]["completed"] == target.requests() == 300
    assert "open: 100/s to 400/s in 2 stages for 2 s" in luabench.run("--target", target.url, script=script).stdout


def test_a_number_of_arrivals(luabench, target):
    script = 'scenario "s" { rate = "1k/s", iterations = 321, run = function() http.get("/hello") end }'
    assert scenario_of(run(luabench, target, script, "-t", 2))["iterations"]["scheduled"] == target.requests() == 321


def test_the_command_line_makes_it_open(luabench, target):
    result = luabench.result(target.url + "/hello", "-R", 500, "-d", "1s", "-c", 20)
    scenario = scenario_of(result)
    assert (scenario["model"], scenario["load"]["max_users"], scenario["requests"]["succeeded"]) == ("open", 20, 500)
    assert target.requests() == 500


def test_arrivals_wait_for_users(luabench, target):
    """50 arrivals within 1 s for 2 users that are busy for 100 ms with each: the last one cannot end before 2.5 s."""
    script = 'scenario "s" { rate = 50, duration = 1, max_users = 2, run = function() http.get("/delay/100") end }'
    scenario = scenario_of(run(luabench, target, script))
    assert scenario["iterations"]["completed"] == 50
    assert scenario["users_max"] == 2
    assert scenario["latency_from_intended"]["max"] >= 1.4
    assert scenario["latency"]["min"] >= 0.1
    assert scenario["user_wait"]["count"] >= 40 and scenario["user_wait"]["max"] >= 1.3
    assert scenario["backlog_max"] >= 20
    assert page(target, "delay") == 50


def test_arrivals_are_dropped(luabench, target):
    script = 'scenario "s" { rate = 100, duration = 1, max_users = 1, overflow = "drop", run = function() http.get("/delay/300") end }'
    result = run(luabench, target, script)
    iterations = scenario_of(result)["iterations"]
    assert iterations["scheduled"] == 100
    assert iterations["completed"] + iterations["dropped"] == 100
    assert 1 <= iterations["completed"] == page(target, "delay") <= 5
    assert any("dropped" in remark for remark in result["remarks"])


def test_arrivals_that_wait_too_long_expire(luabench, target):
    """The only user is busy for 400 ms with each of 20 arrivals within 1 s, and none waits for longer than 300 ms."""
    script = """
      scenario "s" { rate = 20, duration = 1, max_users = 1, http = { timeout = "300ms" }, run = function()
        http.get("/hello")
        sleep("400ms")
      end }
    """
    result = run(luabench, target, script)
    iterations = scenario_of(result)["iterations"]
    assert iterations["scheduled"] == 20
    assert iterations["expired"] >= 10
    assert iterations["expired"] + iterations["completed"] == 20
    assert page(target, "hello") <= iterations["completed"]
    assert any("were not started" in remark for remark in result["remarks"])


def test_a_timeout_counts_from_when_the_arrival_was_due(luabench, raw_server):
    """The second arrival waits for the only user until the first has timed out: what is left of its own time is less than a whole timeout."""
    server = raw_server(None)
    script = """
      scenario "s" { rate = 10, iterations = 2, max_users = 1, http = { timeout = "2s" }, run = function(user)
        local begun = now()
        http.get("/")
        if user.sequence == 2 then check("had less than the timeout", now() - begun < 2) end
      end }
    """
    luabench.run("--target", server.url, "-o", "result.json", script=script)
    assert luabench.saved_result()["checks"]["had less than the timeout"]["passes"] == 1


def test_sleep_before_the_first_request_is_not_latency(luabench, target):
    script = 'scenario "s" { rate = 20, iterations = 10, run = function() sleep("2s") http.get("/hello") end }'
    assert scenario_of(run(luabench, target, script))["latency_from_intended"]["median"] < 2


def test_min_users_are_welcomed_before_the_first_arrival(luabench, target):
    script = """
      scenario "s" { rate = 50, iterations = 10, min_users = 4, max_users = 4,
        on_start = function(user) http.get("/delay/50") user.vars.ready = true end,
        on_stop = function() http.get("/chunked/1/1") end,
        run = function(user) check("is ready", user.vars.ready) http.get("/hello") end }
    """
    result = run(luabench, target, script, "-t", 2)
    assert (page(target, "delay"), page(target, "hello"), page(target, "chunked")) == (4, 10, 4)
    assert result["checks"]["is ready"] == {"index": 1, "passes": 10, "fails": 0, "why": None}
    assert scenario_of(result)["iterations"]["scheduled"] == 10


def test_users_of_the_open_model_are_used_again(luabench, target):
    script = """
      scenario "s" { rate = 100, iterations = 100, max_users = 3, run = function(user)
        check("knows its number", user.id >= 1 and user.id <= 3 and user.sequence >= 1 and user.sequence <= 100)
        http.get("/hello")
      end }
    """
    result = run(luabench, target, script)
    assert result["checks"]["knows its number"]["passes"] == 100
    assert scenario_of(result)["connections"]["opened"] <= 3


def test_more_threads_than_users(luabench, target):
    script = """
      scenario "a" { rate = 100, iterations = 100, max_users = 1, run = function() http.get("/hello") end }
      scenario "b" { users = 3, iterations = 30, run = function() http.get("/hello") end }
    """
    scenarios = run(luabench, target, script, "-t", 2)["scenarios"]
    assert [scenarios[name]["iterations"]["completed"] for name in "ab"] == [100, 30]
    assert target.requests() == 130


def test_stop_user_in_the_open_model(luabench, target):
    script = 'scenario "s" { rate = 200, iterations = 50, max_users = 2, run = function(user) http.get("/hello") stop_user() end }'
    assert scenario_of(run(luabench, target, script))["iterations"]["completed"] == target.requests() == 50


def test_arrivals_that_wait_for_users_who_stop(luabench, target):
    """All arrivals have come while the one user is busy with the first of them; it and each of its successors stops."""
    script = 'scenario "s" { rate = 5000, iterations = 30, max_users = 1, on_stop = function() http.get("/hello") end, run = function() http.get("/delay/10") stop_user() end }'
    result = run(luabench, target, script, "-t", 1, timeout=30)
    assert scenario_of(result)["iterations"]["completed"] == 30 and result["scenarios"]["s"]["users_max"] == 1
    assert target.requests() == 60


def test_ctrl_c_in_the_open_model(luabench, target):
    script = 'scenario "s" { rate = 100, duration = "10m", max_users = 5, run = function() http.get("/hello") http.get("/delay/60000") end }'
    process = luabench.start("--target", target.url, "-o", "result.json", script=script)
    wait_until(lambda: page(target, "hello") == 5, "all users are busy")
    process.send_signal(signal.SIGINT)
    status, _, stderr = finish(process)
    assert status == 130, stderr
    result = luabench.saved_result()
    assert_balanced(result)
    iterations = scenario_of(result)["iterations"]
    assert iterations["interrupted"] == iterations["scheduled"] >= 5


# Warm-up.

@pytest.mark.parametrize("count", ["iterations = 500", "iterations_per_user = 125"])
def test_a_warm_up_is_sent_and_left_out(luabench, target, count):
    """An iteration that begins in the warm-up is left out as a whole, with what it asks for later: the other ones are as many as were wanted."""
    script = """
      local seen = metric.counter("seen")
      scenario "s" { users = 4, %s, warm_up = "300ms", run = function()
        local task = spawn(function() http.get("/delay/1") end)
        group("all", function() check("is 200", http.get("/hello").status == 200) end)
        task:wait()
        http.get("/delay/1", { expect_status = 404 })
        seen:add()
      end }
    """ % count
    result = run(luabench, target, script, "-t", 2, "-o", "lines.ndjson")
    scenario, warm = scenario_of(result), scenario_of(result)["warm_up"]
    assert scenario["iterations"]["completed"] == 500
    assert scenario["requests"]["succeeded"] == 1000 and scenario["requests"]["failed"] == 500
    assert scenario["latency"]["count"] == 1500 == sum(second["requests"] for second in result["series"])
    assert scenario["rate"] == pytest.approx(1000 / scenario["window"])
    assert result["checks"]["is 200"]["passes"] == 500
    assert result["groups"]["all"]["count"] == 500
    assert result["metrics"]["seen"]["count"] == 500
    assert warm["iterations"]["scheduled"] == warm["iterations"]["completed"] > 0
    assert warm["requests"]["started"] == 3 * warm["iterations"]["scheduled"]
    assert target.requests() == 1500 + warm["requests"]["started"]
    assert sum('"phase":"run"' in line for line in (luabench.folder / "lines.ndjson").read_text().splitlines()) == 1500
    if "per_user" not in count:
        assert "left out     warm-up" in luabench.run("--target", target.url, script=script).stdout


def test_a_warm_up_of_the_open_model(luabench, target):
    script = 'scenario "s" { rate = 200, duration = 2, warm_up = 1, arrivals = "poisson_exact", run = function() http.get("/hello") end }'
    result = run(luabench, target, script, "-t", 2)
    scenario = scenario_of(result)
    assert scenario["iterations"]["completed"] == scenario["warm_up"]["iterations"]["completed"] == 200
    assert result["generator"]["schedule_slip"]["count"] == 200
    assert target.requests() == 400


def test_requests_of_a_warm_up_that_outlast_the_window_are_counted(luabench, target):
    """Nobody else can see how long they took: no figure holds them, and their users have asked for nothing that one could hold."""
    script = """
      scenario "s" { users = 5, duration = "600ms", warm_up = "200ms", graceful_stop = "5s", run = function(user)
        http.get(user.id <= 2 and "/delay/1000" or "/delay/10")
      end }
    """
    warm = scenario_of(run(luabench, target, script, "-t", 2))["warm_up"]
    luabench.more = []
    assert warm["outlasting"] == 2
    assert "2 requests of the warm-up lasted through the measured time" in " ".join(luabench.run("report", "result.json").stdout.split())


def test_iterations_of_each_user_begin_after_the_warm_up(luabench, target):
    script = 'scenario "s" { users = 3, iterations_per_user = 10, warm_up = "200ms", run = function() http.get("/hello") end }'
    scenario = scenario_of(run(luabench, target, script))
    assert scenario["iterations"]["completed"] == 30
    assert target.requests() == scenario["requests"]["succeeded"] + scenario["warm_up"]["requests"]["succeeded"]


# setup and teardown.

def test_setup_is_shared_and_apart(luabench, target):
    script = """
      scenario "s" { users = 4, iterations = 40,
        setup = function()
          local res = http.get("/hello")
          return { word = res.body:match("%a+"), list = { 1, 2, { deep = true } }, number = 4111111111111111, none = json.null }
        end,
        run = function(user, shared)
          check("is there", shared.word == "hello" and shared.list[3].deep and #shared.list == 3 and shared.number == 4111111111111111 and shared.none == json.null)
          http.get("/bytes/1")
        end,
        teardown = function(shared)
          http.get("/chunked/1/" .. #shared.word)
        end }
    """
    result = run(luabench, target, script, "-t", 2)
    assert result["checks"]["is there"] == {"index": 1, "passes": 40, "fails": 0, "why": None}
    assert list(scenario_of(result)["by_name"]) == ["GET /bytes/1"]
    assert scenario_of(result)["requests"]["succeeded"] == 40
    assert (result["setup"]["requests"]["succeeded"], result["teardown"]["requests"]["succeeded"]) == (1, 1)
    assert (page(target, "hello"), page(target, "bytes"), page(target, "chunked")) == (1, 40, 1)


def test_a_function_of_several_scenarios_runs_once_in_script_order(luabench, raw_server):
    server = raw_server(OK)
    script = """
      local function both() http.get("/setup-both") return "of both" end
      local function after(shared) http.get("/teardown/" .. shared:gsub(" ", "-")) end
      scenario "a" { setup = both, teardown = after, run = function(_, shared) check("has it", shared == "of both") end }
      scenario "b" { setup = function() http.get("/setup-b") return "of b" end, teardown = function() http.get("/teardown-b") end, run = function() http.get("/run-b") end }
      scenario "c" { setup = both, teardown = after, run = function(_, shared) check("has it", shared == "of both") end }
    """
    result = luabench.result("--target", server.url, "-t", 2, script=script)
    assert re.findall(rb"GET (\S+)", server.received) == [b"/setup-both", b"/setup-b", b"/run-b", b"/teardown/of-both", b"/teardown-b"]
    assert result["checks"]["has it"]["passes"] == 2


SETUPS = {
    "error": ('error("no luck")', "script.lua:2: no luck"),
    "fail": ('fail("no token")', "no token"),
    "must": ('must("has a token", false, "none came")', "has a token: none came"),
    "status": ('http.get("/status/500")', "a request failed: GET /status/500: status"),
    "connect": ('http.get("http://127.0.0.1:1/")', "a request failed: GET /: connect"),
    "stop_user": ("stop_user()", "it called stop_user(), and there is no user"),
    "function": ("return { f = print }", "setup returned what cannot be shared: shared.f is a function"),
    "userdata": ("return { 1, { x = spawn(print) } }", "shared[2].x is a userdata"),
    "response": ('return http.get("/hello")', "is a table with a metatable"),
}


@pytest.mark.parametrize("code, text", SETUPS.values(), ids=SETUPS)
def test_setup_that_fails_ends_the_run(luabench, target, code, text):
    script = f"""scenario "s" {{ setup = function()
      {code}
    end,
    run = function() http.get("/bytes/1") end, teardown = function() http.get("/chunked/1/1") end }}"""
    result = luabench.result("--target", target.url, script=script, status=3)
    assert text in result["setup_failed"]["text"]
    assert scenario_of(result)["iterations"]["scheduled"] == 0
    assert (page(target, "bytes"), page(target, "chunked")) == (0, 1)


def test_setup_that_fails_is_shown(luabench, target):
    script = 'scenario "s" { setup = function() local x = nil + 1 end, run = function() end }'
    done = luabench.run("--target", target.url, script=script)
    assert done.returncode == 3
    assert 'ended before the load: setup of scenario "s" failed: script.lua:1: attempt to perform arithmetic' in " ".join(done.stdout.split())
    assert "stack traceback" in done.stderr


def test_a_request_of_setup_may_fail_until_it_succeeds(luabench, target):
    """As when setup waits until the server is there."""
    script = """
      scenario "s" { iterations = 1, run = function() http.get("/hello") end, setup = function()
        for i = 1, 3 do http.get(i < 3 and "/status/503" or "/hello", { name = "ready?" }) end
      end }
    """
    assert run(luabench, target, script)["setup"]["requests"]["failed"] == 2


def test_stop_run_in_setup(luabench, target):
    script = 'scenario "s" { setup = function() stop_run("closed today") end, run = function() http.get("/hello") end, teardown = function() http.get("/bytes/1") end }'
    result = luabench.result("--target", target.url, script=script, status=3)
    assert result["stopped"] == "closed today"
    assert (page(target, "hello"), page(target, "bytes")) == (0, 1)


def test_ctrl_c_in_setup(luabench, target):
    script = """
      scenario "s" { setup = function() http.get("/hello") http.get("/delay/60000") end,
        run = function() http.get("/bytes/1") end, teardown = function() http.get("/chunked/1/1") end }
    """
    process = luabench.start("--target", target.url, "-o", "result.json", script=script)
    wait_until(lambda: page(target, "hello") == 1, "setup has begun")
    process.send_signal(signal.SIGINT)
    status, _, stderr = finish(process)
    assert status == 130, stderr
    assert (page(target, "bytes"), page(target, "chunked")) == (0, 1)
    assert luabench.saved_result()["setup"]["requests"]["interrupted"] == 1


def test_teardown_runs_after_ctrl_c(luabench, target):
    script = 'scenario "s" { duration = "10m", run = function() http.get("/hello") end, teardown = function() http.get("/bytes/1") sleep("10ms") http.get("/bytes/1") end }'
    process = luabench.start("--target", target.url, "-o", "result.json", script=script)
    wait_until(lambda: page(target, "hello") >= 1, "the run has begun")
    process.send_signal(signal.SIGINT)
    status, _, stderr = finish(process)
    assert status == 130, stderr
    assert page(target, "bytes") == 2


def test_teardown_that_fails_is_said(luabench, target):
    script = 'scenario "s" { run = function() http.get("/hello") end, teardown = function() fail("left a mess") end }'
    assert 'teardown of scenario "s" failed: left a mess' in run(luabench, target, script)["notices"]
    script = 'scenario "s" { run = function() http.get("/hello") end, teardown = function() error("oops") end }'
    assert run(luabench, target, script, status=1)["script_errors"]["count"] == 1


def test_a_setup_that_never_returns_is_ended(luabench, target):
    script = 'scenario "s" { setup = function()\n while true do end\n end, run = function() end }'
    done = luabench.run("--target", target.url, "--script-timeout", "1s", script=script)
    assert done.returncode == 3
    assert "script.lua:" in done.stdout


def test_shared_cannot_be_changed(luabench, target):
    script = """
      scenario "s" { setup = function() return { list = { 1 } } end, run = function(user, shared)
        local ok, text = pcall(function() shared.count = 1 end)
        check("a new field is refused", not ok and text:find("user.vars", 1, true), text)
        ok, text = pcall(function() shared.list[2] = 1 end)
        check("a new item is refused", not ok and text:find("a new item", 1, true), text)
      end }
    """
    result = luabench.result("--target", target.url, script=script)
    assert {name: check["fails"] for name, check in result["checks"].items()} == {"a new field is refused": 0, "a new item is refused": 0}
    assert result["notices"] == []
    script = 'scenario "s" { setup = function() return { count = 0 } end, run = function(_, shared) shared.count = shared.count + 1 end }'
    assert "has changed `shared`" in luabench.result("--target", target.url, script=script)["notices"][0]


# Several things at once.

def test_tasks_run_at_once_over_connections_of_their_user(luabench, target):
    script = """
      scenario "s" { iterations = 3, run = function()
        local tasks = {}
        for i = 1, 4 do tasks[i] = spawn(function(ms, word) return http.get("/delay/" .. ms).status, word end, 50, "w" .. i) end
        local res = http.get("/hello")
        for i = 1, 4 do
          local status, word = tasks[i]:wait()
          check("has returned", status == 200 and word == "w" .. i and tasks[i].done)
        end
      end }
    """
    result = run(luabench, target, script)
    assert result["checks"]["has returned"]["passes"] == 12
    assert scenario_of(result)["connections"]["max_open"] == 5
    assert (page(target, "delay"), page(target, "hello")) == (12, 3)


def test_a_user_has_no_more_connections_than_it_may(luabench, target):
    script = """
      scenario "s" { connections_per_user = 2, run = function()
        local tasks = {}
        for i = 1, 8 do tasks[i] = spawn(http.get, "/delay/20") end
        for i = 1, 8 do check("ok", tasks[i]:wait().ok) end
      end }
    """
    result = run(luabench, target, script)
    assert result["checks"]["ok"]["passes"] == 8
    assert scenario_of(result)["connections"]["opened"] == 2


def test_tasks_that_beget_tasks_for_ever_do_not_outlast_the_run(luabench, target):
    script = """
      scenario "s" { users = 1, duration = "300ms", run = function()
        local function again() spawn(again) end
        spawn(again)
        http.get("/hello")
      end }
    """
    scenario = scenario_of(run(luabench, target, script))
    assert scenario["requests"]["succeeded"] == scenario["iterations"]["completed"] == target.requests() > 0


def test_what_becomes_of_tasks(luabench, target):
    script = """
      scenario "s" { run = function()
        local task = spawn(function() http.get("/hello") error("in the task") end)
        local ok, text = pcall(task.wait, task)
        check("its error is raised", not ok and text:find("script.lua:3: in the task", 1, true), text)
        ok, text = pcall(task.wait, task)
        check("again", not ok and text:find("in the task", 1, true), text)

        task = spawn(function() http.get("/delay/60000") end)
        local value, why = task:wait("20ms")
        check("the time was over", value == nil and why == "timeout" and not task.done)
        task:cancel()
        value, why = task:wait()
        check("it is cancelled", value == nil and why == "cancelled" and task.done)

        task = spawn(function() return 1, nil, 3 end)
        check("all values come", select("#", task:wait()) == 3 and select(3, task:wait()) == 3)

        local chain = spawn(function(inner) return inner:wait() + 1 end, spawn(function() http.get("/hello") return 1 end))
        check("tasks wait for tasks", chain:wait() == 2)
        local me
        me = spawn(function() return pcall(me.wait, me) end)
        ok, text = me:wait()
        check("not for itself", not ok and text:find("would wait for itself", 1, true), text)
        spawn(http.get, "/delay/60000")
        sleep("20ms")
      end }
    """
    result = run(luabench, target, script)
    assert {name: check["why"] for name, check in result["checks"].items() if check["fails"]} == {}
    assert len(result["checks"]) == 7
    requests = scenario_of(result)["requests"]
    assert (requests["succeeded"], requests["interrupted"]) == (2, 2)
    assert scenario_of(result)["iterations"]["completed"] == 1


def test_an_error_that_nobody_waits_for_fails_the_iteration(luabench, target):
    script = """
      scenario "s" { iterations = 4, run = function(user)
        spawn(function()
          if user.sequence == 1 then error("boom") end
          if user.sequence == 2 then fail("on purpose") end
        end)
        http.get("/hello")
      end }
    """
    result = run(luabench, target, script, status=1)
    iterations = scenario_of(result)["iterations"]
    assert (iterations["completed"], iterations["failed"]) == (2, 2)
    assert (result["script_errors"]["count"], result["failures"]["count"]) == (1, 1)
    assert "script.lua:4" in result["script_errors"]["kinds"][0]["traceback"]


def test_tasks_may_end_everything(luabench, target):
    script = """
      scenario "s" { users = 2, duration = "10m", run = function(user)
        if user.id == 1 then spawn(stop_user) else spawn(function() sleep("50ms") stop_run("enough") end) end
        http.get("/delay/60000")
      end }
    """
    result = run(luabench, target, script, status=3)
    assert result["stopped"] == "enough"
    iterations = scenario_of(result)["iterations"]
    assert (iterations["completed"], iterations["interrupted"]) == (1, 1)


def test_a_task_of_on_start_lives_as_long_as_its_user(luabench, target):
    script = """
      scenario "s" { users = 1, iterations = 3,
        on_start = function(user)
          user.vars.beat = spawn(function() while true do http.get("/bytes/1") user.vars.beats = (user.vars.beats or 0) + 1 sleep("1ms") end end)
        end,
        run = function(user)
          local before = user.vars.beats or 0
          while (user.vars.beats or 0) < before + 3 do sleep("1ms") end
          check("it goes on", not user.vars.beat.done)
        end }
    """
    result = run(luabench, target, script)
    assert result["checks"]["it goes on"]["passes"] == 3
    assert page(target, "bytes") >= 9


def test_batches_answer_in_order(luabench, target):
    script = """
      scenario "s" { iterations = 2, run = function()
        local list = {}
        for i = 1, 20 do list[i] = i % 2 == 0 and "/bytes/" .. i or { method = "POST", url = "/echo", body = ("x"):rep(i) } end
        for i, res in ipairs(http.batch(list, { limit = 3 })) do check("in order", #res.body == i, i) end
        check("nothing", #http.batch {} == 0)
        local ok, text = pcall(http.batch, { "/hello", { url = "/hello", bdy = 1 } })
        check("a mistake is raised", not ok and text:find("script.lua:7: http.batch: unknown key `bdy`", 1, true), text)
      end }
    """
    result = run(luabench, target, script)
    assert {name: check["why"] for name, check in result["checks"].items() if check["fails"]} == {}
    assert result["checks"]["in order"]["passes"] == 40
    assert scenario_of(result)["connections"]["max_open"] <= 3


def test_interrupted_tasks_are_in_the_books(luabench, target):
    script = """
      scenario "s" { users = 3, duration = "300ms", graceful_stop = 0, run = function()
        for i = 1, 3 do spawn(http.get, "/delay/60000") end
        http.get("/delay/60000")
      end }
    """
    luabench.run("--target", target.url, "-o", "result.json", script=script)
    result = luabench.saved_result()
    assert_balanced(result)
    assert scenario_of(result)["requests"]["interrupted"] == 12
    assert scenario_of(result)["iterations"]["interrupted"] == 3


# Groups.

def test_groups_are_timed_nested_and_cut(luabench, target):
    script = """
      scenario "s" { iterations = 10, run = function(user)
        local value = group("outer", function()
          group("inner", function() http.get("/hello") end)
          group("sleeps", function() sleep("2s") end)
          return "value"
        end)
        check("value", value == "value")
        pcall(group, "cut", function() http.get("/hello") error("no") end)
        group("after", function() http.get("/hello") end)
        if user.sequence == 10 then group("last", function() error("ends here") end) end
      end, users = 10 }
    """
    result = run(luabench, target, script, status=1)
    groups = {name: (group["count"], group["cut"]) for name, group in result["groups"].items()}
    assert groups == {"outer": (10, 0), "outer/inner": (10, 0), "outer/sleeps": (10, 0), "cut": (0, 10), "after": (10, 0), "last": (0, 1)}
    assert result["groups"]["outer"]["median"] < 2 and result["groups"]["outer/sleeps"]["median"] < 2
    kind = result["script_errors"]["kinds"][0]
    assert kind["text"].endswith("script.lua:11: ends here")
    assert re.search(r"script\.lua:11: in function", kind["traceback"]), kind["traceback"]


def test_groups_have_thresholds(luabench, target):
    script = 'scenario "s" { iterations = 20, run = function() group("g", function() http.get("/hello") end) end }'
    run(luabench, target, script, "--threshold", "group.duration{group=g}: median < 30s, count == 20")
    run(luabench, target, script, "--threshold", "group.duration{group=h}: median < 30s", status=1)


# Waiting anywhere.

def test_calls_wait_in_pcall_coroutines_iterators_and_metamethods(luabench, target):
    script = """
      local function pages()
        return coroutine.wrap(function() for i = 1, 3 do coroutine.yield(http.get("/bytes/" .. i)) end end)
      end
      local lazy = setmetatable({}, { __index = function(_, key) return http.get("/bytes/" .. key).size end })
      scenario "s" { iterations = 5, users = 2, run = function()
        local ok, res = pcall(http.get, "/hello")
        check("pcall", ok and res.status == 200)
        local sum = 0
        for page in pages() do sum = sum + page.size end
        check("iterator", sum == 6)
        check("metamethod", lazy[7] == 7)
        local inner = coroutine.create(function(x)
          sleep("1ms")
          local y = coroutine.yield(x + http.get("/bytes/2").size)
          return pcall(function() fail(tostring(y + http.get("/bytes/3").size)) end)
        end)
        local _, first = coroutine.resume(inner, 10)
        check("resume", first == 12)
        local _, failed, text = coroutine.resume(inner, 20)
        check("at depth", failed == false and tostring(text) == "23")
        check("xpcall", select(2, xpcall(function() return http.get("/hello").status end, print)) == 200)
      end }
    """
    result = run(luabench, target, script)
    assert {name: (check["passes"], check["fails"]) for name, check in result["checks"].items()} == {
        name: (5, 0) for name in ("pcall", "iterator", "metamethod", "resume", "at depth", "xpcall")}
    assert result["script_errors"]["count"] == 0


def test_where_nothing_can_wait(luabench, target):
    (luabench.folder / "waits.lua").write_text('http.get("/hello")')
    script = """
      local function text_of(f, ...)
        local ok, text = pcall(f, ...)
        return not ok and tostring(text) or "no error"
      end
      local function ask() http.get("/hello") end
      local places = {
        sort = function() table.sort({ 1, 2, 3 }, ask) end,
        gsub = function() return ("abc"):gsub(".", ask) end,
        require = function() return require "waits" end,
        resume = function() table.sort({ 1, 2 }, function() local ok, text = coroutine.resume(coroutine.create(ask)) error(text, 0) end) end,
      }
      scenario "s" { run = function()
        for name, place in pairs(places) do
          local text = text_of(place)
          check(name, text:find("cannot wait inside", 1, true), text)
        end
        local text
        xpcall(error, function() text = text_of(ask) end)
        check("handler", text:find("cannot wait inside", 1, true), text)
        check("then it can", http.get("/hello").ok)
      end }
    """
    result = run(luabench, target, script)
    assert {name: check["why"] for name, check in result["checks"].items() if check["fails"]} == {}
    assert len(result["checks"]) == 6
    assert target.requests() == 1


def test_a_waiting_coroutine_is_nobody_elses(luabench, target):
    script = """
      scenario "s" { run = function(user)
        local inner = coroutine.create(function() return http.get("/delay/50").status end)
        local task = spawn(function() return coroutine.resume(inner) end)
        sleep("1ms")
        local ok, text = coroutine.resume(inner)
        check("is refused", not ok and text:find("cannot resume a coroutine that waits", 1, true), text)
        check("has gone on", select(2, task:wait()) == 200)
        check("yield needs one", not pcall(coroutine.yield))
      end }
    """
    result = run(luabench, target, script)
    assert {name: check["why"] for name, check in result["checks"].items() if check["fails"]} == {}
    assert len(result["checks"]) == 3


# Choices.

def choices(luabench, server, *args):
    before = len(server.received)
    script = """
      scenario "s" { users = 5, iterations_per_user = 3, run = function(user)
        http.get(("/%d/%d/%d/%d"):format(user.id, user.iteration, random.int(1, 1e6), math.random(1e6)))
      end }
    """
    luabench.result("--target", server.url, *args, script=script)
    return sorted(re.findall(rb"GET (\S+)", server.received[before:]))


def test_a_seed_repeats_the_choices_over_any_number_of_threads(luabench, raw_server):
    server = raw_server(OK)
    first = choices(luabench, server, "--seed", 42, "-t", 1)
    assert len(set(first)) == 15
    assert choices(luabench, server, "--seed", 42, "-t", 2) == first
    assert choices(luabench, server, "--seed", 43) != first
    assert choices(luabench, server) != choices(luabench, server)


def test_a_dry_run_sends_nothing(luabench, target):
    script = """
      scenario "s" { stages = { { rate = 100, over = "10s", hold = "1m" } }, setup = function() http.get("/hello") end, run = function() http.get("/hello") end }
    """
    done = luabench.run("--target", target.url, "--dry-run", script=script)
    assert done.returncode == 0
    assert "from 0 s: to 100/s over 10 s, then 100/s for 1 min" in done.stdout
    assert target.requests() == 0


def test_a_warm_up_whose_end_is_found(luabench, target):
    """It takes 2 s to see that the latency is steady, and 30% of the run is the most that is left out, so that it ends between."""
    script = 'scenario "s" { users = 4, duration = "7s", warm_up = "auto", run = function() http.get("/delay/5") end }'
    result = run(luabench, target, script)
    scenario = scenario_of(result)
    warm_up = scenario["load"]["warm_up"]
    assert 1.9 <= warm_up <= 2.11
    assert scenario["window"] == pytest.approx(7 - warm_up, abs=0.001)
    left_out = scenario["warm_up"]["requests"]["started"]
    assert left_out > 0 and left_out + scenario["requests"]["started"] == page(target, "delay")


def test_a_warm_up_of_an_unknown_length_is_not_possible(luabench):
    done = luabench.run(script='scenario "s" { target = "http://x", users = 4, iterations = 7, warm_up = "auto", run = function() end }')
    assert done.returncode == 2 and '`warm_up = "auto"` needs a `duration`' in done.stderr
