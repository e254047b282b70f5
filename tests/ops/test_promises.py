"""The table of promises in docs/operations.md: whatever is promised there is shown by something that exists."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from crash_tests.parts import PARTS
from tests.docs.pages import ROOT, table

OPERATIONS = ROOT / "docs" / "operations.md"


def shown_by(cells: list[str]) -> list[str]:
    """The tests and parts that a row names."""
    return re.findall(r"`([^`]+)`", cells[-1])


def unknown(named: list[str], parts: Collection[str], root: Path = ROOT) -> list[str]:
    """The names behind which there is no part of the crash tests and no file with tests."""

    def exists(name: str) -> bool:
        path = root / name
        return name in parts or (path.is_file() and "\ndef test_" in path.read_text())

    return [name for name in named if not exists(name)]


def test_every_promise_is_complete_and_shown_by_something_that_exists() -> None:
    promises = table(OPERATIONS, "What happens")
    assert len(promises) > 20
    assert [] == [cells for cells in promises if len(cells) != 4 or not all(cells) or not shown_by(cells)]
    named = [name for cells in promises for name in shown_by(cells)]
    assert [] == unknown(named, PARTS)


def test_a_promise_that_nothing_shows_is_noticed() -> None:
    assert ["tests/none.py", "no-part", "tests/conftest.py"] == unknown(
        ["tests/none.py", "kills", "no-part", "tests/conftest.py", "tests/ops/test_promises.py"], {"kills"}
    )
