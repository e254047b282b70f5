"""The part `simulation`: a seed is all it takes to meet a case again, and what it has been seen to find."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crash_tests.part import Run
from crash_tests.random_draws import seeded
from crash_tests.simulation.case import simulate
from crash_tests.simulation.environment import JudgedInstants
from crash_tests.simulation.part import PART, run_batch, run_case
from crash_tests.simulation.part import Batch as Cases
from crash_tests.violation import Violation
from tests.architecture.project import ROOT
from tests.support.matrix import every, first_of

SEED = 7
FOUND_WITHIN = 200
SOUND = range(1, 26)


def first_found(bug: str | None = None, control: str | None = None) -> int | None:
    """The number of the first case that fails, if one of so many does."""
    for number in range(1, FOUND_WITHIN + 1):
        try:
            run_case(SEED, number, bug, control)
        except Violation:
            return number
    return None


def digests_of(numbers: range) -> list[str]:
    return [simulate(seeded(SEED, number)).digest for number in numbers]


def test_a_sound_ledger_passes() -> None:
    figures = run_batch(Cases(seed=SEED, numbers=tuple(SOUND), bug=None, control=None))
    assert len(SOUND) == figures.cases
    assert figures.commands > figures.accepted > 10 * figures.cases
    assert figures.ends > 2 * figures.cases


def test_a_relation_whose_end_was_reviewed_since_still_joins_the_pair_for_a_promotion() -> None:
    run_case(3053081925, 240, None, None)


def test_an_event_in_the_place_of_one_that_was_lost_was_judged_when_its_own_group_was() -> None:
    judged = JudgedInstants()
    judged.note("w", 1, 20, 15)
    judged.note("w", 21, 21, 16)
    judged.note("w", 21, 24, 21)
    assert [15, 21, 21] == [judged.of("w", sequence) for sequence in (20, 21, 24)]


def test_two_runs_of_a_seed_are_the_same_to_the_last_answer() -> None:
    lines: list[list[str]] = [[], []]
    for told in lines:
        for number in range(1, 9):
            told.append(simulate(seeded(SEED, number), told.append).digest)
    assert lines[0] == lines[1]


def test_other_seeds_are_other_cases() -> None:
    digests = digests_of(range(1, 11))
    assert len(digests) == len(set(digests))


def test_another_process_comes_to_the_same() -> None:
    """One that hashes text in another order, and was handed the case alone."""
    program = (
        "from crash_tests.random_draws import seeded\n"
        "from crash_tests.simulation.case import simulate\n"
        f"print(*(simulate(seeded({SEED}, number)).digest for number in range(8, 3, -1)))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert digests_of(range(8, 3, -1)) == answer.stdout.split()


def test_a_violation_names_its_case_and_is_met_again_alone(tmp_path: Path) -> None:
    found = first_found(bug="split-command")
    assert found is not None
    texts = []
    for first_case, cases in ((found, 1), (1, found)):
        run = Run(seed=SEED, cases=cases, directory=tmp_path, tell=print, first_case=first_case, bug="split-command")
        with pytest.raises(Violation, match=f"^case {found}: ") as violation:
            PART.run(run)
        texts.append(str(violation.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("bug", every(4, PART.bugs))
def test_it_finds_the_planted_bug(bug: str) -> None:
    assert first_found(bug=bug) is not None


@pytest.mark.parametrize("control", first_of(PART.controls))
def test_it_fails_on_a_disk_that_breaks_its_promises(control: str) -> None:
    assert first_found(control=control) is not None
