"""Scripts from strangers: what computes, recurses or takes memory without end is stopped with a message, wherever it is called from, and what was measured is kept.
What a script may read, write and run is test_permissions.py's."""
import os
import resource

import pytest

LOOP = "while true do end"
BACKTRACK = 'string.find(("a"):rep(40), ("a-"):rep(30) .. "b")'
CAUGHT = "while true do pcall(function() error() end) end"
IN_ERROR = "error(setmetatable({}, { __tostring = function() while true do end end }))"


def scenario(**functions):
    functions = {"run": 'http.get("/hello")', **functions}
    return 'scenario "s" { iterations = 4, ' + ", ".join(f"{name} = function(user) {text} end" for name, text in functions.items()) + " }"


# Never returns: the function and how many requests have been made by then (one user).

ENDLESS = {
    "run": (scenario(run=f'http.get("/hello") {LOOP}'), 1),
    "run, in C": (scenario(run=f'http.get("/hello") {BACKTRACK}'), 1),
    "run, catching": (scenario(run=f'http.get("/hello") while true do pcall(function() {CAUGHT} end) end'), 1),
    "the text of an error": (scenario(run=f'http.get("/hello") {IN_ERROR}'), 1),
    "the text of a task's error": (scenario(run=f'http.get("/hello") spawn(function() {IN_ERROR} end) sleep("1s")'), 1),
    "the reason of a check": (scenario(run=f'http.get("/hello") check("x", false, setmetatable({{}}, {{ __tostring = function() {LOOP} end }}))'), 1),
    "a coroutine": (scenario(run=f'http.get("/hello") coroutine.wrap(function() {LOOP} end)()'), 1),
    "a comparison": (scenario(run=f'http.get("/hello") table.sort({{ 3, 2, 1 }}, function() {LOOP} end)'), 1),
    "a selector": (scenario(run='local r = http.post("/echo", { headers = { ["Content-Type"] = "text/html" }, body = ("<div>"):rep(200) }) r:html(("div "):rep(60) .. "b")'), 1),
    "a pattern for a body": (scenario(run='http.post("/echo", { body = ("a"):rep(40) }):match(("a-"):rep(30) .. "b")'), 1),
    "a pipe that nobody writes into": (scenario(run='http.get("/hello") io.open("pipe"):read(1)'), 1),
    "on_stop": (scenario(on_stop=LOOP), 4),
    "teardown": (scenario(teardown=BACKTRACK), 4),
    "report": (f"report(function() {LOOP} end) " + scenario(), 4),
    "report, in C": (f"report(function() {BACKTRACK} end) " + scenario(), 4),
}


@pytest.mark.parametrize("script, requests", ENDLESS.values(), ids=ENDLESS)
def test_what_never_returns(luabench, target, script, requests):
    os.mkfifo(luabench.folder / "pipe")
    done = luabench.run("--target", target.url, "-t", 1, "--script-timeout", "300ms", "-o", "result.json", script=script)
    assert done.returncode == 3, done.stderr
    assert "never returned" in done.stdout or "report() did not return within --script-timeout" in done.stderr, done.stdout + done.stderr
    assert f"requests     started {requests} " in done.stdout
    assert luabench.saved_result()["total"]["requests"]["started"] == requests


@pytest.mark.parametrize("function, status", [("setup", 2), ("init", 2), ("done", 1)])
def test_functions_of_wrks_scripts_that_never_return(luabench, target, function, status):
    (luabench.folder / "wrk.lua").write_text(f"function {function}() {LOOP} end")
    done = luabench.run("-s", "wrk.lua", "-d", "100ms", "-c", 1, "-t", 1, "--script-timeout", "1s", target.url)
    assert done.returncode == status and f"{function}()" in done.stderr and "did not return within --script-timeout" in done.stderr, done.stderr
    assert ("requests     started" in done.stdout) == (function == "done")


# Calls itself without end by way of C, whose stack Lua does not watch.

DEEP = {
    "string.gsub": 'local function f() ("x"):gsub("x", f) end f()',
    "string.gsub with a table": 'local t t = setmetatable({}, { __index = function() return (("x"):gsub("x", t)) end }) local s = ("x"):gsub("x", t)',
    "coroutines": "local function f() coroutine.wrap(f)() end f()",
    "coroutines that catch": "local function f() local good, why = coroutine.resume(coroutine.create(f)) if not good then error(why, 0) end end f()",
    "both": 'local function f() ("x"):gsub("x", function() coroutine.wrap(f)() end) end f()',
    "load": 'local function f() load(function() f() end) end f() error("stack overflow: or not", 0)',
    "table.sort": "local function f() table.sort({ 2, 1, 3 }, f) end f()",
    "string.format": 'local t t = setmetatable({}, { __tostring = function() return ("%s"):format(t) end }) local s = ("%s"):format(t)',
    "check": 'local t t = setmetatable({}, { __tostring = function() check("x", false, t) return "" end }) check("x", false, t) error("stack overflow: or not", 0)',
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_recursion_by_way_of_c(luabench, target, text):
    result = luabench.result("--target", target.url, "-n", 1, status=3, script=scenario(run='http.get("/hello") ' + text))
    assert result["total"]["requests"]["succeeded"] == 1
    assert result["script_errors"]["count"] == 1 and "stack overflow" in result["script_errors"]["kinds"][0]["text"]


@pytest.mark.parametrize("text", [DEEP["string.gsub"], DEEP["coroutines"]], ids=["string.gsub", "coroutines"])
def test_recursion_at_load_and_in_the_report(luabench, target, text):
    done = luabench.run("--dry-run", script=text + " " + scenario())
    assert done.returncode == 2 and "stack overflow" in done.stderr
    done = luabench.run("--target", target.url, "-n", 1, script=f"report(function() {text} end) " + scenario())
    assert done.returncode == 3 and "stack overflow" in done.stderr and "requests     started 1 " in done.stdout


# Memory: wherever the limit is met, the program goes on.

HUNGRY = """
local rows, size = file.csv("people.csv"), metric.trend "size"
report(function() local t = {} for i = 1, 20000 do t[i] = { i } end print "reported" end)
scenario "s" { users = 5, iterations = 30,
  setup = function() return { token = ("x"):rep(10000), http.get("/hello").body } end, teardown = function() http.get("/hello") end,
  on_start = function(user) user.vars.list = {} end, on_stop = function(user) http.get("/hello") end,
  run = function(user, shared)
    local list = user.vars.list
    for i = 1, 5000 do list[#list + 1] = { i } end
    group("g", function()
      local res = http.post("/echo", { json = { a = rows:next().name, b = list[1] } })
      check("came", res:json() ~= nil)
      size:add(#res.body)
    end)
    spawn(http.get, "/bytes/100000"):wait()
    http.batch { "/hello", "/bytes/50000" }
    local s = ("y"):rep(50000) .. user.iteration
  end }
"""


@pytest.mark.parametrize("megabytes", [4.0, 4.4, 5.1, 6.2, 7.3, 9.0])
def test_the_limit_of_memory_wherever_it_is_met(luabench, target, megabytes):
    (luabench.folder / "people.csv").write_text("name\na\nb\n")
    done = luabench.run("--target", target.url, "-t", 2, "--script-memory", int(megabytes * 2**20), "-o", "result.json", script=HUNGRY)
    assert done.returncode in (0, 1, 3), done.stderr
    scenario = luabench.saved_result()["scenarios"]["s"]
    requests, iterations = scenario["requests"], scenario["iterations"]
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted")) > 0
    assert iterations["scheduled"] == sum(iterations[key] for key in ("completed", "failed", "interrupted", "dropped", "expired")) == 30
    assert done.returncode == 0 or "not enough memory" in done.stderr


EATS = {
    "tables": "local t = {} for i = 1, 1e9 do t[i] = { i } end",
    "texts": 'local s = ("x"):rep(1e7) while true do s = s .. s end',
    "pieces": 'local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1000) .. i end table.concat(t)',
    "a pattern": '("x"):rep(1e6):gsub(".", ("y"):rep(1e6))',
    "a buffer": 'local b = require("string.buffer").new() while true do b:put(("x"):rep(1e6)) end',
    "the user": "for i = 1, 1e9 do user.vars[i] = { i } end",
    "upvalues": "local f = {} for i = 1, 1e9 do local x = {} f[i] = function() return x, f end end",
    "coroutines": "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end",
    "JSON": 'local s = "[" .. ("[],"):rep(1e6) .. "1]" local t = {} while true do t[#t + 1] = json.decode(s) end',
    "catching": "local t = {} while true do pcall(function() t[#t + 1] = {} end) end",
}


@pytest.mark.parametrize("text", EATS.values(), ids=EATS)
def test_a_script_that_eats_memory(luabench, target, text):
    """The others go on; one that catches the errors of memory computes without end."""
    run = f'http.get("/hello") if user.sequence == 3 then {text} end sleep("1ms")'
    done = luabench.run("--target", target.url, "-t", 1, "--script-memory", "24MiB", "--script-timeout", "5s", "-o", "result.json", script=scenario(run=run))
    assert done.returncode in (1, 3), done.stderr
    assert "not enough memory" in done.stderr or "never returned" in done.stdout, done.stderr
    assert luabench.saved_result()["total"]["requests"]["succeeded"] >= 3


@pytest.mark.parametrize("megabytes", [120, 300])
def test_a_limited_address_space(luabench, target, megabytes):
    """Half of what ulimit -v leaves is for Lua, where an error of memory can be caught."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6, megabytes * 10**6))
    if luabench.run("--version", preexec_fn=limit).returncode:
        pytest.skip("this build needs more than that to begin with")
    done = luabench.run("--target", target.url, "-t", 2, "-o", "result.json", script=scenario(run=f'http.get("/hello") if user.sequence == 3 then {EATS["tables"]} end'), preexec_fn=limit)
    assert done.returncode == 1 and "not enough memory" in done.stderr, done.stderr
    assert luabench.saved_result()["total"]["requests"]["succeeded"] == 4
    assert luabench.saved_result()["scenarios"]["s"]["iterations"]["failed"] == 1
