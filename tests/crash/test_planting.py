"""The commands `bugs` and `controls`: each part is tried with all that it is said to notice, and a line told of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from crash_tests import __main__ as program
from crash_tests.bug_campaign import pairs
from crash_tests.part import Part, Run, Summary, Unavailable
from crash_tests.parts import PARTS
from crash_tests.violation import Violation

SIMULATION = replace(
    PARTS["simulation"],
    cases_ci=8,
    controls=("lying-sync",),
    bugs=("split-command", "checksum-not-checked"),  # of which the other one does not show in so few seeds
)


def lacking(given: Run) -> Summary:
    raise Unavailable("there is no such device here")


LACKING = replace(PARTS["clocks"], run=lacking)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Part]:
    """The parts of the command, which leave what they leave in `tmp_path`."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ours = {SIMULATION.name: SIMULATION}
    monkeypatch.setattr(program, "PARTS", ours)
    return ours


def run(*arguments: str) -> int:
    return program.main(program.parser().parse_args([*arguments, "--seed", "7"]))


def test_a_bug_that_a_part_should_find_and_does_not_is_told_and_gives_status_1(
    parts: dict[str, Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == run("bugs")
    seed, found, missed, closing = capsys.readouterr().out.splitlines()
    assert "seed 7" == seed
    assert found.startswith("split-command, simulation: found in case ")
    assert missed.startswith("checksum-not-checked, simulation: NOT FOUND in 8 seeds of seed 7 (")
    assert "1 of 2 pairs were found with seed 7" == closing
    assert [] == list(tmp_path.iterdir())


def test_one_bug_of_one_part_is_found_and_gives_status_0(
    parts: dict[str, Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts["clocks"] = LACKING
    assert 0 == run("bugs", "--bug", "split-command", "--part", "simulation")
    _, found, closing = capsys.readouterr().out.splitlines()
    assert found.startswith("split-command, simulation: found in case ")
    assert "1 of 1 pairs were found with seed 7" == closing
    assert [] == list(tmp_path.iterdir())


def test_controls_are_tried_in_the_same_way(parts: dict[str, Part], capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run("controls")
    _, found, _ = capsys.readouterr().out.splitlines()
    assert found.startswith("lying-sync, simulation: found in case ")


def test_a_machine_that_lacks_something_gives_status_3_unless_something_was_not_found(
    parts: dict[str, Part], capsys: pytest.CaptureFixture[str]
) -> None:
    parts["clocks"] = LACKING
    assert 3 == run("bugs", "--part", "clocks")
    _, told, closing = capsys.readouterr().out.splitlines()
    assert "clock-backwards, clocks: not run: there is no such device here" == told
    assert "0 of 1 pairs were found with seed 7" == closing
    parts["simulation"] = replace(SIMULATION, cases_ci=1, bugs=("checksum-not-checked",))
    assert 1 == run("bugs")


def test_a_part_is_run_at_its_size_for_a_change(parts: dict[str, Part], capsys: pytest.CaptureFixture[str]) -> None:
    def tells(given: Run) -> Summary:
        raise Violation(f"case {given.cases}: {given.bug}, {given.control}\nand what else there is to say")

    parts["clocks"] = replace(LACKING, run=tells, short=("--cases", "3"), cases_ci=2)
    run("bugs", "--part", "clocks")
    assert "case 3: clock-backwards, None" == capsys.readouterr().out.splitlines()[1].partition(" s): ")[2]
    run("controls", "--part", "clocks")
    assert "case 3: None, rollback" == capsys.readouterr().out.splitlines()[1].partition(" s): ")[2]


def test_a_pair_that_nobody_speaks_of_is_no_command_line(
    parts: dict[str, Part], capsys: pytest.CaptureFixture[str]
) -> None:
    parts["clocks"] = LACKING
    with pytest.raises(SystemExit) as refused:
        run("bugs", "--bug", "split-command", "--part", "clocks")
    assert 2 == refused.value.code
    assert "clocks is not said to notice split-command" in capsys.readouterr().err
    parts["clocks"] = replace(LACKING, bugs=())
    with pytest.raises(SystemExit):
        run("bugs", "--part", "clocks")
    assert "clocks is not said to notice any bug" in capsys.readouterr().err


def test_a_part_that_breaks_down_costs_the_others_nothing(
    parts: dict[str, Part], capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(_: Run) -> Summary:
        raise RuntimeError("no reason")

    parts["clocks"] = replace(LACKING, run=breaks)
    assert 1 == run("bugs", "--bug", "clock-backwards", "--part", "clocks")
    told, closing = capsys.readouterr().out.splitlines()[1:]
    assert "clock-backwards, clocks: not tried, the part broke down: RuntimeError('no reason')" == told
    assert closing.startswith("0 of 1 pairs")


def test_the_pairs_are_what_the_parts_say_of_themselves() -> None:
    every = pairs(PARTS.values(), "bug")
    assert {(part.name, bug) for part in PARTS.values() for bug in part.bugs} == {
        (pair.part.name, pair.name) for pair in every
    }
    assert len(every) == len(set(every))
