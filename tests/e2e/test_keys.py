"""Each key of a scenario, of its http table and of a request with one wrong value: the exact message. The right use of each is the manual's example (test_manual.py)."""
import shutil
import subprocess

import pytest

from conftest import ROOT

DURATION = '"soon" is not a duration; write 250ms, 30s, 5m, 1h or 1m30s'
BOOLEAN = "must be true or false, not 1"
HEADERS = 'must be a table, not 5; write headers = { ["X-Name"] = "value" }'
AUTH = 'must be a table, not "me"; write auth = { user, password } or { bearer = token }'
HTTP_VERSION = '"3" is no version; write "1.1", "2" or "auto"'
TLS_VERSION = '"1.9" is no version of TLS; write "1.2" or "1.3" ("1.0" and "1.1" for old servers)'

SCENARIO = {
    "run": ("5", "must be a function, not 5; write run = function() ... end"),
    "target": ("'nowhere'", '"nowhere" is not a URL; write "http://nowhere"'),
    "users": ("0", "must be 1 or more, not 0"),
    "duration": ("'soon'", DURATION),
    "iterations": ("1.5", "1.5 is not a whole number"),
    "iterations_per_user": ("-1", "must be 1 or more, not -1"),
    "ramp_up": ("{}", "a table is not a duration; write 250ms, 30s, 5m, 1h or 1m30s"),
    "stages": ("5", 'must be a list of stages, not 5; write stages = { { users = 50, over = "30s", hold = "1m" } }'),
    "rate": ("0", "must be more than 0, not 0"),
    "arrivals": ("'uniform'", 'must be "constant" or "poisson" or "poisson_exact", not "uniform"'),
    "min_users": ("-1", "must be 1 or more, not -1"),
    "max_users": ("'x'", '"x" is not a count; write 50, 10k or 5M'),
    "overflow": ("'wait'", 'must be "queue" or "drop", not "wait"'),
    "start_after": ("-1", "must be 0 or more, not -1"),
    "warm_up": ("'soon'", DURATION),
    "graceful_stop": ("'soon'", DURATION),
    "connections": ("0", "must be 1 or more, not 0"),
    "connections_per_user": ("0", "must be 1 or more, not 0"),
    "fresh": ("1", BOOLEAN),
    "on_start": ("1", "must be a function, not 1"),
    "on_stop": ("'x'", 'must be a function, not "x"'),
    "setup": ("{}", "must be a function, not a table"),
    "teardown": ("true", "must be a function, not true"),
    "tags": ("5", 'must be a table, not 5; write tags = { page = "cart" }'),
    "thresholds": ("5", 'must be a table of texts, not 5: thresholds { "http.latency: p(95) < 200ms", { "http.errors: rate < 50%", abort = true, after = "10s" } }'),
}

HTTP = {
    "timeout": ("0", "must be more than 0, not 0"),
    "connect_timeout": ("'soon'", DURATION),
    "headers": ("5", HEADERS),
    "keep_alive": ("1", BOOLEAN),
    "requests_per_connection": ("-1", "must be 1 or more, not -1"),
    "retry": ("1", BOOLEAN),
    "max_body": ("'big'", '"big" is not a size; write 64KiB, 5MB, 5M or a number of bytes'),
    "auth": ("'me'", AUTH),
    "redirects": ("-1", "must be 0 or more, not -1"),
    "cookies": ("1", BOOLEAN),
    "discard_bodies": ("1", BOOLEAN),
    "decode": ("1", BOOLEAN),
    "version": ("'3'", HTTP_VERSION),
    "insecure": ("1", BOOLEAN),
    "ca": ("5", "must be a text, not 5"),
    "cert": ("5", "must be a text, not 5"),
    "key": ("5", "must be a text, not 5"),
    "sni": ("''", "it is empty"),
    "min_tls": ("'1.9'", TLS_VERSION),
    "max_tls": ("'1.9'", TLS_VERSION),
    "ciphers": ("5", "must be a text, not 5"),
    "resume": ("1", BOOLEAN),
    "connect_to": ("'x'", '"x" is not HOST1:PORT1:HOST2:PORT2, as curl has it; each may be empty, an IPv6 address stands in brackets'),
    "resolve": ("'x'", '"x" is not HOST:PORT:ADDRESS, as curl has it; several addresses stand with commas between, an IPv6 address in brackets'),
    "unix_socket": ("5", "must be a text, not 5"),
    "source_addresses": ("'x'", '"x" is not an IP address'),
    "proxy": ("'ftp://x'", "ftp://: only http:// proxies are known"),
    "pipeline": ("1001", "1001 is more than 1,000"),
}

REQUEST = {
    "headers": ("5", "`headers` " + HEADERS),
    "path": ("'x'", '`path` must be a table, not "x"; write path = { id = 1 } for /items/{id}'),
    "query": ("5", "`query` must be a table, not 5; write query = { name = value }"),
    "body": ("{}", '`body` must be a string, not a table; to send it as JSON write json = { ... }'),
    "file": ("5", "`file` must be a path, not 5"),
    "json": ("print", "`json`: a function cannot be written as JSON"),
    "form": ("5", "`form` must be a table, not 5; write form = { name = value }"),
    "multipart": ("5", '`multipart`: must be a list, not 5; write multipart = { { "name", "value" }, { "name", file = "PATH" } }'),
    "timeout": ("0", "`timeout`: must be more than 0, not 0"),
    "name": ("5", "`name` must be a text, not 5"),
    "tags": ("5", "`tags`: must be a table, not 5; write tags = { page = \"cart\" }"),
    "redirects": ("-1", "`redirects`: must be 0 or more, not -1"),
    "auth": ("'me'", "`auth`: " + AUTH),
    "cookies": ("1", "`cookies` must be true or false, not 1"),
    "expect_status": ("'ok'", '`expect_status`: "ok" is no status; write 404, "2xx" or { "2xx", 404 }'),
    "expect": ("5", '`expect` must be a function, not 5; write expect = function(res) return res.body ~= "" end'),
    "version": ("'3'", "`version`: " + HTTP_VERSION),
}

COMPARISON = {
    "targets": ("5", "`targets` must be a list of tables, not 5"),
    "cases": ("5", "`cases` must be a list of tables, not 5"),
    "rounds": ("0", "`rounds`: must be 1 or more, not 0"),
    "baseline": ("'c'", '`baseline`: there is no target "c"'),
    "pairs": ("'some'", '`pairs` can be "all", not "some"'),
}

TARGET = {
    "name": ("5", "must be a line of text, not 5"),
    "url": ("5", "must be a URL as a string, not 5"),
    "command": ("'node x.js'", 'is a list of words, since no shell reads it: command = { "node", "x.js" }'),
    "env": ("5", 'must be a table, not 5: env = { PORT = "3000" }'),
    "cwd": ("5", "must be a text, not 5"),
    "ready": ("5", 'must be a path, not 5: ready = "/"'),
    "ready_timeout": ("'soon'", DURATION),
    "stop_timeout": ("'soon'", DURATION),
    "restart": ("1", BOOLEAN),
    "pid": ("'x'", '"x" is not a count; write 50, 10k or 5M'),
    "port": ("0", "must be 1 or more, not 0"),
}

CASES = [(kind, key, *case) for kind, cases in (("scenario", SCENARIO), ("http", HTTP)) for key, case in cases.items()]


@pytest.mark.parametrize("kind, key, value, message", CASES, ids=[f"{case[0]}.{case[1]}" for case in CASES])
def test_a_wrong_value_of_a_key(luabench, kind, key, value, message):
    inside = f"{key} = {value}" if kind == "scenario" else f"http = {{ {key} = {value} }}"
    run = "" if key == "run" else "run = function() end, "
    done = luabench.run("--dry-run", script=f'\nscenario "s" {{ {run}{inside} }}')
    assert done.returncode == 2
    place = "" if kind == "scenario" else "http: "
    assert done.stderr == f'luabench: script.lua:2: scenario "s": {place}`{key}`: {message}\n'


@pytest.mark.parametrize("key, case", REQUEST.items(), ids=REQUEST)
def test_a_wrong_value_of_an_option_of_a_request(luabench, free_port, key, case):
    value, message = case
    script = f'\nscenario "s" {{ run = function() http.post("/{{a}}", {{ {key} = {value} }}) end }}'
    done = luabench.run("--target", f"http://127.0.0.1:{free_port()}", script=script)
    assert done.returncode == 3
    assert f'scenario "s": script.lua:2: {message}\n' in done.stderr, done.stderr


def compare(luabench, target="", **keys):
    """What a comparison is refused with, as luabench says it."""
    keys = {"targets": f'{{ {{ name = "a", url = "http://127.0.0.1:1", {target} }}, {{ name = "b", url = "http://127.0.0.1:2" }} }}',
            "cases": '{ { name = "one", users = 1, iterations = 1 } }', "rounds": "6", **keys}
    text = ", ".join(f"{key} = {value}" for key, value in keys.items())
    done = luabench.run("--dry-run", "--allow-run", script=f'\ncompare("x", {{ run = function() end, {text} }})')
    assert done.returncode == 2
    return done.stderr


@pytest.mark.parametrize("key, case", COMPARISON.items(), ids=COMPARISON)
def test_a_wrong_value_of_a_comparison(luabench, key, case):
    value, message = case
    assert compare(luabench, **{key: value}) == f'luabench: script.lua:2: compare "x": {message}\n'


@pytest.mark.parametrize("key, case", TARGET.items(), ids=TARGET)
def test_a_wrong_value_of_a_target(luabench, key, case):
    value, message = case
    assert compare(luabench, f"{key} = {value}") == f'luabench: script.lua:2: compare "x": targets, number 1: `{key}`: {message}\n'


def test_no_key_of_a_comparison_is_missing_here():
    program = ('package.path = "lua/?.lua;" .. package.path for _, section in ipairs(require("luabench.manual").sections()) do '
               'if section.class == "Comparison" or section.class == "Target" then for _, entry in ipairs(section.entries) do print(entry.name) end end end')
    names = subprocess.run([shutil.which("luajit"), "-e", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert set(names) == {f"compare.{key}" for key in COMPARISON} | {f"target.{key}" for key in TARGET}


def test_no_key_is_missing_here():
    program = ('package.path = "lua/?.lua" local s = require "luabench.schema" for _, kind in ipairs { "scenario", "http", "request" } do '
               'for _, row in ipairs(s[kind]) do print(kind .. "." .. row[1]) end end')
    names = subprocess.run([shutil.which("luajit"), "-e", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    here = {f"{kind}.{key}" for kind, cases in (("scenario", SCENARIO), ("http", HTTP), ("request", REQUEST)) for key in cases}
    here.add("scenario.http")  # a table of its own
    assert set(names) - here == set()
