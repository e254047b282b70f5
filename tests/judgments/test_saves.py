"""Saves: the topic slot, the candidates, and both in one commit."""

from __future__ import annotations

import pytest

from relatum.core.candidates import Judged
from relatum.core.events import RecordEvent
from relatum.core.ids import Ref
from relatum.core.receipts import RecordReceipt
from relatum.errors import Refusal
from tests.judgments.test_verdicts import event, superseder
from tests.support import builders
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk, opened


def saved(judging: JudgingDesk, outcome: RecordReceipt | Refusal) -> RecordEvent:
    assert isinstance(outcome, RecordReceipt), outcome
    with judging.ledger.view() as view:
        found = view.partition(judging.partition).event(outcome.commit_sequence)
    assert isinstance(found, RecordEvent)
    return found


def test_a_save_takes_the_slot_from_its_occupant_in_one_commit(judging: JudgingDesk) -> None:
    first = judging.save("nine", topic_key="ferry")
    given = saved(judging, judging.try_save("ten", topic_key="ferry"))
    assert given.record_id == superseder(judging, first)
    assert given.consequences is not None
    [pair] = opened(given.consequences.candidates)
    [closed] = [one for one in given.consequences.candidates if isinstance(one, Judged)]
    assert ("topic_key", first) == (pair.channel, pair.target)
    assert (pair.candidate_id, "supersedes", "agent_topic_key") == (closed.candidate_id, closed.kind, closed.marker)
    with judging.ledger.view() as view:
        partition = view.partition(judging.partition)
        assert given.record_id == partition.topic_holder("ferry")
        assert 3 == partition.head().streams["memory_records"].sequence
        assert 1 == partition.head().streams["typed_memory_relations"].sequence


def test_plain_commands_onto_an_occupied_slot_are_refused(desk: Desk, judging: JudgingDesk) -> None:
    first = judging.save("nine", topic_key="ferry")
    assert (409, "revision_conflict") == desk.refuse(builders.create("ten", topic_key="ferry"))
    other = desk.create("ten")
    assert (409, "revision_conflict") == desk.refuse(builders.revise(other, "ten", topic_key="ferry"))
    assert (409, "revision_conflict") == desk.refuse(builders.derive(first, content="ten", topic_key="ferry"))


def test_a_record_of_another_type_does_not_lose_its_slot_to_a_save(desk: Desk, judging: JudgingDesk) -> None:
    desk.create("a person", type="person", topic_key="captain")
    refused = judging.try_save("the captain", topic_key="captain")
    assert isinstance(refused, Refusal)
    assert (409, "revision_conflict") == (refused.status, refused.code)


def test_what_is_deleted_archived_or_superseded_is_no_target(desk: Desk, judging: JudgingDesk) -> None:
    deleted, archived, current = judging.save("one"), judging.save("two"), judging.save("three")
    superseded, person = judging.save("four"), desk.create("five", type="person")
    desk.delete(deleted)
    judging.archive(archived)
    event(judging.compare(current, superseded, "supersedes"))
    unknown = Ref(record_id=builders.unknown_id(), revision=1)
    found = (deleted, archived, superseded, person, unknown, current, current)
    given = saved(judging, judging.try_save("six", like=found))
    assert given.consequences is not None
    assert [current] == [one.target for one in opened(given.consequences.candidates)]


def test_the_cap_bounds_the_candidates_and_not_what_was_detected(judging: JudgingDesk) -> None:
    others = tuple(judging.save(f"departure {number}") for number in range(9))
    given = saved(judging, judging.try_save("arrival", like=others, most=3))
    assert given.consequences is not None
    assert list(others[:3]) == [one.target for one in opened(given.consequences.candidates)]
    assert 9 == given.operation.detected  # type: ignore[union-attr]
    none = saved(judging, judging.try_save("another", like=others, most=0))
    assert none.consequences is None
    assert 9 == none.operation.detected  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="candidates_max"):
        judging.try_save("too many", most=26)


def test_a_pair_that_was_found_not_to_conflict_is_not_surfaced_for_later_versions(judging: JudgingDesk) -> None:
    other = judging.save("the harbour opens at eight")
    version = judging.save("nine", topic_key="ferry", like=(other,))
    judging.judge(judging.pending_between(version, other), "not_conflict")
    for number in range(10):
        version = judging.save(f"version {number}", topic_key="ferry", like=(other,))
        assert [] == judging.pending(), number
    judging.save("one too far", topic_key="ferry", like=(other,))
    assert 1 == len(judging.pending())


def test_a_verdict_that_was_taken_back_suppresses_nothing(desk: Desk, judging: JudgingDesk) -> None:
    other = judging.save("the harbour opens at eight")
    version = judging.save("nine", topic_key="ferry", like=(other,))
    given = judging.judge(judging.pending_between(version, other), "not_conflict")
    assert given.receipt is not None
    desk.retire(given.receipt)
    judging.save("ten", topic_key="ferry", like=(other,))
    assert 1 == len(judging.pending())


@pytest.mark.parametrize(("held", "saved_as"), [("memory", "task"), ("task", "memory"), ("task", "task")])
def test_a_slot_is_taken_over_by_a_memory_from_a_memory_alone(judging: JudgingDesk, held: str, saved_as: str) -> None:
    first = judging.save("nine", type=held, topic_key="ferry")
    refused = judging.try_save("ten", type=saved_as, topic_key="ferry")
    assert isinstance(refused, Refusal)
    assert (409, "revision_conflict") == (refused.status, refused.code)
    assert "current" == judging.standing(first).state


@pytest.mark.parametrize("turned", [False, True])
def test_a_verdict_that_is_restored_suppresses_again_whatever_was_said_since(
    desk: Desk, judging: JudgingDesk, turned: bool
) -> None:
    other = judging.save("the harbour opens at eight")
    version = judging.save("nine", topic_key="ferry")
    pair = (other, version) if turned else (version, other)
    judging.submit(pair)
    said = event(judging.judge(judging.pending_between(*pair), "not_conflict"))
    event(judging.compare(*pair, "related"))
    judging.save("ten", topic_key="ferry", like=(other,))
    assert 1 == len(judging.pending()), "the later verdict has taken the earlier one back"
    assert said.receipt is not None
    desk.accept(builders.restore(said.receipt.relation_id, 2))
    judging.save("eleven", topic_key="ferry", like=(other,))
    assert 1 == len(judging.pending()), "suppressed for the version of now, as it would have been for the one before"


def test_retiring_the_verdict_of_a_slot_that_is_still_held_is_refused(desk: Desk, judging: JudgingDesk) -> None:
    first = judging.save("nine", topic_key="ferry")
    second = judging.save("ten", topic_key="ferry")
    by = judging.standing(first).superseded_by
    assert by is not None
    assert (409, "revision_conflict") == desk.refuse(builders.retire(by.relation_id, 1))
    judging.archive(second)
    desk.accept(builders.retire(by.relation_id, 1))
    with judging.ledger.view() as view:
        assert first.record_id == view.partition(judging.partition).topic_holder("ferry")
    refused = judging.unarchive(second)
    assert isinstance(refused, Refusal)
    assert (409, "revision_conflict") == (refused.status, refused.code)


def test_a_superseded_record_may_be_revised_and_deleted_without_touching_the_slot(
    desk: Desk, judging: JudgingDesk
) -> None:
    first = judging.save("nine", topic_key="ferry")
    second = judging.save("ten", topic_key="ferry")
    first = desk.revise(first, "half past nine", topic_key="ferry")
    desk.delete(first)
    with judging.ledger.view() as view:
        assert second.record_id == view.partition(judging.partition).topic_holder("ferry")
