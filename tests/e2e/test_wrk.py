"""Scripts of wrk's, unmodified: each is run by wrk itself and by luabench against a server that records what comes, and both must have sent the same
requests, in the same order on a connection, and printed the same.

wrk opens a connection more for each address, to see whether it can; nothing comes on it. Runs end by time, so that of two sequences of requests the
shorter one must be the beginning of the longer one.
"""
import re
import shutil
import subprocess
import time

import pytest

from recorder import hello, recorder  # noqa: F401

pytestmark = pytest.mark.skipif(not shutil.which("wrk"), reason="wrk is not installed")


class Outcome:
    def __init__(self, done, connections, seconds):
        self.status, self.stderr, self.seconds = done.returncode, done.stderr, seconds
        self.connections = [[request.key() for request in requests] for requests in connections]
        self.requests = connections
        assert "Transfer/sec" in done.stdout, done.stdout + done.stderr
        self.before, report, self.after = re.match(r"(?s)(.*?)(Running .*?Transfer/sec: *\S+\n)(.*)", done.stdout).groups()
        self.report = report.splitlines()


def run(command, folder, server):
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    return Outcome(done, server.take(), time.monotonic() - began)


@pytest.fixture
def both(luabench):
    """A function that runs a script with wrk and with luabench: the two outcomes."""
    def run_both(script, server, *args, url=None):
        (luabench.folder / "s.lua").write_text(script)
        words = ["-s", "s.lua", *args]
        words.insert(words.index("--") if "--" in words else len(words), url or server.url + "/path?q=1")
        theirs = run(["wrk", *words], luabench.folder, server)
        ours = run([luabench.path, *words, "--report", "wrk", "--quiet"] if "--" not in words
                   else [luabench.path, "--report", "wrk", "--quiet", *words], luabench.folder, server)
        assert ours.status == 0, ours.stderr
        return theirs, ours
    return run_both


def assert_same_requests(theirs, ours, least=20):
    """On every connection the same: by their first requests, connections are matched with each other."""
    assert len(theirs.connections) == len(ours.connections)
    for a, b in zip(sorted(theirs.connections, key=lambda c: c[0]), sorted(ours.connections, key=lambda c: c[0])):
        length = min(len(a), len(b))
        assert length >= least
        assert a[:length] == b[:length]


ONE = ("-t1", "-c1", "-d1s")


def test_static_request(both, recorder):
    server = recorder()
    theirs, ours = both('wrk.method = "PUT" wrk.body = "a=1&b=2" wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"',
                        server, *ONE, "-H", "X-Given: yes")
    assert_same_requests(theirs, ours)
    method, path, headers, body = ours.connections[0][0]
    assert (method, path, body) == ("PUT", "/path?q=1", b"a=1&b=2")
    assert dict(headers) == {"Host": f"127.0.0.1:{server.port}", "Content-Length": "7", "X-Given": "yes",
                             "Content-Type": "application/x-www-form-urlencoded"}


def test_post(both, recorder):
    """The job of post.lua: method, body and a header are set once, and -H says more."""
    server = recorder(lambda request: (201, [], b"made") if request.method == "POST" and request.body == b"foo=bar&baz=quux" else (400, [], b""))
    theirs, ours = both("""
        wrk.method = "POST"
        wrk.body   = "foo=bar&baz=quux"
        wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
        function done(summary) print(summary.errors.status) end
    """, server, "-t2", "-c4", "-d1s", "-H", "X-Given: yes")
    assert_same_requests(theirs, ours)
    assert ours.after == theirs.after == "0\n"  # the server has seen nothing else
    assert ours.connections[0][0][0] == "POST"


TOKEN = """
local token, path = nil, "/authenticate"
function request() return wrk.format("GET", path) end
function response(status, headers, body)
  if not token and status == 200 then
    token = headers["X-Token"]
    path = "/resource"
    wrk.headers["X-Token"] = token
  end
end
"""


def test_token_of_the_first_answer(both, recorder):
    server = recorder(lambda request: (200, ["X-Token: secret-7"], b"") if request.path == "/authenticate" else (200, [], b"ok"))
    theirs, ours = both(TOKEN, server, *ONE)
    assert_same_requests(theirs, ours)
    assert [request[1] for request in ours.connections[0][:3]] == ["/authenticate", "/resource", "/resource"]
    assert ("X-Token", "secret-7") in ours.connections[0][1][2]


COUNTERS = """
local counter, threads = 0, {}
function setup(thread)
  counter = counter + 1
  thread:set("id", counter)
  thread:set("names", { "first", "second" })
  table.insert(threads, thread)
end
function init(args)
  requests, responses = 0, 0
  print("thread " .. id .. " " .. names[id] .. " " .. args[0]:match("^%a+") .. " " .. #args .. " " .. tostring(args[1]))
end
function request()
  requests = requests + 1
  return wrk.format(nil, "/" .. id .. "/" .. requests)
end
function response() responses = responses + 1 end
function done(summary, latency, rates)
  local sum = 0
  for _, thread in ipairs(threads) do
    sum = sum + thread:get("responses")
    print(thread:get("id"), thread:get("requests") - thread:get("responses") >= 0, thread:get("nothing"), type(thread:get("names")))
  end
  print("all answered", sum == summary.requests)
end
"""


def test_counters_of_threads(both, recorder):
    theirs, ours = both(COUNTERS, recorder(), "-t2", "-c2", "-d1s", "--", "word", "other")
    assert_same_requests(theirs, ours)
    assert sorted(connection[0][1] for connection in ours.connections) == ["/1/2", "/2/1"]  # the first one of thread 1 is never sent
    assert ours.before == theirs.before == "thread 1 first http 2 word\nthread 2 second http 2 word\n"
    assert ours.after == theirs.after
    assert "all answered\ttrue" in ours.after


PIPELINE = """
local text
function init()
  local r = {}
  r[1] = wrk.format("GET", "/1")
  r[2] = wrk.format("POST", "/2", { ["X-Two"] = "2" }, "two")
  r[3] = wrk.format("DELETE", "/3")
  text = table.concat(r)
end
function request() return text end
count = 0
function response(status, headers, body) count = count + 1 end
local all = {}
function setup(thread) all[1] = thread end
function done(summary) print(all[1]:get("count") == summary.requests, summary.requests % 3 < 3) end
"""


def test_pipelining(both, recorder):
    arrived = []
    server = recorder(lambda request: arrived.append(request) or hello(request))
    theirs, ours = both(PIPELINE, server, *ONE)
    assert_same_requests(theirs, ours)
    assert [request[:2] for request in ours.connections[0][:4]] == [("GET", "/1"), ("POST", "/2"), ("DELETE", "/3"), ("GET", "/1")]
    assert ours.after == theirs.after == "true\ttrue\n"


CSV = """
function done(summary, latency, requests)
  io.write("requests,bytes,duration,status,timeout\\n")
  io.write(string.format("%d,%d,%d,%d,%d\\n", summary.requests, summary.bytes, summary.duration, summary.errors.status, summary.errors.timeout))
  for _, p in pairs({ 50, 75, 90, 99, 99.999, 100 }) do io.write(string.format("%g%%,%d\\n", p, latency:percentile(p))) end
  io.write(string.format("%d,%d,%g,%g\\n", latency.min, latency.max, latency.mean, latency.stdev))
  local value, count = latency(1)
  io.write(string.format("%s,%s,%d,%d\\n", #latency > 0 and "many" or "none", type(latency["max"]), value, count > 0 and 1 or 0))
  io.write(string.format("%s,%g\\n", requests.total, requests.mean))
end
"""


def numbers_of(text):
    return [[float(field) for field in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?", line)] for line in text.splitlines()]


def test_csv_in_done(both, recorder):
    def slow(request):
        time.sleep(0.02)
        return 404, [], b"gone"
    theirs, ours = both(CSV, recorder(slow), "-t1", "-c2", "-d1s")
    shape = [re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "N", text) for text in (theirs.after, ours.after)]
    assert shape[0] == shape[1]
    a, b = numbers_of(theirs.after), numbers_of(ours.after)
    for index in (0, 2):  # requests, duration
        assert b[1][index] == pytest.approx(a[1][index], rel=0.4)
    assert b[1][3] == b[1][0]  # all are 404
    assert b[1][4] == 0
    median, longest = b[2][1], b[7][1]
    assert 20000 <= median == pytest.approx(a[2][1], rel=0.5)  # microseconds
    assert longest == b[8][1] >= median  # percentile(100) is the maximum
    assert b[10][0] == pytest.approx(a[10][0], rel=0.4)  # requests a second


def test_setup_with_addresses(both, recorder):
    other, server = recorder(), recorder()
    script = """
        local addrs
        function setup(thread)
          if not addrs then
            addrs = wrk.lookup("127.0.0.1", "%d")
            for i = #addrs, 1, -1 do
              if not wrk.connect(addrs[i]) then table.remove(addrs, i) end
            end
          end
          print(tostring(wrk.addrs[1]), wrk.connect(wrk.lookup("127.0.0.1", 1)[1]))
          thread.addr = addrs[1]
        end
        function init() print(tostring(wrk.thread.addr)) end
    """ % other.port
    theirs, ours = both(script, other, *ONE, url=server.url + "/x")
    assert_same_requests(theirs, ours)
    assert dict(ours.connections[0][0][2])["Host"] == f"127.0.0.1:{server.port}"  # connections alone go elsewhere
    assert not server.take()
    assert ours.before == theirs.before == f"127.0.0.1:{server.port}\tfalse\n127.0.0.1:{other.port}\n"


def test_stop_after_some(both, recorder):
    script = """
        local n = 0
        function response()
          n = n + 1
          if n == 10 then wrk.thread:stop() end
        end
    """
    theirs, ours = both(script, recorder(), "-t1", "-c1", "-d2s")
    assert_same_requests(theirs, ours, least=10)
    assert sum(len(requests) for requests in ours.connections) == 10
    assert "10 requests in" in "\n".join(ours.report)
    assert ours.seconds < theirs.seconds  # nothing is left to wait for


def test_delay(both, recorder):
    theirs, ours = both("function delay() return 40 end function request() return wrk.format('GET', '/slow') end", recorder(), *ONE)
    assert_same_requests(theirs, ours, least=5)
    times = [request.at for request in ours.requests[0]]
    assert min(b - a for a, b in zip(times, times[1:])) >= 0.035  # measured where they arrive


def test_files_modules_and_cjson(both, recorder, luabench):
    (luabench.folder / "paths.txt").write_text("/a\n/b\n/c\n")
    (luabench.folder / "helper.lua").write_text("local wrk = require 'wrk' return { path = function(p) return wrk.path .. '&p=' .. p end }")
    script = """
        local helper = require "helper"
        local paths, n = {}, 0
        for line in io.lines("paths.txt") do paths[#paths + 1] = line end
        function string:last() return self:sub(-1) end
        function request()
          n = n % #paths + 1
          return wrk.format("GET", helper.path(paths[n]:last()))
        end
    """
    theirs, ours = both(script, recorder(), *ONE)
    assert_same_requests(theirs, ours)


# luabench alone: where wrk has nothing to compare with, or does worse ---------------------------------------------------------------------------------------

def test_cjson_and_gettime(luabench, recorder):
    server = recorder(lambda _: (200, [], b'{"n": 4111111111111111}'))
    script = """
        local json, socket = require "cjson", require "socket"
        local before = socket.gettime()
        function request() return wrk.format("POST", "/", nil, json.encode({ n = 4111111111111111 })) end
        function response(_, _, body) same = json.decode(body).n == 4111111111111111 and socket.gettime() >= before end
        local threads = {}
        function setup(thread) threads[1] = thread end
        function done() print("same", threads[1]:get("same"), math.abs(wrk.time_us() / 1e6 - os.time()) < 2) end
    """
    done = luabench.run("-s", "script.lua", "-t1", "-c1", "-d1s", server.url, script=None) if luabench.folder.joinpath("script.lua").write_text(script) else None
    assert done.returncode == 0, done.stderr
    assert "same\ttrue\ttrue" in done.stdout
    assert server.take()[0][0].body == b'{"n":4111111111111111}'


def start(luabench, script, url, *args):
    (luabench.folder / "script.lua").write_text(script)
    return luabench.run("-s", "script.lua", "-t1", "-c1", "-d1s", "--quiet", *args, url)


def test_nested_tables_and_own_thread(luabench, recorder):
    done = start(luabench, """
        function setup(thread)
          thread:set("deep", { list = { 1, 2, { name = "x" } }, [3] = true })
          kept = thread
          print(pcall(function() thread:set("f", print) end))
          print(pcall(function() thread.other = 1 end))
          print(thread.nonsense)
        end
        function init() wrk.thread:set("own", wrk.thread:get("deep")) end
        function done() local own = kept:get("own") print(own.list[3].name, own[3], #own.list) end
    """, recorder().url)
    assert done.returncode == 0, done.stderr
    assert "cannot transfer 'function' to thread" in done.stdout
    assert "cannot set 'number' on thread" in done.stdout
    assert "nonsense\n" in done.stdout
    assert "x\ttrue\t3" in done.stdout


ERRORS = {  # script, exit status, whether anything was sent, words of the message
    "syntax": ("local x = = 1", 2, False, "script.lua:1: unexpected symbol"),
    "top level": ("\nerror('top')", 2, False, "script.lua:2: top"),
    "setup": ("function setup()\n  error('no setup') end", 2, False, "script.lua:2: no setup"),
    "init": ("function init()\n  local x = nil\n  x.y = 1 end", 2, False, "script.lua:3: attempt to index local 'x'"),
    "first request": ("function request()\n  error('no request') end", 2, False, "script.lua:2: no request"),
    "first request is not whole": ("function request() return 'GET / HTTP/1.1\\r\\n' end", 2, False, "incomplete request at 1:1"),
    "first request is none": ("function request() return nil end", 2, False, "request() returned nothing to send"),
    "later request": ("n = 0\nfunction request()\n  n = n + 1\n  if n > 3 then error('late') end\n  return wrk.format() end", 1, True, "script.lua:4: late"),
    "response": ("function response()\n  error('no response') end", 3, True, "script.lua:2: no response"),
    "delay": ("function delay()\n  error('no delay') end", 3, False, "script.lua:2: no delay"),
    "done": ("function done(summary)\n  print(summary.a.b) end", 1, True, "script.lua:2: attempt to index field 'a'"),
}


@pytest.mark.parametrize("where", ERRORS)
def test_errors(luabench, recorder, where):
    script, status, sent, words = ERRORS[where]
    server = recorder()
    done = start(luabench, script, server.url)
    assert done.returncode == status, done.stdout + done.stderr
    assert words in done.stderr
    assert "internal error" not in done.stderr
    assert bool(server.take()) == sent
    assert ("\nrequests     started " in done.stdout) == (status != 2)  # the results are kept


def test_os_exit(luabench, recorder):
    done = start(luabench, "function done() io.write('bye\\n') os.exit(7) end", recorder().url)
    assert (done.returncode, done.stdout.endswith("bye\n")) == (7, True)
    done = start(luabench, "function response() os.exit(5) end", recorder().url)
    assert done.returncode == 5


def test_nothing_more_to_send_is_said(luabench, recorder):
    server = recorder()
    done = start(luabench, "n = 0 function request() n = n + 1 if n <= 4 then return wrk.format() end end", server.url, "--graceful-stop", "1s")
    assert done.returncode == 0, done.stderr
    assert "request() returned nil" in done.stderr
    assert sum(map(len, server.take())) == 3


def test_nobody_listens(luabench, free_port):
    done = start(luabench, "function setup() end", f"http://127.0.0.1:{free_port()}/")
    assert done.returncode == 2
    assert re.search(r"unable to connect to 127.0.0.1:\d+ Connection refused", done.stderr)


def test_wrong_words(luabench):
    (luabench.folder / "script.lua").write_text("")
    for words, text in ((["-s", "script.lua"], "needs a URL"), (["-s", "none.lua", "http://127.0.0.1:1/"], "cannot read the script none.lua"),
                        (["-s", "script.lua", "-t4", "-c2", "http://127.0.0.1:1/"], "as many connections as threads")):
        done = luabench.run(*words)
        assert (done.returncode, text in done.stderr) == (2, True), done.stderr


def test_rate_of_wrk2(luabench, recorder):
    server = recorder()
    done = start(luabench, "function done(summary, latency) print(summary.requests, latency.max > 0) end", server.url, "-R", "200")
    assert done.returncode in (0, 4), done.stderr  # 4: this machine could not keep the schedule
    assert done.stdout.endswith("200\ttrue\n"), done.stdout
    assert sum(map(len, server.take())) == 200


def test_over_http2(luabench, target):
    """The same script, its texts taken apart."""
    done = start(luabench, """
        local text
        function init() text = wrk.format("GET", "/hello") .. wrk.format("POST", "/echo", { ["X-A"] = "b" }, "some") end
        function request() return text end
        seen = {}
        function response(status, headers, body) seen[#body] = headers["Content-Length"] end
        function setup(thread) kept = thread end
        function done() local seen = kept:get("seen") print(seen[4], seen[13]) end
    """, target.url, "--http", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("4\t13\n"), done.stdout


LENGTHS = """
local counter, kept = 0, {}
function setup(thread)
  counter = counter + 1
  thread:set("id", counter)
  kept[counter] = thread
end
function init() answers, bytes = 0, 0 end
function request() return wrk.format("POST", "/echo?" .. id, { ["X-Id"] = id }, ("x"):rep(id * 10)) end
function response(status, headers, body)
  if status == 200 and body == ("x"):rep(id * 10) and headers["Content-Length"] == tostring(id * 10) then answers = answers + 1 end
end
function done(summary)
  local right = 0
  for _, thread in ipairs(kept) do right = right + thread:get("answers") end
  print("right", right == summary.requests and right > 20, summary.errors.status)
end
"""


@pytest.mark.parametrize("options", [[], ["--http", "2"]], ids=["1.1", "2"])
def test_over_tls(luabench, start_server, options):
    """The script is the same over TLS; wrk has HTTP/1.1 alone, and checks no certificate."""
    server = start_server(luabench.path, "serve", "--port", "0", "--tls")
    (luabench.folder / "s.lua").write_text(LENGTHS)
    words = ["-s", "s.lua", "-t2", "-c4", "-d1s"]
    theirs = subprocess.run(["wrk", *words, server.url], cwd=luabench.folder, capture_output=True, text=True, timeout=60)
    ours = luabench.run(*words, "-k", "--quiet", *options, server.url)
    assert (theirs.returncode, ours.returncode) == (0, 0), theirs.stderr + ours.stderr
    assert ours.stdout.splitlines()[-1] == theirs.stdout.splitlines()[-1] == "right\ttrue\t0"
    assert ("HTTP/2" in ours.stdout) == bool(options), ours.stdout


# The report ------------------------------------------------------------------------------------------------------------------------------------------------

TIME, COUNT, SIZE = r"\d+\.\d\d(?:us|ms|s)", r"\d+\.\d\d[kMG]?", r"\d+\.\d\d[KMGT]?B"


def row(name, value):
    """A name and three columns of 8, 10 and 9, each with its unit in two columns of its own."""
    return rf"(?=.{{50}}$)    {name:10s} *{value} {{0,2}} *{value} {{0,2}} *{value} {{0,2}} *\d+\.\d\d%"


LAYOUT = [r"Running 1s test @ http://127\.0\.0\.1:\d+/path\?q=1", r"  2 threads and 4 connections", r"  Thread Stats   Avg      Stdev     Max   \+/- Stdev",
          row("Latency", TIME), row("Req/Sec", COUNT), r"  Latency Distribution",
          *(rf"(?=.{{18}}$)     {p}% *{TIME} {{0,1}}" for p in (50, 75, 90, 99)),
          rf"  \d+ requests in \d\.\d\ds, {SIZE} read", r"  Non-2xx or 3xx responses: \d+", r"Requests/sec: {1,9}\d+\.\d\d", rf"Transfer/sec: {{1,10}}{SIZE}"]


def test_layout_of_the_report(both, recorder):
    theirs, ours = both("", recorder(lambda _: (404, [], b"x" * 1000)), "-t2", "-c4", "-d1s", "--latency")
    for outcome in (theirs, ours):
        assert len(outcome.report) == len(LAYOUT), outcome.report
        for line, pattern in zip(outcome.report, LAYOUT):
            assert re.fullmatch(pattern, line), (pattern, line)
