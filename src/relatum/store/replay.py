"""Replay: what a key has led to already (relations.md, processing 1).

The writer asks it over its overlay, everybody else over a published view. It writes nothing and waits for nothing. A
receipt is answered only after the rows that go with it have been checked; where they disagree, StorageInconsistency is
raised.
"""

from __future__ import annotations

from typing import assert_never, get_args

from relatum import limits
from relatum.core import digests
from relatum.core.cursors import CheckpointReceipt
from relatum.core.events import CheckpointEvent, FoundEvent, JudgmentEvent, LinkEvent, RecordEvent, RelationEvent
from relatum.core.links import LinkReceipt
from relatum.core.receipts import Family, JudgmentReceipt, Receipt, RecordReceipt, RelationReceipt
from relatum.core.relation_events import judgment_family, receipt_of
from relatum.core.standings import StandingCommandAction
from relatum.core.state import RecordVersion, RelationVersion
from relatum.errors import Refusal, StorageInconsistency, refusal
from relatum.store import integrity
from relatum.store.partition import PartitionReader

_EVENTS: dict[Family, tuple[type[RecordEvent | RelationEvent | FoundEvent | LinkEvent], ...]] = {
    "record": (RecordEvent,),
    "relation": (RelationEvent, FoundEvent),
    "link": (LinkEvent,),
}
_STANDING_ACTIONS = frozenset((*get_args(StandingCommandAction), "marked_stale"))


def look_up(
    partition: PartitionReader, family: Family, subject_id: str, idempotency_key: str, command_digest: str
) -> Receipt | Refusal | None:
    """The answer to a command under a key: the receipt of the same command, 409 for another, None for a new key."""
    receipt = stored_receipt(partition, family, subject_id, idempotency_key)
    if receipt is None:
        return None
    if receipt.command_digest != command_digest:
        return refusal("idempotency_conflict", "the idempotency key was used for another command")
    _verify_history(partition, receipt)
    return receipt


def stored_receipt(partition: PartitionReader, family: Family, subject_id: str, idempotency_key: str) -> Receipt | None:
    """The receipt that a subject's key leads to, checked against its event and its own digest."""
    pointer = partition.receipt(family, subject_id, idempotency_key)
    if pointer is None:
        return None
    event = partition.sealed_event(pointer.sequence)
    expected = _EVENTS.get(family)
    if expected is None or not isinstance(event, expected):
        raise StorageInconsistency("the event of a receipt is missing")
    receipt = event.receipt
    integrity.verify_receipt(partition, event, receipt, pointer.sequence)
    if not (
        receipt.idempotency_key == idempotency_key
        and receipt.author.subject_id == subject_id
        and receipt.command_digest == pointer.command_digest
    ):
        raise StorageInconsistency("a receipt is not the one that its key leads to")
    return receipt


def look_up_judgment(
    partition: PartitionReader, subject_id: str, idempotency_key: str, command_digest: str, item: int | None
) -> JudgmentEvent | Refusal | None:
    """As `look_up`, for a judgment command or one item of a batch: its event, which has all that was answered.

    A key that a command took is taken for batches too, and the reverse: of a batch its first item is always there.
    """
    event = judgment_event(partition, subject_id, idempotency_key, item)
    other = 0 if item is None else None
    taken = event or judgment_event(partition, subject_id, idempotency_key, other)
    if taken is not None and taken.command_digest != command_digest:
        return refusal("idempotency_conflict", "the idempotency key was used for another command")
    return event


def judgment_event(
    partition: PartitionReader, subject_id: str, idempotency_key: str, item: int | None
) -> JudgmentEvent | None:
    """The event of a judgment command, or of one item of a batch, checked against its receipt."""
    pointer = partition.receipt(judgment_family(item), subject_id, idempotency_key)
    if pointer is None:
        return None
    event = partition.event(pointer.sequence)
    if not isinstance(event, JudgmentEvent) or not (
        event.sequence == pointer.sequence
        and event.author.subject_id == subject_id
        and event.idempotency_key == idempotency_key
        and event.command_digest == pointer.command_digest
    ):
        raise StorageInconsistency("a receipt does not match its event")
    receipt = receipt_of(event)
    if receipt is not None:
        integrity.verify_receipt(partition, event, receipt, pointer.sequence)
    return event


def stored_judgment_receipt(
    partition: PartitionReader, subject_id: str, idempotency_key: str
) -> RelationReceipt | JudgmentReceipt | None:
    """The receipt of a judgment command, which for a verdict is that of its relation; of a batch, the first."""
    for item in (None, *range(limits.JUDGMENTS_MAX)):
        event = judgment_event(partition, subject_id, idempotency_key, item)
        if event is not None and (receipt := event.receipt or event.judgment_receipt) is not None:
            return receipt
    return None


def look_up_checkpoint(
    partition: PartitionReader, subject_id: str, idempotency_key: str, command_digest: str
) -> CheckpointReceipt | Refusal | None:
    """As `look_up`, for a checkpoint command."""
    event = _checkpoint_event(partition, subject_id, idempotency_key)
    if event is None:
        return None
    if event.command_digest != command_digest:
        return refusal("idempotency_conflict", "the idempotency key was used for another command")
    return event.receipt


def stored_checkpoint_receipt(
    partition: PartitionReader, subject_id: str, idempotency_key: str
) -> CheckpointReceipt | None:
    """As `stored_receipt`, for a checkpoint command."""
    event = _checkpoint_event(partition, subject_id, idempotency_key)
    return None if event is None else event.receipt


def _checkpoint_event(partition: PartitionReader, subject_id: str, idempotency_key: str) -> CheckpointEvent | None:
    pointer = partition.receipt("checkpoint", subject_id, idempotency_key)
    if pointer is None:
        return None
    event = partition.event(pointer.sequence)
    if not isinstance(event, CheckpointEvent) or not (
        event.sequence == pointer.sequence
        and event.author.subject_id == subject_id
        and event.receipt.idempotency_key == idempotency_key
        and event.command_digest == pointer.command_digest
        and event.receipt.receipt_digest == digests.receipt_digest(partition.workspace_id, event.receipt)
    ):
        raise StorageInconsistency("a receipt does not match its event")
    revision = event.receipt.checkpoint
    key = partition.keys.checkpoint_revision(event.stream, subject_id, revision.consumer_id, revision.revision)
    stored = partition.stored_checkpoint(key)
    if stored is None or stored.checkpoint != revision:
        raise StorageInconsistency("a revision does not match its receipt")
    return event


def _verify_history(partition: PartitionReader, receipt: Receipt) -> None:
    """The current row is sound, and so is the revision that the receipt speaks of; mostly they are the same.

    Then the event of the current row, its receipt and its key are those that were checked on the way to the receipt.
    """
    match receipt:
        case RecordReceipt():
            record = partition.record(receipt.record_id)
            if record is None:
                raise StorageInconsistency("the record of a receipt is missing")
            if _is_record_of(record, receipt) and record.sequence == receipt.commit_sequence:
                integrity.verify_record_rows(partition, record)
                return
            integrity.verify_record(partition, record)
            if record.meta.revision != receipt.revision:
                record = partition.record_revision(receipt.record_id, receipt.revision)
            _require(record is not None and _is_record_of(record, receipt))
        case RelationReceipt():
            relation = partition.relation(receipt.relation_id)
            if relation is None:
                raise StorageInconsistency("the relation of a receipt is missing")
            if _is_relation_of(relation, receipt) and relation.sequence == receipt.commit_sequence:
                integrity.verify_relation_rows(partition, relation)
                return
            integrity.verify_relation(partition, relation)
            if relation.relation.revision != receipt.revision:
                relation = partition.relation_revision(receipt.relation_id, receipt.revision)
            _require(relation is not None and _is_relation_of(relation, receipt))
        case LinkReceipt():
            pass  # a link has no history but its events
        case _:
            assert_never(receipt)


def _is_record_of(version: RecordVersion, receipt: RecordReceipt) -> bool:
    return (
        version.meta.record_id == receipt.record_id
        and version.meta.revision == receipt.revision
        and (version.sequence == receipt.commit_sequence or receipt.action in _STANDING_ACTIONS)
        and version.digest.hex() == receipt.record_digest
    )


def _is_relation_of(version: RelationVersion, receipt: RelationReceipt) -> bool:
    return (
        version.relation.relation_id == receipt.relation_id
        and version.relation.revision == receipt.revision
        and (version.sequence == receipt.commit_sequence or receipt.action == "found")
        and version.digest.hex() == receipt.relation_digest
    )


def _require(agreed: bool) -> None:
    if not agreed:
        raise StorageInconsistency("a revision does not match its receipt")
