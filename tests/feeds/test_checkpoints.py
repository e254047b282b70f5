"""Checkpoints: what a consumer saves, in which order that is refused, and every revision that was saved."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from relatum.core.cursors import Advance, CheckpointCommand, CheckpointReceipt, Reconcile
from relatum.core.streams import RECORDS, RELATIONS, Cursor
from relatum.errors import Refusal
from relatum.ledger.reads import receipts
from tests.core.faults import Draft, Fault, alone_and_in_pairs, static
from tests.feeds.following import CONSUMER, Consumer, advance, answered, reconcile, refused
from tests.support.builders import BOB, PRIVATE
from tests.support.desk import Desk
from tests.support.stores import assert_rebuilds
from tests.support.threads import at_once

NOT_FOUND = (404, "checkpoint_not_found")
BAD_REQUEST = (400, "invalid_request")
STALE = (409, "revision_conflict")
REGRESSION = (409, "checkpoint_regression")
OFF_THE_JOURNAL = (409, "journal_history_conflict")
ANOTHER_DIGEST = "0" * 64


@pytest.fixture
def records(desk: Desk, consumer: Consumer) -> Consumer:
    """A stream of three records."""
    for _ in range(3):
        desk.create()
    return consumer.of(RECORDS)


def test_every_accepted_command_makes_a_new_revision_an_unchanged_cursor_too(records: Consumer) -> None:
    _, one, two, _ = records.cursors()
    saved = [records.advance(one)]
    for cursor in (one, two, two):
        saved.append(records.advance(cursor, saved[-1]))
    assert [1, 2, 3, 4] == [checkpoint.revision for checkpoint in saved]
    assert [one, one, two, two] == [checkpoint.cursor for checkpoint in saved]
    assert 4 == len({checkpoint.checkpoint_digest for checkpoint in saved})
    assert saved[-1] == answered(records.checkpoint())
    assert saved == [answered(records.revision(number)).checkpoint for number in (1, 2, 3, 4)]


def test_a_receipt_tells_what_was_saved_before_and_what_is_now(desk: Desk, records: Consumer) -> None:
    baseline, *_, tip = records.cursors()
    first = answered(records.submit(advance(tip)))
    assert (None, None) == (first.previous, first.reconciliation_evidence)
    second = answered(records.submit(reconcile(baseline, first.checkpoint)))
    assert (first.checkpoint, baseline, "restore/7") == (
        second.previous,
        second.checkpoint.cursor,
        second.reconciliation_evidence,
    )
    assert (desk.author, CONSUMER) == (second.checkpoint.author, second.checkpoint.consumer_id)


def test_a_stream_of_no_entries_takes_a_checkpoint_at_its_baseline(desk: Desk, consumer: Consumer) -> None:
    desk.ledger.activate(desk.partition, desk.author, RELATIONS)
    assert 0 == consumer.advance(consumer.tip()).cursor.sequence


# The order of refusals. The state is a checkpoint of revision 1 in the middle of a stream of three records.

FAULTS = [
    static("an unsound key", {"idempotency_key": "\n"}, "the idempotency key must be"),
    static("an unsound consumer", {"consumer_id": "x" * 129}, "consumer_id must be"),
    static("no digest", {"digest": None}, "expected_checkpoint_digest goes with"),
    static("a digest in upper case", {"digest": "A" * 64}, "expected_checkpoint_digest must be"),
    static("unsound evidence", {"evidence_ref": " "}, "evidence_ref must be"),
    static("an unsound cursor", {"version": 2}, "a cursor has another version"),
    Fault(
        "a key used before", {"idempotency_key": "first"}, 409, "idempotency_conflict", "the idempotency key was used"
    ),
    Fault("another revision", {"revision": 2}, 409, "revision_conflict", "the checkpoint is at another revision"),
    Fault(
        "another digest", {"digest": ANOTHER_DIGEST}, 409, "revision_conflict", "the checkpoint is at another revision"
    ),
    Fault("another history", {"prefix_digest": ANOTHER_DIGEST}, *OFF_THE_JOURNAL, "the cursor does not lie"),
    Fault("a step back", {"sequence": 1}, *REGRESSION, "the cursor lies before the saved one"),
]


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS))
def test_the_first_fault_of_a_command_is_told(records: Consumer, changes: Draft, told: Fault) -> None:
    _, one, two, three = records.cursors()
    saved = answered(records.submit(advance(two, key="first"))).checkpoint
    target = one if changes.get("sequence") == 1 else three
    command = CheckpointCommand(
        contract_version=1,
        idempotency_key=changes.get("idempotency_key", "second"),
        consumer_id=changes.get("consumer_id", CONSUMER),
        expected_revision=changes.get("revision", 1),
        expected_checkpoint_digest=changes.get("digest", saved.checkpoint_digest),
        operation=_operation(_spoiled(target, changes), changes.get("evidence_ref")),
    )
    outcome = records.submit(command)
    assert isinstance(outcome, Refusal)
    assert (told.status, told.code) == (outcome.status, outcome.code)
    assert outcome.message.startswith(told.message)
    assert saved == answered(records.checkpoint()), "a refusal changes nothing"


def _operation(cursor: Cursor, evidence_ref: str | None) -> Advance | Reconcile:
    return Advance(cursor=cursor) if evidence_ref is None else Reconcile(cursor=cursor, evidence_ref=evidence_ref)


def _spoiled(cursor: Cursor, changes: dict[str, Any]) -> Cursor:
    return replace(cursor, **{name: changes[name] for name in ("version", "prefix_digest") if name in changes})


def test_the_first_checkpoint_has_rules_of_its_own(records: Consumer) -> None:
    tip = records.tip()
    with_digest = replace(advance(tip), expected_checkpoint_digest=ANOTHER_DIGEST)
    assert BAD_REQUEST == refused(records.submit(with_digest))
    nothing_saved = replace(advance(tip), operation=Reconcile(cursor=tip, evidence_ref="restore/7"))
    assert BAD_REQUEST == refused(records.submit(nothing_saved))
    later = replace(advance(tip), expected_revision=1, expected_checkpoint_digest=ANOTHER_DIGEST)
    assert STALE == refused(records.submit(later))
    records.advance(tip)
    assert STALE == refused(records.submit(advance(tip))), "initialising twice"


def test_reconcile_may_go_back_and_advance_may_not(records: Consumer) -> None:
    baseline, *_, tip = records.cursors()
    saved = records.advance(tip)
    assert REGRESSION == refused(records.submit(advance(baseline, saved)))
    assert 2 == answered(records.submit(reconcile(baseline, saved))).checkpoint.revision


def test_a_key_answers_the_same_command_for_ever_and_no_other(records: Consumer) -> None:
    _, one, two, _ = records.cursors()
    command = advance(one)
    first = answered(records.submit(command))
    records.advance(two, first.checkpoint)
    assert first == records.submit(command)
    other = replace(command, operation=advance(two).operation)
    assert (409, "idempotency_conflict") == refused(records.submit(other))
    assert 2 == answered(records.checkpoint()).revision


def test_the_streams_of_a_partition_share_one_family_of_keys(desk: Desk, records: Consumer) -> None:
    desk.ledger.activate(desk.partition, desk.author, RELATIONS)
    relations = records.of(RELATIONS)
    records.submit(advance(records.tip(), key="one"))
    assert (409, "idempotency_conflict") == refused(relations.submit(advance(relations.tip(), key="one")))


def test_receipts_are_found_by_their_key(desk: Desk, records: Consumer) -> None:
    receipt = answered(records.submit(advance(records.tip(), key="one")))
    with desk.view() as view:
        partition = view.partition(desk.partition)
        assert receipt == receipts.read(partition, desk.author.subject_id, "checkpoint", "one")
        assert (404, "record_not_found") == refused(receipts.read(partition, "bob", "checkpoint", "one"))


def test_a_checkpoint_belongs_to_a_subject_a_stream_and_a_partition(desk: Desk, records: Consumer) -> None:
    records.advance(records.tip())
    private = Desk(desk.ledger, PRIVATE)
    private.create()
    strangers = [Consumer(desk, RECORDS, BOB), records.of(RELATIONS), Consumer(private, RECORDS)]
    assert [NOT_FOUND] * 3 == [refused(one.checkpoint()) for one in strangers]
    assert [NOT_FOUND] * 3 == [refused(one.revision(1)) for one in strangers]
    assert NOT_FOUND == refused(records.checkpoint("another"))
    assert NOT_FOUND == refused(records.revision(2))
    assert BAD_REQUEST == refused(records.revision(0))


@pytest.mark.parametrize(
    ("consumer_id", "status"),
    [("x", 404), ("é" * 64, 404), ("é" * 64 + "x", 400), ("", 400), (" ", 400), ("a\x7fb", 400)],
)
def test_a_consumer_id_is_1_to_128_bytes(records: Consumer, consumer_id: str, status: int) -> None:
    assert status == refused(records.checkpoint(consumer_id))[0]
    assert status == refused(records.revision(1, consumer_id))[0]


def test_of_many_commands_that_expect_the_same_revision_one_is_accepted(records: Consumer) -> None:
    saved = records.advance(records.cursors()[0])
    target = records.tip()
    outcomes = at_once([lambda: records.submit(advance(target, saved))] * 8)
    assert 1 == sum(isinstance(one, CheckpointReceipt) for one in outcomes)
    assert 2 == answered(records.checkpoint()).revision


def test_checkpoints_follow_from_their_events(desk: Desk, records: Consumer) -> None:
    baseline, *_, tip = records.cursors()
    saved = records.advance(tip)
    answered(records.submit(reconcile(baseline, saved)))
    assert_rebuilds(desk.ledger)
