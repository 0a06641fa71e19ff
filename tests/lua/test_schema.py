"""The result documents of runs of every kind agree with docs/result.schema.json, and the schema refuses what is not one."""
import copy
import json
import pathlib
import shutil
import subprocess

import jsonschema
import pytest

HERE = pathlib.Path(__file__).parent
SCHEMA = json.loads((HERE / "../../docs/result.schema.json").read_text())
SAMPLES = ["simple", "nothing", "no_answer", "failures", "several", "nasty", "bare", "open", "staged", "no_load"]


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    luajit = shutil.which("luajit")
    assert luajit, "luajit is needed to make the documents"
    subprocess.run([luajit, HERE / "sample_results.lua", folder], check=True, stdout=subprocess.DEVNULL)
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


def validator():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


def test_every_sample_was_written(documents):
    assert sorted(documents) == sorted(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_valid(documents, name):
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in validator().iter_errors(documents[name])]
    assert errors == []


def remove(document, path):
    *parents, last = path
    for key in parents:
        document = document[key]
    del document[last]


def put(document, path, value):
    *parents, last = path
    for key in parents:
        document = document[key]
    document[last] = value


LATENCY = ("scenarios", "hello", "latency")


@pytest.mark.parametrize("change", [
    lambda d: remove(d, ("version",)), lambda d: put(d, ("version",), 2), lambda d: put(d, ("more",), 1),
    lambda d: put(d, ("started",), "yesterday"), lambda d: put(d, ("duration",), -1),
    lambda d: put(d, ("scenarios", "hello", "model"), "half-open"), lambda d: remove(d, ("scenarios", "hello", "by_name")),
    lambda d: put(d, ("scenarios", "hello", "status", "ok"), 3), lambda d: put(d, ("scenarios", "hello", "status", "200"), 1.5),
    lambda d: put(d, ("scenarios", "hello", "iterations", "lost"), 3), lambda d: remove(d, ("scenarios", "hello", "requests", "started")),
    lambda d: put(d, LATENCY + ("median",), None), lambda d: put(d, LATENCY + ("histogram",), None), lambda d: put(d, LATENCY + ("p99.9",), 1),
    lambda d: put(d, LATENCY + ("histogram",), "AAAA"), lambda d: put(d, LATENCY + ("max",), "1s"),
    lambda d: put(d, ("scenarios", "hello", "connect", "max"), 0), lambda d: put(d, ("scenarios", "hello", "latency"), None),
    lambda d: put(d, ("series", 0, "latency", "histogram"), "HISTF"), lambda d: put(d, ("thresholds", 0, "ok"), None),
    lambda d: put(d, ("generator", "bottleneck"), None), lambda d: put(d, ("checks", "x"), {"passes": 1}),
])
def test_schema_refuses(documents, change):
    document = copy.deepcopy(documents["simple"])
    assert not list(validator().iter_errors(document))
    change(document)
    assert list(validator().iter_errors(document))
