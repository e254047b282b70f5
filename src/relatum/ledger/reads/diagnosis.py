"""Where a consumer stands: its checkpoint and a cursor that it kept elsewhere, held against the journal (feeds.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.feeds import Diagnostics, Relative
from relatum.core.cursors import Checkpoint
from relatum.core.streams import Cursor, Stream
from relatum.core.text import is_consumer_id
from relatum.errors import Refusal, invalid
from relatum.ledger.reads.checkpoints import BAD_CONSUMER
from relatum.store import checkpoints
from relatum.store.journal import Journal
from relatum.store.partition import PartitionReader


def diagnose(
    partition: PartitionReader, stream: Stream, subject_id: str, consumer_id: str, witness: Cursor | None
) -> Diagnostics | Refusal:
    """An answer for every well-formed input, whatever became of the journal; 400 for an unsound one."""
    if not is_consumer_id(consumer_id):
        return BAD_CONSUMER
    problem = None if witness is None else witness.problem(stream)
    if problem is not None:
        return invalid(problem)
    saved = checkpoints.current(partition, stream, subject_id, consumer_id)
    return _compared(Journal.open(partition, stream), consumer_id, saved, witness)


def _compared(
    journal: Journal | None, consumer_id: str, saved: Checkpoint | None, witness: Cursor | None
) -> Diagnostics:
    reached = None if saved is None else _on(journal, saved.cursor)
    witnessed = None if witness is None else _on(journal, witness)
    return Diagnostics(
        consumer_id=consumer_id,
        active=journal is not None,
        baseline=None if journal is None else journal.baseline,
        high_watermark=None if journal is None else journal.high_watermark,
        checkpoint=saved,
        checkpoint_status=_status(reached) if saved else "missing",
        pending_positions=None if journal is None or reached is None else journal.tip.sequence - reached,
        witness_status=_status(witnessed) if witness else "not_provided",
        checkpoint_relative_to_witness=_relative(reached, witnessed),
    )


def _on(journal: Journal | None, cursor: Cursor) -> int | None:
    """The sequence of a cursor that lies on the journal."""
    return cursor.sequence if journal is not None and journal.holds(cursor) else None


def _status(sequence: int | None) -> Literal["compatible", "history_incompatible"]:
    return "history_incompatible" if sequence is None else "compatible"


def _relative(reached: int | None, witnessed: int | None) -> Relative | None:
    if reached is None or witnessed is None:
        return None
    if reached == witnessed:
        return "equal"
    return "before" if reached < witnessed else "after"
