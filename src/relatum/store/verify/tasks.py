"""Pieces of a verification, for any process that has the store open for reading, and what each comes to.

What lives here: the tasks, and `done`, which does one. What must not: how a task reaches another process (`helpers.py`)
and which tasks a store is cut into (`parallel.py`).

What always holds: what the tasks of a partition come to, put together, is what one process would have found.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from relatum.core import digests
from relatum.core.streams import Stream
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from relatum.store.verify.audit import Share
from relatum.store.verify.expected_rows import Books, Censuses
from relatum.store.verify.findings import Findings
from relatum.store.verify.history import BEGINNING, Followed, History, Place
from relatum.store.verify.journals import JournalWalk
from relatum.store.verify.locate import locator
from relatum.store.verify.merge_scan import read_slice
from relatum.store.verify.object_rows import GROUPS
from relatum.store.verify.partition import PartitionCheck
from relatum.store.verify.prefixes import partition_at
from relatum.store.verify.report import Finding
from relatum.store.verify.scan import END
from relatum.store.verify.unversioned_rows import Remembered

STEP_ROWS: Final = 50_000


class WholePartitions(Struct, frozen=True, tag=True):
    """Partitions from beginning to end, by their prefixes."""

    prefixes: tuple[bytes, ...]


class ReadGroup(Struct, frozen=True, tag=True):
    """One group of a partition's tables, by its place in `GROUPS`."""

    prefix: bytes
    group: int


class ReadJournal(Struct, frozen=True, tag=True):
    """One journal of a partition."""

    prefix: bytes
    stream: Stream


class Follow(Struct, frozen=True, tag=True):
    """The events of a partition behind one number, up to another."""

    prefix: bytes
    behind: int
    through: int


class Remember(Struct, frozen=True, tag=True):
    """What has no revisions, followed through all events of a partition up to a number."""

    prefix: bytes
    through: int


Piece = ReadGroup | ReadJournal | Follow | Remember
Task = WholePartitions | Piece


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a task came to: findings; the families of whole partitions; the shares of a piece, and what it met."""

    named: tuple[Finding, ...] = ()
    by_family: dict[str, int] = {}
    families: dict[str, tuple[int, bytes]] = {}
    shares: dict[str, Share] = {}
    first_told: int | None = None
    followed: Followed | None = None
    log: bytes | None = None
    """What the head must say of the log; None where an event does not follow from those before it."""


def done(task: Task, view: Reader) -> Result:
    """Does a task. Raises StorageFailure where the store can't be read."""
    findings = Findings()
    match task:
        case WholePartitions():
            censuses = _verified(task, view, findings)
            families = {name: (census.rows, census.total_bytes) for name, census in censuses.items()}
            return Result(named=tuple(findings.named), by_family=findings.by_family, families=families)
        case ReadGroup() | ReadJournal() | Follow() | Remember():
            books = Books(partition_at(view, task.prefix), findings, censused=True)
            found = _read(task, books, PartitionReader(view, books.partition))
            return replace(found, named=tuple(findings.named), by_family=findings.by_family, shares=books.shares())
        case _:
            assert_never(task)


def _verified(task: WholePartitions, view: Reader, findings: Findings) -> Censuses:
    censuses: Censuses = {}
    for prefix in task.prefixes:
        books = Books(partition_at(view, prefix), findings, censused=True)
        check = PartitionCheck(books, lambda: nullcontext(view), step_rows=STEP_ROWS, locate=locator(view))
        for _ in check.steps():
            pass
        books.enter(censuses)
    return censuses


def _read(task: Piece, books: Books, reader: PartitionReader) -> Result:
    match task:
        case ReadGroup():
            start = b""
            while start != END:
                start = read_slice(GROUPS[task.group], reader, books.tables, start, STEP_ROWS)
            return Result()
        case ReadJournal():
            entries = JournalWalk(books, task.stream)
            while not entries.ended:
                entries.read(reader, STEP_ROWS)
            return Result(first_told=entries.first_event)
        case Follow():
            return Result(followed=_followed(task, books, reader))
        case Remember():
            return Result(log=_remember(task, books, reader))
        case _:
            assert_never(task)


def _followed(task: Follow, books: Books, reader: PartitionReader) -> Followed:
    start = _place_behind(task.behind, books, reader)
    history = History(books, start)
    history.follow(reader, task.through, task.through - task.behind)
    return history.followed()


def _remember(task: Remember, books: Books, reader: PartitionReader) -> bytes | None:
    """What the head must say of the log, once all events were followed.

    Stops at the first event that can't be read, which whoever follows the events tells, or that does not follow.
    """
    remembered = Remembered(books)
    for sequence in range(1, task.through + 1):
        try:
            body = reader.body(books.keys.event(sequence))
            event = None if body is None else rows.EVENT.decode(body)
        except StorageInconsistency:
            body = event = None
        if body is None or event is None:
            return None
        try:
            remembered.rows_of(event, digests.event_digest(body))
        except StorageInconsistency as error:
            books.find("event", f"event {sequence}: {error}")
            return None
    return remembered.log()


def _place_behind(sequence: int, books: Books, reader: PartitionReader) -> Place:
    """The place behind an event, as the event itself tells it: whoever follows the events up to it says if it is so."""
    if sequence == 0:
        return BEGINNING
    try:
        body = reader.body(books.keys.event(sequence))
        at_millis = 0 if body is None else rows.EVENT.decode(body).committed_at_millis
    except StorageInconsistency:
        body, at_millis = None, 0
    return Place(sequence, b"" if body is None else digests.event_digest(body), at_millis)
