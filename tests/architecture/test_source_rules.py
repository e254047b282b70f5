"""Rules about source files that no linter knows: each maps a text to what breaks it, and is shown to notice it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.project import PACKAGE, ROOT, files

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60

Rule = Callable[[str], list[str]]


@cache
def tree_of(source: str) -> ast.Module:
    """Parsed once for all rules."""
    return ast.parse(source)


def too_long(source: str) -> list[str]:
    lines = len(source.splitlines())
    return [f"{lines} lines"] if lines > FILE_LINES_MAX else []


def long_functions(source: str) -> list[str]:
    def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        return (node.end_lineno or node.lineno) - node.lineno + 1

    functions = (node for node in ast.walk(tree_of(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [f"{node.name}: {length(node)} lines" for node in functions if length(node) > FUNCTION_LINES_MAX]


def bare_excepts(source: str) -> list[str]:
    handlers = (node for node in ast.walk(tree_of(source)) if isinstance(node, ast.ExceptHandler))
    return [f"line {node.lineno}" for node in handlers if node.type is None]


def no_docstring(source: str) -> list[str]:
    return [] if ast.get_docstring(tree_of(source)) else ["no module docstring"]


def silent_scans(source: str) -> list[str]:
    """Calls of `items`, `keys` and `values`: on an engine they end in silence at a damaged block.

    The rows of a batch are a plain mapping under the name `rows`; nothing else may be walked that way.
    """
    calls = (node.func for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call))
    return [
        f"line {called.lineno}: {ast.unparse(called)}()"
        for called in calls
        if isinstance(called, ast.Attribute)
        and called.attr in {"items", "keys", "values"}
        and ast.unparse(called.value) != "rows"
    ]


RULES: list[tuple[Rule, str, str]] = [
    # the rule, a text at its bound, a text one past it
    (too_long, "x = 1\n" * FILE_LINES_MAX, "x = 1\n" * (FILE_LINES_MAX + 1)),
    (
        long_functions,
        "async def f():\n" + "    x = 1\n" * (FUNCTION_LINES_MAX - 1),
        "class C:\n    def f(self):\n" + "        x = 1\n" * FUNCTION_LINES_MAX,
    ),
    (bare_excepts, "try:\n    f()\nexcept OSError:\n    pass\n", "try:\n    f()\nexcept:\n    pass\n"),
    (no_docstring, '"""What lives here."""\n', "# What lives here.\n"),
    (
        silent_scans,
        "for key, value in rows.items():\n    f(key)\n",
        "for key in engine.snapshot().keys():\n    f(key)\n",
    ),
]
EVERY_FILE = [too_long, long_functions, bare_excepts, no_docstring]


def sources() -> Iterator[Path]:
    yield from PACKAGE.rglob("*.py")
    yield from (ROOT / "crash_tests").rglob("*.py")


@pytest.mark.parametrize("rule", EVERY_FILE)
def test_every_source_file_keeps_the_rule(rule: Rule) -> None:
    broken = {str(path.relative_to(ROOT)): found for path in sources() if (found := rule(path.read_text()))}
    assert {} == broken


def test_the_engine_is_scanned_only_in_ways_that_report_damage() -> None:
    assert [] == silent_scans((PACKAGE / "store" / "rocks.py").read_text())


@pytest.mark.parametrize(("rule", "kept", "broken"), RULES)
def test_each_rule_notices_what_breaks_it(rule: Rule, kept: str, broken: str) -> None:
    assert [] == rule(kept)
    assert 1 == len(rule(broken))


def test_no_file_needs_anything_beside_the_project() -> None:
    outside = "../" + "shared"
    assert [] == [str(path.relative_to(ROOT)) for path in files() if outside.encode() in path.read_bytes()]
