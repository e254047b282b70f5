"""Deletion: every payload row goes, and none of the erased text is left in any row; digests and receipts stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relatum.core.ids import Ref
from relatum.core.records import RecordProvenance
from relatum.ledger import Ledger
from relatum.store.keys import Table
from tests.support import builders
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.steps import reached
from tests.support.stores import assert_rebuilds, published_rows

WORDS = "content title data-name data-value tag category topic fact source hash revision note"
TEXTS = [f"unmistakable-{word}" for word in WORDS.split()]
FULL: dict[str, Any] = {
    "title": "unmistakable-title",
    "data": {"unmistakable-data-name": ["unmistakable-data-value"]},
    "tags": ("unmistakable-tag",),
    "category": "unmistakable-category",
    "topic_key": "unmistakable-topic",
    "fact_key": "unmistakable-fact",
    "provenance": RecordProvenance(
        source_id="unmistakable-source", source_hash="unmistakable-hash", source_revision="unmistakable-revision"
    ),
    "confidence": 0.123456789,
    "event_time_millis": START_MILLIS,
    "valid_until_millis": START_MILLIS + 5,
}


def found(ledger: Ledger) -> set[str]:
    """Which of the texts lie in some row of the store, key or value."""
    rows = published_rows(ledger)
    return {text for text in TEXTS if any(text.encode() in key or text.encode() in row for key, row in rows.items())}


def payload_rows(ledger: Ledger, desk: Desk) -> list[bytes]:
    with ledger.view() as view:
        prefix = view.partition(desk.partition).keys.table(Table.PAYLOAD)
    return [key for key in published_rows(ledger) if key.startswith(prefix)]


def written(desk: Desk) -> Ref:
    """A record that has every text in some revision: content twice over, a review, an approval."""
    at = desk.create("unmistakable-content and more", **FULL)
    at = desk.review(at, "rejected", "unmistakable-note")
    at = desk.revise(at, "unmistakable-content once more")
    return desk.review(at, "approved", "unmistakable-note")


def test_a_living_record_keeps_the_payloads_of_all_its_revisions(ledger: Ledger, desk: Desk) -> None:
    written(desk)
    assert set(TEXTS) == found(ledger)
    assert 4 == len(payload_rows(ledger, desk))


def test_a_deletion_erases_every_payload_and_every_text(ledger: Ledger, desk: Desk) -> None:
    desk.delete(written(desk))
    assert set() == found(ledger)
    assert [] == payload_rows(ledger, desk)
    assert_rebuilds(ledger)


def test_a_deletion_erases_one_record_alone(ledger: Ledger, desk: Desk) -> None:
    at = desk.create("unmistakable-content", title="unmistakable-title")
    desk.create("unmistakable-content")
    desk.delete(at)
    assert {"unmistakable-content"} == found(ledger)
    assert 1 == len(payload_rows(ledger, desk))


def test_a_derived_record_is_erased_too_and_its_derivation_stays(ledger: Ledger, desk: Desk) -> None:
    source = desk.create()
    at = desk.delete(desk.derive(source, content="unmistakable-content"))
    assert set() == found(ledger)
    with ledger.view() as view:
        version = view.partition(desk.partition).record(at.record_id)
    assert version is not None
    assert version.meta.derivation is not None
    assert (source,) == version.meta.derivation.sources


def test_what_verdicts_of_the_past_depend_on_stays(ledger: Ledger, desk: Desk) -> None:
    at = desk.delete(desk.create("unmistakable-content", type="memory", **FULL))
    with ledger.view() as view:
        version = view.partition(desk.partition).record_revision(at.record_id, 1)
    assert version is not None
    facts = version.meta.facts
    assert ("memory", START_MILLIS, START_MILLIS + 5) == (facts.type, facts.event_time_millis, facts.valid_until_millis)


def test_receipts_of_an_erased_record_are_replayed_and_told_from_other_commands(ledger: Ledger, desk: Desk) -> None:
    operation = builders.create("unmistakable-content", **FULL)
    created = desk.accept(operation, "k")
    desk.delete(reached(created))
    assert created == desk.submit(operation, "k")
    assert (409, "idempotency_conflict") == desk.refuse(builders.create("unmistakable-content"), "k")
    assert set() == found(ledger)


def test_equal_texts_leave_unequal_digests(ledger: Ledger, desk: Desk) -> None:
    first, second = desk.create("yes"), desk.create("yes")
    with ledger.view() as view:
        versions = [view.partition(desk.partition).record(at.record_id) for at in (first, second)]
    assert 2 == len({version.meta.payload.digest for version in versions if version})


def test_a_deletion_in_the_group_of_its_creation_leaves_nothing(ledger: Ledger, desk: Desk) -> None:
    at = desk.create("unmistakable-content")
    reviewed = Ref(record_id=at.record_id, revision=2)
    ledger.submit_all(
        [
            desk.command(builders.review(at, evidence_ref="unmistakable-note")),
            desk.command(builders.revise(reviewed, "unmistakable-content")),
            desk.command(builders.delete(Ref(record_id=at.record_id, revision=3))),
        ]
    )
    assert set() == found(ledger)
    assert_rebuilds(ledger)


def test_erased_text_does_not_come_back_with_a_reopening(reopen: Callable[[], Ledger]) -> None:
    desk = Desk(reopen())
    desk.delete(written(desk))
    assert set() == found(reopen())
