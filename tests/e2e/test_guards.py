"""What is said before the start to one who shares what should not be shared, or writes as for another tool."""
import re

import pytest

WARNING = ("luabench: warning: script.lua:{}: the local `{}` of the file is assigned while users run, and all users of a thread share it; "
           "what belongs to one user goes into user.vars.{}\n")
SCENARIO = 'scenario "s" { run = run or function() end }'

ASSIGNED = {
    "in run": ("local count = 0\nlocal run = function()\n  count = count + 1\nend\n" + SCENARIO, [(3, "count")]),
    "all kinds of values": ("local a, b, c, d\nlocal function run()\n  a = {}\n  b = 'x'\n  c = 1\n  d = nil\nend\n" + SCENARIO,
                            [(3, "a"), (4, "b"), (5, "c"), (6, "d")]),
    "in a function that run calls": ("local last\nlocal function note(x) last = x end\nlocal function run() note(1) end\n" + SCENARIO, [(2, "last")]),
    "in a function inside a function": ("local n = 0\nlocal function run()\n  local f = function() n = n + 1 end\n  f()\nend\n" + SCENARIO, [(3, "n")]),
    "in a function of a table": ("local n = 0\nlocal steps = { go = function() n = 1 end }\nlocal function run() steps.go() end\n" + SCENARIO, [(2, "n")]),
    "once for several scenarios": ('local n = 0\nlocal function run() n = n + 1 end\n' + SCENARIO + '\nscenario "t" { run = run }', [(2, "n")]),
    "in a recursion": ("local n, f\nf = function() n = 1 if n == 2 then f() end end\nlocal function run() f() end\n" + SCENARIO, [(2, "n")]),
    "only read": ("local n = 5\nlocal function run() local x = n end\n" + SCENARIO, []),
    "fields": ("local t = {}\nlocal function run() t.x = 1 end\n" + SCENARIO, []),
    "locals of its own": ("local function run()\n  local n = 0\n  local function f() n = n + 1 end\n  f()\nend\n" + SCENARIO, []),
    "while loading": ("local n = 0\nlocal function count() n = n + 1 end\ncount()\nlocal run\n" + SCENARIO, []),
}


@pytest.mark.parametrize("script, stores", ASSIGNED.values(), ids=ASSIGNED)
def test_locals_of_the_file_that_users_assign(luabench, script, stores):
    done = luabench.run("--dry-run", script=script)
    assert done.returncode == 0
    assert done.stderr == "".join(WARNING.format(line, name, name) for line, name in stores)


def test_modules_keep_their_own_locals(luabench):
    (luabench.folder / "counter.lua").write_text("local n = 0\nreturn { next = function() n = n + 1 return n end }")
    done = luabench.run("--dry-run", script='local counter = require "counter"\nlocal function run() counter.next() end\n' + SCENARIO)
    assert done.returncode == 0 and done.stderr == ""


# Keys of other tools and of other places name ours.

KEYS = {
    "vus = 3": "unknown key `vus`; here it is called `users`",
    "requests = 3": "unknown key `requests`; here it is called `iterations`",
    "exec = run": "unknown key `exec`; here it is called `run`",
    "base_url = 'x'": "unknown key `base_url`; here it is called `target`",
    "think_time = 1": "unknown key `think_time`; write sleep(1) or sleep(1, 3) in `run`",
    "spawn_rate = 1": "unknown key `spawn_rate`; here it is called `ramp_up`",
    "timeout = 1": "unknown key `timeout`; it belongs into the `http` table: http = { timeout = ... }",
    "body = 'x'": "unknown key `body`; it belongs to a request: http.post(url, { body = ... })",
    "http = { vus = 1 }": "http: unknown key `vus`",
    "http = { duration = 1 }": "http: unknown key `duration`; it belongs to the scenario, outside of `http`",
    "durration = 1": "unknown key `durration`; did you mean `duration`?",
    "threads = 2": "unknown key `threads`; threads are of the whole run: `-t 4` on the command line",
    "checks = {}": 'unknown key `checks`; write check("name", condition) in `run`',
}


@pytest.mark.parametrize("key, message", KEYS.items(), ids=KEYS)
def test_keys(luabench, key, message):
    done = luabench.run("--dry-run", script=f'local run = function() end\nscenario "s" {{ run = run, {key} }}')
    assert done.returncode == 2
    assert done.stderr.startswith(f'luabench: script.lua:2: scenario "s": {message}'), done.stderr


GLOBALS = {
    "vu.id = 1": "`vu` is not defined; here it is called `user`, the parameter of run",
    "__VU = 1": "`__VU` is assigned without `local`",
    "local x = __VU": "`__VU` is not defined; it is user.id, of the parameter of run: run = function(user)",
    "local x = __ITER": "`__ITER` is not defined; it is user.iteration, of the parameter of run: run = function(user)",
    "local x = __ENV": "`__ENV` is not defined; it is called env here",
    "client.get('/')": "`client` is not defined; here it is called http",
    "wrk.method = 'GET'": "`wrk` is not defined; ",
    "options = { vus = 1 }": "`options` is assigned without `local`",
    "local x = open('a')": "`open` is not defined; files are read with file.csv, file.lines, file.json and file.text",
    "local x = Counter": "`Counter` is not defined; it is metric.counter here",
    "local x = SharedArray": "`SharedArray` is not defined; file.json and file.csv read a file once for all users",
    "time.sleep(1)": "`time` is not defined; write sleep(1), and now() for seconds",
    "await(1)": "`await` is not defined; every call waits; spawn(f) and task:wait() do two things at once",
    "exit(1)": "`exit` is not defined; write stop_user() or stop_run(\"why\")",
    "local x = res.status": "`res` is not defined; it is what a request returns: local res = http.get(\"/\")",
    "assertt(true)": "`assertt` is not defined; did you mean `assert`?",
}


@pytest.mark.parametrize("line, message", GLOBALS.items(), ids=GLOBALS)
def test_globals(luabench, line, message):
    done = luabench.run("--dry-run", script=f'\nscenario "s" {{ run = function() {line} end }}')
    assert done.returncode == 2
    assert done.stderr.startswith(f"luabench: script.lua:2: {message}"), done.stderr


ARGUMENTS = {
    "check(true, 'x')": "check(name, value): the name must be a text, not a boolean; the order is check(\"status is 200\", res.status == 200)",
    "check('x')": 'check(name, value): first the name, then what must be true: check("status is 200", res.status == 200)',
    "check('x', true, 'y', 1)": "check(name, value, why) takes three arguments, not 4",
    "check('x', function() return true end)": 'check(name, value): the value is a function, which would always pass; write what must be true: check("status is 200", res.status == 200)',
    "must('x', print)": 'must(name, value): the value is a function, which would always pass; write what must be true: must("status is 200", res.status == 200)',
    "sleep(1, 2, 3)": "sleep takes one duration, or two to choose between: sleep(1, 3)",
    "sleep(2, 1)": "sleep(2, 1): the shorter time comes first",
    "pace(0)": "pace: must be more than 0, not 0",
    "fail()": 'fail takes one text: fail("...")',
    "stop_user(1)": "stop_user() takes no argument",
    "stop_run(1)": 'stop_run takes one text: stop_run("...")',
    "now(1)": "now() takes no argument",
    "json.stringify({})": "json has no function `stringify`; here it is called `encode`",
    "http.del('/')": "http has no function `del`; here it is called `delete`",
    "random.choice({ 1 })": "random has no function `choice`; here it is called `pick`",
    "file.read('x')": "file has no function `read`; here it is called `text`",
    "json.decode()": "json.decode needs a string, got nil",
    "user.name = 1": "user.name cannot be assigned; use user.vars.name",
    "local x = user.name": "user has no field `name`; your own values belong into user.vars, as user.vars.name",
}


@pytest.mark.parametrize("line, message", ARGUMENTS.items(), ids=ARGUMENTS)
def test_arguments(luabench, line, message):
    done = luabench.run(script=f'\nscenario "s" {{ run = function(user) {line} end }}')
    assert done.returncode == 3
    assert re.search(r"script\.lua:2: (.*)", done.stderr)[1].startswith(message), done.stderr


# --script-memory

GREEDY = 'local function grow(n) local t = {} for i = 1, n do t[i] = { i } end return t end\n'


def test_a_script_that_wants_too_much_memory(luabench):
    """Iterations that stay below the limit go on beside those that do not."""
    script = GREEDY + """scenario "s" { users = 2, iterations = 20, run = function(user)
      if user.sequence % 2 == 0 then grow(1e7) end
      grow(1000) sleep(0.001) end }"""
    done = luabench.run("--script-memory", "32MiB", "-o", "result.json", script=script)
    assert done.returncode == 1, done.stderr
    result = luabench.saved_result()
    assert result["scenarios"]["s"]["iterations"]["completed"] == 10
    assert result["scenarios"]["s"]["iterations"]["failed"] == 10
    assert "not enough memory" in done.stderr


def test_too_much_memory_while_loading(luabench):
    done = luabench.run("--script-memory=16MiB", script=GREEDY + "grow(1e7)\n" + 'scenario "s" { run = function() end }')
    assert done.returncode == 2
    assert done.stderr == "luabench: the script cannot be loaded: not enough memory (--script-memory)\n"


@pytest.mark.parametrize("size, message", [("1MB", '"1MB" is too little: a thread needs 4MiB before it does anything'), ("much", '"much" is not a size; write 64KiB, 5MB, 5M or a number of bytes')])
def test_wrong_script_memory(luabench, size, message):
    done = luabench.run("--script-memory", size, script='scenario "s" { run = function() end }')
    assert done.returncode == 2 and done.stderr == f"luabench: --script-memory: {message}\n"
