"""Idempotency: the same command is answered with the same receipt, another command under its key with a conflict."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relatum.clock import ManualClock
from relatum.core.ids import Author, Ref
from relatum.core.links import LinkReceipt
from relatum.core.receipts import Receipt, RecordReceipt, RelationReceipt
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.builders import ADA, BOB, PRIVATE, unknown_id
from tests.support.desk import Desk
from tests.support.measures import measured
from tests.support.steps import Operation, reached, related
from tests.support.stores import published_rows


def test_a_replay_answers_the_same_receipt_and_writes_nothing(ledger: Ledger, desk: Desk) -> None:
    first = desk.accept(builders.create(), "k")
    before = published_rows(ledger)
    assert first == desk.submit(builders.create(), "k")
    assert before == published_rows(ledger)
    assert 1 == measured(ledger, "relatum_replays_total")
    assert 1 == measured(ledger, "relatum_commands_total")


def test_another_command_under_a_key_is_a_conflict_even_if_it_is_senseless(desk: Desk) -> None:
    desk.accept(builders.create("one"), "k")
    assert (409, "idempotency_conflict") == desk.refuse(builders.create("two"), "k")
    assert (409, "idempotency_conflict") == desk.refuse(builders.create(" "), "k")
    lost = Ref(record_id=unknown_id(), revision=0)
    assert (409, "idempotency_conflict") == desk.refuse(builders.delete(lost), "k")


def test_a_conflicting_assertion_is_told_before_its_static_faults(desk: Desk) -> None:
    one, two = desk.create(), desk.create()
    desk.accept(builders.assertion(one, two), "k")
    assert (409, "idempotency_conflict") == desk.refuse(builders.assertion(one, one), "k")


def test_a_refused_command_reserves_no_key(desk: Desk) -> None:
    assert (400, "invalid_request") == desk.refuse(builders.create(" "), "k")
    desk.accept(builders.create("sound"), "k")


def test_a_refused_command_leaves_no_row(ledger: Ledger, desk: Desk) -> None:
    one, two = desk.create(topic_key="tides"), desk.create()
    relation = desk.relate(one, two)
    before = published_rows(ledger)
    desk.refuse(builders.create(topic_key="tides"))
    desk.refuse(builders.revise(Ref(record_id=one.record_id, revision=9)))
    desk.refuse(builders.derive(Ref(record_id=one.record_id, revision=9)))
    desk.refuse(builders.assertion(one, one))
    desk.refuse(builders.restore(relation.relation_id, 1))
    desk.refuse(builders.judge(unknown_id(), 1))
    assert before == published_rows(ledger)


def test_keys_of_records_and_of_relations_are_separate(desk: Desk) -> None:
    one, two = desk.create(), desk.create()
    record = desk.accept(builders.create("more"), "k")
    relation = desk.accept(builders.assertion(one, two), "k")
    assert [record, relation] == [
        desk.submit(builders.create("more"), "k"),
        desk.submit(builders.assertion(one, two), "k"),
    ]


def test_keys_of_two_subjects_and_of_two_partitions_are_separate(ledger: Ledger, desk: Desk) -> None:
    receipts = [
        desk.accept(builders.create(), "k"),
        Desk(ledger, author=BOB).accept(builders.create(), "k"),
        Desk(ledger, PRIVATE).accept(builders.create(), "k"),
    ]
    assert 3 == len({receipt.receipt_digest for receipt in receipts})


def test_another_credential_of_the_subject_gets_the_receipt_with_its_first_author(ledger: Ledger, desk: Desk) -> None:
    first = desk.accept(builders.create(), "k")
    rotated = Author(credential_id=unknown_id(), subject_id=ADA.subject_id)
    assert first == Desk(ledger, author=rotated).submit(builders.create(), "k")
    assert ADA == first.author


def test_a_replay_says_nothing_about_the_present_state(desk: Desk) -> None:
    one, two = desk.create(), desk.create()
    asserted = related(desk.accept(builders.assertion(one, two), "k"))
    created = desk.accept(builders.create("gone"), "k")
    desk.delete(reached(created))
    desk.revise(one)
    desk.retire(asserted)
    assert asserted == desk.submit(builders.assertion(one, two), "k")
    assert created == desk.submit(builders.create("gone"), "k")


def test_replays_come_in_their_place_in_a_batch_with_their_first_command(desk: Desk) -> None:
    command = desk.command(builders.create(), "k")
    other = desk.command(builders.create("other"), "k")
    first, again, conflict = desk.ledger.submit_all([command, command, other])
    assert first == again
    assert isinstance(conflict, Refusal)
    assert "idempotency_conflict" == conflict.code


def test_a_batch_is_decided_in_order_and_a_refusal_touches_no_neighbour(desk: Desk) -> None:
    at = desk.create()
    outcomes = desk.ledger.submit_all(
        [
            desk.command(builders.revise(at, "two")),
            desk.command(builders.revise(at, "stale")),
            desk.command(builders.revise(Ref(record_id=at.record_id, revision=2), "three")),
            desk.command(builders.create(" ")),
            desk.command(builders.delete(Ref(record_id=at.record_id, revision=3))),
        ]
    )
    assert [2, 409, 3, 400, 4] == [
        one.status if isinstance(one, Refusal) else one.revision for one in received(outcomes)
    ]
    assert [2, 3, 4] == [one.commit_sequence for one in received(outcomes) if not isinstance(one, Refusal)]


def received(
    outcomes: list[Receipt | Refusal | Failure],
) -> list[RecordReceipt | RelationReceipt | Refusal]:
    """Outcomes among which there is no failure."""
    answers = [one for one in outcomes if not isinstance(one, Failure | LinkReceipt)]
    assert len(outcomes) == len(answers)
    return answers


COMMANDS: list[Callable[[Ref, Ref, str], Operation]] = [
    lambda one, two, text: builders.create(text),
    lambda one, two, text: builders.revise(one, text),
    lambda one, two, text: builders.review(one, evidence_ref=text),
    lambda one, two, text: builders.derive(one, content=text),
    lambda one, two, text: builders.assertion(one, two, provenance=builders.provenance(evidence_ref=text)),
]


@pytest.mark.parametrize("build", COMMANDS, ids=["create", "revise", "review", "derive", "assert"])
def test_replays_and_conflicts_survive_a_reopening(
    reopen: Callable[[], Ledger], clock: ManualClock, build: Callable[[Ref, Ref, str], Operation]
) -> None:
    desk = Desk(reopen())
    one, two = desk.create(), desk.create()
    first = desk.accept(build(one, two, "text"), "k")
    clock.advance(1_000)
    desk = Desk(reopen())
    assert first == desk.submit(build(one, two, "text"), "k")
    assert (409, "idempotency_conflict") == desk.refuse(build(one, two, "other"), "k")
