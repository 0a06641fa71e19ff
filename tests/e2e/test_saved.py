"""report, merge and diff: what they make of saved results, and of files that are none."""
import copy
import json
import math
import os
import random
import subprocess

import jsonschema
import pytest

from conftest import ROOT, Luabench

SCHEMA = json.loads((ROOT / "docs/result.schema.json").read_text())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Results of real runs: a and b are alike, slow takes 10 ms, open is another model; the folder."""
    folder = tmp_path_factory.mktemp("saved")
    server = subprocess.Popen([Luabench.path, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]
    (folder / "script.lua").write_text("""
        scenario("shop", { users = 4, iterations = 400, run = function()
          group("visit", function()
            local res = http.get("/delay/1", { name = "slow" })
            check("there", res.ok)
          end)
          http.get("/status/404", { name = "missing" })
        end })
    """)
    runs = {"a": ["script.lua", url], "b": ["script.lua", url], "fast": [f"{url}/delay/5", "-c", "4", "-n", "1000"], "slow": [f"{url}/delay/10", "-c", "4", "-n", "1000"],
            "failing": [f"{url}/status/500", "-c", "4", "-n", "1000"], "open": [f"{url}/hello", "-R", "200", "-d", "1s"]}
    for name, words in runs.items():
        done = subprocess.run([Luabench.path, *words, "-o", f"{name}.json", "-o", f"{name}.ndjson"], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 4), done.stdout + done.stderr
        (folder / f"{name}.txt").write_text(done.stdout)
    server.terminate()
    server.wait()
    server.stdout.close()
    return folder


@pytest.fixture
def here(saved, luabench):
    """The program, with the saved results in its folder."""
    for path in saved.iterdir():
        os.link(path, luabench.folder / path.name)
    return luabench


def read(luabench, name):
    return json.loads((luabench.folder / name).read_text())


def write(luabench, name, document):
    (luabench.folder / name).unlink(missing_ok=True)
    (luabench.folder / name).write_text(json.dumps(document))


def latencies(luabench, *names):
    lines = [json.loads(line) for name in names for line in (luabench.folder / f"{name}.ndjson").read_text().splitlines()]
    return sorted(line["latency"] for line in lines if line["latency"] is not None)


# report


def test_the_report_is_the_runs_own(here):
    done = here.run("report", "a.json")
    assert done.returncode == 0 and done.stdout == (here.folder / "a.txt").read_text()


def test_other_forms_of_a_saved_result(here):
    done = here.run("report", "a.json", "-o", "a.html", "-o", "a.hgrm", "-o", "a.csv", "-o", "a.hlog", "-o", "a.junit.xml", "-o", "again.json")
    assert done.returncode == 0, done.stderr
    assert read(here, "again.json") == read(here, "a.json")
    assert "<html" in (here.folder / "a.html").read_text() and "HISTF" in (here.folder / "a.hlog").read_text()


def test_lines_a_request_need_the_run(here):
    done = here.run("report", "a.json", "-o", "x.ndjson")
    assert done.returncode == 2 and "which a saved result does not have" in done.stderr


# merge


def merged(luabench, *names):
    done = luabench.run("merge", *names, "-o", "all.json")
    assert done.returncode == 0, done.stderr
    document = read(luabench, "all.json")
    jsonschema.validate(document, SCHEMA)
    return document


def test_merged_percentiles_are_those_of_all_requests(here):
    all_json = merged(here, "a.json", "b.json", "a.json")
    values = latencies(here, "a", "b", "a")
    latency = all_json["total"]["latency"]
    assert latency["count"] == len(values) == 2400
    for field, quantile in (("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
        exact = values[max(1, math.ceil(quantile * len(values) - 1e-9)) - 1]
        assert latency[field] == pytest.approx(exact, rel=1e-3), field
    mean = sum(values) / len(values)
    assert (latency["min"], latency["max"]) == pytest.approx((values[0], values[-1]), abs=1e-9)
    assert latency["mean"] == pytest.approx(mean, rel=1e-6)
    assert latency["stddev"] == pytest.approx(math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)), rel=1e-6)


def test_merged_books_add_up(here):
    a, b, both = read(here, "a.json"), read(here, "b.json"), merged(here, "a.json", "b.json")
    for key in ("started", "succeeded", "failed"):
        assert both["total"]["requests"][key] == a["total"]["requests"][key] + b["total"]["requests"][key] > 0
    assert both["scenarios"]["shop"]["by_name"]["missing"]["status"] == {"404": 800}
    assert both["checks"]["there"] == {**a["checks"]["there"], "passes": 800}
    assert both["groups"]["visit"]["count"] == 800
    assert here.run("report", "all.json").returncode == 0


def test_shares_at_one_time_and_repetitions(here):
    one = read(here, "a.json")
    later = copy.deepcopy(one)
    later["started"] = "2099-01-01T00:00:00.000Z"
    write(here, "later.json", later)
    together, apart = merged(here, "a.json", "a.json"), merged(here, "a.json", "later.json")
    assert together["duration"] == pytest.approx(one["duration"]) and together["total"]["rate"] == pytest.approx(2 * one["total"]["rate"])
    assert apart["duration"] == pytest.approx(2 * one["duration"]) and apart["total"]["rate"] == pytest.approx(one["total"]["rate"])
    assert together["scenarios"]["shop"]["load"]["users"] == 8 and apart["scenarios"]["shop"]["load"]["users"] == 4
    assert together["total"]["latency"] == apart["total"]["latency"]


def test_models_are_not_mixed(here):
    other = read(here, "open.json")
    name, scenario = next(iter(other["scenarios"].items()))
    other["scenarios"] = {"shop": scenario}
    write(here, "other.json", other)
    done = here.run("merge", "a.json", "other.json", "-o", "all.json")
    assert done.returncode == 2 and 'scenario "shop" is closed in a.json and open in other.json' in done.stderr


@pytest.mark.parametrize("words, wrong", [
    (["merge", "a.json", "-o", "x.json"], "two results or more"), (["merge", "a.json", "b.json"], "where to?"), (["report"], "report takes one result"),
    (["report", "a.json", "b.json"], "report takes one result"), (["diff", "a.json"], "diff takes two results"),
    (["diff", "a.json", "b.json", "--fail-if-slower", "much"], "is not a percentage"), (["diff", "a.json", "open.json"], ""),
    (["merge", "a.json", "b.json", "-o", "no/folder/x.json"], "cannot write"),
])
def test_wrong_words(here, words, wrong):
    done = here.run(*words)
    if not wrong:
        assert done.returncode == 0 and "two models" in done.stdout
        return
    assert done.returncode in (2, 3) and wrong in done.stderr and "traceback" not in done.stderr


def test_a_full_disk(here):
    os.symlink("/dev/full", here.folder / "full.json")
    done = here.run("merge", "a.json", "b.json", "-o", "full.json")
    assert done.returncode == 3 and "full.json: No space left on device" in done.stderr


# diff


def row(text, name):
    return next(line for line in text.splitlines() if line.split()[:1] == [name])


def test_a_result_and_itself(here):
    done = here.run("diff", "a.json", "a.json", "--fail-if-slower", "0%")
    assert done.returncode == 0
    for name in ("median", "p90", "failed"):
        assert "no difference shown" in row(done.stdout, name)
        assert "0.0%" in row(done.stdout, name) or "0.00 points" in row(done.stdout, name)


def test_twice_as_slow(here):
    done = here.run("diff", "fast.json", "slow.json", "--fail-if-slower", "5%")
    assert done.returncode == 1, done.stdout
    assert "slower" in row(done.stdout, "median") and "median of" in done.stdout
    ratio = read(here, "slow.json")["total"]["latency"]["median"] / read(here, "fast.json")["total"]["latency"]["median"]
    assert f"{(ratio - 1) * 100:+.1f}%" in row(done.stdout, "median")


def test_twice_as_fast(here):
    done = here.run("diff", "slow.json", "fast.json", "--fail-if-slower", "5%")
    assert done.returncode == 0 and "faster" in row(done.stdout, "median")


def test_within_the_limit(here):
    assert here.run("diff", "fast.json", "slow.json", "--fail-if-slower", "900%").returncode == 0


def test_more_failures_are_worse_however_fast(here):
    done = here.run("diff", "slow.json", "failing.json", "--fail-if-slower", "5%")
    assert done.returncode == 1 and "more failures" in row(done.stdout, "failed")
    assert "+100.00 points" in row(done.stdout, "failed")


def test_the_difference_of_shares_is_newcombes(here):
    """Newcombe 1998, method 10, its first example: 56/70 and 48/80 differ by 0.2, from 0.0524 to 0.3339."""
    for name, failed, started in (("p.json", 48, 80), ("q.json", 56, 70)):
        document = read(here, "fast.json")
        figures = next(iter(document["scenarios"].values()))
        figures["requests"] = {**figures["requests"], "started": started, "failed": failed, "succeeded": started - failed}
        write(here, name, document)
    line = row(here.run("diff", "p.json", "q.json").stdout, "failed")
    assert "+20.00 points" in line and "[+5.24, +33.39]" in line


# Files that are none


def damage(document, kind):
    if kind == "version":
        document["version"] = 2
    elif kind == "missing":
        del document["total"]["latency"]
    elif kind == "type":
        document["scenarios"] = "all"
    elif kind == "histogram":
        text = document["total"]["latency"]["histogram"]
        document["total"]["latency"]["histogram"] = text[:20] + "AAAA" + text[24:]
    elif kind == "count":
        document["total"]["latency"]["count"] += 1
    return json.dumps(document)


BAD = {
    "empty": "it is empty", "text": "it is not JSON", "cut": "it is not JSON", "other": "it is no result of luabench", "list": "it is no result of luabench",
    "binary": "it is not JSON", "number": "it is no result of luabench", "version": "it is a result of version 2, and this luabench reads version 1",
    "missing": "total.latency is missing", "type": "scenarios must be object", "histogram": "the histogram of total.latency is not of its figures",
    "count": "the histogram of total.latency is not of its figures",
}


def bad_file(here, kind):
    good = (here.folder / "a.json").read_text()
    texts = {"empty": "", "text": "hello", "cut": good[:len(good) // 2], "other": '{"a": 1}', "list": "[1, 2]", "number": "7"}
    if kind == "binary":
        (here.folder / "bad.json").write_bytes(bytes(range(256)))
    else:
        (here.folder / "bad.json").write_text(texts[kind] if kind in texts else damage(json.loads(good), kind))


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("command", ["report", "diff", "merge"])
def test_bad_files(here, kind, command):
    bad_file(here, kind)
    words = {"report": ["bad.json"], "diff": ["a.json", "bad.json"], "merge": ["a.json", "bad.json", "-o", "all.json"]}[command]
    done = here.run(command, *words)
    assert done.returncode == 2 and "bad.json: " in done.stderr and BAD[kind] in done.stderr, done.stderr
    assert not (here.folder / "all.json").exists()


@pytest.mark.parametrize("path, why", [("nothing.json", "No such file"), (".", "it is a folder")])
def test_files_that_are_not_there(here, path, why):
    for words in (["report", path], ["diff", path, "a.json"], ["merge", "a.json", path, "-o", "all.json"]):
        done = here.run(*words)
        assert done.returncode == 2 and f"cannot read {path}" in done.stderr and why in done.stderr


def damage_somewhere(document, chance):
    """Replaces or removes one value somewhere in the document."""
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = chance.choice(keys)
        value = place[key]
        if isinstance(value, (dict, list)) and value and chance.random() < 0.8:
            place = value
            continue
        if chance.random() < 0.3:
            del place[key]
        else:
            place[key] = chance.choice([None, -1, 1e300, "x", [], {}, [[]], {"x": {}}, True, 0.5, "HISTF"])
        return


def test_damage_anywhere_is_never_a_bug(here):
    chance = random.Random(1)
    good = read(here, "a.json")
    for number in range(24):
        document = copy.deepcopy(good)
        damage_somewhere(document, chance)
        write(here, "bad.json", document)
        words = [["report", "bad.json", "-L"], ["diff", "a.json", "bad.json"], ["merge", "bad.json", "a.json", "-o", "all.json"]][number % 3]
        done = here.run(*words)
        assert done.returncode in (0, 2) and "traceback" not in done.stderr, f"{number} {words}\n{done.stderr}"
