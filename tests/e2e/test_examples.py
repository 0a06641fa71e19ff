"""Every example is short and works against the built-in target."""
import pytest

from conftest import EXAMPLES, ROOT

SCRIPTS = sorted(EXAMPLES.glob("*.lua"))


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
