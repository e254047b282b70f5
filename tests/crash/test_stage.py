"""The real server, killed for real: a sound one passes, and every control is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from crash_tests.__main__ import main, parser
from crash_tests.kills.controls import CONTROLS, NO_OCCASION
from crash_tests.kills.plan import EarlyKill, Plan, draw_making, draw_plan
from crash_tests.kills.store_rounds import Rig, Round, Stage
from crash_tests.random_draws import seeded
from crash_tests.server import module, run
from relatum.ledger import Ledger
from relatum.store.verify.directory import verify_directory
from tests.crash.noticing import noticed

AT_WORK = Plan(moment="at work", accepted=60, delay_seconds=0.0)
STARTS = (EarlyKill(opening=True, part=0.1), EarlyKill(opening=True, part=0.5), EarlyKill(opening=False, part=0.9))
ROUNDS_MAX = 6
"""What comes before a kill is up to the threads: one round may end before there was an occasion for what is shown."""
UNDISTURBED = "a seed under which the making of the store is not killed"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(directory=tmp_path, slots=64, clients=3, consumers=4)


@pytest.mark.slow
def test_a_server_that_is_killed_whatever_it_is_doing_loses_nothing(rig: Rig) -> None:
    with Stage(rig, 1, seeded(UNDISTURBED)) as stage:
        at_work = stage.round(AT_WORK, (1, 1, 1), inspected=True)
        starts = Plan(moment="at work", accepted=5, delay_seconds=0.0, starts=STARTS)
        starting = stage.round(starts, (1, 1, 2), inspected=False)
        saving = stage.round(Plan(moment="saving", accepted=30, delay_seconds=0.001), (1, 1, 3), inspected=False)
        draining = stage.round(Plan(moment="draining", accepted=5, delay_seconds=0.01), (1, 1, 4), inspected=False)
        following = list(rounds_until_streams_broke(stage))
        findings = stage.end()
    assert 7 + len(following) == stage.kills
    assert at_work.findings is not None
    assert 60 <= at_work.acknowledged <= at_work.findings.acknowledged
    rounds = at_work, starting, saving, draining, *following
    acknowledged = sum(one.acknowledged for one in rounds)
    saved = sum(one.verdict.saved for one in rounds)
    last = following[-1]
    assert acknowledged <= last.verdict.replayed < findings.acknowledged <= last.verdict.replayed + saved
    assert 0 < last.broken
    assert 0 < last.verdict.resumed
    assert 0 < last.verdict.graphs


def rounds_until_streams_broke(stage: Stage) -> Iterator[Round]:
    """Kills while a stream is followed. A few may come when nobody has one open."""
    for turn in range(ROUNDS_MAX):
        plan = Plan(moment="following", accepted=5, delay_seconds=0.001)
        one = stage.round(plan, (1, 1, 5 + turn), inspected=False)
        yield one
        if one.broken and one.verdict.resumed:
            return


@pytest.mark.slow
@pytest.mark.parametrize("control", CONTROLS)
def test_every_control_is_noticed(rig: Rig, control: str) -> None:
    damaged = replace(rig, control=control)
    with Stage(damaged, 1, seeded(UNDISTURBED)) as stage, noticed():
        for turn in range(1, ROUNDS_MAX + 1):
            stage.round(AT_WORK, (1, 1, turn), inspected=control == "lose-adjacency")


@pytest.mark.slow
def test_the_command_prints_its_seed_first_and_a_summary_last(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--cases", "1", "--seed", "1", "--first-case", "3", "--clients", "2"]
    assert 0 == main(parser().parse_args(["kills", *options]))
    lines = capsys.readouterr().out.splitlines()
    assert "seed 1" == lines[0]
    assert "] store 3, round 1, " in lines[1]
    assert " kills on 1 stores: " in lines[-1]
    assert " met open streams: " in lines[-1]


@pytest.mark.slow
def test_the_command_names_the_seed_and_fails_when_something_is_violated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert 1 == main(parser().parse_args(["kills", "--cases", "1", "--seed", "1", "--control", "empty-log"]))
    assert "VIOLATION with seed 1: store 1, round 1" in capsys.readouterr().out


def test_a_seed_names_the_same_plans_every_time() -> None:
    plans = [draw_plan(seeded(7, 1, turn), "everything") for turn in range(50)]
    assert plans == [draw_plan(seeded(7, 1, turn), "everything") for turn in range(50)]
    assert {"at work", "draining", "saving", "following"} == {plan.moment for plan in plans}
    assert {1, 2, 3} == {plan.kills for plan in plans}
    assert {True, False} == {start.opening for plan in plans for start in plan.starts}
    assert {True, False} == {draw_making(seeded(7, store)) is None for store in range(20)}


def test_kills_that_are_aimed_at_the_feeds_meet_consumers() -> None:
    plans = [draw_plan(seeded(7, 1, turn), "feeds") for turn in range(50)]
    assert {"saving", "following", "draining"} == {plan.moment for plan in plans}
    assert {1} == {plan.kills for plan in plans}


def test_a_control_that_has_nothing_to_damage_says_so_and_leaves_the_store_alone(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with Ledger.open(store, create=True) as ledger:
        ledger.bootstrap("acme", "root")
    position = verify_directory(store)
    for control in ("lose-adjacency", "alter-record", "set-checkpoint-back", "lose-journal-entry"):
        status, _ = run(tmp_path / "log", module("crash_tests.kills.controls", control, store, tmp_path / "before"))
        assert NO_OCCASION == status
    assert position == verify_directory(store)
