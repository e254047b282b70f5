"""What an accepted command leaves: revisions, authors, times, receipts, and what a review or a revision clears."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from relatum import limits
from relatum.core import digests
from relatum.core.decide.record_events import RecordDecision
from relatum.core.ids import Ref
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.core.records import RecordMeta
from relatum.core.relations import StoredRelation
from relatum.errors import Refusal
from tests.core.world import World
from tests.support import builders
from tests.support.builders import ADA, BOB, START_MILLIS, unknown_id
from tests.support.steps import related


def meta(world: World, at: Ref) -> RecordMeta:
    version = world.state.record(at.record_id)
    assert version is not None
    return version.meta


def stored(world: World, receipt: RelationReceipt) -> StoredRelation:
    version = world.state.relation(receipt.relation_id)
    assert version is not None
    return version.relation


def test_a_receipt_tells_everything_about_its_command() -> None:
    world = World()
    receipt = world.accept(builders.create())
    assert isinstance(receipt, RecordReceipt)
    assert (1, 1, "created", ADA, START_MILLIS, 1) == (
        receipt.contract_version,
        receipt.revision,
        receipt.action,
        receipt.author,
        receipt.committed_at_millis,
        receipt.commit_sequence,
    )
    assert receipt.receipt_digest == digests.receipt_digest(world.state.workspace_id, receipt)
    version = world.state.record(receipt.record_id)
    assert version is not None
    assert version.digest.hex() == receipt.record_digest


def test_a_receipt_digest_covers_every_member_and_binds_the_partition() -> None:
    world = World()
    receipt = world.accept(builders.create())
    assert isinstance(receipt, RecordReceipt)
    workspace = world.state.workspace_id
    others = {
        digests.receipt_digest("0" * 64, receipt),
        digests.receipt_digest(workspace, replace(receipt, author=BOB)),
        digests.receipt_digest(workspace, replace(receipt, idempotency_key="other")),
        digests.receipt_digest(workspace, replace(receipt, commit_sequence=2)),
        digests.receipt_digest(workspace, replace(receipt, committed_at_millis=0)),
        digests.receipt_digest(workspace, replace(receipt, record_digest="0" * 64)),
    }
    assert 6 == len(others - {receipt.receipt_digest})


def test_a_relations_receipt_names_the_evidence_of_its_command() -> None:
    world = World()
    first = world.relate(world.create(), world.create())
    second = world.retire(first)
    assert ["log/9", "note/2"] == [first.evidence_ref, second.evidence_ref]
    assert ["asserted", "retired"] == [first.action, second.action]
    assert first.relation_digest != second.relation_digest


def test_every_command_of_a_partition_takes_the_next_sequence_of_whatever_family() -> None:
    world = World()
    one, two = world.create(), world.create()
    relation = world.relate(one, two)
    world.review(one)
    assert 5 == world.judge(relation).commit_sequence
    assert 5 == world.state.head().sequence


def test_a_refused_command_takes_no_sequence() -> None:
    world = World()
    world.create()
    world.refuse(builders.create(content=" "))
    world.create()
    assert 2 == world.state.head().sequence


def test_a_revision_replaces_everything_and_clears_the_review() -> None:
    world = World()
    at = world.review(world.create(topic_key="tides", valid_until_millis=START_MILLIS + 5), "rejected")
    world.now_millis += 1
    world.author = BOB
    after = meta(world, world.revise(at, "new"))
    assert (None, 3, BOB) == (after.review, after.revision, after.author)
    assert (START_MILLIS, START_MILLIS + 1) == (after.created_at_millis, after.modified_at_millis)
    assert after.facts.valid_until_millis is None
    assert world.state.topic_holder("tides") is None


def test_a_review_leaves_content_and_author_alone() -> None:
    world = World()
    at = world.create()
    before = meta(world, at)
    world.now_millis += 1
    world.author = BOB
    after = meta(world, world.review(at, "approved"))
    assert (2, ADA, before.payload, 1) == (after.revision, after.author, after.payload, after.payload_revision)
    assert after.review is not None
    assert ("approved", BOB, START_MILLIS + 1) == (
        after.review.disposition,
        after.review.author,
        after.review.reviewed_at_millis,
    )
    assert "note/1" == world.state.review_evidence(after)


def test_a_deletion_erases_the_payloads_and_the_review_and_keeps_the_derivation() -> None:
    world = World()
    at = world.review(world.derive(world.create()))
    after = meta(world, world.delete(at))
    assert ("deleted", 3) == (after.state, after.revision)
    assert after.derivation is not None
    assert world.state.payload(after) is None
    assert world.state.review_evidence(after) is None


def test_a_derived_record_can_be_reviewed_and_deleted_but_never_revised() -> None:
    world = World()
    at = world.derive(world.create())
    assert 409 == world.refuse(builders.revise(at)).status
    world.delete(world.review(at, "rejected"))


def test_the_state_of_a_relation_follows_the_sequence_that_must_hold() -> None:
    world = World()
    asserted = world.relate(world.create(), world.create())
    shown = [stored(world, asserted).indexed]
    step = asserted
    for act in (
        world.retire,
        world.restore,
        lambda at: world.judge(at, "rejected"),
        world.retire,
        world.restore,
        lambda at: world.judge(at, "approved"),
    ):
        step = act(step)
        shown.append(stored(world, step).indexed)
    assert [True, False, True, False, False, False, True] == shown
    assert 7 == step.revision


def test_two_assertions_under_two_keys_are_two_relations() -> None:
    world = World()
    one, two = world.create(), world.create()
    assert world.relate(one, two).relation_id != world.relate(one, two).relation_id


def test_restoring_checks_the_ends_again_and_reviewing_does_not() -> None:
    world = World()
    one, two = world.create(), world.create(valid_until_millis=START_MILLIS + 1)
    retired = world.retire(world.relate(one, two))
    world.restore(retired)
    again = world.retire(related(world.accept(builders.judge(retired.relation_id, 3))))
    world.now_millis += 1
    assert 409 == world.refuse(builders.restore(again.relation_id, again.revision)).status
    world.judge(again, "rejected")


def test_an_interval_wholly_past_or_future_may_be_stored() -> None:
    world = World()
    one, two = world.create(), world.create()
    world.relate(one, two, valid_until_millis=START_MILLIS - 1)
    world.relate(one, two, valid_from_millis=START_MILLIS + 1)


@pytest.mark.parametrize(
    ("source_time", "target_time", "accepted"),
    [(1, 2, True), (2, 2, False), (3, 2, False), (None, 2, False), (1, None, False)],
)
def test_temporal_before_needs_both_event_times_the_sources_strictly_earlier(
    source_time: int | None, target_time: int | None, accepted: bool
) -> None:
    world = World()
    target = world.create(event_time_millis=target_time)
    source = world.create(event_time_millis=source_time)
    decision = world.decide(builders.assertion(source, target, "temporal_before"))
    assert accepted == (not isinstance(decision, Refusal))


def test_evidence_that_fails_is_refused_in_the_same_words_whether_it_is_foreign_or_unknown() -> None:
    world, elsewhere = World(), World(builders.PRIVATE)
    one, two = world.create(), world.create()
    foreign = elsewhere.create()
    refusals = {
        world.refuse(builders.assertion(one, two, evidence_sources=(proof,)))
        for proof in (foreign, Ref(record_id=unknown_id(), revision=1))
    }
    assert 1 == len(refusals)


# The greatest stored record


def filled(world: World, padding: int) -> RecordDecision | Refusal:
    decision = world.decide(builders.create("x" * limits.CONTENT_BYTES_MAX, data={"pad": "y" * padding}))
    assert isinstance(decision, RecordDecision | Refusal)
    return decision


def test_a_stored_record_is_at_most_64_kib() -> None:
    world = World()
    accepted = filled(world, 15_000)
    assert isinstance(accepted, RecordDecision)
    room = limits.RECORD_BYTES_MAX - len(accepted.canonical) - accepted.after.payload.length
    fitting = filled(world, 15_000 + room)
    assert isinstance(fitting, RecordDecision)
    assert limits.RECORD_BYTES_MAX == len(fitting.canonical) + fitting.after.payload.length
    assert (400, "invalid_request") == _answer(filled(world, 15_000 + room + 1))


def _answer(decision: RecordDecision | Refusal) -> tuple[int, str]:
    assert isinstance(decision, Refusal)
    return decision.status, decision.code


def test_the_greatest_record_can_be_deleted() -> None:
    world = World()
    accepted = filled(world, 15_000)
    assert isinstance(accepted, RecordDecision)
    room = limits.RECORD_BYTES_MAX - len(accepted.canonical) - accepted.after.payload.length
    at = world.create("x" * limits.CONTENT_BYTES_MAX, data={"pad": "y" * (15_000 + room)})
    world.delete(at)
