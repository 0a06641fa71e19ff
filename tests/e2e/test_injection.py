"""What comes from scripts, servers and the command line stays text, wherever it is shown: on the terminal, in tables, documents and logs."""
import csv
import html.parser
import json
import os
import pty
import re
import socketserver
import threading
import xml.etree.ElementTree as xml

import pytest

EVILS = {
    "escapes": "a\x1b[31m\x1b]0;owned\x07\x1b[2J",
    "C1": "a\u009b31m\u009d0;x\u009c",
    "lines": "a\rb\nContent-Type: x\r\n\r\nc\u2028d\u0085e",
    "direction": "a\u202egnp.exe\u2066b\u200f",
    "markup": "</script></style><img src=x onerror=alert(1)><script>alert(2)</script>\"'><svg onload=alert(3)>&lt;",
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+1", "minus": "-1+1", "at": "@SUM(1+1)*cmd", "tab": "\t=1+1",
    "CDATA": "]]><x/>&amp;<?xml?>",
    "separators": 'a,b;"c"\\d{e="f"}\n#HELP x',
}
# The name of a scenario is a line of text, and so are tags.
SCRIPT = """
local evil = EVIL
local trend = metric.trend(NAME)
thresholds { "checks: rate > 99%" }
scenario(SCENARIO) { users = 1, iterations = 3, tags = { k = TAG }, run = function(user)
  group(TAG, function() http.get("/hello", { name = TAG, tags = { v = TAG } }) end)
  http.get(BROKEN .. "/x", { name = "broken" })
  trend:add(1, { w = TAG })
  check(evil, false, evil)
  print(evil) log.warn(evil)
  error(evil, 0)
end }
"""


def lua(text):
    return '"' + "".join(f"\\{byte:03d}" for byte in text.encode()) + '"'


class Broken(socketserver.BaseRequestHandler):
    """Answers with evil in its reason, its headers and its body, and with a head that is none, in turn."""

    def handle(self):
        turn = 0
        while self.request.recv(65536):
            turn += 1
            evil = self.server.evil.encode().replace(b"\r", b"").replace(b"\n", b"")
            if turn % 2:
                self.request.sendall(b"HTTP/1.1 500 " + evil + b"\r\nX-Evil: " + evil + b"\r\nSet-Cookie: a=" + evil + b"\r\nContent-Length: %d\r\n\r\n" % len(evil) + evil)
            else:
                self.request.sendall(evil + b"\r\n\r\n")
                return


@pytest.fixture
def broken(request):
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Broken) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield server
        server.shutdown()


def script_of(evil, broken):
    values = {"SCENARIO": lua(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]", "", evil)), "TAG": lua(re.sub(r"[\x00-\x1f\x7f]", "", evil)), "NAME": lua("m" + re.sub(r"\W", "", evil)),
              "EVIL": lua(evil), "BROKEN": lua(broken.url)}
    return re.sub(r"\b(SCENARIO|NAME|TAG|EVIL|BROKEN)\b", lambda match: values[match[0]], SCRIPT)


# C0 but for the line feed, DEL, C1, line separators, and what turns the direction of writing.
DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]")


def assert_harmless_on_a_terminal(text):
    found = DANGEROUS.search(text)
    assert not found, text[max(0, found.start() - 40):found.end() + 40]


class Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.handlers = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


OUTPUTS = ["result.json", "result.html", "result.csv", "result.ndjson", "result.hgrm", "result.hlog", "result.jtl", "result.junit.xml"]


@pytest.fixture
def run(luabench, target, broken):
    def start(evil):
        broken.evil = evil
        done = luabench.run("--target", target.url, "--lenient", *(word for name in OUTPUTS for word in ("-o", name)), script=script_of(evil, broken))
        assert done.returncode in (1, 3), done.stdout + done.stderr
        return done
    return start


@pytest.mark.parametrize("evil", EVILS.values(), ids=EVILS)
def test_outputs_hold_text(luabench, target, broken, run, evil):
    done = run(evil)
    read = lambda name: (luabench.folder / name).read_bytes().decode()
    for text in (done.stdout, done.stderr, luabench.run("report", "result.json", "-L").stdout, read("result.hgrm"), read("result.hlog")):
        assert_harmless_on_a_terminal(text)
    # JSON keeps what was given
    result = json.loads(read("result.json"))
    assert json.dumps(evil)[1:-1] in json.dumps(result)
    assert sum(each["fails"] for each in result["checks"].values()) == 3
    lines = [json.loads(line) for line in read("result.ndjson").split("\n")[:-1]]
    assert len(lines) == result["total"]["requests"]["started"] == 6
    # cells of tables are no formulas
    for name in ("result.csv", "result.jtl"):
        with open(luabench.folder / name, newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1
        for cell in (cell for row in rows for cell in row):
            assert not re.match(r"[=+@\t\r]|-(?![\d.]+$)", cell), f"{name}: {cell!r}"
    assert len(rows) == 1 + 6
    # documents have the elements that they have with harmless text
    seen = elements(read("result.html"))
    assert seen.handlers == []
    cases = list(xml.fromstring(read("result.junit.xml")).iter("testcase"))
    run("harmless")
    assert sorted(set(seen.seen)) == sorted(set(elements(read("result.html")).seen))
    assert len(cases) == len(list(xml.fromstring(read("result.junit.xml")).iter("testcase")))


def elements(page):
    parser = Elements()
    parser.feed(page)
    return parser


@pytest.mark.parametrize("args", [[], ["--dry-run"], ["--debug"]], ids=["run", "dry run", "debug"])
@pytest.mark.parametrize("evil", [EVILS["escapes"], EVILS["C1"], EVILS["lines"], EVILS["direction"]], ids=["escapes", "C1", "lines", "direction"])
def test_a_terminal_is_told_nothing_but_what_luabench_tells_it(luabench, target, broken, evil, args):
    """Colours and the moves of the live display are what is left of the escape sequences."""
    broken.evil = evil
    text = on_terminal(luabench, script_of(evil, broken), "--target", target.url, "--lenient", *args)
    text = re.sub(r"\x1b\[\d*(;\d+)*[mAKJGC]|\x1b\[\?25[lh]|\r", "", text)
    assert_harmless_on_a_terminal(text)


def on_terminal(luabench, script, *args):
    (luabench.folder / "script.lua").write_text(script)
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(luabench.folder)
        os.execvp(luabench.path, [luabench.path, "script.lua", *args])
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            part = b""
        if not part:
            break
        output += part
    os.close(terminal)
    os.waitpid(pid, 0)
    return output.decode()


@pytest.mark.parametrize("evil", EVILS.values(), ids=EVILS)
def test_what_the_command_line_says_is_shown_as_text(luabench, target, evil):
    """As a URL, a header, a parameter, a path, an option, a threshold, a name to choose."""
    words = [[f"http://127.0.0.1:1/{evil}", "-n", "1"], [target.url, "-n", "1", "-H", f"X: {evil}"], ["script.lua", "-p", f"{evil}=1"], [f"no{evil}.lua"], [f"--{evil}"],
             [target.url, "-n", "1", "--threshold", evil], ["script.lua", "--only", evil], ["report", f"no{evil}.json"], ["diff", f"{evil}", "x.json"], ["new", evil],
             ["help", evil], [target.url, "-n", "1", "-o", f"{evil}/x.json"], ["serve", "--host", evil]]
    (luabench.folder / "script.lua").write_text('scenario "s" { target = "http://127.0.0.1:1", iterations = 1, run = function() end }')
    for args in words:
        if "\0" not in "".join(args):
            done = luabench.run(*args, timeout=20)
            assert_harmless_on_a_terminal(done.stdout + done.stderr)


def test_names_of_files_are_shown_as_text(luabench, target):
    name = "\x1b[31mx\u202e.lua"
    (luabench.folder / name).write_text('scenario "s" { iterations = 1, run = function() http.get("/hello") error("x") end }')
    done = luabench.run(name, "--target", target.url, "-o", "result.json")
    assert done.returncode == 3
    assert_harmless_on_a_terminal(done.stdout + done.stderr)
