"""The change streams: one entry for each change that an event tells, chained from the baseline to the head's tip."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from crash_tests.inspection.stored import StoredPartition
from crash_tests.violation import Violation, require
from relatum.core import journal
from relatum.core.changes import RecordChange, RelationChange
from relatum.core.commands import AssertRelation
from relatum.core.consequences import RelationPart
from relatum.core.events import Event, RecordEvent, RelationEvent
from relatum.core.relation_events import receipt_of, relation_part
from relatum.core.relations import RelationInput
from relatum.core.state import RecordVersion
from relatum.core.streams import RECORDS, RELATIONS, Stream


class Told(NamedTuple):
    """A change that a stream tells of an event, and the nonce that the event has for it."""

    event: Event
    nonce: bytes
    change: RecordChange | RelationChange


def check_journals(partition: StoredPartition, events: list[Event]) -> int:
    """Both streams of a partition tell its events, each change once and in order; the number of entries."""
    opened = {stream: journal_id for event in events for stream, journal_id in event.journal_ids.items()}
    told: dict[Stream, list[Told]] = {RECORDS: [], RELATIONS: []}
    for one in _told(partition, events):
        told[RELATIONS if isinstance(one.change, RelationChange) else RECORDS].append(one)
    require(
        opened.keys() == partition.reader.head().streams.keys(), f"{partition.name}: other journals than were opened"
    )
    require(
        all(stream in opened for stream, own in told.items() if own), f"{partition.name}: a journal was never opened"
    )
    return sum(_check(partition, stream, journal_id, told[stream]) for stream, journal_id in opened.items())


def _told(partition: StoredPartition, events: list[Event]) -> Iterator[Told]:
    """Every change, in the order of events: the command's own, then those of relations, then those of standings."""
    inputs: dict[str, RelationInput] = {}
    for event in events:
        changes: list[RecordChange | RelationChange] = []
        if isinstance(event, RecordEvent):
            changes.append(journal.record_change(event.receipt))
        for part in _parts(event):
            if isinstance(part.operation, AssertRelation):
                inputs[part.relation_id] = part.operation.relation
            changes.append(journal.relation_change(part.receipt, inputs[part.relation_id]))
        for standing in event.consequences.standings if event.consequences else ():
            receipt = receipt_of(event)
            assert receipt is not None, "whoever changes a standing has a receipt"
            changes.append(
                journal.standing_change(standing.action, _then(partition, standing.record_id, event), receipt)
            )
        where = f"{partition.name}: event {event.sequence}"
        require(len(event.nonces) == len(changes), f"{where} has {len(event.nonces)} nonces for {len(changes)} changes")
        yield from (Told(event, nonce, change) for nonce, change in zip(event.nonces, changes, strict=True))


def _parts(event: Event) -> list[RelationPart]:
    """What an event did to relations: a command on a relation is told with the ends that were asserted."""
    own = relation_part(event, event.relation_id) if isinstance(event, RelationEvent) else None
    return [*([own] if own else []), *(event.consequences.relations if event.consequences else ())]


def _then(partition: StoredPartition, record_id: str, event: Event) -> RecordVersion:
    """A record as it was once an event was committed."""
    found: RecordVersion | None = None
    for revision in count(1):
        version = partition.reader.record_revision(record_id, revision)
        if version is None or version.sequence > event.sequence:
            break
        found = version
    if found is None:
        raise Violation(f"{partition.name}: event {event.sequence} changes the standing of no record")
    return found


def _check(partition: StoredPartition, stream: Stream, journal_id: str, expected: list[Told]) -> int:
    where = f"{partition.name}, journal {stream}"
    entries = list(partition.reader.entries(stream, 0))
    numbers = [sequence for sequence, _ in entries]
    require(numbers == list(range(1, len(entries) + 1)), f"{where}: entries are not numbered 1 to {len(entries)}")
    require(len(entries) == len(expected), f"{where}: {len(entries)} entries for {len(expected)} changes")
    tip = journal.opened(partition.workspace_id, stream, journal_id)
    for (event, nonce, change), (sequence, entry) in zip(expected, entries, strict=True):
        tip = journal.extended(partition.workspace_id, stream, tip, nonce, change)
        found = (entry.commit_sequence, entry.nonce, entry.prefix_digest, entry.change)
        told = (event.sequence, nonce, tip.prefix_digest, change)
        require(told == found, f"{where}: entry {sequence} does not tell event {event.sequence}")
    require(tip == partition.reader.head().streams[stream], f"{where}: the head's tip is not the last entry")
    return len(entries)
