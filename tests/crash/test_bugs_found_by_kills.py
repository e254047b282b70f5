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
from tests.crash.noticing import noticed

pytestmark = pytest.mark.slow

AT_WORK = Case(work="group.answered", reached=60)
CASES: dict[str, Case] = {
    "receipt-before-sync": Case(work="group.answered", reached=9),
    "split-command": Case(work="commit.written", reached=9),
    "watermark-ahead": Case(work="commit.marked", reached=9),
    "replay-by-key-alone": AT_WORK,
    "replay-forgotten": AT_WORK,
    "missing-index-row": AT_WORK,
    "lost-header-update": AT_WORK,
    "missing-dependent": AT_WORK,
    "missing-leaf": AT_WORK,
    "log-not-grown": AT_WORK,
    "lost-tally-update": AT_WORK,
    "missing-journal-entry": AT_WORK,
    "missing-receipt-witness": AT_WORK,
    "missing-revision": AT_WORK,
    "topic-slot-kept": AT_WORK,
    "payload-kept": AT_WORK,
    "missing-candidate": AT_WORK,
    "promotion-not-counted": AT_WORK,
    "missing-judgment-receipt": AT_WORK,
    "wrong-overlay-read": AT_WORK,
}
"""Where each shows."""
TRIALS_MAX = 20
"""Which commands come before the kill is up to the threads: one trial may end before the bug had an occasion."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template.make(tmp_path_factory.mktemp("template"))


def test_each_bug_that_failpoints_are_said_to_find_has_a_case_here() -> None:
    assert set(FAILPOINTS.bugs) == set(CASES)
    assert CLOCKS.bugs == ("clock-backwards",)


@pytest.mark.parametrize("bug", CASES)
def test_failpoints_find(bug: str, tmp_path: Path, template: Template) -> None:
    with noticed():
        for number in range(1, TRIALS_MAX + 1):
            Trial(CASES[bug], 7, number, tmp_path, template, ("--bug", bug)).run()


def test_what_finds_them_passes_without_them(tmp_path: Path, template: Template) -> None:
    outcome = Trial(AT_WORK, 7, 1, tmp_path, template).run()
    assert 20 < outcome.acknowledged


def test_clocks_find_commits_that_follow_the_clock_back(tmp_path: Path, template: Template) -> None:
    back = Life(offset_millis=0, jumps=(Jump(10, -5_000),), killed=True)
    case = ClockCase(lives=(back,), offset_millis=0)
    assert 1 == ClockTrial(case, 7, 1, tmp_path, template).run().jumps
    with noticed():
        for number in range(2, 2 + TRIALS_MAX):
            ClockTrial(case, 7, number, tmp_path, template, ("--bug", "clock-backwards")).run()
