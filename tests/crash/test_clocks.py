"""The part `clocks`: which cases there are, what is judged, and that a sound ledger passes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from crash_tests.clocks.case import Case, Jump, Life, draw_case
from crash_tests.clocks.instants import check_order
from crash_tests.clocks.trial import Trial
from crash_tests.clocks.wrong_clock import WrongClock, machine_millis
from crash_tests.relatum_process import put_clock_wrong
from crash_tests.template import Template
from crash_tests.violation import Violation
from relatum.clock import SystemClock
from relatum.core.ids import uuid7
from tests.crash.noticing import noticed
from tests.crash.told import accepted, create

YEAR_MILLIS = 365 * 24 * 3_600_000
THERE_AND_BACK = Case(
    lives=(
        Life(offset_millis=-3 * YEAR_MILLIS, jumps=(Jump(5, YEAR_MILLIS), Jump(5, -2 * YEAR_MILLIS)), killed=True),
        Life(offset_millis=0, jumps=(Jump(5, 2 * YEAR_MILLIS), Jump(5, 0)), killed=False),
    ),
    offset_millis=-5,
)


def test_a_seed_and_a_number_name_a_case() -> None:
    cases = [draw_case(7, number) for number in range(1, 20)]
    assert cases == [draw_case(7, number) for number in range(1, 20)]
    assert 19 == len({str(case) for case in cases})


def test_clocks_go_back_in_every_case_by_milliseconds_and_by_years() -> None:
    lives = [life for number in range(1, 100) for life in draw_case(7, number).lives]
    steps = [[life.offset_millis, *(jump.offset_millis for jump in life.jumps)] for life in lives]
    back = [before - after for one in steps for before, after in pairwise(one) if after < before]
    assert all(min(one) < max(one) for one in steps)
    assert min(back) < 1000
    assert max(back) > YEAR_MILLIS
    assert {True, False} == {life.killed for life in lives}


def test_a_wrong_clock_is_what_a_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "millis", SystemClock.millis)  # put back afterwards
    clock = WrongClock(tmp_path / "clock")
    put_clock_wrong(Path(clock.launch[1]))
    for offset in (0, -YEAR_MILLIS, 5):
        clock.put_off(offset)
        earliest = machine_millis() + offset
        assert earliest <= SystemClock().millis() <= clock.millis()
    clock.put_to(YEAR_MILLIS)
    assert YEAR_MILLIS <= SystemClock().millis() <= clock.millis() < YEAR_MILLIS + 60_000
    assert clock.latest() > 2 * YEAR_MILLIS, "it has been later"


@pytest.mark.slow
def test_a_server_whose_clock_jumps_by_years_holds(tmp_path: Path) -> None:
    outcome = Trial(THERE_AND_BACK, 7, 1, tmp_path, Template.make(tmp_path)).run()
    assert (3, 4) == (outcome.starts, outcome.jumps)
    assert 20 <= outcome.acknowledged


@pytest.mark.slow
def test_a_store_that_is_set_back_is_noticed(tmp_path: Path) -> None:
    with noticed():
        Trial(THERE_AND_BACK, 7, 1, tmp_path, Template.make(tmp_path), set_back=True).run()


# Ids


def test_ids_that_are_given_twice_are_noticed() -> None:
    record_id = uuid7(7, bytes(10))
    twice = [accepted(create(f"key {number}"), number, record_id=record_id) for number in (1, 2)]
    with pytest.raises(Violation, match="made objects of one id"):
        check_order(twice)


def test_an_id_of_another_time_than_its_commit_is_noticed() -> None:
    check_order([accepted(create(), 1, record_id=uuid7(7, bytes(10)))])
    with pytest.raises(Violation, match=r"the time in the id .* expected 7, found 8"):
        check_order([accepted(create(), 1, record_id=uuid7(8, bytes(10)))])
