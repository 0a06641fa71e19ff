"""Each global, function and field of the manual used wrongly: the exact message. The right use of each is the manual's example (test_manual.py); wrong values of keys
are in test_keys.py. All calls are made by one run of wrong_use.lua."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, Luabench, Server

TOP = "; it defines something, and belongs to the top of the script, outside of run, on_start, setup, report and the like"

# Entry of the manual → a wrong use of it, and what it raises at its line. "top": at the top of the script.
WRONG = {
    "scenario": ("top scenario(5, {})", 'a scenario\'s name must be a text, not 5: scenario "name" { run = function() ... end }'),
    "defaults": ("top defaults(5)", 'defaults needs one table: defaults { target = "http://127.0.0.1:8080" }'),
    "compare": ("top compare(5, {})", 'a comparison\'s name must be a line of text, not 5: compare "name" { targets = { ... }, cases = { ... }, run = function() ... end }'),
    "params": ("top params(5)", 'params needs one table: params { users = { 50, "concurrent users" } }'),
    "thresholds": ("top thresholds(5)", 'thresholds: must be a table of texts, not 5: thresholds { "http.latency: p(95) < 200ms", { "http.errors: rate < 50%", abort = true, after = "10s" } }'),
    "report": ("top report(5)", "report takes one function: report(function(summary) ... end), not 5"),
    "metric.counter": ("top metric.counter()", 'metric.counter needs a name of letters, digits, points and dashes: metric.counter("shop.checkout"), not nil'),
    "metric.gauge": ("top metric.gauge({})", 'metric.gauge needs a name of letters, digits, points and dashes: metric.gauge("shop.checkout"), not a table'),
    "metric.rate": ("metric.rate('late')", 'metric.rate is called while the script runs' + TOP),
    "metric.trend": ("top metric.trend('a', { unit = 5 })", 'metric.trend: `unit` is a text like "s" or "bytes", not 5'),
    "file.csv": ("top file.csv('none.csv')", 'file.csv("none.csv"): No such file or directory'),
    "file.json": ("top file.json('users.csv')", 'file.json("users.csv"): not JSON: invalid token near \'name\' (line 1, column 4)'),
    "file.lines": ("top file.lines('users.csv', { mode = 'any' })", 'file.lines: `mode` is "circular", "random" or "unique", not "any"'),
    "file.text": ("top file.text(5)", 'file.text needs a path: file.text("PATH"), not 5'),
    "check": ("check(true, 'x')", 'check(name, value): the name must be a text, not a boolean; the order is check("status is 200", res.status == 200)'),
    "must": ("must('x')", 'must(name, value): first the name, then what must be true: must("status is 200", res.status == 200)'),
    "fail": ("fail()", 'fail takes one text: fail("...")'),
    "group": ("group('x')", 'group takes a name and a function: group("checkout", function() ... end)'),
    "spawn": ("spawn(5)", "spawn(f, ...) takes a function and its arguments, not 5"),
    "sleep": ("sleep('soon')", 'sleep: "soon" is not a duration; write 250ms, 30s, 5m, 1h or 1m30s'),
    "pace": ("pace(0)", "pace: must be more than 0, not 0"),
    "now": ("now(1)", "now() takes no argument"),
    "stop_user": ("stop_user(1)", "stop_user() takes no argument"),
    "stop_run": ("stop_run(1)", 'stop_run takes one text: stop_run("...")'),
    "print": ("print = 5", "`print` cannot be assigned: it belongs to luabench; choose another name, with local"),
    "log.info": ("log.infos('x')", "log has no function `infos`; did you mean `info`?"),
    "log.warn": ("log.warning('x')", "log has no function `warning`"),
    "log.error": ("log.err('x')", "log has no function `err`"),
    "log.debug": ("log.debug = 5", "log.debug cannot be assigned: `log` belongs to luabench"),
    "env": ("env.X = 1", "env.X cannot be assigned; -e X=VALUE sets it"),
    "http.get": ("http.get()", "the URL must be a string, not nil"),
    "http.head": ("http.head(5)", "the URL must be a string, not 5"),
    "http.options": ("http.options('')", '"" is not a URL; one begins with http:// or, to be appended to the target, with /'),
    "http.delete": ("http.delete('ftp://x')", '"ftp://x": only http:// and https:// URLs can be requested'),
    "http.post": ("http.post('/', 5)", 'http.post(url, opts): opts must be a table, not 5; a body is { body = "..." } or { json = { ... } }'),
    "http.put": ("http.put('/', {}, 1)", "http.put(url, opts) takes two arguments; a third one is 1"),
    "http.patch": ("http.patch('/', { jsn = 1 })", "unknown key `jsn`; did you mean `json`?"),
    "http.request": ("http.request('/')", 'write http.request { method = "GET", url = "/", ... }: one table'),
    "http.batch": ("http.batch({ '/' }, { limit = 0 })", "http.batch: `limit`: must be 1 or more, not 0"),
    "res.status": ("local x = res.code", "a response has no field `code`; did you mean `status`?"),
    "res.ok": ("local x = res.okay", "a response has no field `okay`; it has status, ok, error, error_text, body, size, headers, version, time, url, cookies, redirects, location, json, html, assets, link, match, between, header_list, each_header"),
    "res.error": ("local x = res.err", "a response has no field `err`; did you mean `error`?"),
    "res.error_text": ("local x = res.errortext", "a response has no field `errortext`; did you mean `error_text`?"),
    "res.body": ("local x = res.text", "a response has no field `text`; did you mean `body`?"),
    "res.size": ("local x = res.length", "a response has no field `length`; did you mean `size`?"),
    "res.headers": ("local x = res.header", "a response has no field `header`; did you mean `headers`?"),
    "res.cookies": ("local x = res.cookie", "a response has no field `cookie`; did you mean `cookies`?"),
    "res.version": ("local x = res.http_version", "a response has no field `http_version`; it has status, ok, error, error_text, body, size, headers, version, time, url, cookies, redirects, location, json, html, assets, link, match, between, header_list, each_header"),
    "res.time": ("local x = res.time.totl", 'res.time has no field "totl"; did you mean `total`?'),
    "res.url": ("local x = res.uri", "a response has no field `uri`; did you mean `url`?"),
    "res.redirects": ("local x = res.redirect", "a response has no field `redirect`; did you mean `redirects`?"),
    "res.location": ("local x = res.locaton", "a response has no field `locaton`; did you mean `location`?"),
    "res:json": ("res:json(5)", "res:json(path) needs a string, got 5"),
    "res:html": ("page:html('a[')", 'res:html("a["): the name of an attribute is missing at "["'),
    "res:assets": ("res.assets()", "res.assets is called with a colon: res:assets(...)"),
    "res:link": ("res:link()", "res:link(url) needs a string, got nil"),
    "res:match": ("res:match()", "res:match(pattern) needs a string, got nil"),
    "res:between": ("res:between('a')", "res:between(left, right) needs a string, got nil"),
    "res:header_list": ("res:header_list()", "res:header_list(name) needs a string, got nil"),
    "res:each_header": ("res.each_header()", "res.each_header is called with a colon: res:each_header(...)"),
    "user.id": ("user.id = 1", "user.id cannot be assigned; use user.vars.id"),
    "user.iteration": ("user.iteration = 1", "user.iteration cannot be assigned; use user.vars.iteration"),
    "user.sequence": ("user.sequence = 1", "user.sequence cannot be assigned; use user.vars.sequence"),
    "user.scenario": ("user.scenario = 'x'", "user.scenario cannot be assigned; use user.vars.scenario"),
    "user.vars": ("user.vars = 5", "user.vars is a table of your own values, not 5; write user.vars.NAME = 5"),
    "user.headers": ("user.headers = 5", 'user.headers must be a table, not 5; write user.headers = { ["X-Name"] = "value" }'),
    "user.auth": ("user.auth = 'me'", 'user.auth: must be a table, not "me"; write auth = { user, password } or { bearer = token }'),
    "user.cookies": ("user.cookies:set('a')", "user.cookies:set: the value is a text without ;, not nil"),
    "task.done": ("task.done = true", "task.done cannot be assigned"),
    "task:wait": ("task:wait('soon')", 'task:wait: "soon" is not a duration; write 250ms, 30s, 5m, 1h or 1m30s'),
    "task:cancel": ("task.cancel()", "task:cancel() is called with a colon: task:cancel()"),
    "rows:next": ("rows.next()", "call it with a colon: rows:next()"),
    "rows:of": ("rows:of(1)", "rows:of(user) takes the user that `run` is given"),
    "rows:each": ("rows.each()", "call it with a colon: rows:each()"),
    "random": ("random(5)", "random() takes no argument; random.int(1, 6) gives whole numbers"),
    "random.int": ("random.int(3, 1)", "random.int(3, 1): the smaller number comes first"),
    "random.pick": ("random.pick({})", 'random.pick: there is nothing to pick from: random.pick { "a", "b" } or random.pick { browse = 70, buy = 30 }'),
    "random.exp": ("random.exp('x')", 'random.exp takes the mean, a number: random.exp(2.5), not "x"'),
    "random.string": ("random.string(-1)", "random.string takes a length: random.string(16), not -1"),
    "random.bytes": ("random.bytes('x')", 'random.bytes takes a length: random.bytes(16), not "x"'),
    "random.uuid": ("random.uuid(1)", "random.uuid() takes no argument"),
    "json.encode": ("json.encode(print)", "json.encode: a function cannot be written as JSON"),
    "json.decode": ("json.decode(5)", "json.decode needs a string, got 5"),
    "json.array": ("json.array(5)", "json.array needs a table: json.array {}"),
    "json.null": ("json.null = 1", "json.null cannot be assigned: `json` belongs to luabench"),
    "text.between": ("text.between('a', 'b')", "text.between takes texts: text.between(s, left, right), not nil"),
    "text.url_encode": ("text.url_encode({})", "text.url_encode takes one text, not a table"),
    "text.base64": ("text.base64()", "text.base64 takes one text, not nil"),
    "text.sha256": ("text.sha256(5)", "text.sha256 takes a text: text.sha256(s), not 5"),
    "text.hmac": ("text.hmac('a')", "text.hmac takes texts: text.hmac(key, s), not nil"),
}

# More of them, that have no entry of their own.
MORE = {
    "metric made late": ("metric.trend('late')", 'metric.trend is called while the script runs' + TOP),
    "file read late": ("file.csv('users.csv')", 'file.csv is called while the script runs' + TOP),
    "url of http.request": ("http.request { method = 'GET' }", "http.request: `url` is missing"),
    "method of http.request": ("http.request { url = '/', method = 5 }", "`method` must be a word such as PURGE, not 5"),
    "list of http.batch": ("http.batch('/')", 'http.batch takes a list of requests and options: http.batch { "/a.css", { method = "POST", url = "/b", json = { n = 1 } } }'),
    "assigned http": ("http = 5", "`http` cannot be assigned: it belongs to luabench; choose another name, with local"),
    "path of res:json": ("res:json('items..id')", 'res:json(path): "items..id" is no path; write "data.items[1].id", lists count from 1'),
    "colon of user.cookies": ("user.cookies.set('a', 'b')", "user.cookies.set is called with a colon: user.cookies:set(...)"),
    "assigned user.cookies": ("user.cookies = {}", "user.cookies cannot be assigned; write user.cookies:set(name, value)"),
    "field of a task": ("local x = task.finished", "a task has no field `finished`"),
    "field of rows": ("local x = rows.length", "rows have no field `length`; there are rows:next(), rows:of(user), rows:each(), rows[i] and #rows"),
    "value of a counter": ("counter:add('x')", 'c:add takes a number, not "x"'),
    "method of a counter": ("counter:set(1)", 'a counter has c:add(), and no "set"'),
    "tags of a counter": ("counter:add(1, 5)", 'c: the last argument is a table of tags: { page = "cart" }, not 5'),
    "value of a gauge": ("gauge:set()", "g:set takes a number, not nil"),
    "value of a rate": ("rate:add(5)", "r:add takes true or false, not 5"),
    "value of a trend": ("trend:add('soon')", 't:add takes a number, not "soon"'),
    "task that waits for itself": ("local own own = spawn(function() own:wait() end) own:wait()", "the task would wait for itself"),
    "task that cancels itself": ("local own own = spawn(function() own:cancel() end) own:wait()", "a task cannot cancel itself; it ends when its function returns"),
    "pace in a task": ("spawn(function() pace(1) end):wait()", "pace() is for the iteration as a whole, not for a task of it"),
    "waiting in table.sort": ("table.sort({ 2, 1 }, function() sleep(0.001) end)", "cannot wait inside table.sort, string.gsub, require, an xpcall handler or __gc"),
    "request in string.gsub": ("('x'):gsub('x', function() http.get('/') end)", "cannot wait inside table.sort, string.gsub, require, an xpcall handler or __gc"),
    "request in a batch": ("http.batch { { url = '/', jsn = 1 } }", "http.batch: unknown key `jsn`; did you mean `json`?"),
    "a rows:next for a user": ("rows:next(user)", "rows:next() takes no argument"),
    "a column that is not there": ("local x = rows[1].nme", "users.csv has no column `nme`; its columns: name, password"),
    "what load takes": ("load(5)", "load takes a text, not 5"),
    "distance of random.int": ("random.int(-2^53, 2^53)", "random.int(-9007199254740992, 9007199254740992): they are too far apart; between them there may be 9007199254740991 at most"),
    "distance of math.random": ("math.random(-2^53, 2^53)", "math.random(-9007199254740992, 9007199254740992): the numbers are too large, or too far apart"),
    "interval of math.random": ("math.random(0)", "math.random: the interval is empty: (1, 0)"),
    "digits of numbers": ("spawn(2^53)", "spawn(f, ...) takes a function and its arguments, not 9007199254740992"),
    "number as a field of user": ("user[5] = 1", 'user["5"] cannot be assigned; use user.vars["5"]'),
    "number as a field of a task": ("local x = task[5]", "a task has no field 5"),
    "weights of random.pick": ("random.pick({ a = -1 })", 'random.pick: the weight of "a" must be a number from 0, not -1: random.pick { browse = 70, buy = 30 }'),
}
ALL = {**WRONG, **MORE}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """What each of the calls raised, in order."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "users.csv").write_text("name,password\nanna,x\n")
    (folder / "calls.json").write_text(json.dumps([line for line, _ in ALL.values()]))
    target = Server([Luabench.path, "serve", "--port", 0]).await_line()
    try:
        checks = Luabench(folder).result("--target", target.url, script=(Path(__file__).parent / "wrong_use.lua").read_text())["checks"]
    finally:
        target.stop()
    return [checks[f"call {i + 1}"] for i in range(len(ALL))]


@pytest.mark.parametrize("name", ALL)
def test_wrong_use(texts, name):
    line, message = ALL[name]
    said = texts[list(ALL).index(name)]["why"]
    assert re.fullmatch(r'(script\.lua|\[string "@script\.lua"\]):1: (.*)', said, re.DOTALL)[2] == message, line  # with the script's line, whatever is in between


KEYS = {"Scenario", "HttpOptions", "RequestOptions", "Comparison", "Target"}  # see test_keys.py


def test_no_entry_of_the_manual_is_missing_here():
    program = ('package.path = "lua/?.lua;" .. package.path for _, section in ipairs(require("luabench.manual").sections()) do '
               'for _, entry in ipairs(section.entries) do print((section.class or "-") .. " " .. entry.name) end end')
    lines = subprocess.run([shutil.which("luajit"), "-e", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    names = {name for kind, name in map(str.split, lines) if kind not in KEYS}
    assert names == set(WRONG)
