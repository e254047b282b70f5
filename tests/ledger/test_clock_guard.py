"""A clock that is far ahead commits nothing until an operator confirms it; one that an idle store meets is believed."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from relatum.cli import main
from relatum.clock import ManualClock, SystemClock
from relatum.errors import ClockAhead
from relatum.http.errors import told
from relatum.ledger import Ledger
from relatum.ledger.writer.clock_guard import ClockGuard
from relatum.store import host_time
from relatum.telemetry import Log
from tests.support import builders
from tests.support.desk import Desk

HOUR = 3_600_000
YEAR = 8_760 * HOUR


@pytest.fixture
def clock() -> ManualClock:
    """Right when a test begins."""
    return ManualClock(SystemClock().millis())


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Path:
    with Ledger.open(tmp_path / "ledger", create=True, clock=clock) as ledger:
        Desk(ledger).create("at a right time")
    return tmp_path / "ledger"


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def ledger(store: Path, clock: ManualClock, said: io.StringIO) -> Iterator[Ledger]:
    with Ledger.open(store, clock=clock, log=Log(said, clock.millis, "warning")) as opened:
        yield opened


def test_a_command_of_a_clock_that_jumped_is_refused_and_the_next_of_a_right_one_is_not(
    ledger: Ledger, clock: ManualClock, said: io.StringIO
) -> None:
    desk, right = Desk(ledger), clock.millis()
    clock.advance(10 * YEAR)
    for _ in range(3):
        with pytest.raises(ClockAhead, match="relatum confirm-clock") as failure:
            desk.create("by a wrong clock")
        assert (503, "storage_unavailable") == (told(failure.value).status, told(failure.value).code)
    assert 1 == said.getvalue().count("the clock is too far ahead"), "and is told once"
    assert "clock_ahead" == ledger.readiness()
    clock.set(right + 1)
    assert "ready" == ledger.readiness(), "without a command"
    assert right + 1 == desk.accept(builders.create("by a right clock")).committed_at_millis


def test_steps_within_the_bound_are_believed_and_one_past_it_is_not(ledger: Ledger, clock: ManualClock) -> None:
    desk = Desk(ledger)
    for _ in range(3):
        clock.advance(HOUR)
        desk.create("an hour later")
    clock.advance(HOUR + 60_000)
    with pytest.raises(ClockAhead):
        desk.create("and a minute")


def test_what_an_operator_confirms_is_committed_without_a_restart(
    ledger: Ledger, store: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(ledger)
    clock.advance(YEAR)
    with pytest.raises(ClockAhead):
        desk.create("not yet")
    monkeypatch.setattr(SystemClock, "millis", lambda _self: clock.millis())
    confirmed = CliRunner().invoke(main, ["confirm-clock", str(store)])
    assert (0, clock.millis()) == (confirmed.exit_code, json.loads(confirmed.output)["confirmed_at_millis"])
    assert clock.millis() == desk.accept(builders.create("now")).committed_at_millis


def test_a_store_that_a_wrong_clock_has_written_says_so_and_is_usable(
    store: Path, clock: ManualClock, said: io.StringIO
) -> None:
    right = clock.millis()
    clock.advance(10 * YEAR)
    with Ledger.open(store, clock=clock, clock_ahead_max_seconds=0) as unguarded:
        Desk(unguarded).create("by a wrong clock")
    clock.set(right)
    with Ledger.open(store, clock=clock, log=Log(said, clock.millis, "warning")) as ledger:
        assert "of a time that has not come yet" in said.getvalue()
        assert right + 10 * YEAR == Desk(ledger).accept(builders.create("goes on")).committed_at_millis
        with ledger.view() as view:
            assert right == view.now_millis


def test_nothing_is_confirmed_where_there_is_no_store(tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, ["confirm-clock", str(tmp_path)])
    assert 1 == ended.exit_code
    assert not list(tmp_path.iterdir())


# What bears a time out


class Uptime:
    millis = 5_000

    def __call__(self) -> int:
        return self.millis


@pytest.fixture
def guard(tmp_path: Path) -> Callable[[int, int, int], tuple[ClockGuard, Uptime]]:
    def made(last_commit: int, host_files: int, now: int) -> tuple[ClockGuard, Uptime]:
        uptime = Uptime()
        return ClockGuard(tmp_path, HOUR, last_commit, now, host_files, uptime), uptime

    return made


@pytest.mark.parametrize(
    ("last_commit", "host_files", "now", "believed"),
    [
        (10 * YEAR, 0, 10 * YEAR + HOUR, True),
        (10 * YEAR, 0, 10 * YEAR + HOUR + 1, False),
        (9 * YEAR, 10 * YEAR, 10 * YEAR + HOUR, True),
        (9 * YEAR, 10 * YEAR, 10 * YEAR + HOUR + 1, False),
        (0, 10 * YEAR, 10 * YEAR, True),
        (0, 10 * YEAR, 20 * YEAR, False),
        (10 * YEAR, 0, YEAR, True),
    ],
)
def test_a_time_is_believed_by_the_last_commit_or_by_the_files_of_the_host(
    guard: Callable[[int, int, int], tuple[ClockGuard, Uptime]],
    last_commit: int,
    host_files: int,
    now: int,
    believed: bool,
) -> None:
    made, _ = guard(last_commit, host_files, now)
    if believed:
        made.require_plausible(now, last_commit)
    else:
        with pytest.raises(ClockAhead):
            made.require_plausible(now, last_commit)


def test_a_process_that_was_long_idle_has_counted_the_time_itself(
    guard: Callable[[int, int, int], tuple[ClockGuard, Uptime]],
) -> None:
    made, uptime = guard(10 * YEAR, 0, 10 * YEAR)
    uptime.millis += 100 * HOUR
    made.require_plausible(10 * YEAR + 101 * HOUR, 10 * YEAR)
    with pytest.raises(ClockAhead):
        made.require_plausible(10 * YEAR + 101 * HOUR + 1, 10 * YEAR)


def test_this_host_has_files_of_the_last_days(tmp_path: Path) -> None:
    assert abs(SystemClock().millis() - host_time.newest_file_millis(tmp_path / "ledger")) < 7 * 24 * HOUR


@pytest.mark.parametrize("inside", ["ledger", "data/ledger"])
def test_no_directory_of_the_store_bears_a_clock_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: ManualClock, inside: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = tmp_path / inside
    store.parent.mkdir(exist_ok=True)
    with Ledger.open(store, create=True, clock=clock) as ledger:
        Desk(ledger).create("at a right time")
    clock.advance(10 * YEAR)
    ahead = clock.millis() / 1000
    for path in (store, *store.parents[: inside.count("/") + 1]):
        os.utime(path, (ahead, ahead))
    with Ledger.open(store, clock=clock) as ledger, pytest.raises(ClockAhead):
        Desk(ledger).create("by a wrong clock")
    other = tmp_path / "elsewhere"
    other.mkdir()
    os.utime(other, (ahead, ahead))
    believed = clock.millis() <= host_time.newest_file_millis(store) + HOUR
    assert believed == (inside != "ledger"), "what lies beside the store counts for nothing, other files do"
