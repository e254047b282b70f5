"""Reads of single relations: who is answered, why others are not, and what is checked before anything is answered."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from relatum import limits
from relatum.clock import ManualClock
from relatum.core.queries import RelationFilter
from relatum.core.receipts import RelationReceipt
from relatum.errors import Refusal, StorageInconsistency
from relatum.ledger.reads import relation_query, relations
from relatum.store import rows
from relatum.store.keys import Table
from relatum.store.projection import Staging
from tests.reads.reading import NOT_FOUND, Reading, answered, refused
from tests.support.builders import ADA, PRIVATE, START_MILLIS, provenance, unknown_id
from tests.support.desk import Desk

LATER = START_MILLIS + 1000


def test_a_relation_is_answered_with_every_member_but_an_empty_list_of_evidence(desk: Desk, reading: Reading) -> None:
    source, target = desk.create(), desk.create()
    receipt = desk.relate(source, target)
    answer = msgspec.json.decode(msgspec.json.encode(answered(reading.relation(receipt.relation_id))))
    assert {
        "schema_version": 1,
        "relation_id": receipt.relation_id,
        "revision": 1,
        "input": {
            "source": {"record_id": source.record_id, "revision": 1},
            "target": {"record_id": target.record_id, "revision": 1},
            "kind": "supports",
            "provenance": {**msgspec.to_builtins(provenance()), "model": None},
            "valid_from_millis": None,
            "valid_until_millis": None,
        },
        "reported_by": {"credential_id": ADA.credential_id, "subject_id": ADA.subject_id},
        "created_at_millis": START_MILLIS,
        "modified_at_millis": START_MILLIS,
        "state": "active",
        "review": None,
    } == answer


def test_evidence_sources_are_answered_where_there_are_any(desk: Desk, reading: Reading) -> None:
    evidence = desk.create()
    receipt = desk.relate(desk.create(), desk.create(), evidence_sources=(evidence,))
    assert (evidence,) == answered(reading.relation(receipt.relation_id)).input.evidence_sources


def retired(desk: Desk) -> RelationReceipt:
    return desk.retire(desk.relate(desk.create(), desk.create()))


def rejected(desk: Desk) -> RelationReceipt:
    return desk.judge(desk.relate(desk.create(), desk.create()), "rejected")


def not_yet_valid(desk: Desk) -> RelationReceipt:
    return desk.relate(desk.create(), desk.create(), valid_from_millis=LATER)


def expired(desk: Desk) -> RelationReceipt:
    return desk.relate(desk.create(), desk.create(), valid_until_millis=START_MILLIS)


def with_a_changed_source(desk: Desk) -> RelationReceipt:
    source = desk.create()
    receipt = desk.relate(source, desk.create())
    desk.revise(source)
    return receipt


def with_a_deleted_target(desk: Desk) -> RelationReceipt:
    target = desk.create()
    receipt = desk.relate(desk.create(), target)
    desk.delete(target)
    return receipt


def with_a_target_of_bad_ancestry(desk: Desk) -> RelationReceipt:
    ancestor = desk.create()
    receipt = desk.relate(desk.create(), desk.derive(ancestor))
    desk.review(ancestor, "rejected")
    return receipt


def with_changed_evidence(desk: Desk) -> RelationReceipt:
    evidence = desk.create()
    receipt = desk.relate(desk.create(), desk.create(), evidence_sources=(evidence,))
    desk.revise(evidence)
    return receipt


INELIGIBLE: dict[Callable[[Desk], RelationReceipt], str] = {
    retired: "retired",
    rejected: "rejected",
    not_yet_valid: "not_yet_valid",
    expired: "expired",
    with_a_changed_source: "endpoint_revision_changed",
    with_a_deleted_target: "endpoint_revision_changed",
    with_a_target_of_bad_ancestry: "endpoint_unavailable",
    with_changed_evidence: "evidence_unavailable",
}


@pytest.mark.parametrize("make", INELIGIBLE)
def test_an_ineligible_relation_is_refused_as_if_it_were_absent(
    desk: Desk, reading: Reading, make: Callable[[Desk], RelationReceipt]
) -> None:
    absent = reading.relation(unknown_id())
    assert NOT_FOUND == refused(absent)
    assert absent == reading.relation(make(desk).relation_id)


@pytest.mark.parametrize("make", INELIGIBLE)
def test_an_inspection_tells_why_a_relation_is_ineligible(
    desk: Desk, reading: Reading, make: Callable[[Desk], RelationReceipt]
) -> None:
    receipt = make(desk)
    inspection = answered(reading.relation_inspection(receipt.relation_id))
    assert (receipt.relation_id, receipt.revision) == (inspection.relation.relation_id, inspection.relation.revision)
    assert (False, INELIGIBLE[make]) == (inspection.eligibility.eligible, inspection.eligibility.reason)


def test_a_relation_is_valid_from_its_first_instant_to_before_its_last(
    desk: Desk, reading: Reading, clock: ManualClock
) -> None:
    relation_id = desk.relate(
        desk.create(), desk.create(), valid_from_millis=LATER, valid_until_millis=LATER + 10
    ).relation_id
    reasons = []
    for now in (LATER - 1, LATER, LATER + 9, LATER + 10):
        clock.set(now)
        reasons.append(answered(reading.relation_inspection(relation_id)).eligibility.reason)
    assert ["not_yet_valid", "eligible", "eligible", "expired"] == reasons


def test_a_relation_of_another_partition_is_refused_as_if_it_were_absent(desk: Desk, reading: Reading) -> None:
    private = Desk(desk.ledger, PRIVATE)
    foreign = private.relate(private.create(), private.create()).relation_id
    assert reading.relation(unknown_id()) == reading.relation(foreign)
    assert reading.relation_inspection(unknown_id()) == reading.relation_inspection(foreign)
    assert reading.relation_revision(unknown_id(), 1) == reading.relation_revision(foreign, 1)


def test_revisions_are_answered_as_they_were_whatever_the_relation_is_now(desk: Desk, reading: Reading) -> None:
    receipts = [desk.relate(desk.create(), desk.create())]
    receipts.append(desk.retire(receipts[-1]))
    receipts.append(desk.restore(receipts[-1]))
    receipts.append(desk.judge(receipts[-1], "rejected"))
    relation_id = receipts[0].relation_id
    histories = [answered(reading.relation_revision(relation_id, number)) for number in (1, 2, 3, 4)]
    assert receipts == [history.receipt for history in histories]
    assert ["active", "retired", "active", "active"] == [history.relation.state for history in histories]
    assert [False] * 3 + [True] == [history.relation.review is not None for history in histories]


@pytest.mark.parametrize("number", [2, limits.U64_MAX])
def test_a_revision_that_never_was_is_refused(desk: Desk, reading: Reading, number: int) -> None:
    relation_id = desk.relate(desk.create(), desk.create()).relation_id
    assert NOT_FOUND == refused(reading.relation_revision(relation_id, number))
    assert NOT_FOUND == refused(reading.relation_revision(unknown_id(), 1))


@pytest.mark.parametrize("number", [0, -1])
def test_revisions_start_at_one(desk: Desk, reading: Reading, number: int) -> None:
    for relation_id in (desk.relate(desk.create(), desk.create()).relation_id, unknown_id()):
        assert (400, "invalid_request") == refused(reading.relation_revision(relation_id, number))


# Inconsistent rows


def _without_its_revision(partition: Staging, relation_id: str) -> None:
    partition.delete(partition.keys.relation_revision(relation_id, 1))


def _with_an_altered_revision(partition: Staging, relation_id: str) -> None:
    _alter(partition, partition.keys.relation_revision(relation_id, 1))


def _altered(partition: Staging, relation_id: str) -> None:
    _alter(partition, partition.keys.relation(relation_id))


def _alter(partition: Staging, key: bytes) -> None:
    """Another evidence reference of the same length, under a sound checksum."""
    body = partition.body(key)
    assert body is not None
    assert b"log/9" in body
    partition.put(key, body.replace(b"log/9", b"log/8"))


def _behind_its_revisions(partition: Staging, relation_id: str) -> None:
    body = partition.body(partition.keys.relation_revision(relation_id, 1))
    assert body is not None
    partition.put(partition.keys.relation_revision(relation_id, 2), body)


def _without_its_event(partition: Staging, relation_id: str) -> None:
    version = partition.relation(relation_id)
    assert version is not None
    partition.delete(partition.keys.event(version.sequence))


def _without_an_adjacency_entry(direction: Table) -> Callable[[Staging, str], None]:
    def damage(partition: Staging, relation_id: str) -> None:
        version = partition.relation(relation_id)
        assert version is not None
        given = version.relation.input
        end = given.source if direction is Table.OUTGOING else given.target
        key = partition.keys.adjacency(direction, end.record_id, end.revision)
        partition.delete(key + bytes.fromhex(relation_id.replace("-", "")))

    damage.__name__ = f"without its {direction.name.lower()} entry"
    return damage


def _without_a_header(partition: Staging, relation_id: str) -> None:
    version = partition.relation(relation_id)
    assert version is not None
    end = version.relation.input.target
    partition.delete(partition.keys.header(end.record_id, end.revision))


def _with_an_empty_header(partition: Staging, relation_id: str) -> None:
    version = partition.relation(relation_id)
    assert version is not None
    end = version.relation.input.source
    partition.put(partition.keys.header(end.record_id, end.revision), rows.Completeness().pack())


DAMAGES = [
    _without_its_revision,
    _with_an_altered_revision,
    _altered,
    _behind_its_revisions,
    _without_its_event,
    _without_an_adjacency_entry(Table.OUTGOING),
    _without_an_adjacency_entry(Table.INCOMING),
    _without_a_header,
    _with_an_empty_header,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__.replace("_", " ").strip())
def test_a_relation_at_odds_with_its_rows_is_not_answered(
    desk: Desk, reading: Reading, damage: Callable[[Staging, str], None]
) -> None:
    relation_id = desk.relate(desk.create(), desk.create()).relation_id
    with reading.damage() as partition:
        assert not isinstance(relations.read(partition, START_MILLIS, relation_id), Refusal)
        damage(partition, relation_id)
        with pytest.raises(StorageInconsistency):
            relations.read(partition, START_MILLIS, relation_id)
        with pytest.raises(StorageInconsistency):
            relations.inspect(partition, START_MILLIS, relation_id)
        with pytest.raises(StorageInconsistency):
            relation_query.query(partition, START_MILLIS, bytes(32), RelationFilter())


@pytest.mark.parametrize("damage", [_without_its_revision, _with_an_altered_revision, _without_its_event])
def test_a_revision_at_odds_with_its_rows_is_not_answered(
    desk: Desk, reading: Reading, damage: Callable[[Staging, str], None]
) -> None:
    relation_id = desk.relate(desk.create(), desk.create()).relation_id
    with reading.damage() as partition:
        damage(partition, relation_id)
        with pytest.raises(StorageInconsistency):
            relations.revision(partition, relation_id, 1)
