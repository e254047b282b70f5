"""Cases come in one order in every process: no test has its cases from a set, whose order differs from run to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def unordered(source: str) -> Iterator[str]:
    """What `parametrize` takes cases from and is a set, by how it is written there."""
    tree = ast.parse(source)
    sets = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None and is_set(statement.value)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "parametrize":
            cases = call.args[1]
            if is_set(cases) or (isinstance(cases, ast.Name) and cases.id in sets):
                yield ast.unparse(cases)


def is_set(value: ast.expr) -> bool:
    match value:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case ast.BinOp(left=left, right=right, op=ast.BitOr() | ast.Sub() | ast.BitAnd()):
            return is_set(left) or is_set(right)
        case _:
            return False


def test_no_test_has_its_cases_from_a_set() -> None:
    found = {path.name: names for path in TESTS.rglob("test_*.py") if (names := list(unordered(path.read_text())))}
    assert {} == found


@pytest.mark.parametrize("cases", ["{1, 2}", "set(x)", "{one for one in x}", "frozenset(x) - {1}", "NAMED"])
def test_a_set_is_noticed(cases: str) -> None:
    assert [cases] == list(unordered(f'NAMED = {{1}}\n@pytest.mark.parametrize("one", {cases})\ndef test(): ...'))
    assert [] == list(unordered(f'NAMED = [1]\n@pytest.mark.parametrize("one", sorted({cases}))\ndef test(): ...'))
