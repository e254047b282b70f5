"""Receipts and replays: what a key has led to, and for whom."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from relatum import limits
from relatum.core.events import RecordEvent, RelationEvent
from relatum.core.receipts import Family, Receipt, RecordReceipt, RelationReceipt
from relatum.errors import Refusal, StorageInconsistency
from relatum.ledger.reads import receipts
from relatum.store import replay, rows
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader
from relatum.store.projection import Staging
from tests.reads.reading import BAD_REQUEST, NOT_FOUND, Reading, refused
from tests.support.builders import ADA, BOB, PRIVATE, assertion, create
from tests.support.desk import Desk
from tests.support.steps import reached

KEY = "the-key"
OTHER_DIGEST = "0" * 64


def given(desk: Desk) -> tuple[RecordReceipt, RelationReceipt]:
    """A record and a relation, both accepted under `KEY`."""
    record = desk.accept(create(), KEY)
    relation = desk.accept(assertion(desk.create(), desk.create()), KEY)
    assert isinstance(record, RecordReceipt)
    assert isinstance(relation, RelationReceipt)
    return record, relation


def read(desk: Desk, family: Family, key: str = KEY, subject_id: str = ADA.subject_id) -> object:
    with desk.view() as view:
        return receipts.read(view.partition(desk.partition), subject_id, family, key)


def look_up(desk: Desk, receipt: Receipt, command_digest: str | None = None) -> Receipt | Refusal | None:
    with desk.view() as view:
        return look_up_in(view.partition(desk.partition), receipt, command_digest)


def look_up_in(
    partition: PartitionReader, receipt: Receipt, command_digest: str | None = None
) -> Receipt | Refusal | None:
    digest = command_digest or receipt.command_digest
    return replay.look_up(partition, family_of(receipt), ADA.subject_id, receipt.idempotency_key, digest)


def family_of(receipt: Receipt) -> Family:
    return "record" if isinstance(receipt, RecordReceipt) else "relation"


# Reading a receipt


def test_a_key_leads_to_the_receipt_of_its_own_family(desk: Desk) -> None:
    record, relation = given(desk)
    assert record == read(desk, "record")
    assert relation == read(desk, "relation")
    unused: list[Family] = ["judgment", "link", "checkpoint"]
    for family in unused:
        assert NOT_FOUND == refused(read(desk, family))


def test_a_key_belongs_to_one_subject_of_one_partition(desk: Desk) -> None:
    given(desk)
    unused = read(desk, "record", "another-key")
    assert NOT_FOUND == refused(unused)
    assert unused == read(desk, "record", subject_id=BOB.subject_id)
    assert unused == read(Desk(desk.ledger, PRIVATE), "record")


def test_a_refused_command_leaves_no_receipt(desk: Desk) -> None:
    desk.refuse(create(" "), KEY)
    assert NOT_FOUND == refused(read(desk, "record"))


@pytest.mark.parametrize("key", ["", " ", "a\nb", "k" * (limits.KEY_BYTES_MAX + 1), "é" * 129])
def test_a_key_outside_its_class_is_refused(desk: Desk, key: str) -> None:
    assert BAD_REQUEST == refused(read(desk, "record", key))


@pytest.mark.parametrize("key", ["k", "k" * limits.KEY_BYTES_MAX, "é" * 128])
def test_a_key_within_its_class_leads_to_its_receipt(desk: Desk, key: str) -> None:
    assert desk.accept(create(), key) == read(desk, "record", key)


# Replays


def test_the_same_command_is_answered_byte_for_byte(desk: Desk) -> None:
    for receipt in given(desk):
        again = look_up(desk, receipt)
        assert msgspec.json.encode(receipt) == msgspec.json.encode(again)


def test_another_command_under_the_key_is_a_conflict(desk: Desk) -> None:
    for receipt in given(desk):
        assert (409, "idempotency_conflict") == refused(look_up(desk, receipt, OTHER_DIGEST))


def test_a_new_key_leads_nowhere(desk: Desk) -> None:
    record, relation = given(desk)
    with desk.view() as view:
        partition = view.partition(desk.partition)
        assert replay.look_up(partition, "record", ADA.subject_id, "new", record.command_digest) is None
        assert replay.look_up(partition, "relation", BOB.subject_id, KEY, relation.command_digest) is None


def test_a_replay_does_not_care_what_became_of_the_record(desk: Desk) -> None:
    record, _ = given(desk)
    ref = desk.revise(reached(record))
    assert record == look_up(desk, record)
    desk.delete(ref)
    assert record == look_up(desk, record)


def test_a_replay_does_not_care_what_became_of_the_relation(desk: Desk) -> None:
    _, relation = given(desk)
    desk.judge(desk.retire(relation), "rejected")
    assert relation == look_up(desk, relation)


def test_a_replay_is_known_to_the_rest_of_its_own_group(desk: Desk, reading: Reading) -> None:
    record, _ = given(desk)
    with reading.damage() as staged:
        assert record == look_up_in(staged, record)


# Inconsistent rows


def _pointing_nowhere(partition: Staging, receipt: Receipt) -> None:
    _point(partition, receipt, rows.ReceiptPointer(99, receipt.command_digest))


def _pointing_to_another_event(partition: Staging, receipt: Receipt) -> None:
    _point(partition, receipt, rows.ReceiptPointer(receipt.commit_sequence % 2 + 1, receipt.command_digest))


def _with_another_digest(partition: Staging, receipt: Receipt) -> None:
    _point(partition, receipt, rows.ReceiptPointer(receipt.commit_sequence, OTHER_DIGEST))


def _point(partition: Staging, receipt: Receipt, pointer: rows.ReceiptPointer) -> None:
    key = partition.keys.receipt(family_of(receipt), ADA.subject_id, receipt.idempotency_key)
    partition.put(key, rows.pack_receipt(*pointer))


def _without_its_event(partition: Staging, receipt: Receipt) -> None:
    partition.delete(partition.keys.event(receipt.commit_sequence))


def _with_an_altered_receipt(partition: Staging, receipt: Receipt) -> None:
    event = partition.event(receipt.commit_sequence)
    assert isinstance(event, RecordEvent | RelationEvent)
    later = event.committed_at_millis + 1
    altered = replace(event, committed_at_millis=later, receipt=replace(event.receipt, committed_at_millis=later))
    partition.put(partition.keys.event(receipt.commit_sequence), rows.EVENT.encode(altered))


DAMAGES_OF_A_RECEIPT = [
    _pointing_nowhere,
    _pointing_to_another_event,
    _with_another_digest,
    _without_its_event,
    _with_an_altered_receipt,
]


@pytest.mark.parametrize("damage", DAMAGES_OF_A_RECEIPT)
@pytest.mark.parametrize("family", ["record", "relation"])
def test_a_receipt_at_odds_with_its_event_is_not_answered(
    desk: Desk, reading: Reading, family: Family, damage: Callable[[Staging, Receipt], None]
) -> None:
    receipt = next(one for one in given(desk) if family_of(one) == family)
    with reading.damage() as partition:
        assert receipt == receipts.read(partition, ADA.subject_id, family, KEY)
        damage(partition, receipt)
        with pytest.raises(StorageInconsistency):
            receipts.read(partition, ADA.subject_id, family, KEY)
        for digest in (receipt.command_digest, OTHER_DIGEST):
            with pytest.raises(StorageInconsistency):
                look_up_in(partition, receipt, digest)


def _revision_key(partition: Staging, receipt: Receipt) -> bytes:
    if isinstance(receipt, RecordReceipt):
        return partition.keys.record_revision(receipt.record_id, receipt.revision)
    assert isinstance(receipt, RelationReceipt)
    return partition.keys.relation_revision(receipt.relation_id, receipt.revision)


def _without_its_revision(partition: Staging, receipt: Receipt) -> None:
    partition.delete(_revision_key(partition, receipt))


def _with_a_revision_of_another_event(partition: Staging, receipt: Receipt) -> None:
    body = partition.body(_revision_key(partition, receipt))
    assert body is not None
    version = rows.unpack_version(body)
    partition.put(
        _revision_key(partition, receipt), rows.pack_version(*version._replace(sequence=version.sequence + 1))
    )


def _without_its_current_row(partition: Staging, receipt: Receipt) -> None:
    if isinstance(receipt, RecordReceipt):
        partition.delete(partition.keys.record(receipt.record_id))
    else:
        assert isinstance(receipt, RelationReceipt)
        partition.delete(partition.keys.relation(receipt.relation_id))


DAMAGES_OF_A_HISTORY = [_without_its_revision, _with_a_revision_of_another_event, _without_its_current_row]


@pytest.mark.parametrize("superseded", [False, True])
@pytest.mark.parametrize("damage", DAMAGES_OF_A_HISTORY)
@pytest.mark.parametrize("family", ["record", "relation"])
def test_a_replay_without_a_sound_history_is_not_answered(
    desk: Desk, reading: Reading, family: Family, damage: Callable[[Staging, Receipt], None], superseded: bool
) -> None:
    record, relation = given(desk)
    if superseded:
        desk.revise(reached(record))
        desk.retire(relation)
    receipt: Receipt = record if family == "record" else relation
    with reading.damage() as partition:
        assert receipt == look_up_in(partition, receipt)
        damage(partition, receipt)
        with pytest.raises(StorageInconsistency):
            look_up_in(partition, receipt)


def test_a_replay_of_a_relation_without_its_adjacency_entry_is_not_answered(desk: Desk, reading: Reading) -> None:
    _, relation = given(desk)
    with reading.damage() as partition:
        version = partition.relation(relation.relation_id)
        assert version is not None
        end = version.relation.input.source
        prefix = partition.keys.adjacency(Table.OUTGOING, end.record_id, end.revision)
        partition.delete_all(prefix)
        with pytest.raises(StorageInconsistency):
            look_up_in(partition, relation)
