"""The page on crash testing keeps up with what is planted."""

from __future__ import annotations

import re

import pytest

from crash_tests.bugs import BUGS
from crash_tests.kills.controls import CONTROLS
from crash_tests.parts import PARTS
from crash_tests.server import ROOT
from relatum.store.failpoints import NAMES
from tests.crash.planted import FAULTS

PAGE = (ROOT / "docs" / "crash-testing.md").read_text(encoding="utf-8")


def test_every_planted_fault_is_named_and_no_other() -> None:
    table = PAGE.split("| Events and receipts |")[1].split("\n\n")[0]
    named = {cell.strip() for line in table.splitlines()[2:] for cell in line.strip("|").split("|")}
    assert set(FAULTS) == named - {""}


def test_every_control_is_named() -> None:
    assert [] == [control for control in CONTROLS if f"| `{control}` |" not in PAGE]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_a_section_and_stands_in_the_table(part: str) -> None:
    assert 1 == PAGE.count(f"\n## `{part}`\n")
    assert 1 == PAGE.count(f"| [`{part}`](#{part}) |")


def test_every_control_of_a_part_is_named_in_its_section() -> None:
    for part in PARTS.values():
        section = PAGE.partition(f"\n## `{part.name}`\n")[2].partition("\n## ")[0]
        assert [] == [control for control in part.controls if control not in section]


def test_every_failpoint_is_named() -> None:
    assert [] == [name for name in NAMES if f"`{name}`" not in PAGE]


# Planted bugs, on the page about testing

SECTION = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8").split("\n## Planted bugs\n")[1].split("\n## ")[0]
ROWS = [[cell.strip() for cell in line.split("|")[1:4]] for line in SECTION.splitlines() if line.startswith("| `")]


def test_every_planted_bug_has_a_row_that_says_what_it_does() -> None:
    assert [(f"`{bug.name}`", bug.help) for bug in BUGS.values()] == [(name, does) for name, does, _ in ROWS]


FINDERS = {f"`{name}`": [part.name for part in PARTS.values() if name in part.bugs] for name in BUGS}


def test_the_table_names_the_parts_that_find_each_planted_bug() -> None:
    assert FINDERS == {name: re.findall("`(.+?)`", found) for name, _, found in ROWS}


def test_each_planted_bug_is_found_by_some_part_and_no_part_names_another() -> None:
    assert set(BUGS) == {bug for part in PARTS.values() for bug in part.bugs}
