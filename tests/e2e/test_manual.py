"""The manual: every example runs, `help` and `new` do what they say, and what is made of the manual is up to date."""
import json
import shutil
import subprocess

import pytest

from conftest import ROOT

LUAJIT = shutil.which("luajit") or "luajit"


def examples():
    fields = subprocess.run([LUAJIT, "tests/e2e/manual_examples.lua"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return list(zip(fields[::3], fields[1::3], fields[2::3]))


EXAMPLES = examples()
NEEDS_FILES = {"ca", "cert", "key"}  # the PEM files are not there


def put_files(folder):
    (folder / "users.csv").write_text("name,password\nanna,x\nben,y\n")
    (folder / "ids.txt").write_text("1\n2\n3\n")
    (folder / "items.json").write_text('[{"id": 1}, {"id": 2}]')


@pytest.mark.parametrize("name, kind, script", EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_every_example_runs(luabench, target, name, kind, script):
    if kind == "dry":
        done = luabench.run("--dry-run", "--allow-run", script=script)
        assert done.returncode == 0 and "2 cases" in done.stdout or "1 case" in done.stdout, done.stderr
        return
    put_files(luabench.folder)
    more = ["--dry-run"] if kind == "check" else ["-o", "result.json"]
    done = luabench.run(*more, "--lenient", "--target", target.url, script=script, timeout=30)
    if name.split(".")[-1] in NEEDS_FILES and kind == "check":
        assert done.returncode == 2 and "client.pem" in done.stderr or "ca.pem" in done.stderr or done.returncode == 0, done.stderr
        return
    if name == "stop_run":
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 0, done.stdout + done.stderr
    if kind == "run":
        result = luabench.saved_result()
        assert result["script_errors"]["count"] == 0
        assert all(check["fails"] == 0 for check in result["checks"].values()), result["checks"]


def test_what_is_made_of_the_manual_is_up_to_date(tmp_path):
    for folder in ("lua", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "docs").mkdir()
    subprocess.run([LUAJIT, "tools/manual.lua"], cwd=tmp_path, check=True)
    for path in ("docs/reference.md", "lua/library/luabench.lua"):
        assert (tmp_path / path).read_text() == (ROOT / path).read_text(), f"{path}: run luajit tools/manual.lua"


def test_help_of_a_name(luabench):
    done = luabench.run("help", "check")
    assert done.returncode == 0
    assert done.stdout.startswith("check(name, value, [why]) (returns any)\n  function, in: Globals\n")
    assert "Example:" in done.stdout
    assert "timeout (Duration, default 30)" in luabench.run("help", "timeout").stdout
    assert "file.csv(path, [opts])" in luabench.run("help", "csv").stdout
    assert "random.pick" in luabench.run("help").stdout
    assert luabench.run("help", "--vus").stdout == luabench.run("help", "-c").stdout == ("  -c, --users N               concurrent users, each with its own connection\n"
                                                                                        "                              (quick mode: 10)\n")


def test_help_of_an_unknown_name(luabench):
    done = luabench.run("help", "chekc")
    assert done.returncode == 2
    assert done.stderr == "luabench: there is no help on chekc; did you mean `check`?\nluabench help lists all names, luabench --help the options.\n"


def test_new_makes_a_script_that_runs(luabench, target):
    done = luabench.run("new", "shop")
    assert done.returncode == 0 and "wrote shop.lua" in done.stdout
    settings = json.loads((luabench.folder / ".luarc.json").read_text())
    assert settings["runtime.version"] == "LuaJIT" and settings["workspace.library"][0].endswith("/library")
    assert luabench.run("shop.lua", target.url + "/hello", "-p", "users=2", "-p", "duration=0.2").returncode in (0, 1)
    assert luabench.run("shop.lua", "--dry-run").returncode == 0
    again = luabench.run("new", "shop")
    assert again.returncode == 2 and again.stderr == "luabench: shop.lua is there already\n"
    second = luabench.run("new", "other.lua")
    assert second.returncode == 0 and ".luarc.json is there already" in second.stdout


@pytest.mark.parametrize("words", [["new"], ["new", "a", "b"], ["new", "--x"]])
def test_wrong_new(luabench, words):
    done = luabench.run(*words)
    assert done.returncode == 2 and done.stderr == "luabench: new takes the name of the script: luabench new shop\n"
