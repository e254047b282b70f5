"""What is counted and chained: events, receipts and revisions, each from 1 without a gap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, assert_never

from crash_tests.inspection.claims import AnyReceipt, Claims
from crash_tests.inspection.stored import StoredPartition, same_rows
from crash_tests.violation import Violation, require
from relatum.core import digests
from relatum.core.cursors import CheckpointReceipt
from relatum.core.events import (
    NO_EVENT,
    ActivationEvent,
    CheckpointEvent,
    CredentialEvent,
    Event,
    FoundEvent,
    JudgmentEvent,
    LinkEvent,
    RecordEvent,
    RelationEvent,
)
from relatum.core.relation_events import receipt_family
from relatum.ledger.judgments import SYSTEM
from relatum.store import rows
from relatum.store.keys import Table


class Answer(NamedTuple):
    """What an event says it answered, and to whom. `family` is the name under which the key is looked up.

    A refused item of a batch of judgments has no receipt.
    """

    family: str
    subject_id: str
    idempotency_key: str
    command_digest: str
    receipt: AnyReceipt | None


def events_of(partition: StoredPartition) -> list[Event]:
    """The events in order: numbered from 1 without a gap, chained by digest, leading to the head."""
    where = partition.name
    table = partition.table(Table.EVENT)
    expected = [partition.keys.event(sequence) for sequence in range(1, len(table) + 1)]
    require(expected == list(table), f"{where}: the events are not numbered 1 to {len(table)}")
    events: list[Event] = []
    previous = NO_EVENT
    for number, body in enumerate(table.values(), start=1):
        event = rows.EVENT.decode(body)
        require(event.sequence == number, f"{where}: event {number} says it is event {event.sequence}")
        require(event.previous == previous, f"{where}: event {number} does not follow the event before it")
        previous = digests.event_digest(body)
        events.append(event)
    head = partition.reader.head()
    require((head.sequence, head.event_digest) == (len(events), previous), f"{where}: the head is not the last event")
    times = [event.committed_at_millis for event in events]
    require(times == sorted(times), f"{where}: commit times run backwards")
    return events


def check_receipts(partition: StoredPartition, events: Iterable[Event], claims: Claims) -> int:
    """Every receipt is sound and found by its key, and agrees with what was claimed; how many were acknowledged.

    Takes what it finds out of `claims`: those that remain are about commands that are not stored.
    """
    pointers: dict[bytes, bytes] = {}
    acknowledged = 0
    for event in events:
        answer = answer_of(event)
        if answer is None:
            continue
        _check_receipt(partition, event.sequence, answer.receipt)
        key = partition.keys.receipt(answer.family, answer.subject_id, answer.idempotency_key)
        require(key not in pointers, f"{partition.name}: two events under the key {answer.idempotency_key!r}")
        pointers[key] = rows.pack_receipt(event.sequence, answer.command_digest)
        acknowledged += _matches_claim(partition, answer, claims)
    same_rows(f"{partition.name}, receipts by key", pointers, partition.table(Table.RECEIPT))
    return acknowledged


def answer_of(event: Event) -> Answer | None:
    """What was answered under a client's key; None for an event that has no key."""
    subject_id = event.author.subject_id
    match event:
        case RecordEvent(receipt=receipt):
            return Answer("record", subject_id, receipt.idempotency_key, receipt.command_digest, receipt)
        case RelationEvent(receipt=receipt) | FoundEvent(receipt=receipt):
            return Answer("relation", subject_id, receipt.idempotency_key, receipt.command_digest, receipt)
        case CheckpointEvent(receipt=saved, command_digest=digest):
            return Answer("checkpoint", subject_id, saved.idempotency_key, digest, saved)
        case LinkEvent(receipt=linked):
            return Answer("link", subject_id, linked.idempotency_key, linked.command_digest, linked)
        case JudgmentEvent(idempotency_key=key, command_digest=digest):
            return Answer(receipt_family(event), subject_id, key, digest, event.receipt or event.judgment_receipt)
        case CredentialEvent() | ActivationEvent():
            return None
        case _:
            assert_never(event)


def _check_receipt(partition: StoredPartition, sequence: int, receipt: AnyReceipt | None) -> None:
    if receipt is None:
        return
    if not isinstance(receipt, CheckpointReceipt) and receipt.commit_sequence != sequence:
        raise Violation(f"{partition.name}: the receipt of event {sequence} names event {receipt.commit_sequence}")
    if receipt.receipt_digest != digests.receipt_digest(partition.workspace_id, receipt):
        raise Violation(f"{partition.name}: the receipt of event {sequence} has a wrong digest")


def _matches_claim(partition: StoredPartition, answer: Answer, claims: Claims) -> bool:
    if answer.subject_id == SYSTEM.subject_id:
        return False  # the timer's sweep, of which nobody is told
    name = f"{partition.name}: the {answer.family} command {answer.idempotency_key!r} of {answer.subject_id!r}"
    claim = claims.pop((partition.partition, answer.family, answer.subject_id, answer.idempotency_key), None)
    if claim is None:
        raise Violation(f"{name} is stored, and was refused or never sent")
    if claim.receipt is not None:
        told = claim.acknowledged()
        require(told == answer.receipt, f"{name} is stored with another receipt than was acknowledged")
    return claim.settled


def check_revisions(partition: StoredPartition, current: Table, by_revision: Table) -> int:
    """Revisions of each object run from 1 without a gap and the last is its current row; how many are stored."""
    where = f"{partition.name}, {current.name.lower()}"
    last: dict[bytes, tuple[int, bytes]] = {}
    table = partition.table(by_revision)
    for key, body in table.items():
        object_key = partition.keys.table(current) + key[-24:-8]
        number, expected = int.from_bytes(key[-8:], "big"), last.get(object_key, (0, b""))[0] + 1
        require(number == expected, f"{where} {key[-24:-8].hex()}: revision {expected} is missing")
        last[object_key] = number, body
    same_rows(where, {key: body for key, (_, body) in last.items()}, partition.table(current))
    return len(table)
