"""Checks in pairs: a current record or relation against everything that was written with it.

Raises StorageInconsistency on the first discrepancy. Called on reads, replays and before mutations of that record or
relation.
"""

from __future__ import annotations

from relatum.core import digests
from relatum.core.events import RecordEvent, RelationEvent
from relatum.core.ids import Ref
from relatum.core.receipts import RecordReceipt, RelationReceipt
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
    return relation_event(partition, version).receipt


def relation_event(partition: PartitionReader, version: RelationVersion) -> RelationEvent:
    """The event that brought `version`, its receipt checked against it."""
    event = partition.event(version.sequence)
    _require(isinstance(event, RelationEvent), "the event of a relation is missing")
    assert isinstance(event, RelationEvent)
    receipt = event.receipt
    _require(
        receipt.relation_id == version.relation.relation_id
        and receipt.revision == version.relation.revision
        and receipt.relation_digest == version.digest.hex()
        and receipt.receipt_digest == digests.receipt_digest(partition.workspace_id, receipt),
        "a receipt does not match its relation",
    )
    return event


def record_receipt(partition: PartitionReader, version: RecordVersion) -> RecordReceipt:
    """The receipt that brought `version`, checked against it."""
    return record_event(partition, version).receipt


def record_event(partition: PartitionReader, version: RecordVersion) -> RecordEvent:
    """The event that brought `version`, its receipt checked against it."""
    event = partition.event(version.sequence)
    _require(isinstance(event, RecordEvent), "the event of a record is missing")
    assert isinstance(event, RecordEvent)
    receipt = event.receipt
    _require(
        receipt.record_id == version.meta.record_id
        and receipt.revision == version.meta.revision
        and receipt.record_digest == version.digest.hex()
        and receipt.receipt_digest == digests.receipt_digest(partition.workspace_id, receipt),
        "a receipt does not match its record",
    )
    return event


def verify_relation(partition: PartitionReader, version: RelationVersion) -> None:
    """A current relation.

    Equal to its newest revision, nothing newer, its receipt sound, its index entries as its state says.
    """
    relation = version.relation
    newest = partition.relation_revision(relation.relation_id, relation.revision)
    _require(newest == version, "a relation does not match its revision")
    beyond = partition.relation_revision(relation.relation_id, relation.revision + 1)
    _require(beyond is None, "a relation is behind its revisions")
    receipt = relation_receipt(partition, version)
    pointer = partition.receipt("relation", receipt.author.subject_id, receipt.idempotency_key)
    _require(pointer is not None and pointer.sequence == version.sequence, "a receipt can't be found by its key")
    _verify_entry(partition, relation, Table.OUTGOING, relation.input.source, relation.input.target)
    _verify_entry(partition, relation, Table.INCOMING, relation.input.target, relation.input.source)


def _verify_entry(partition: PartitionReader, relation: StoredRelation, direction: Table, end: Ref, other: Ref) -> None:
    key = partition.keys.adjacency_entry(direction, end.record_id, end.revision, relation.relation_id)
    expected = rows.pack_adjacency(relation.input.kind, other) if relation.indexed else None
    _require(partition.body(key) == expected, "an adjacency entry does not match its relation")
    header = partition.completeness(end)
    if header is None:
        raise StorageInconsistency("a completeness header is missing")
    count = header.outgoing_count if direction is Table.OUTGOING else header.incoming_count
    _require(count > 0 or not relation.indexed, "a completeness header counts too little")


def verify_record(partition: PartitionReader, version: RecordVersion) -> None:
    """A current record: equal to its newest revision, nothing newer, its receipt sound, its header there."""
    meta = version.meta
    newest = partition.record_revision(meta.record_id, meta.revision)
    _require(newest == version, "a record does not match its revision")
    beyond = partition.record_revision(meta.record_id, meta.revision + 1)
    _require(beyond is None, "a record is behind its revisions")
    receipt = record_receipt(partition, version)
    pointer = partition.receipt("record", receipt.author.subject_id, receipt.idempotency_key)
    _require(pointer is not None and pointer.sequence == version.sequence, "a receipt can't be found by its key")
    header = partition.completeness(Ref(record_id=meta.record_id, revision=meta.revision))
    _require(header is not None, "a completeness header is missing")
