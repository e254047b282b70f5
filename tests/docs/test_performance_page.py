"""The page on performance tells of every target, with what is asked for, and of nothing that is no target."""

from __future__ import annotations

import re

from relatum.cli.bench.report import bound
from relatum.cli.bench.targets import TARGETS
from tests.docs.pages import DOCS, table

PAGE = DOCS / "performance.md"

_SIZE = re.compile(r"(; | \[)[\d,]+ relations\]?$")
"""How many there were in the run; it stands behind a target that speaks of a number."""


def test_the_table_of_targets_is_that_of_the_program() -> None:
    told = [(_SIZE.sub("", what), asked) for what, asked, *_ in table(PAGE, "Target")]
    assert told == [(target.what, bound(target).replace(">=", "≥").replace("<=", "≤")) for target in TARGETS]
