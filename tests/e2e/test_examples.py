"""Every example is short and works against the built-in target; the shop's has a server of its own."""
import json
import os

import pytest

from conftest import EXAMPLES, ROOT, SERVERS, get

SHOP = EXAMPLES / "shop.lua"
SCRIPTS = sorted(set(EXAMPLES.glob("*.lua")) - {SHOP})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_example(luabench, target, script):
    assert len(script.read_text().splitlines()) <= 25
    result = luabench.result(script, "--target", target.url, "-c", 3, "-n", 12)
    (scenario,) = result["scenarios"].values()
    assert scenario["iterations"]["completed"] == 12
    assert scenario["requests"]["failed"] == 0
    assert result["checks"], "an example looks at its answers"
    assert all(check["fails"] == 0 for check in result["checks"].values())
    assert target.requests() == scenario["requests"]["succeeded"]


def test_there_are_examples():
    assert {"hello.lua", "fibonacci.lua", "fibonacci-300.lua", "hello-h2.lua", "post-json.lua", "login-browse.lua", "think-time.lua"} <= {
        script.name for script in SCRIPTS}


def test_first_script_of_the_readme(luabench, target):
    """The first block of Lua in README.md is a whole script."""
    text = (ROOT / "README.md").read_text()
    script = text.split("```lua\n", 1)[1].split("```", 1)[0]
    result = luabench.result("--target", target.url, "-n", 3, script=script)
    (scenario,) = result["scenarios"].values()
    assert scenario["requests"]["succeeded"] == 3


@pytest.fixture
def shop(start_server):
    return start_server("node", "shop.mjs", cwd=SERVERS, env={**os.environ, "PORT": "0"})


STEPS = {"GET /login": "GET /login", "POST /login": "POST /login", "search": "GET /search", "POST /cart": "POST /cart", "POST /wishes": "POST /wishes",
         "POST /checkout": "POST /checkout"}


def test_shop(luabench, shop):
    """A journey over two threads: the shop's own count of each step and of each kind of answer is luabench's."""
    assert len(SHOP.read_text().splitlines()) <= 60
    result = luabench.result(SHOP, shop.url, "-t", 2, "-n", 300)
    counts = json.loads(get(shop.url + "/counts"))
    asked = {step: sum(answers.values()) for step, answers in counts.items()}
    scenario = result["scenarios"]["shop"]
    by_name = scenario["by_name"]

    assert {name: figures["requests"]["started"] for name, figures in by_name.items()} == {name: asked[step] for name, step in STEPS.items()}
    assert asked["GET /login"] == scenario["iterations"]["scheduled"] == 300
    assert scenario["requests"]["redirected"] == asked["GET /"] + asked["GET /orders"]
    failed = {step: answers.get("503", 0) for step, answers in counts.items()}
    for name, step in STEPS.items():
        assert by_name[name]["requests"]["failed"] == failed[step], name
        assert by_name[name]["requests"]["succeeded"] == asked[step] - failed[step], name
    assert {status for answers in counts.values() for status in answers} <= {"200", "201", "303", "503"}

    after_login = sum(asked[step] for step in ("GET /search", "POST /cart", "POST /wishes", "POST /checkout"))
    assert scenario["requests"]["failed"] == after_login // 20
    checks = result["checks"]
    assert checks["found something"]["fails"] == failed["GET /search"]
    assert checks["cart is right"]["fails"] == failed["POST /cart"]
    assert checks["wishes arrived"] == {**checks["wishes arrived"], "passes": counts["POST /wishes"]["201"], "fails": failed["POST /wishes"]}
    assert checks["thanked"]["passes"] == counts["GET /orders"]["200"] == scenario["iterations"]["completed"]
    assert result["metrics"]["shop.order"]["samples"] == scenario["iterations"]["completed"]
