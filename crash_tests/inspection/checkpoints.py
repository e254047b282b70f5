"""Checkpoints: what each consumer saved, revision by revision, and the rows that say so.

IMPORTANT: nothing here may use `relatum.core.decide`, which lets these rows be written, or `relatum.store.projection`,
which writes them: a fault there would agree with itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from crash_tests.inspection.stored import StoredPartition, same_rows
from crash_tests.violation import require
from relatum.core import digests
from relatum.core.cursors import Advance, Checkpoint
from relatum.core.events import CheckpointEvent, Event, RecordEvent, RelationEvent
from relatum.core.journal import streams_of
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.store import rows
from relatum.store.keys import Table


class Owner(NamedTuple):
    """Whose progress it is, within a partition."""

    stream: Stream
    subject_id: str
    consumer_id: str


def check_checkpoints(partition: StoredPartition, events: Iterable[Event]) -> int:
    """Every revision follows the one before it and lies where its journal had come by then; the number of rows."""
    told: Counter[Stream] = Counter()
    saved: dict[Owner, Checkpoint] = {}
    current: dict[bytes, bytes] = {}
    by_revision: dict[bytes, bytes] = {}
    for event in events:
        if isinstance(event, RecordEvent):
            told[RECORDS] += 1
        elif isinstance(event, RelationEvent):
            told[RELATIONS] += 1
        told.update(streams_of(event.consequences))
        if isinstance(event, CheckpointEvent):
            after = event.receipt.checkpoint
            owner = Owner(event.stream, event.author.subject_id, after.consumer_id)
            _check(partition, event, saved.get(owner), told[event.stream])
            saved[owner] = after
            row = rows.CHECKPOINT.encode(rows.StoredCheckpoint(sequence=event.sequence, checkpoint=after))
            current[partition.keys.checkpoint(*owner)] = row
            by_revision[partition.keys.checkpoint_revision(*owner, after.revision)] = row
    return same_rows(f"{partition.name}, checkpoint", current, partition.table(Table.CHECKPOINT)) + same_rows(
        f"{partition.name}, checkpoint_revision", by_revision, partition.table(Table.CHECKPOINT_REVISION)
    )


def _check(partition: StoredPartition, event: CheckpointEvent, before: Checkpoint | None, told: int) -> None:
    """`told` is how many changes the stream had told by then."""
    after, asked = event.receipt.checkpoint, event.command.operation
    where = f"{partition.name}, checkpoint {after.consumer_id!r}"
    require(event.receipt.previous == before, f"{where}: event {event.sequence} does not follow what was saved before")
    revision = 1 if before is None else before.revision + 1
    require(after.revision == revision, f"{where}: revision {revision} is missing")
    digest = digests.checkpoint_digest(partition.workspace_id, event.stream, after)
    require(after.checkpoint_digest == digest, f"{where}: revision {revision} has a wrong digest")
    require(after.cursor == asked.cursor, f"{where}: revision {revision} saves another place than was asked for")
    place = after.cursor.sequence
    require(place <= told, f"{where}: revision {revision} lies at {place} of a journal that had come to {told}")
    there = _prefix_digest(partition, event.stream, place)
    require(after.cursor.prefix_digest == there, f"{where}: revision {revision} does not lie on its journal")
    if isinstance(asked, Advance) and before is not None:
        require(before.cursor.sequence <= place, f"{where}: revision {revision} advances backwards")


def _prefix_digest(partition: StoredPartition, stream: Stream, sequence: int) -> str | None:
    """The digest that a cursor at a place of a journal has."""
    if sequence == 0:
        tip = partition.reader.head().streams.get(stream)
        return None if tip is None else digests.baseline_digest(partition.workspace_id, stream, tip.journal_id).hex()
    entry = partition.reader.entry(stream, sequence)
    return None if entry is None else entry.prefix_digest.hex()
