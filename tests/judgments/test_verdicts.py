"""Verdicts: which relation they make, what they do to a standing, and when they are refused."""

from __future__ import annotations

import random  # noqa: TID251 - dice of a test, under a seed

import pytest

from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.judgments import Judging, Judgment, Sweeping
from relatum.core.verdicts import KINDS, Verdict
from relatum.errors import Refusal
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk

HARMLESS: list[Verdict] = ["conflicts_with", "related", "compatible", "scoped"]


def event(outcome: JudgmentEvent | Refusal) -> JudgmentEvent:
    assert isinstance(outcome, JudgmentEvent), outcome
    return outcome


def refusal(outcome: object) -> tuple[int, str]:
    assert isinstance(outcome, Refusal), outcome
    return outcome.status, outcome.code


def superseder(judging: JudgingDesk, ref: Ref) -> str | None:
    by = judging.standing(ref).superseded_by
    return None if by is None else by.record_id


@pytest.mark.parametrize("relation", KINDS)
def test_a_verdict_makes_a_relation_of_its_kind_that_pins_both_current_revisions(
    desk: Desk, judging: JudgingDesk, relation: Verdict
) -> None:
    first = desk.revise(desk.create("the ferry leaves at nine"))
    second = judging.save("the ferry leaves at ten", like=(first,))
    given = judging.judge(judging.pending_between(first, second), relation, confidence=0.5)
    assert given.receipt is not None
    with judging.ledger.view() as view:
        stored = view.partition(judging.partition).relation(given.receipt.relation_id)
        changes = view.partition(judging.partition).head().streams["typed_memory_relations"]
    assert stored is not None
    assert (KINDS[relation], second, first) == (
        stored.relation.input.kind,
        stored.relation.input.source,
        stored.relation.input.target,
    )
    assert ("tool_observation", "judgment") == (
        stored.relation.input.provenance.origin,
        stored.relation.input.provenance.method,
    )
    assert "asserted" == given.receipt.action
    assert 1 == changes.sequence
    assert (second.record_id if relation == "supersedes" else None) == superseder(judging, first)


def test_a_closed_candidate_is_closed_for_ever(judging: JudgingDesk) -> None:
    first = judging.save("nine")
    second = judging.save("ten", like=(first,))
    candidate = judging.pending_between(first, second)
    judging.judge(candidate, "related")
    again = judging.judge(candidate, "scoped")
    assert again.receipt is None
    assert again.operation.refused is not None  # type: ignore[union-attr]
    assert "revision_conflict" == again.operation.refused.code  # type: ignore[union-attr]
    assert "judged" == judging.candidate(candidate).status


def test_the_refused_items_of_a_batch_keep_their_places_and_are_refused_again_on_replay(judging: JudgingDesk) -> None:
    saved = [judging.save(f"departure {number}") for number in range(17)]
    hub = saved[0]
    for other in saved[1:]:
        event(judging.submit((hub, other)))
    candidates = [one.candidate_id for one in judging.pending()]
    judgments = [Judgment(candidate_id=one, relation="related") for one in candidates]
    judgments.insert(3, Judgment(candidate_id=builders.unknown_id(), relation="related"))
    judgments.insert(8, Judgment(candidate_id=candidates[0], relation="scoped"))
    judgments.insert(12, Judgment(candidate_id=candidates[1], relation="related", confidence=2.0))
    judgments.append(Judgment(candidate_id=candidates[2], relation="related"))
    assert 20 == len(judgments)
    given = judging.judge_all(judgments, "batch")
    codes = [one.operation.refused.code if one.operation.refused else None for one in given]  # type: ignore[union-attr]
    bad = {3: "candidate_not_found", 8: "revision_conflict", 12: "invalid_request", 19: "revision_conflict"}
    assert [bad.get(place) for place in range(20)] == codes
    assert given == judging.judge_all(judgments, "batch")
    conflict = judging.command(Judging(judgments=tuple(judgments[:-1])), "batch")
    assert (409, "idempotency_conflict") == refusal(conflict)


def test_supersedes_needs_both_ends_active_and_current(desk: Desk, judging: JudgingDesk) -> None:
    first, second, third = (judging.save(text) for text in ("nine", "ten", "noon"))
    event(judging.compare(second, first, "supersedes"))
    assert (409, "revision_conflict") == refusal(judging.compare(third, first, "supersedes"))
    assert (409, "revision_conflict") == refusal(judging.compare(first, third, "supersedes"))
    judging.archive(third)
    assert (409, "revision_conflict") == refusal(judging.compare(second, third, "supersedes"))
    judging.unarchive(third)
    desk.delete(third)
    assert (409, "revision_conflict") == refusal(judging.compare(second, third, "supersedes"))
    assert second.record_id == superseder(judging, first)


@pytest.mark.parametrize("relation", HARMLESS)
def test_no_other_verdict_needs_fit_ends(desk: Desk, judging: JudgingDesk, relation: Verdict) -> None:
    first, second, third = (judging.save(text) for text in ("nine", "ten", "noon"))
    event(judging.compare(second, first, "supersedes"))
    desk.delete(third)
    assert event(judging.compare(first, third, relation)).receipt is not None


def test_a_repeated_supersession_changes_nothing_and_has_a_receipt_of_its_own(judging: JudgingDesk) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    given = event(judging.compare(second, first, "supersedes"))
    again = event(judging.compare(second, first, "supersedes"))
    assert given.receipt is not None
    assert again.receipt is not None
    assert given.receipt.relation_id == again.receipt.relation_id
    assert given.receipt.idempotency_key != again.receipt.idempotency_key
    assert () == again.nonces, "a feed tells nothing of it"


def test_another_verdict_on_the_same_ordered_pair_replaces_the_first_in_one_commit(judging: JudgingDesk) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    given = event(judging.compare(second, first, "supersedes"))
    changed = event(judging.compare(second, first, "scoped"))
    assert given.receipt is not None
    assert changed.consequences is not None
    retired, asserted = changed.consequences.relations
    assert (given.receipt.relation_id, "retired") == (retired.relation_id, retired.receipt.action)
    assert "asserted" == asserted.receipt.action
    assert ["reinstated"] == [one.action for one in changed.consequences.standings]
    assert superseder(judging, first) is None
    assert 3 == len(changed.nonces)


def test_comparing_closes_the_pending_candidate_of_the_pair_whichever_way_round(judging: JudgingDesk) -> None:
    first = judging.save("nine")
    second = judging.save("ten", like=(first,))
    candidate = judging.pending_between(first, second)
    event(judging.compare(first, second, "related"))
    assert "judged" == judging.candidate(candidate).status


def test_a_relation_that_came_from_a_verdict_gives_and_takes_the_standing(desk: Desk, judging: JudgingDesk) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    given = event(judging.compare(second, first, "supersedes"))
    assert given.receipt is not None
    relation = desk.retire(given.receipt)
    assert superseder(judging, first) is None
    relation = desk.restore(relation)
    assert second.record_id == superseder(judging, first)
    relation = desk.judge(relation, "rejected")
    assert superseder(judging, first) is None
    relation = desk.judge(relation, "approved")
    assert second.record_id == superseder(judging, first)
    relation = desk.judge(relation, "rejected")
    third = judging.save("noon")
    event(judging.compare(third, first, "supersedes"))
    assert (409, "revision_conflict") == desk.refuse(
        builders.judge(relation.relation_id, relation.revision, "approved")
    )
    assert third.record_id == superseder(judging, first)


def test_a_plainly_asserted_relation_of_the_same_kind_changes_no_standing(desk: Desk, judging: JudgingDesk) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    relation = desk.relate(second, first, "supersedes")
    assert superseder(judging, first) is None
    desk.retire(relation)
    assert superseder(judging, first) is None


def test_deleting_the_superseder_does_not_revive_what_it_superseded(desk: Desk, judging: JudgingDesk) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    event(judging.compare(second, first, "supersedes"))
    desk.delete(second)
    assert second.record_id == superseder(judging, first)


@pytest.mark.parametrize("end", [0, 1])
def test_the_words_of_a_verdict_go_with_either_end(desk: Desk, judging: JudgingDesk, end: int) -> None:
    first = judging.save("nine")
    second = judging.save("ten", like=(first,))
    given = judging.judge(judging.pending_between(first, second), "related", reason="alike", evidence={"a": 1})
    with judging.ledger.view() as view:
        words = view.partition(judging.partition).words(given.sequence)
    assert words is not None
    assert ("alike", {"a": 1}) == (words.reason, words.evidence)
    desk.delete((first, second)[end])
    with judging.ledger.view() as view:
        assert view.partition(judging.partition).words(given.sequence) is None


def test_a_verdict_on_records_that_are_no_memories_is_refused(desk: Desk, judging: JudgingDesk) -> None:
    person, memory = desk.create("a person", type="person"), judging.save("nine")
    assert (400, "invalid_request") == refusal(judging.compare(memory, person, "related"))
    assert (400, "invalid_request") == refusal(judging.compare(memory, memory, "related"))
    assert (400, "invalid_request") == refusal(judging.compare(memory, judging.save("ten"), "not_conflict"))
    unknown = Ref(record_id=builders.unknown_id(), revision=1)
    assert (404, "record_not_found") == refusal(judging.compare(memory, unknown, "related"))


def test_a_verdict_of_a_batch_on_records_that_are_no_memories_any_more_is_refused_alone(
    desk: Desk, judging: JudgingDesk
) -> None:
    first, second, third = (judging.save(content) for content in ("nine", "ten", "eleven"))
    judging.submit((second, first), (third, first))
    turned, sound = (judging.pending_between(one, first) for one in (second, third))
    desk.revise(second, "a person", type="person")
    given = [Judgment(candidate_id=one, relation="related") for one in (turned, sound)]
    said = [one.operation for one in judging.judge_all(given)]
    assert ["invalid_request", None] == [one.refused and one.refused.code for one in said]  # type: ignore[union-attr]


def test_competing_supersessions_make_no_cycle_and_no_second_superseder(ledger: Ledger, judging: JudgingDesk) -> None:
    dice = random.Random(7)
    records = [judging.save(f"departure {number}") for number in range(12)]
    for _ in range(1_000):
        source, target = dice.sample(records, 2)
        outcome = judging.compare(source, target, dice.choice(["supersedes", "supersedes", "scoped"]))
        assert not isinstance(outcome, Refusal) or (409, "revision_conflict") == refusal(outcome)
    for one in records:
        seen = [one.record_id]
        while (by := judging.standing(Ref(record_id=seen[-1], revision=1)).superseded_by) is not None:
            assert by.record_id not in seen, "a cycle"
            seen.append(by.record_id)


def test_a_new_verdict_on_a_pair_ends_an_older_supersession_that_was_restored(desk: Desk, judging: JudgingDesk) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    given = event(judging.compare(second, first, "supersedes"))
    event(judging.compare(second, first, "scoped"))
    assert given.receipt is not None
    desk.accept(builders.restore(given.receipt.relation_id, 2))
    assert second.record_id == superseder(judging, first)
    changed = event(judging.compare(second, first, "related"))
    assert changed.consequences is not None
    assert ["retired", "retired", "asserted"] == [one.receipt.action for one in changed.consequences.relations]
    assert superseder(judging, first) is None


@pytest.mark.parametrize("later_stands", [True, False])
def test_a_new_verdict_on_a_pair_ends_every_other_that_stands(
    desk: Desk, judging: JudgingDesk, later_stands: bool
) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    older, later = (event(judging.compare(second, first, kind)).receipt for kind in ("conflicts_with", "related"))
    assert older is not None
    assert later is not None
    if not later_stands:
        desk.accept(builders.retire(later.relation_id, 1))
    desk.accept(builders.restore(older.relation_id, 2))
    changed = event(judging.compare(second, first, "scoped"))
    assert changed.consequences is not None
    ended = [one.relation_id for one in changed.consequences.relations if one.receipt.action == "retired"]
    assert ended == [later.relation_id] * later_stands + [older.relation_id]


def test_an_archived_record_gets_its_standing_back_although_its_slot_is_held_by_another(
    desk: Desk, judging: JudgingDesk
) -> None:
    first = judging.save("nine", topic_key="ferry")
    second = judging.save("ten")
    given = event(judging.compare(second, first, "supersedes"))
    assert given.receipt is not None
    judging.save("noon", topic_key="ferry")
    assert (409, "revision_conflict") == desk.refuse(builders.retire(given.receipt.relation_id, 1))
    judging.archive(first)
    desk.retire(given.receipt)
    assert "archived" == judging.standing(first).state
    assert (409, "revision_conflict") == refusal(judging.unarchive(first))


@pytest.mark.parametrize("end", [0, 1])
def test_words_about_a_record_that_is_gone_are_not_kept(desk: Desk, judging: JudgingDesk, end: int) -> None:
    first = judging.save("nine")
    second = judging.save("ten", like=(first,))
    candidate = judging.pending_between(first, second)
    desk.delete((first, second)[end])
    given = judging.judge(candidate, "related", reason="alike")
    assert given.receipt is not None
    with judging.ledger.view() as view:
        reader = view.partition(judging.partition)
        assert reader.words(given.sequence) is None
        assert reader.candidate(candidate).words_at is None  # type: ignore[union-attr]  # it is there


def test_a_key_is_taken_for_batches_and_for_commands_alike(judging: JudgingDesk) -> None:
    first = judging.save("nine")
    second = judging.save("ten", like=(first,))
    judgment = Judgment(candidate_id=judging.pending_between(first, second), relation="related")
    judging.judge_all([judgment], "batch")
    assert (409, "idempotency_conflict") == refusal(judging.command(Sweeping(), "batch"))
    event(judging.sweep())
    assert not isinstance(judging.command(Sweeping(), "sweep"), Refusal)
    assert (409, "idempotency_conflict") == refusal(judging.command(Judging(judgments=(judgment,)), "sweep"))


def test_a_known_key_comes_before_the_static_rules(judging: JudgingDesk) -> None:
    judging.judge_all([Judgment(candidate_id=builders.unknown_id(), relation="related")], "batch")
    assert (409, "idempotency_conflict") == refusal(judging.command(Judging(judgments=()), "batch"))
    assert (400, "invalid_request") == refusal(judging.command(Judging(judgments=()), "another"))
