"""The command lines of docs/coming-from.md: each of luabench's is run against a server that records what comes, with the numbers of requests and seconds made small.
What it has to send is read from the line here, too. Where the other tool is installed, its line has to send the same."""
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from recorder import hello, recorder  # noqa: F401

TEXT = (Path(__file__).parents[2] / "docs/coming-from.md").read_text()
ROWS = [(theirs.replace(r"\|", "|"), ours.replace(r"\|", "|")) for theirs, ours in re.findall(r"^\| `(.*?)`(?: \(.*?\))? \| `(.*?)` \|$", TEXT, re.M)]

FILES = {
    "body.json": '{"from": "a file"}\n',
    "lines.txt": "one\ntwo\n",
    "urls.txt": "http://127.0.0.1:8080/a\nhttp://127.0.0.1:8080/b\n",
    "targets.txt": "GET http://127.0.0.1:8080/a\nX-Own: 1\n\nPOST http://127.0.0.1:8080/b\nContent-Type: text/plain\n@lines.txt\n",
    "post.lua": 'wrk.method = "POST" wrk.body = "a=1"',
    "script.lua": 'scenario "k6" { target = "http://127.0.0.1:8080", run = function() http.get("/hello") end }',
}
OF_LISTS = {("GET", "/a"): b"", ("POST", "/b"): b"one\ntwo\n"}


def test_every_row_of_the_tables_is_read():
    assert len(ROWS) == len(re.findall(r"^\| `", TEXT, re.M)) >= 60
    assert {theirs.split()[0] for theirs, _ in ROWS} >= {"hey", "bombardier", "oha", "h2load", "vegeta", "wrk", "ab", "autocannon", "k6"}


def small(line):
    """With fewer requests and seconds."""
    line = re.sub(r"(-n |--iterations |-i )(?:\d\d\d+|\d+k)\b", r"\g<1>60", line)
    line = re.sub(r"(-d ?|--duration )\d+s?\b", r"\g<1>200ms", line)
    line = re.sub(r"--warm-up 5", "--warm-up 50ms", line)
    return re.sub(r"/[12]0s", "/100ms", line)


@pytest.fixture
def place(luabench, recorder, request):  # noqa: F811
    """Writes the files, and gives a function that runs a line in a shell with the server's address in it: what it did, and the requests that came."""
    server = recorder()

    def run(line):
        address = request.getfixturevalue("target").url.split("//")[1] if "--http 2" in line else f"127.0.0.1:{server.port}"
        at = re.sub(r"127\.0\.0\.1:(?:8080|3128)", address, line)
        for name, text in FILES.items():
            (luabench.folder / name).write_text(text.replace("127.0.0.1:8080", address))
        done = subprocess.run(at, shell=True, cwd=luabench.folder, capture_output=True, text=True, timeout=60)
        return done, [request for connection in server.take() for request in connection]
    return run


def given(words, *names):
    """The values of an option in the words of a command line."""
    return [words[i + 1] for i, word in enumerate(words[:-1]) if word in names]


def fields(request):
    return {name.lower(): value for name, *rest in request.headers for value in rest or [""]}


def check_requests(words, requests):
    """What the line says of requests is what came."""
    headers = dict(text.split(": ", 1) for text in given(words, "-H"))
    body = (given(words, "-b") + [FILES[name] for name in given(words, "-f") if name in FILES] + [""])[0]
    method = (given(words, "-X") + ["POST" if body or "-F" in words or "post.lua" in words else "GET"])[0]
    listed = given(words, "--urls", "--urls-from-file")
    for request in requests:
        for name, value in headers.items():
            assert fields(request)[name.lower()] == value
        if not listed:
            assert request.method == method
            assert ("authorization" in fields(request)) == any("user:secret@" in word for word in words)
            if body and "{" not in body.replace(FILES["body.json"], "") and "-F" not in words:
                assert request.body.decode() == body
    if listed and listed[0] != "urls.txt":
        for request in requests:
            assert request.method, request.path in OF_LISTS or request.path == "/hello"
            if (request.method, request.path) == ("POST", "/b"):
                assert (request.body, fields(request)["content-type"]) == (b"one\ntwo\n", "text/plain")


SPECIAL = {  # what is seen in the requests of one line alone
    "{line:lines.txt}": lambda all: {request.body for request in all} == {b"one", b"two"},
    "{rand:0-9}": lambda all: all and all[0].path in [f"/{n}" for n in range(10)],
    "{uuid}": lambda all: len({request.body for request in all}) == 10 and len(all[0].body) == 36,
    "--connect-to": lambda all: all[0].path == "/hello" and fields(all[0])["host"] == "example.test",
    "--proxy": lambda all: all[0].path.startswith("http://127.0.0.1:"),
    "-F": lambda all: b'name="name"\r\n\r\nvalue\r\n' in all[0].body and FILES["body.json"].encode() in all[0].body,
    "/a http": lambda all: [request.path for request in all].count("/b") == 5,
    "--urls urls.txt": lambda all: [request.path for request in all].count("/b") == 5,
    "--urls-from-file": lambda all: {request.path for request in all} <= {"/a", "/b"},
    "Cookie": lambda all: fields(all[0])["cookie"] == "a=b",
    "-e NAME": lambda all: len(all) == 1,
    "post.lua": lambda all: all[0].body == b"a=1",
}


@pytest.mark.parametrize("line", [ours for _, ours in ROWS])
def test_ours(place, luabench, line):
    assert re.search(r"(^|\| )luabench ", line)
    done, requests = place(re.sub(r"(^|\| )luabench ", rf"\1{luabench.path} ", small(line)))
    assert done.returncode in (0, 4), done.stderr  # 4: the machine could not keep the rate
    if "--http 2" in line:
        assert "HTTP/2" in done.stdout, done.stdout
        return
    words = shlex.split(small(line))
    check_requests(words, requests)
    count = given(words, "-n", "--iterations")
    if count and "--debug" not in words:
        assert len(requests) == int(count[0])
    assert requests
    for part, holds in SPECIAL.items():
        assert part not in line or holds(requests), part


def comparable(request, names):
    """What a request says in the header fields that were asked for."""
    kept = {name: value for name, value in fields(request).items() if name in names}
    path = re.sub(r"^http://[^/]*", "", request.path)
    return request.method, path, request.body, kept


# hey 0.1.4 forgets -a: it sets the field, and then replaces all of them.
SAME = [(theirs, ours) for theirs, ours in ROWS if re.search(r"-n 10 ", theirs) and theirs.split()[0] in ("hey", "ab", "h2load") and "--http 2" not in ours
        and not re.match(r"hey .* -a ", theirs)]


@pytest.mark.parametrize("theirs, ours", SAME)
def test_theirs_sends_the_same(place, luabench, theirs, ours):
    if not shutil.which(theirs.split()[0]):
        pytest.skip(f"{theirs.split()[0]} is not installed")
    other, expected = place(theirs)
    assert other.returncode == 0 and expected, other.stderr + other.stdout
    _, requests = place(re.sub(r"^luabench ", f"{luabench.path} ", ours))
    names = {text.split(":")[0].lower() for text in given(shlex.split(ours), "-H")} | {"authorization", "cookie"}
    assert [comparable(request, names) for request in requests][:10] == [comparable(request, names) for request in expected][:10]
