"""The change streams: one entry for each event of the stream's family, chained from the baseline to the head's tip."""

from __future__ import annotations

from collections.abc import Iterator

from crash_tests.inspection.stored import StoredPartition
from crash_tests.violation import require
from relatum.core import journal
from relatum.core.changes import RecordChange, RelationChange
from relatum.core.commands import AssertRelation
from relatum.core.events import Event, RecordEvent, RelationEvent
from relatum.core.relations import RelationInput
from relatum.core.streams import RECORDS, RELATIONS, Stream

Told = tuple[RecordEvent, RecordChange] | tuple[RelationEvent, RelationChange]
"""An event and the change that its stream tells of it."""


def check_journals(partition: StoredPartition, events: list[Event]) -> int:
    """Both streams of a partition tell its events, each once and in order; the number of entries."""
    opened = {stream: journal_id for event in events for stream, journal_id in event.journal_ids.items()}
    told: dict[Stream, list[Told]] = {
        RECORDS: list(_record_changes(events)),
        RELATIONS: list(_relation_changes(events)),
    }
    require(
        opened.keys() == partition.reader.head().streams.keys(), f"{partition.name}: other journals than were opened"
    )
    require(
        all(stream in opened for stream, own in told.items() if own), f"{partition.name}: a journal was never opened"
    )
    return sum(_check(partition, stream, journal_id, told[stream]) for stream, journal_id in opened.items())


def _record_changes(events: list[Event]) -> Iterator[Told]:
    for event in events:
        if isinstance(event, RecordEvent):
            yield event, journal.record_change(event.receipt)


def _relation_changes(events: list[Event]) -> Iterator[Told]:
    """A command on a relation is told with the ends that were asserted."""
    inputs: dict[str, RelationInput] = {}
    for event in events:
        if isinstance(event, RelationEvent):
            if isinstance(event.operation, AssertRelation):
                inputs[event.relation_id] = event.operation.relation
            yield event, journal.relation_change(event.receipt, inputs[event.relation_id])


def _check(partition: StoredPartition, stream: Stream, journal_id: str, expected: list[Told]) -> int:
    where = f"{partition.name}, journal {stream}"
    entries = list(partition.reader.entries(stream, 0))
    numbers = [sequence for sequence, _ in entries]
    require(numbers == list(range(1, len(entries) + 1)), f"{where}: entries are not numbered 1 to {len(entries)}")
    require(len(entries) == len(expected), f"{where}: {len(entries)} entries for {len(expected)} events")
    tip = journal.opened(partition.workspace_id, stream, journal_id)
    for (event, change), (sequence, entry) in zip(expected, entries, strict=True):
        tip = journal.extended(partition.workspace_id, stream, tip, event.nonces[0], change)
        found = (entry.commit_sequence, entry.nonce, entry.prefix_digest, entry.change)
        told = (event.sequence, event.nonces[0], tip.prefix_digest, change)
        require(told == found, f"{where}: entry {sequence} does not tell event {event.sequence}")
    require(tip == partition.reader.head().streams[stream], f"{where}: the head's tip is not the last entry")
    return len(entries)
