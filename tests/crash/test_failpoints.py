"""The part `failpoints`: which cases there are, and that cases are carried out as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_tests.failpoints.case import (
    BEFORE_A_STORE,
    CLOSED,
    COPIED,
    EXAMINED,
    MADE,
    REPAIRED,
    STARTED,
    WORKED,
    Case,
    draw_case,
)
from crash_tests.failpoints.trial import Trial
from crash_tests.template import Template
from crash_tests.violation import Violation
from relatum.store.failpoints import NAMES
from tests.crash.noticing import noticed

ROUND = range(1, len(NAMES) + 1)
TRIALS_MAX = 6
"""Which commands are in the group that a kill meets is up to the threads."""


def test_a_seed_and_a_number_name_a_case() -> None:
    cases = [draw_case(7, number) for number in ROUND]
    assert cases == [draw_case(7, number) for number in ROUND]
    assert cases != [draw_case(8, number) for number in ROUND]


@pytest.mark.parametrize("turn", range(5))
def test_each_round_meets_every_place(turn: int) -> None:
    cases = [draw_case(7, turn * len(NAMES) + number) for number in ROUND]
    assert set(NAMES) == {name for case in cases for name in (*case.making, case.work, *case.starts, *case.copies)}


def test_each_place_is_met_in_the_phase_that_comes_by_it() -> None:
    assert set(NAMES) == {*MADE, *STARTED, *WORKED, *CLOSED, *COPIED}
    for case in (draw_case(7, number) for number in range(1, 400)):
        assert set(case.making).isdisjoint(EXAMINED + REPAIRED + COPIED)
        for place, name in enumerate(case.making):
            assert name != "make.directory" or set(case.making[:place]) <= set(BEFORE_A_STORE)
        assert set(case.copies) <= set(COPIED)
        assert case.work in WORKED + CLOSED
        assert set(case.starts) <= set(STARTED)
        assert case.reached == 1 or case.work in WORKED
        assert 1 <= case.kills == len(case.making) + 1 + len(case.starts) + len(case.copies) <= 8


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template.make(tmp_path_factory.mktemp("template"))


THROUGHOUT = Case(
    making=("make.directory", "make.format", "make.watermark", "commit.written"),
    work="commit.synced",
    reached=5,
    starts=("examine.passed", "repair.kept", "repair.cut", "open.published"),
)


@pytest.mark.slow
def test_no_store_is_left_where_the_directory_is_said_to_be_made_again(tmp_path: Path, template: Template) -> None:
    case = Case(making=("open.scanned", "make.directory", "open.locked", "make.directory"), work="commit.synced")
    assert 5 == case.kills
    assert Trial(case, 7, 1, tmp_path, template).run().verdict.present


@pytest.mark.slow
def test_a_store_that_is_killed_at_every_turn_holds(tmp_path: Path, template: Template) -> None:
    for number in range(1, TRIALS_MAX + 1):
        outcome = Trial(THROUGHOUT, 7, number, tmp_path, template).run()
        assert outcome.acknowledged <= outcome.verdict.replayed
        assert not (tmp_path / f"case-{number}").exists()
        if outcome.acknowledged and outcome.verdict.present:
            return
    raise AssertionError("nobody was answered before a kill, or nobody waited for an answer when it came")


@pytest.mark.slow
def test_a_store_that_is_killed_as_it_closes_holds(tmp_path: Path, template: Template) -> None:
    outcome = Trial(Case(work="close.drained", accepted=10), 7, 1, tmp_path, template).run()
    assert 10 <= outcome.acknowledged


@pytest.mark.slow
def test_a_backup_and_a_restore_that_are_killed_say_what_they_left(tmp_path: Path, template: Template) -> None:
    outcome = Trial(Case(work="commit.synced", copies=COPIED), 7, 1, tmp_path, template).run()
    assert 0 < outcome.rows
    assert [] == list(tmp_path.glob("case-1.*/"))


@pytest.mark.slow
def test_a_store_that_is_set_back_is_noticed(tmp_path: Path, template: Template) -> None:
    with noticed():
        Trial(Case(work="close.drained", accepted=10), 7, 1, tmp_path, template, set_back=True).run()


@pytest.mark.slow
def test_a_program_that_does_not_come_to_its_place_is_a_violation(tmp_path: Path, template: Template) -> None:
    opened_again = Case(work="commit.written", starts=("repair.kept", "make.format"))
    with pytest.raises(Violation, match=r"was to die at make\.format went on"):
        Trial(opened_again, 7, 1, tmp_path, template).run()
