"""`relatum bench` as it is called: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import jsonschema_rs
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from relatum.cli import main
from relatum.cli.bench import guard
from relatum.cli.bench.machine import this_machine
from relatum.cli.bench.report import as_json, as_text, json_schema
from relatum.cli.bench.run import Run
from relatum.cli.bench.samples import Series
from relatum.cli.bench.targets import TARGETS, judged
from tests.cli import program

SERIES = [
    Series("commands/floor/echo/rate", "requests/s", (1000.0, 900.0, 1100.0)),
    Series("commands/single/64/rate", "commands/s", (450.0, 400.0, 550.0), "commands/floor/echo/rate"),
    Series("mixed/64/stall", "ms", (31.0, 29.0, 30.0)),
]


@pytest.fixture
def made() -> Run:
    return Run(
        relatum="0",
        started_at_millis=1,
        scale="small",
        rounds=3,
        machine=this_machine(),
        series=SERIES,
        targets=judged(SERIES),
    )


def test_the_file_of_results_follows_its_schema(made: Run) -> None:
    jsonschema_rs.validator_for(json_schema()).validate(json.loads(as_json(made)))
    told = json.loads(as_json(made))
    assert [0.45, None] == [told["targets"][index]["ratio"] for index in (0, 1)]
    assert (2, len(TARGETS)) == (told["format"], len(told["targets"]))


def test_what_a_run_was_too_small_for_is_told_with_its_figures(made: Run) -> None:
    found = [Series("upkeep/start", "s", (0.5,)), Series("upkeep/start/relations", "relations", (4_000.0,))]
    lines = as_text(replace(made, targets=judged(found))).splitlines()
    [line] = [line for line in lines if line.startswith("start after a kill")]
    assert "[4,000 relations]" in line
    assert "0.500 s" in line
    assert line.endswith("too small")


def test_a_file_that_lacks_a_member_does_not_follow_the_schema(made: Run) -> None:
    told = json.loads(as_json(made))
    del told["series"][0]["samples"]
    assert not jsonschema_rs.validator_for(json_schema()).is_valid(told)


def test_the_tables_name_every_series_and_every_target_with_its_figures(made: Run) -> None:
    lines = as_text(made).splitlines()
    [single] = [line.split() for line in lines if line.startswith("commands/single/64/rate")]
    assert ["commands/single/64/rate", "450", "commands/s", "400", "550", "0.450"] == single
    for target in TARGETS:
        [line] = [line for line in lines if line.startswith(f"{target.what}  ")]
        assert line.endswith(
            {
                "commands/single/64/rate": "yes" if "echo" in target.floor else "not measured",
                "mixed/64/stall": "NO",
            }.get(target.product, "not measured")
        ), line


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--parts", "reads,writes"], "'writes' is no part; there are: floors, engine"),
        (["--parts", ""], "'' is no part"),
        (["--rounds", "0"], "0 is not in the range"),
        (["--relations", "5000001"], "5000001 is not in the range"),
        (["--relations", "999"], "999 is not in the range"),
        (["--scale", "tiny"], "'tiny' is not one of"),
        (["--margin", "0.9"], "0.9 is not in the range"),
        (["--scratch", "/nowhere/at/all"], "does not exist"),
        (["--json", "/nowhere/at/all.json"], "there is no directory /nowhere/at"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_measured(arguments: list[str], told: str) -> None:
    shown = CliRunner().invoke(main, ["bench", *arguments])
    assert 2 == shown.exit_code
    assert told in " ".join(shown.output.replace("\n", " ").split())


# The guard


def guarded(monkeypatch: pytest.MonkeyPatch, made: Run, *series: Series, margin: float = 2) -> Result:
    """What `relatum bench --guard` says of a run that came to this."""

    def run(parts: Sequence[str], *_: object, rounds: int, **__: object) -> Run:
        assert (guard.PARTS, guard.ROUNDS) == (parts, rounds)
        return replace(made, series=list(series), targets=judged(series))

    monkeypatch.setattr(import_module("relatum.cli.bench.run"), "run", run)  # the command has the name of its package
    return CliRunner().invoke(main, ["bench", "--guard", "--margin", str(margin)])


SYNCS = "commands/single/64/syncs"


def test_the_guard_ends_with_success_where_all_is_well(monkeypatch: pytest.MonkeyPatch, made: Run) -> None:
    told = guarded(monkeypatch, made, *SERIES, Series(SYNCS, "syncs/command", (0.2, 0.3)))
    assert (0, "") == (told.exit_code, told.stderr)
    lines = told.stdout.splitlines()[2:]
    assert 2 == len(lines), "no target that is a time, and none that was not measured"
    assert lines[0].startswith("single commands over HTTP, 64 connections, of the echo  ")
    assert lines[1].startswith("single commands over HTTP, 64 connections: syncs per command  ")


def test_the_guard_fails_and_tells_what_is_worse_by_more_than_the_margin(
    monkeypatch: pytest.MonkeyPatch, made: Run
) -> None:
    told = guarded(monkeypatch, made, *SERIES, Series(SYNCS, "syncs/command", (1.0, 1.0)))
    assert 1 == told.exit_code
    [line] = told.stderr.splitlines()
    assert line.startswith("single commands over HTTP, 64 connections: syncs per command: ")
    assert line.endswith(": 1.00 is worse than 0.125 by more than a factor of 2")
    assert 0 == guarded(monkeypatch, made, Series(SYNCS, "syncs/command", (1.0, 1.0)), margin=8).exit_code


@pytest.mark.parametrize("series", [[], [Series("mixed/64/stall", "ms", (1.0,))]])
def test_a_guard_that_looked_at_nothing_is_no_guard(
    series: list[Series], monkeypatch: pytest.MonkeyPatch, made: Run
) -> None:
    told = guarded(monkeypatch, made, *series)
    assert (1, "") == (told.exit_code, told.stdout)
    assert told.stderr.startswith("Error: the guard has nothing to look at")


@pytest.mark.slow
def test_a_run_prints_tables_and_progress_and_writes_its_file(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    ran = program.run("bench", "--parts", "reads", "--rounds", "1", "--json", file, "--scratch", tmp_path)
    assert 0 == ran.returncode, ran.stderr
    assert "reads: round 1 of 1" in ran.stderr
    assert "reads/inspect/rate" in ran.stdout
    told = json.loads(file.read_bytes())
    jsonschema_rs.validator_for(json_schema()).validate(told)
    assert {"reads"} == {one["name"].partition("/")[0] for one in told["series"]}
    assert [file] == list(tmp_path.iterdir())
