"""What a consumer has saved of a stream, and every revision of it (feeds.md, checkpoints)."""

from __future__ import annotations

from relatum.core.cursors import Checkpoint, CheckpointReceipt
from relatum.core.streams import Stream
from relatum.core.text import is_consumer_id
from relatum.errors import Refusal, invalid, refusal
from relatum.ledger.reads.changes import OFF_THE_JOURNAL
from relatum.store import checkpoints
from relatum.store.journal import Journal
from relatum.store.partition import PartitionReader

BAD_CONSUMER = invalid("consumer_id must be 1 to 128 bytes, not blank, without control characters")
NOT_FOUND = refusal("checkpoint_not_found", "no such checkpoint")


def read(partition: PartitionReader, stream: Stream, subject_id: str, consumer_id: str) -> Checkpoint | Refusal:
    """A consumer's checkpoint. 404 `checkpoint_not_found`; 409 where its cursor does not lie on the journal."""
    if not is_consumer_id(consumer_id):
        return BAD_CONSUMER
    found = checkpoints.current(partition, stream, subject_id, consumer_id)
    if found is None:
        return NOT_FOUND
    journal = Journal.open(partition, stream)
    return found if journal is not None and journal.holds(found.cursor) else OFF_THE_JOURNAL


def revision(
    partition: PartitionReader, stream: Stream, subject_id: str, consumer_id: str, number: int
) -> CheckpointReceipt | Refusal:
    """The receipt of a revision, whatever became of the journal. 404 `checkpoint_not_found`; 400 below 1."""
    if number < 1:
        return invalid("revisions start at 1")
    if not is_consumer_id(consumer_id):
        return BAD_CONSUMER
    return checkpoints.receipt(partition, stream, subject_id, consumer_id, number) or NOT_FOUND
