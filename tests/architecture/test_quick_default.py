"""What keeps the plain `pytest` short, by kind and not by the clock: each rule is shown to notice what breaks it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture.project import ROOT

TESTS = ROOT / "tests"
LONG_FORM = 'python -m pytest -m "slow or not slow"'
STARTS = {"Server", "serving", "operated"}
"""What starts a process that serves."""


def functions(source: str) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))


def calls(node: ast.AST) -> set[str]:
    return {ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}


def hunts(source: str) -> list[str]:
    """Tests that start real programs until somebody notices a planted bug, and are not `slow`."""
    if re.search(r"^pytestmark = pytest\.mark\.slow$", source, re.MULTILINE):
        return []
    return [
        function.name
        for function in functions(source)
        if "noticed" in calls(function)
        and "pytest.mark.slow" not in {ast.unparse(decorator) for decorator in function.decorator_list}
    ]


def servers_per_test(source: str) -> list[str]:
    """Fixtures that start a server for each test instead of one for a module."""
    return [
        function.name
        for function in functions(source)
        if "pytest.fixture" in {ast.unparse(decorator) for decorator in function.decorator_list}
        and calls(function) & STARTS
    ]


Rule = Callable[[str], list[str]]


@pytest.mark.parametrize(
    ("rule", "kept", "broken"),
    [
        (
            hunts,
            "@pytest.mark.slow\ndef test_it():\n    with noticed():\n        run()\n",
            "def test_it():\n    with noticed():\n        run()\n",
        ),
        (
            servers_per_test,
            "@pytest.fixture(scope='module')\ndef served():\n    with Server(path) as server:\n        yield server\n",
            "@pytest.fixture\ndef served():\n    with Server(path) as server:\n        yield server\n",
        ),
    ],
)
def test_each_rule_notices_what_breaks_it(rule: Rule, kept: str, broken: str) -> None:
    assert [] == rule(kept)
    assert 1 == len(rule(broken))


def broken_in(rule: Rule, folder: Path) -> dict[str, list[str]]:
    return {str(path.relative_to(ROOT)): found for path in folder.rglob("*.py") if (found := rule(path.read_text()))}


def test_hunts_for_planted_bugs_are_left_to_the_long_form() -> None:
    own = "tests/crash/test_noticing.py"  # where nobody is started
    assert {own} == broken_in(hunts, TESTS / "crash").keys()


def test_a_fixture_starts_a_server_for_a_module() -> None:
    assert {} == broken_in(servers_per_test, TESTS)


def test_the_plain_command_leaves_out_what_is_slow_and_integration_runs_both_forms() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["addopts"]
    assert "not slow" == settings[settings.index("-m") + 1]
    commands = (ROOT / ".ci" / "run").read_text().splitlines()
    assert "python -m pytest" in commands
    assert 1 == sum(LONG_FORM in line for line in commands)
    assert re.search(r"bin/python -m pytest$", (ROOT / "README.md").read_text(), re.MULTILINE)


def test_integration_names_no_host() -> None:
    assert None is re.search(r"https?:|index-url|\b[a-z0-9-]+\.(org|com|net|io)\b", (ROOT / ".ci" / "run").read_text())
