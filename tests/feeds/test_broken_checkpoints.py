"""A checkpoint whose rows contradict each other is neither answered nor changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from relatum.core.events import CheckpointEvent
from relatum.core.streams import RECORDS
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.partition import PartitionReader
from relatum.store.rows import StoredCheckpoint
from tests.feeds.damage import implant
from tests.feeds.following import CONSUMER, Consumer, advance, answered, refused
from tests.support.desk import Desk

NOT_FOUND = (404, "checkpoint_not_found")


class Saved:
    """The rows of a consumer that has saved twice."""

    def __init__(self, desk: Desk) -> None:
        self._ledger = desk.ledger
        self._partition = PartitionReader(desk.ledger._database.store, desk.partition)
        keys, owner = self._partition.keys, (RECORDS, desk.author.subject_id, CONSUMER)
        self.current = keys.checkpoint(*owner)
        self.revisions = [keys.checkpoint_revision(*owner, number) for number in (1, 2, 3)]

    def stored(self) -> StoredCheckpoint:
        stored = self._partition.stored_checkpoint(self.current)
        assert stored is not None
        return stored

    def remove(self, key: bytes) -> None:
        implant(self._ledger, {key: None})

    def put(self, key: bytes, stored: StoredCheckpoint) -> None:
        implant(self._ledger, {key: rows.seal(key, rows.CHECKPOINT.encode(stored))})

    def alter_event(self, alter: Callable[[CheckpointEvent], CheckpointEvent]) -> None:
        event = self._partition.event(self.stored().sequence)
        assert isinstance(event, CheckpointEvent)
        key = self._partition.keys.event(event.sequence)
        implant(self._ledger, {key: rows.seal(key, rows.EVENT.encode(alter(event)))})


def _with_a_later_time(stored: StoredCheckpoint) -> StoredCheckpoint:
    return replace(stored, checkpoint=replace(stored.checkpoint, updated_at_millis=0))


def _altered_in_both_rows(saved: Saved) -> None:
    altered = _with_a_later_time(saved.stored())
    saved.put(saved.current, altered)
    saved.put(saved.revisions[1], altered)


DAMAGE: dict[str, Callable[[Saved], None]] = {
    "the checkpoint is gone": lambda saved: saved.remove(saved.current),
    "its revision is gone": lambda saved: saved.remove(saved.revisions[1]),
    "it was altered": lambda saved: saved.put(saved.current, _with_a_later_time(saved.stored())),
    "it was altered with its revision": _altered_in_both_rows,
    "its revision was altered": lambda saved: saved.put(saved.revisions[1], _with_a_later_time(saved.stored())),
    "a later revision exists": lambda saved: saved.put(saved.revisions[2], saved.stored()),
    "it points to another event": lambda saved: saved.put(saved.current, replace(saved.stored(), sequence=1)),
    "its event has another receipt": lambda saved: saved.alter_event(
        lambda event: replace(event, receipt=replace(event.receipt, receipt_digest="0" * 64))
    ),
    "its event is of another stream": lambda saved: saved.alter_event(
        lambda event: replace(event, stream="typed_memory_relations")
    ),
}


@pytest.mark.parametrize("happen", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_checkpoint_is_neither_answered_nor_changed(
    desk: Desk, consumer: Consumer, happen: Callable[[Saved], None]
) -> None:
    desk.create()
    records = consumer.of(RECORDS)
    last = records.advance(records.tip(), records.advance(records.tip()))
    desk.create()  # so that the last event is another one
    happen(Saved(desk))
    reads: list[Callable[[], Any]] = [
        records.checkpoint,
        records.diagnose,
        lambda: records.submit(advance(records.tip(), last)),
    ]
    for read in reads:
        with pytest.raises(StorageInconsistency):
            read()
    desk.create()
    assert 3 == len(records.deliveries()), "the stream itself is sound"
    assert NOT_FOUND == refused(records.checkpoint("another"))


def test_a_missing_revision_is_told_from_one_that_never_was(desk: Desk, consumer: Consumer) -> None:
    desk.create()
    records = consumer.of(RECORDS)
    records.advance(records.tip(), records.advance(records.tip()))
    Saved(desk).remove(Saved(desk).revisions[0])
    with pytest.raises(StorageInconsistency):
        records.revision(1)
    assert 2 == answered(records.revision(2)).checkpoint.revision
    assert NOT_FOUND == refused(records.revision(3))
