"""docs/testing.md lists every planted bug with the parts that find it, and each is found by one."""

from __future__ import annotations

import re
from pathlib import Path

from crash_tests.bugs import BUGS
from crash_tests.parts import PARTS

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")


def test_the_page_lists_every_planted_bug_with_the_parts_that_find_it() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \| (.+) \| ((?:`[a-z-]+`(?:, )?)+) \|$", PAGE, re.MULTILINE)
    found_by = {bug: [part.name for part in PARTS.values() if bug in part.bugs] for bug in BUGS}
    expected = [(bug.name, bug.help, ", ".join(f"`{part}`" for part in found_by[bug.name])) for bug in BUGS.values()]
    assert expected == listed


def test_every_planted_bug_is_found_by_some_part_and_no_part_names_another() -> None:
    assert set(BUGS) == {bug for part in PARTS.values() for bug in part.bugs}
