"""Planted bugs of the product that the parts on the real server notice, each aimed at where it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_tests.clocks.case import Case as ClockCase
from crash_tests.clocks.case import Jump, Life
from crash_tests.clocks.part import PART as CLOCKS
from crash_tests.clocks.trial import Trial as ClockTrial
from crash_tests.failpoints.case import Case
from crash_tests.failpoints.part import PART as FAILPOINTS
from crash_tests.failpoints.trial import Trial
from crash_tests.template import Template
from crash_tests.violation import Violation

pytestmark = pytest.mark.slow

AT_WORK = Case(work="group.answered", reached=60)
DAMAGED = "storage_inconsistency"
REFUSED = "acknowledged commands are lost|is damaged"
"""What a server says that does not start on what it finds."""
CASES: dict[str, tuple[Case, str]] = {
    "receipt-before-sync": (Case(work="group.answered", reached=9), f"{REFUSED}|the receipt of|is missing"),
    "split-command": (Case(work="commit.written", reached=9), f"{REFUSED}|{DAMAGED}|do not hold|is missing"),
    "watermark-ahead": (Case(work="commit.marked", reached=9), REFUSED),
    "replay-by-key-alone": (AT_WORK, "another command under the key of .* was answered with 200"),
    "replay-forgotten": (AT_WORK, "replayed with another receipt|500 internal_error"),
    "missing-index-row": (AT_WORK, DAMAGED),
    "lost-header-update": (AT_WORK, DAMAGED),
    "missing-journal-entry": (AT_WORK, DAMAGED),
    "missing-receipt-witness": (AT_WORK, DAMAGED),
    "missing-revision": (AT_WORK, DAMAGED),
    "topic-slot-kept": (AT_WORK, "do not hold"),
    "payload-kept": (AT_WORK, "do not hold: .* a payload is left"),
    "missing-candidate": (AT_WORK, f"{DAMAGED}|do not hold"),
    "missing-judgment-receipt": (AT_WORK, f"{DAMAGED}|do not hold|expected|internal_error"),
    "wrong-overlay-read": (AT_WORK, DAMAGED),
}
"""Where each shows, and as what."""
CLOCK_BACK = "before one that was acknowledged|has the time|that expired at .* was told of|after a commit past its end"
"""Whether a client commits after the jump is up to the threads; that time went back shows later as well."""
TRIALS_MAX = 6
"""Which commands come before the kill is up to the threads: one trial may end before the bug had an occasion."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template.make(tmp_path_factory.mktemp("template"))


def test_each_bug_that_failpoints_are_said_to_find_has_a_case_here() -> None:
    assert set(FAILPOINTS.bugs) == set(CASES)
    assert CLOCKS.bugs == ("clock-backwards",)


@pytest.mark.parametrize("bug", CASES)
def test_failpoints_find(bug: str, tmp_path: Path, template: Template) -> None:
    case, told = CASES[bug]

    def look() -> None:
        for number in range(1, TRIALS_MAX + 1):
            Trial(case, 7, number, tmp_path, template, ("--bug", bug)).run()

    with pytest.raises(Violation, match=rf"(?s){told}"):
        look()


def test_what_finds_them_passes_without_them(tmp_path: Path, template: Template) -> None:
    outcome = Trial(AT_WORK, 7, 1, tmp_path, template).run()
    assert 20 < outcome.acknowledged


def test_clocks_find_commits_that_follow_the_clock_back(tmp_path: Path, template: Template) -> None:
    back = Life(offset_millis=0, jumps=(Jump(10, -5_000),), killed=True)
    case = ClockCase(lives=(back,), offset_millis=0)
    assert 1 == ClockTrial(case, 7, 1, tmp_path, template).run().jumps
    with pytest.raises(Violation, match=CLOCK_BACK):
        ClockTrial(case, 7, 2, tmp_path, template, ("--bug", "clock-backwards")).run()
