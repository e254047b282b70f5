"""The inspection of checkpoints judges each save by what its journal had come to, not only by the rows it left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import pytest
from msgspec.structs import replace

from crash_tests.inspection.chains import events_of
from crash_tests.inspection.checkpoints import check_checkpoints
from crash_tests.inspection.stored import StoredPartition, StoredRows
from crash_tests.violation import Violation
from relatum.core import digests
from relatum.core.cursors import Checkpoint
from relatum.core.events import CheckpointEvent, Event
from relatum.core.streams import RECORDS, Cursor
from tests.crash.past import make_past
from tests.support.builders import ADA, PARTITION

FOURTH = 4

Change = Callable[[Checkpoint, Cursor], Checkpoint]
"""What the fourth save becomes, given the place of the first."""


@pytest.fixture(scope="module")
def partition(tmp_path_factory: pytest.TempPathFactory) -> StoredPartition:
    past = make_past(tmp_path_factory.mktemp("past") / "store")
    return next(one for one in StoredRows(past.rows).partitions() if one.partition == PARTITION)


def is_ours(event: Event) -> TypeGuard[CheckpointEvent]:
    return isinstance(event, CheckpointEvent) and (event.stream, event.author) == (RECORDS, ADA)


def altered(partition: StoredPartition, change: Change) -> list[Event]:
    """The events, one of which saves something else under sound digests."""
    events = events_of(partition)
    first, *_ = (event.receipt.checkpoint.cursor for event in events if is_ours(event))
    for index, event in enumerate(events):
        if is_ours(event) and event.receipt.checkpoint.revision == FOURTH:
            after = change(event.receipt.checkpoint, first)
            after = replace(after, checkpoint_digest=digests.checkpoint_digest(partition.workspace_id, RECORDS, after))
            asked = replace(event.command, operation=replace(event.command.operation, cursor=after.cursor))
            events[index] = replace(event, command=asked, receipt=replace(event.receipt, checkpoint=after))
    return events


def moved(**members: Any) -> Change:
    return lambda checkpoint, _: replace(checkpoint, cursor=replace(checkpoint.cursor, **members))


UNSOUND: dict[str, tuple[Change, str]] = {
    "it advanced backwards": (lambda checkpoint, first: replace(checkpoint, cursor=first), "advances backwards"),
    "it lies ahead of its journal": (moved(sequence=99), "lies at 99 of a journal that had come to"),
    "it lies on another history": (moved(prefix_digest="0" * 64), "does not lie on its journal"),
    "a revision was skipped": (lambda checkpoint, _: replace(checkpoint, revision=5), "revision 4 is missing"),
}


def test_what_was_saved_soundly_passes(partition: StoredPartition) -> None:
    assert 3 + 7 == check_checkpoints(partition, altered(partition, lambda checkpoint, _: checkpoint))


@pytest.mark.parametrize(("change", "told"), UNSOUND.values(), ids=UNSOUND)
def test_what_was_saved_unsoundly_is_noticed(partition: StoredPartition, change: Change, told: str) -> None:
    with pytest.raises(Violation, match=told):
        check_checkpoints(partition, altered(partition, change))


def test_a_save_that_does_not_name_what_was_saved_before_is_noticed(partition: StoredPartition) -> None:
    events = [event for event in events_of(partition) if not (is_ours(event) and event.receipt.previous is None)]
    with pytest.raises(Violation, match="does not follow what was saved before"):
        check_checkpoints(partition, events)
