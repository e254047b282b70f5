"""One life on the ledger with everything that it does to its files written down.

Runs in a process that has the recorder preloaded. The process goes on afterwards, opens other states of the same store,
and records again; it never forks.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import NamedTuple

from msgspec import Struct

from crash_tests.embedded import Acknowledged, Plan, Reporter, live
from crash_tests.embedded.messages import Ended, Opened, messages_in
from crash_tests.inspection.inspect import inspect
from crash_tests.system_calls.disk import Disk, Lie
from crash_tests.system_calls.native import preloaded
from crash_tests.system_calls.records import Kind, Record, read_records
from crash_tests.system_calls.reference import Reference, Rows, position_of
from crash_tests.violation import require
from relatum.limits import KIB
from relatum.store import rocks

STORE_NAME = "ledger"
_BUFFERS_BYTES = (64 * KIB, 256 * KIB, rocks.WRITE_BUFFER_BYTES)
"""The first makes the engine write tables and merge them within a life."""


class Past(NamedTuple):
    """What was there when a life began: what earlier lives told, and the rows."""

    told: tuple[bytes, ...] = ()
    rows: Rows = {}

    def acknowledged(self, *later: bytes) -> Acknowledged:
        """What is known of all commands."""
        return Acknowledged.read(*self.told, *later)


class Liar(NamedTuple):
    """A drive that lies from a call on."""

    lie: Lie
    since: int = 1


class Point(NamedTuple):
    """A moment of a life: so many calls were made, the disk is so, and so much was told.

    What was told promises that the store `exists`, and that it has come to the position `floor` at least.
    """

    number: int
    disk: Disk
    told: bytes
    floor: int
    exists: bool


class Recording(Struct, kw_only=True):
    """A life: the disk when it began, its calls, and what it committed.

    A crash point is a number of calls that were made. Those after which nothing is otherwise than before are left out.
    """

    past: Past
    plan: Plan
    begin: Disk
    records: list[Record]
    points: list[int]
    reference: Reference

    def replayed(self, points: Collection[int], liar: Liar | None = None) -> Iterator[Point]:
        """The life up to each of the points, in order. The disk of a point goes on when the next one is asked for."""
        disk, told, known = deepcopy(self.begin), b"", self.past.acknowledged()
        floor, exists = position_of(self.past.rows), known.exists
        sent = {name: command.sent for name, command in known.commands.items()}
        for number, record in enumerate(self.records, start=1):
            if liar is not None and number == liar.since:
                disk.lie = liar.lie
            disk.follow(record)
            if record.kind is Kind.MARK:
                told += record.data
                messages = list(messages_in(record.data))
                floor = max(floor, self.reference.floor(messages, sent))
                exists = exists or any(isinstance(message, Opened) for message in messages)
            if number in points:
                yield Point(number, disk, told, floor, exists)


def drawn_plan(seed: str, random: Random) -> Plan:
    """A short life."""
    return Plan(
        seed=seed,
        commands=random.randint(10, 120),
        threads=random.choice((1, 3)),
        write_buffer_bytes=random.choice(_BUFFERS_BYTES),
    )


def record(root: Path, log: Path, plan: Plan, past: Past) -> Recording:
    """Lives as planned in `root`/ledger, going on from the past. Raises `Violation` if the ledger fails."""
    recorder = preloaded()
    disk = Disk(root)
    reference = Reference(past.rows)
    unresolved = [known.sent for known in past.acknowledged().doubtful()]
    marks = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    recorder.recorder_start(os.fsencode(root), os.fsencode(log), marks)
    try:
        with reference.taken():
            live(root / STORE_NAME, plan, Reporter(marks), unresolved)
    finally:
        recorder.recorder_stop()
        os.close(marks)
    records = read_records(log)
    _require_peace(past, records, reference)
    points = _points(disk, records)
    return Recording(past=past, plan=plan, begin=disk, records=records, points=points, reference=reference)


def _require_peace(past: Past, records: Sequence[Record], reference: Reference) -> None:
    """The life came to its end, and what it left would be sound if nothing were lost."""
    told = b"".join(record.data for record in records if record.kind is Kind.MARK)
    last = list(messages_in(told))[-1]
    require(isinstance(last, Ended), f"a life in which nothing failed ended with {last}")
    inspect(reference.rows, past.acknowledged(told).claims())


def _points(begin: Disk, records: Sequence[Record]) -> list[int]:
    """Raises `Violation` where the calls do not lead to what is really there: the recorder has missed some."""
    disk = deepcopy(begin)
    points: list[int] = []
    for number, record in enumerate(records, start=1):
        disk.follow(record)
        if not (record.kind is Kind.WRITTEN and disk.is_diary(record.inode)):
            points.append(number)
    disk.require_followed()
    return points
