"""Checkpoints, checked wherever they are used: against their revision, their event and their own digest.

Raises StorageInconsistency on the first discrepancy.
"""

from __future__ import annotations

from relatum.core import digests
from relatum.core.cursors import Checkpoint, CheckpointReceipt
from relatum.core.events import CheckpointEvent
from relatum.core.streams import Stream
from relatum.errors import StorageInconsistency
from relatum.store.partition import PartitionReader
from relatum.store.rows import StoredCheckpoint


def current(partition: PartitionReader, stream: Stream, subject_id: str, consumer_id: str) -> Checkpoint | None:
    """What a consumer of a subject has saved of a stream."""
    stored = partition.stored_checkpoint(partition.keys.checkpoint(stream, subject_id, consumer_id))
    revision = 0 if stored is None else stored.checkpoint.revision

    def at(number: int) -> StoredCheckpoint | None:
        return partition.stored_checkpoint(partition.keys.checkpoint_revision(stream, subject_id, consumer_id, number))

    _require(at(revision + 1) is None, "a checkpoint is behind its revisions")
    if stored is None:
        return None
    _require(at(revision) == stored, "a checkpoint does not match its revision")
    return _receipt(partition, stream, subject_id, consumer_id, stored).checkpoint


def receipt(
    partition: PartitionReader, stream: Stream, subject_id: str, consumer_id: str, revision: int
) -> CheckpointReceipt | None:
    """The receipt of the command that brought one revision of a checkpoint."""
    key = partition.keys.checkpoint_revision(stream, subject_id, consumer_id, revision)
    stored = partition.stored_checkpoint(key)
    if stored is not None:
        _require(stored.checkpoint.revision == revision, "a revision of a checkpoint is another one")
        return _receipt(partition, stream, subject_id, consumer_id, stored)
    now = current(partition, stream, subject_id, consumer_id)
    _require(now is None or now.revision < revision, "a revision of a checkpoint is missing")
    return None


def _receipt(
    partition: PartitionReader, stream: Stream, subject_id: str, consumer_id: str, stored: StoredCheckpoint
) -> CheckpointReceipt:
    event, saved = partition.event(stored.sequence), stored.checkpoint
    if not isinstance(event, CheckpointEvent):
        raise StorageInconsistency("the event of a checkpoint is missing")
    found = event.receipt
    _require(
        (event.stream, event.author.subject_id, saved.consumer_id) == (stream, subject_id, consumer_id)
        and found.checkpoint == saved
        and found.receipt_digest == digests.receipt_digest(partition.workspace_id, found)
        and saved.checkpoint_digest == digests.checkpoint_digest(partition.workspace_id, stream, saved),
        "a checkpoint does not match its event",
    )
    return found


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise StorageInconsistency(message)
