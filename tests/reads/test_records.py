"""Reads of single records: who is answered, in which form, and what a deletion takes away."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from relatum import limits
from relatum.clock import ManualClock
from relatum.core.ids import Ref
from relatum.core.records import Review
from relatum.errors import Refusal, StorageInconsistency
from relatum.ledger.reads import records
from tests.reads.reading import BAD_REQUEST, NOT_FOUND, Reading, answered, refused
from tests.support.builders import ADA, PRIVATE, START_MILLIS, create, unknown_id
from tests.support.desk import Desk
from tests.support.steps import reached

LATER = START_MILLIS + 1000


# Read


def test_a_record_is_answered_with_every_member(desk: Desk, reading: Reading) -> None:
    ref = desk.create("low water at six")
    answer = msgspec.json.decode(msgspec.json.encode(answered(reading.record(ref.record_id))))
    assert {
        "schema_version": 1,
        "record_id": ref.record_id,
        "revision": 1,
        "content_revision": 1,
        "created_at_millis": START_MILLIS,
        "modified_at_millis": START_MILLIS,
        "author": {"credential_id": ADA.credential_id, "subject_id": ADA.subject_id},
        "state": "active",
        "input": {
            "type": "memory",
            "title": None,
            "content": "low water at six",
            "data": None,
            "tags": [],
            "category": None,
            "topic_key": None,
            "fact_key": None,
            "provenance": None,
            "confidence": None,
            "event_time_millis": None,
            "valid_until_millis": None,
        },
        "review": None,
        "derivation": None,
    } == answer


def test_a_review_is_answered_with_its_evidence(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    ref = desk.create()
    clock.set(LATER)
    desk.review(ref, "approved", "note/77")
    record = answered(reading.record(ref.record_id))
    expected = Review(disposition="approved", evidence_ref="note/77", author=ADA, reviewed_at_millis=LATER)
    assert (2, expected) == (record.revision, record.review)


def test_a_derived_record_is_answered_with_its_sources(desk: Desk, reading: Reading) -> None:
    source = desk.create()
    record = answered(reading.record(desk.derive(source).record_id))
    assert record.derivation is not None
    assert (source,) == record.derivation.sources


def deleted(desk: Desk) -> str:
    return desk.delete(desk.create()).record_id


def rejected(desk: Desk) -> str:
    return desk.review(desk.create(), "rejected").record_id


def expired(desk: Desk) -> str:
    return desk.create(valid_until_millis=START_MILLIS).record_id


def derived_from_a_changed_source(desk: Desk) -> str:
    source = desk.create()
    derived = desk.derive(source)
    desk.revise(source)
    return derived.record_id


INELIGIBLE = [deleted, rejected, expired, derived_from_a_changed_source]


@pytest.mark.parametrize("make", INELIGIBLE)
def test_an_ineligible_record_is_refused_as_if_it_were_absent(
    desk: Desk, reading: Reading, make: Callable[[Desk], str]
) -> None:
    absent = reading.record(unknown_id())
    assert NOT_FOUND == refused(absent)
    assert absent == reading.record(make(desk))


def test_a_record_of_another_partition_is_refused_as_if_it_were_absent(desk: Desk, reading: Reading) -> None:
    foreign = Desk(desk.ledger, PRIVATE).create()
    assert reading.record(unknown_id()) == reading.record(foreign.record_id)
    assert reading.record_inspection(unknown_id()) == reading.record_inspection(foreign.record_id)
    assert reading.record_revision(unknown_id(), 1) == reading.record_revision(foreign.record_id, 1)


def test_a_record_expires_at_the_instant_itself(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    ref = desk.create(valid_until_millis=LATER)
    clock.set(LATER - 1)
    answered(reading.record(ref.record_id))
    clock.set(LATER)
    assert NOT_FOUND == refused(reading.record(ref.record_id))


# Batch


def test_a_batch_answers_in_the_order_asked_and_null_for_what_cannot_be_had(desk: Desk, reading: Reading) -> None:
    first, second = desk.create("one"), desk.create("two")
    gone = [make(desk) for make in INELIGIBLE]
    asked = (second.record_id, *gone, unknown_id(), first.record_id)
    batch = answered(reading.batch(*asked))
    assert asked == tuple(entry.record_id for entry in batch.entries)
    contents = [entry.record and entry.record.input and entry.record.input.content for entry in batch.entries]
    assert ["two", *[None] * 5, "one"] == contents
    assert START_MILLIS == batch.evaluated_at_millis


def test_the_bytes_of_a_batch_are_those_of_the_records_returned(desk: Desk, reading: Reading) -> None:
    first, second = desk.create("one"), desk.create("two")
    one, other = answered(reading.batch(first.record_id)), answered(reading.batch(second.record_id))
    both = answered(reading.batch(first.record_id, second.record_id, deleted(desk)))
    assert one.record_bytes + other.record_bytes == both.record_bytes > 0


def test_a_batch_counts_a_shared_source_once_and_roots_not_at_all(desk: Desk, reading: Reading) -> None:
    source = desk.create()
    derived = [desk.derive(source).record_id for _ in range(2)]
    work = answered(reading.batch(*derived)).dependency_work
    assert (1, answered(reading.batch(source.record_id)).record_bytes) == (work.records_examined, work.bytes_examined)


@pytest.mark.parametrize("count", [0, limits.RECORD_BATCH_MAX + 1])
def test_a_batch_of_none_or_too_many_is_refused(reading: Reading, count: int) -> None:
    assert BAD_REQUEST == refused(reading.batch(*[unknown_id(number) for number in range(count)]))


@pytest.mark.parametrize("count", [1, limits.RECORD_BATCH_MAX])
def test_a_batch_takes_one_to_a_hundred(reading: Reading, count: int) -> None:
    assert count == len(answered(reading.batch(*[unknown_id(number) for number in range(count)])).entries)


def test_a_batch_names_no_record_twice(desk: Desk, reading: Reading) -> None:
    ref = desk.create()
    assert BAD_REQUEST == refused(reading.batch(ref.record_id, ref.record_id))


# Inspect


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (deleted, "deleted"),
        (rejected, "rejected"),
        (expired, "expired"),
        (derived_from_a_changed_source, "source_revision_changed"),
    ],
)
def test_an_inspection_tells_why_a_record_is_ineligible(
    desk: Desk, reading: Reading, make: Callable[[Desk], str], reason: str
) -> None:
    inspection = answered(reading.record_inspection(make(desk)))
    assert not inspection.eligibility.eligible
    assert inspection.eligibility.first_failure is not None
    assert reason == inspection.eligibility.first_failure.reason


def test_an_inspection_of_an_eligible_record_is_its_read_and_a_verdict(desk: Desk, reading: Reading) -> None:
    ref = desk.create()
    inspection = answered(reading.record_inspection(ref.record_id))
    assert answered(reading.record(ref.record_id)) == inspection.record
    assert inspection.eligibility.eligible


def test_an_inspection_of_an_absent_record_is_refused(reading: Reading) -> None:
    assert NOT_FOUND == refused(reading.record_inspection(unknown_id()))


# Revision


def test_a_revision_is_answered_as_it_was_with_its_receipt(desk: Desk, reading: Reading) -> None:
    created = desk.accept(create("first words"))
    ref = reached(created)
    revised = desk.revise(desk.review(ref, "approved", "note/5"), "other words")
    desk.review(revised, "rejected", "note/6")
    histories = [answered(reading.record_revision(ref.record_id, number)) for number in (1, 2, 3, 4)]
    contents = [history.record.input and history.record.input.content for history in histories]
    assert ["first words", "first words", "other words", "other words"] == contents
    reviews = [history.record.review and history.record.review.evidence_ref for history in histories]
    assert [None, "note/5", None, "note/6"] == reviews
    assert ["created", "reviewed", "revised", "reviewed"] == [history.receipt.action for history in histories]
    assert created == histories[0].receipt


def test_after_deletion_no_revision_has_input_or_review_but_each_keeps_state_and_derivation(
    desk: Desk, reading: Reading
) -> None:
    source = desk.create()
    derived = desk.derive(source)
    desk.delete(desk.review(derived))
    for number, state in [(1, "active"), (2, "active"), (3, "deleted")]:
        record = answered(reading.record_revision(derived.record_id, number)).record
        assert (state, None, None) == (record.state, record.input, record.review)
        assert record.derivation is not None
        assert (source,) == record.derivation.sources


def test_a_payload_that_a_deletion_left_behind_is_not_answered(desk: Desk, reading: Reading) -> None:
    ref = desk.create("to be erased")
    with reading.damage() as before:
        key = before.keys.payload(ref.record_id, 1)
        body = before.body(key)
    assert body is not None
    desk.delete(ref)
    with reading.damage() as partition:
        partition.put(key, body)
        assert answered(records.revision(partition, ref.record_id, 1)).record.input is None


@pytest.mark.parametrize("number", [2, limits.U64_MAX])
def test_a_revision_that_never_was_is_refused(desk: Desk, reading: Reading, number: int) -> None:
    ref = desk.create()
    answered(reading.record_revision(ref.record_id, 1))
    assert NOT_FOUND == refused(reading.record_revision(ref.record_id, number))
    assert NOT_FOUND == refused(reading.record_revision(unknown_id(), 1))


@pytest.mark.parametrize("number", [0, -1])
def test_revisions_start_at_one(desk: Desk, reading: Reading, number: int) -> None:
    for record_id in (desk.create().record_id, unknown_id()):
        assert (400, "invalid_request") == refused(reading.record_revision(record_id, number))


# Inconsistent rows


def reads_of(ref: Ref) -> dict[str, Callable[..., object]]:
    """Every read that meets the payload of a record."""
    return {
        "read": lambda partition: records.read(partition, START_MILLIS, ref.record_id),
        "batch": lambda partition: records.batch(partition, START_MILLIS, (ref.record_id,)),
        "inspect": lambda partition: records.inspect(partition, START_MILLIS, ref.record_id),
        "revision": lambda partition: records.revision(partition, ref.record_id, ref.revision),
    }


@pytest.mark.parametrize("name", ["read", "batch", "inspect", "revision"])
def test_no_read_answers_a_living_record_whose_payload_is_missing_or_altered(
    desk: Desk, reading: Reading, name: str
) -> None:
    ref, other = desk.create("one"), desk.create("two")
    read = reads_of(ref)[name]
    with reading.damage() as partition:
        assert not isinstance(read(partition), Refusal)
        partition.delete(partition.keys.payload(ref.record_id, 1))
        with pytest.raises(StorageInconsistency):
            read(partition)
        foreign = partition.body(partition.keys.payload(other.record_id, 1))
        assert foreign is not None
        partition.put(partition.keys.payload(ref.record_id, 1), foreign)
        with pytest.raises(StorageInconsistency):
            read(partition)


def test_a_review_without_its_evidence_is_not_answered(desk: Desk, reading: Reading) -> None:
    ref = desk.review(desk.create())
    with reading.damage() as partition:
        partition.delete(partition.keys.payload(ref.record_id, 2))
        with pytest.raises(StorageInconsistency):
            records.read(partition, START_MILLIS, ref.record_id)


def test_an_inspection_checks_the_revision_of_the_record(desk: Desk, reading: Reading) -> None:
    ref = desk.create()
    with reading.damage() as partition:
        partition.delete(partition.keys.record_revision(ref.record_id, 1))
        with pytest.raises(StorageInconsistency):
            records.inspect(partition, START_MILLIS, ref.record_id)


def test_a_lost_revision_is_an_inconsistency_and_no_absence(desk: Desk, reading: Reading) -> None:
    ref = desk.revise(desk.create())
    with reading.damage() as partition:
        partition.delete(partition.keys.record_revision(ref.record_id, 1))
        with pytest.raises(StorageInconsistency):
            records.revision(partition, ref.record_id, 1)


def test_a_revision_without_its_event_is_not_answered(desk: Desk, reading: Reading) -> None:
    ref = desk.create()
    with reading.damage() as partition:
        partition.delete(partition.keys.event(1))
        with pytest.raises(StorageInconsistency):
            records.revision(partition, ref.record_id, 1)
