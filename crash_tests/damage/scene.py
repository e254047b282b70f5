"""The store that is damaged, and what is kept beside it: its answers, its rows, and how both were earlier on.

    PLACE/store        a store whose last owner died: table files of several ages, and a write-ahead log with a live end
    PLACE/older/N      the same directory at earlier moments
    PLACE/doubtful     the last log, one group longer: written, never synced to anybody's knowledge, never answered
    PLACE/scene        everything else, as one `Scene`

What always holds: a seed makes the same rows; where exactly the engine puts them is up to it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
from msgspec import Struct

from crash_tests.damage.question import Question
from crash_tests.damage.questions import all_answered
from crash_tests.damage.workload import Seeded, Told, Workload
from crash_tests.violation import Violation
from relatum.clock import ManualClock
from relatum.ledger import Ledger
from relatum.store import failpoints
from relatum.store.database import ENGINE_NAME, Database
from relatum.store.rocks import RocksStore
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.report import Report
from relatum.telemetry import Log

BEYOND_ALL = b"\xff" * 64
ASKED_AFTER_MILLIS = 60_000
COPIES_MAX = 20

Rows = dict[bytes, bytes]


class Scene(Struct, frozen=True, kw_only=True):
    """What is known of the undamaged store."""

    asked_at_millis: int
    """When the questions are asked."""
    answers: list[tuple[Question, bytes]]
    rows: Rows
    older: list[Rows]
    """The rows at earlier moments, the earliest first."""
    report: Report


class Scenery:
    """The making of a store: its moments so far, the earliest first."""

    def __init__(self, place: Path, seed: str) -> None:
        self._place = place
        self._workload = Workload(Random(seed))
        self._older: list[Rows] = []

    def make(self) -> None:
        """Makes the store as far as its last owner's death. Ends the process, in the middle of a commit."""
        work = self._workload.work
        with self._opened(create=True) as (ledger, database):
            self._workload.begin(ledger)
            work(ledger, 40)
            self._workload.judge(ledger)
            self._workload.fill_tile(ledger)
            self._keep(database)
            work(ledger, 20)
        with self._opened() as (ledger, database):
            work(ledger, 20)
            self._workload.judge(ledger)
            self._keep(database)
            _engine_of(database).compact()
            asyncio.run(self._workload.change_credentials(ledger))
        with self._opened() as (ledger, database):
            self._workload.judge(ledger)
            self._workload.fill_tile(ledger)
            for commands in (15, 15):
                work(ledger, commands)
                self._keep(database)
            work(ledger, 10)
            self._keep(database, flush=False)
            work(ledger, 10)
            self._workload.work_everywhere(ledger)  # so no end of a partition is in a table file: those can be lost
            self._leave(ledger)

    def _keep(self, database: Database, *, flush: bool = True) -> None:
        """This moment, with all rows in table files, as the engine puts them there once there are enough, or not."""
        if flush:
            _engine_of(database).flush()
        _copy(self._place / "store", self._place / "older" / str(len(self._older)))
        self._older.append(_rows_of(database))

    def _leave(self, ledger: Ledger) -> None:
        told = self._workload.told, self._workload.clock.millis(), self._older
        (self._place / "told").write_bytes(msgspec.msgpack.encode(told))
        _copy(self._place / "store", self._place / "whole")
        failpoints.arm(lambda name: os._exit(0) if name == "commit.written" else None)
        ledger.submit_all(self._workload.submissions(ledger, 3))

    def _opened(self, *, create: bool = False) -> AbstractContextManager[Opened]:
        clock, entropy = self._workload.clock, self._workload.entropy
        return opened(self._place / "store", clock, entropy, create=create)


def _copy(store: Path, place: Path) -> None:
    """A copy of a store that is open and not written to. The engine may still remove files that it needs no more."""
    for _ in range(COPIES_MAX):
        try:
            shutil.copytree(store, place)
        except shutil.Error:
            shutil.rmtree(place)
        else:
            return
    raise Violation(f"{store} keeps changing though nobody writes to it")


def judge(place: Path) -> int:
    """Asks the undamaged store everything, on a copy, and keeps the answers; their number."""
    _keep_doubtful(place)
    told, millis, older = msgspec.msgpack.decode((place / "told").read_bytes(), type=tuple[Told, int, list[Rows]])
    copy = place / "copy"
    shutil.copytree(place / "store", copy)
    report = verify_directory(copy)
    if not report.clean:
        raise Violation(f"verify finds faults in a sound store: {report.findings[0]}")
    asked_at_millis = millis + ASKED_AFTER_MILLIS
    with opened(copy, ManualClock(asked_at_millis), Seeded(Random(0))) as (ledger, database):
        answers, rows = all_answered(ledger, told), _rows_of(database)
    scene = Scene(asked_at_millis=asked_at_millis, answers=answers, rows=rows, older=older, report=report)
    (place / "scene").write_bytes(msgspec.msgpack.encode(scene))
    shutil.rmtree(copy)
    return len(answers)


def load(place: Path) -> Scene:
    """What is known of the store in `place`."""
    return msgspec.msgpack.decode((place / "scene").read_bytes(), type=Scene)


def _keep_doubtful(place: Path) -> None:
    """The store as it was before the group in doubt; the log that holds that group goes beside it."""
    (log,) = (path for path in (place / "store" / ENGINE_NAME).glob("*.log") if path.stat().st_size)
    shutil.copyfile(log, place / "doubtful")
    shutil.rmtree(place / "store")
    (place / "whole").rename(place / "store")


class Opened(NamedTuple):
    """A ledger, and the database that it is on."""

    ledger: Ledger
    database: Database


@contextmanager
def opened(directory: Path, clock: ManualClock, entropy: Seeded, *, create: bool = False) -> Iterator[Opened]:
    """A ledger on a clock and with a chance of our own, which says nothing; closed afterwards."""
    database = Database.open(directory, create=create)
    with Ledger(database, clock=clock, entropy=entropy, log=silent()) as ledger:
        yield Opened(ledger, database)


def silent() -> Log:
    """A log that nobody reads."""
    return Log(StringIO(), lambda: 0)


def _engine_of(database: Database) -> RocksStore:
    assert isinstance(database.store, RocksStore)
    return database.store


def _rows_of(database: Database) -> Rows:
    with database.view() as view:
        return dict(view.scan(b"", BEYOND_ALL))
