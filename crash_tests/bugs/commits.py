"""Bugs of the commit: what is durable, visible, marked and answered, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from threading import Event

from crash_tests.bugs.bug import Bug, Patch
from relatum.errors import StorageFailure
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.group_builder import Deciding
from relatum.ledger.writer.submission import Ticket
from relatum.store import failpoints, keys, rows
from relatum.store.database import Database
from relatum.store.kv import KeyValue
from relatum.store.rocks import RocksStore

Rows = Mapping[bytes, bytes | None]


def _whole(staged: Rows, position: rows.Position) -> dict[bytes, bytes | None]:
    return {**staged, keys.POSITION: rows.seal(keys.POSITION, rows.POSITION.encode(position))}


def _mark(database: Database, position: rows.Position) -> None:
    if database._watermark is not None:
        database._watermark.write(position.position, position.digest)


def _publish(database: Database, position: rows.Position) -> None:
    failpoints.reach("commit.marked")
    database.store.publish(position)
    database.position = position
    failpoints.reach("commit.published")


def _pretend_synced(store: KeyValue) -> None:
    """Lets `publish` and the next `write` believe that the disk has everything, which it has not."""
    if isinstance(store, RocksStore):
        store._unsynced = False
    else:
        store.pretend_synced()  # type: ignore[attr-defined]  # of the simulation's store


def unsynced_commit(database: Database, staged: Rows, position: rows.Position) -> None:
    """Rows are written, shown and answered, and the log is never synced."""
    database.store.write(_whole(staged, position))
    failpoints.reach("commit.written")
    _pretend_synced(database.store)
    failpoints.reach("commit.synced")
    _mark(database, position)
    _publish(database, position)


def publish_before_sync(database: Database, staged: Rows, position: rows.Position) -> None:
    """Readers see a group while it could still be lost."""
    database.store.write(_whole(staged, position))
    failpoints.reach("commit.written")
    store = database.store
    _pretend_synced(store)
    store.publish(position)
    if isinstance(store, RocksStore):
        store._unsynced = True
    failpoints.reach("commit.published")
    store.sync()
    failpoints.reach("commit.synced")
    _mark(database, position)
    database.position = position
    failpoints.reach("commit.marked")


def split_command(database: Database, staged: Rows, position: rows.Position) -> None:
    """A group's rows go in two batches, the position with the second: a crash in between tears commands apart."""
    whole = _whole(staged, position)
    half = len(whole) // 2
    every = iter(whole.items())
    database.store.write(dict(islice(every, half)))
    failpoints.reach("commit.written")
    database.store.sync()
    failpoints.reach("commit.synced")
    database.store.write(dict(every))
    failpoints.reach("commit.written")
    database.store.sync()
    failpoints.reach("commit.synced")
    _mark(database, position)
    _publish(database, position)


def watermark_ahead(database: Database, staged: Rows, position: rows.Position) -> None:
    """The watermark is raised before the rows are durable: a crash in between looks like lost data."""
    _mark(database, position)
    failpoints.reach("commit.marked")
    database.store.write(_whole(staged, position))
    failpoints.reach("commit.written")
    database.store.sync()
    failpoints.reach("commit.synced")
    database.store.publish(position)
    database.position = position
    failpoints.reach("commit.published")


def watermark_forgotten(database: Database, staged: Rows, position: rows.Position) -> None:
    """The watermark is never raised: a log that was cut short is not noticed."""
    database.store.write(_whole(staged, position))
    failpoints.reach("commit.written")
    database.store.sync()
    failpoints.reach("commit.synced")
    _publish(database, position)


def left_behind(database: Database) -> None:
    """A watermark that may lag stays where it is until the store is opened again."""


def failed_sync_ignored(database: Database, staged: Rows, position: rows.Position) -> None:
    """A sync that fails is taken for one that worked."""
    database.store.write(_whole(staged, position))
    failpoints.reach("commit.written")
    try:
        database.store.sync()
    except StorageFailure:
        _pretend_synced(database.store)
        if isinstance(database.store, RocksStore):
            database.store._failed = False
    failpoints.reach("commit.synced")
    _mark(database, position)
    _publish(database, position)


ANSWERING_SECONDS = 0.005
"""For the threads of the waiters to have their turn, as they have while a disk takes its time: else nobody is told."""
_commit_group = Committer._commit
_tell = Committer._tell


def receipt_before_sync(committer: Committer, decided: Deciding) -> None:
    """Waiters are answered as soon as their commands are decided, before anything is written."""
    database = committer._database
    commit = database.commit
    told: list[Ticket] = []

    def answer_first(staged: Rows, position: rows.Position) -> None:
        for ticket in decided.tickets:
            _tell(committer, ticket)
        told.extend(decided.tickets)
        if isinstance(database.store, RocksStore):
            Event().wait(ANSWERING_SECONDS)
        failpoints.reach("group.answered")
        commit(staged, position)

    def tell_once(ticket: Ticket) -> None:
        if ticket not in told:
            _tell(committer, ticket)

    database.commit = answer_first  # type: ignore[method-assign]  # planting is what this is
    committer._tell = tell_once  # type: ignore[method-assign]
    try:
        _commit_group(committer, decided)
    finally:
        database.commit = commit  # type: ignore[method-assign]
        del committer._tell


BUGS = (
    Bug(
        name="unsynced-commit",
        help="commits are shown and answered without a sync",
        patches=(Patch(Database, "commit", unsynced_commit),),
    ),
    Bug(
        name="publish-before-sync",
        help="readers see a group before it is durable",
        patches=(Patch(Database, "commit", publish_before_sync),),
    ),
    Bug(
        name="receipt-before-sync",
        help="commands are answered before they are written",
        patches=(Patch(Committer, "_commit", receipt_before_sync),),
    ),
    Bug(
        name="split-command",
        help="the rows of a group are committed in two batches",
        patches=(Patch(Database, "commit", split_command),),
    ),
    Bug(
        name="watermark-ahead",
        help="the watermark is raised before the rows are durable",
        patches=(Patch(Database, "commit", watermark_ahead),),
    ),
    Bug(
        name="watermark-left-behind",
        help="a watermark that may lag is not raised behind the answers",
        patches=(Patch(Database, "mark", left_behind),),
    ),
    Bug(
        name="watermark-forgotten",
        help="the watermark is never raised",
        patches=(Patch(Database, "commit", watermark_forgotten),),
    ),
    Bug(
        name="failed-sync-ignored",
        help="a sync that failed is taken for one that worked",
        patches=(Patch(Database, "commit", failed_sync_ignored),),
    ),
)
