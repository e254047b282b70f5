"""The registry of parts, and the command that runs them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from crash_tests import __main__ as program
from crash_tests.bugs import BUGS
from crash_tests.part import Part, Run, Summary, Unavailable
from crash_tests.parts import PARTS
from crash_tests.violation import Violation


def counting(given: Run) -> Summary:
    """A part that draws a number for each case."""
    drawn = [given.random(number).randrange(1000) for number in given.numbers()]
    given.tell("between the first line and the last")
    return Summary(len(drawn), f"{len(drawn)} numbers: {drawn}")


def violated(given: Run) -> Summary:
    (given.directory / "evidence").touch()
    raise Violation("case 3: one was promised, two were found")


def unavailable(given: Run) -> Summary:
    raise Unavailable("there is no such device here")


def part(name: str, run: Callable[[Run], Summary]) -> Part:
    return Part(name=name, help=f"try {name}", unit="cases", cases_ci=2, cases_release=5, run=run, controls=("a lie",))


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Part]:
    """Three parts of ours, which leave what they leave in `tmp_path`."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ours = {
        "counts": part("counts", counting),
        "lacks": part("lacks", unavailable),
        "fails": part("fails", violated),
    }
    monkeypatch.setattr(program, "PARTS", ours)
    return ours


def run(*arguments: str) -> int:
    return program.main(program.parser().parse_args(arguments))


def test_a_part_that_nobody_knows_is_refused_with_the_names_of_those_there_are(
    parts: dict[str, Part], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        run("earthquakes")
    assert 2 == refused.value.code
    told = capsys.readouterr().err
    assert all(name in told for name in ("earthquakes", *parts, "short", "long"))


def test_a_clean_run_exits_0_and_leaves_nothing(
    parts: dict[str, Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == run("counts", "--seed", "7")
    first, between, last = capsys.readouterr().out.splitlines()
    assert "seed 7" == first
    assert "between the first line and the last" == between
    assert last.startswith("counts: 2 numbers: ")
    assert [] == list(tmp_path.iterdir())


def test_a_violation_exits_1_and_tells_the_seed_and_where_it_left_what(
    parts: dict[str, Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == run("fails", "--seed", "7")
    told = capsys.readouterr().out
    assert "fails: VIOLATION with seed 7: case 3: one was promised, two were found" in told
    (kept,) = tmp_path.iterdir()
    assert (kept / "evidence").exists()
    assert str(kept) in told


def test_a_machine_that_lacks_something_exits_3_and_says_what(
    parts: dict[str, Part], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 3 == run("lacks")
    assert "lacks: not run: there is no such device here" == capsys.readouterr().out.splitlines()[-1]
    assert [] == list(tmp_path.iterdir())


def test_without_a_seed_a_new_one_is_drawn_and_printed(
    parts: dict[str, Part], capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = set()
    for _ in range(3):
        run("counts")
        seeds.add(capsys.readouterr().out.splitlines()[0])
    assert 3 == len(seeds)


def test_short_and_long_run_every_part_at_its_size_and_print_one_line_each(
    parts: dict[str, Part], capsys: pytest.CaptureFixture[str]
) -> None:
    del parts["fails"]
    assert 3 == run("short", "--seed", "7")
    seed, counts, lacks = capsys.readouterr().out.splitlines()
    assert "seed 7" == seed
    assert counts.startswith("counts: 2 numbers: ")
    assert lacks.startswith("lacks: not run: ")
    parts["counts"] = replace(parts["counts"], short=("--cases", "3"))
    run("short", "--seed", "7")
    assert "counts: 3 numbers: " in capsys.readouterr().out
    run("long", "--seed", "7")
    assert "counts: 5 numbers: " in capsys.readouterr().out


def test_all_parts_are_run_whatever_becomes_of_one_and_a_violation_counts_most(
    parts: dict[str, Part], capsys: pytest.CaptureFixture[str]
) -> None:
    for order in (("fails", "counts", "lacks"), ("lacks", "fails", "counts")):
        ours = {name: parts[name] for name in order}
        parts.clear()
        parts.update(ours)
        assert 1 == run("short")
        told = capsys.readouterr().out
        assert order == tuple(re.findall(r"^(\w+): ", told, re.MULTILINE))


def test_a_control_and_a_bug_reach_the_part(parts: dict[str, Part], capsys: pytest.CaptureFixture[str]) -> None:
    def tells(given: Run) -> Summary:
        return Summary(0, f"{given.control}, {given.bug}")

    parts["tells"] = part("tells", tells)
    bug = min(BUGS)
    run("tells", "--control", "a lie", "--bug", bug)
    assert f"tells: a lie, {bug} " in capsys.readouterr().out


# Cases


def given(**members: object) -> Run:
    return Run(**{"seed": 7, "cases": 5, "directory": Path(), "tell": lambda _: None} | members)  # type: ignore[arg-type]  # of mixed kinds


def test_a_case_is_the_same_whatever_came_before_it() -> None:
    alone = given(first_case=4, cases=1)
    (number,) = alone.numbers()
    many = given()
    drawn = {number: many.random(number).random() for number in many.numbers()}
    assert [1, 2, 3, 4, 5] == list(drawn)
    assert 5 == len(set(drawn.values()))
    assert (4, drawn[4]) == (number, alone.random(number).random())


def test_no_case_begins_after_the_time_is_over_and_a_run_says_so() -> None:
    told: list[str] = []
    assert [] == list(given(seconds_max=0.0, tell=told.append).numbers())
    assert ["stopped after 0 of 5: the time is over"] == told


def test_parts_are_found_by_their_names_and_have_sizes() -> None:
    for name, one in PARTS.items():
        assert name == one.name
        assert 0 < one.cases_ci <= one.cases_release
        assert set(one.bugs) <= set(BUGS)
