"""Checks in pairs: a current record or relation against everything that was written with it.

Raises StorageInconsistency on the first discrepancy. Called on reads, replays and before mutations of that record or
relation.
"""

from __future__ import annotations

from relatum.core import digests
from relatum.core.events import Event, FoundEvent, Head, JudgmentEvent, LinkEvent, RecordEvent, RelationEvent
from relatum.core.ids import Ref
from relatum.core.receipts import Receipt, RecordReceipt, RelationReceipt
from relatum.core.relation_events import AnyMemoryReceipt, receipt_family, relation_part
from relatum.core.relations import StoredRelation
from relatum.core.state import RecordVersion, RelationVersion
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise StorageInconsistency(message)


def relation_receipt(partition: PartitionReader, version: RelationVersion) -> RelationReceipt:
    """The receipt that brought `version`, checked against it."""
    return relation_change(partition, version)[1]


def relation_change(partition: PartitionReader, version: RelationVersion) -> tuple[Event, RelationReceipt]:
    """The event that brought `version`, and the receipt of what it did to this relation, checked against it."""
    event = partition.sealed_event(version.sequence)
    part = None if event is None else relation_part(event, version.relation.relation_id)
    if event is None or part is None:
        raise StorageInconsistency("the event of a relation is missing")
    receipt = part.receipt
    verify_receipt(partition, event, receipt, version.sequence)
    _require(
        receipt.relation_id == version.relation.relation_id
        and receipt.revision == version.relation.revision
        and receipt.relation_digest == version.digest.hex(),
        "a receipt does not match its relation",
    )
    return event, receipt


def record_receipt(partition: PartitionReader, version: RecordVersion) -> RecordReceipt:
    """The receipt that brought `version`, checked against it."""
    return record_event(partition, version).receipt


def record_event(partition: PartitionReader, version: RecordVersion) -> RecordEvent:
    """The event that brought `version`, its receipt checked against it."""
    event = partition.event(version.sequence)
    if not isinstance(event, RecordEvent):
        raise StorageInconsistency("the event of a record is missing")
    receipt = event.receipt
    verify_receipt(partition, event, receipt, version.sequence)
    _require(
        receipt.record_id == version.meta.record_id
        and receipt.revision == version.meta.revision
        and receipt.record_digest == version.digest.hex(),
        "a receipt does not match its record",
    )
    return event


def verify_receipt(partition: PartitionReader, event: Event, receipt: AnyMemoryReceipt, sequence: int) -> None:
    """A receipt and the event at a place of the partition: both speak of the same command, its author and its time.

    The command itself can be recomputed of a relation, not of what can be erased, whose content lies elsewhere.
    """
    _require(
        event.sequence == receipt.commit_sequence == sequence
        and event.author == receipt.author
        and event.committed_at_millis == receipt.committed_at_millis
        and receipt.receipt_digest == digests.receipt_digest(partition.workspace_id, receipt),
        "a receipt does not match its event",
    )
    match event:
        case RelationEvent():
            same = receipt.command_digest == digests.relation_command_digest(event.operation)
            _require(same and event.relation_id == event.receipt.relation_id, "a receipt does not match its command")
        case FoundEvent():
            same = receipt.command_digest == digests.relation_command_digest(event.operation)
            _require(same and receipt == event.receipt, "a receipt does not match its command")
        case RecordEvent():
            same = event.record_id == event.receipt.record_id and receipt.command_digest == event.receipt.command_digest
            _require(same, "a receipt does not match its command")
        case JudgmentEvent():
            same = (event.command_digest, event.idempotency_key) == (receipt.command_digest, receipt.idempotency_key)
            _require(same, "a receipt does not match its command")
        case LinkEvent():
            same = receipt.command_digest == digests.link_command_digest(event.operation)
            _require(same, "a receipt does not match its command")
        case _:
            raise StorageInconsistency("a receipt does not match its event")


def verify_tip(partition: PartitionReader, head: Head) -> None:
    """A partition's head: it names the last event, and nothing lies beyond it."""
    keys = partition.keys
    _require(partition.body(keys.event(head.sequence + 1)) is None, "events lie beyond the head of a partition")
    if head.sequence > 0:
        last = partition.body(keys.event(head.sequence))
        _require(
            last is not None and digests.event_digest(last) == head.event_digest,
            "the head of a partition does not match its last event",
        )


def verify_relation(partition: PartitionReader, version: RelationVersion) -> None:
    """A current relation: its rows, its receipt, and the key of that."""
    verify_relation_rows(partition, version)
    event, receipt = relation_change(partition, version)
    _verify_pointer(partition, receipt_family(event), receipt)


def verify_relation_rows(partition: PartitionReader, version: RelationVersion) -> None:
    """A current relation whose receipt is known to be sound.

    Equal to its newest revision, nothing newer, its index entries as its state says.
    """
    relation = version.relation
    keys, relation_id, revision = partition.keys, relation.relation_id, relation.revision
    _verify_newest(partition, version.body, keys.relation_revision(relation_id, revision))
    beyond = partition.body(keys.relation_revision(relation_id, revision + 1))
    _require(beyond is None, "a relation is behind its revisions")
    _verify_entry(partition, relation, Table.OUTGOING, relation.input.source, relation.input.target)
    _verify_entry(partition, relation, Table.INCOMING, relation.input.target, relation.input.source)


def _verify_newest(partition: PartitionReader, current: bytes, newest: bytes) -> None:
    """The body of what is current is that of its newest revision, which so needs no decoding."""
    _require(partition.body(newest) == current, "a current row does not match its newest revision")


def _verify_pointer(partition: PartitionReader, family: str, receipt: Receipt) -> None:
    pointer = partition.receipt(family, receipt.author.subject_id, receipt.idempotency_key)
    expected = rows.ReceiptPointer(receipt.commit_sequence, receipt.command_digest)
    _require(pointer == expected, "a receipt can't be found by its key")


def _verify_entry(partition: PartitionReader, relation: StoredRelation, direction: Table, end: Ref, other: Ref) -> None:
    content = partition.content_of(end)
    key = partition.keys.adjacency_entry(direction, content.record_id, content.revision, relation.relation_id)
    expected = rows.pack_adjacency(relation.input.kind, other) if relation.indexed else None
    _require(partition.body(key) == expected, "an adjacency entry does not match its relation")
    header = partition.completeness(content)
    if header is None:
        raise StorageInconsistency("a completeness header is missing")
    count = header.outgoing_count if direction is Table.OUTGOING else header.incoming_count
    _require(count > 0 or not relation.indexed, "a completeness header counts too little")


def verify_record(partition: PartitionReader, version: RecordVersion) -> None:
    """A current record as it was read: its rows, its receipt, and the key of that."""
    verify_record_rows(partition, version)
    receipt = record_receipt(partition, version)
    _verify_pointer(partition, "record", receipt)


def verify_record_rows(partition: PartitionReader, version: RecordVersion) -> None:
    """A current record whose receipt is known to be sound: equal to its newest revision, its header there."""
    meta = version.meta
    _verify_newest(partition, version.body, partition.keys.record_revision(meta.record_id, meta.revision))
    header = partition.completeness(meta.content)
    _require(header is not None, "a completeness header is missing")


def verify_content(partition: PartitionReader, version: RecordVersion) -> None:
    """What a change of a record replaces or erases: its content, its review's evidence, and the topic slot it holds."""
    meta = version.meta
    if meta.state == "deleted":
        return
    payload = partition.payload(meta)
    partition.review_evidence(meta)
    if payload is not None and payload.topic_key is not None and partition.standing(meta.record_id).state == "current":
        _require(partition.topic_holder(payload.topic_key) == meta.record_id, "a topic slot is not held by its record")
