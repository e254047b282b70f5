"""A topic key is an exclusive slot of a partition: one holder at a time, freed by a revision or a deletion."""

from __future__ import annotations

from relatum.core.ids import Ref
from relatum.errors import Refusal
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.builders import PRIVATE
from tests.support.desk import Desk
from tests.support.stores import assert_rebuilds
from tests.support.threads import at_once

TAKEN = (409, "revision_conflict")


def holder(ledger: Ledger, desk: Desk, topic: str = "tides") -> str | None:
    with ledger.view() as view:
        return view.partition(desk.partition).topic_holder(topic)


def test_a_taken_topic_is_refused_to_others_however_they_ask(desk: Desk) -> None:
    desk.create(topic_key="tides")
    other = desk.create()
    assert TAKEN == desk.refuse(builders.create(topic_key="tides"))
    assert TAKEN == desk.refuse(builders.derive(other, topic_key="tides"))
    assert TAKEN == desk.refuse(builders.revise(other, topic_key="tides"))
    desk.create(topic_key="Tides")


def test_the_holder_may_keep_its_topic_through_revisions_and_reviews(ledger: Ledger, desk: Desk) -> None:
    at = desk.create(topic_key="tides")
    at = desk.review(desk.revise(at, topic_key="tides"), "rejected")
    at = desk.revise(at, topic_key="tides")
    assert at.record_id == holder(ledger, desk)


def test_a_revision_without_the_topic_frees_it(ledger: Ledger, desk: Desk) -> None:
    at = desk.create(topic_key="tides")
    desk.revise(at)
    assert holder(ledger, desk) is None
    desk.create(topic_key="tides")


def test_a_revision_to_another_topic_moves_the_holder(ledger: Ledger, desk: Desk) -> None:
    at = desk.revise(desk.create(topic_key="tides"), topic_key="currents")
    assert (None, at.record_id) == (holder(ledger, desk), holder(ledger, desk, "currents"))


def test_a_deletion_frees_the_topic_after_reviews_too(ledger: Ledger, desk: Desk) -> None:
    desk.delete(desk.review(desk.create(topic_key="tides")))
    assert holder(ledger, desk) is None
    desk.create(topic_key="tides")


def test_a_topic_changes_hands_within_one_group(ledger: Ledger, desk: Desk) -> None:
    at = desk.create(topic_key="tides")
    outcomes = ledger.submit_all(
        [
            desk.command(builders.create(topic_key="tides")),
            desk.command(builders.revise(at)),
            desk.command(builders.create(topic_key="tides")),
            desk.command(builders.revise(Ref(record_id=at.record_id, revision=2), topic_key="tides")),
        ]
    )
    assert [True, False, False, True] == [isinstance(one, Refusal) for one in outcomes]


def test_topics_of_two_partitions_have_nothing_to_do_with_each_other(ledger: Ledger, desk: Desk) -> None:
    desk.create(topic_key="tides")
    Desk(ledger, PRIVATE).create(topic_key="tides")


def test_of_many_that_ask_at_once_one_gets_the_topic(ledger: Ledger, desk: Desk) -> None:
    outcomes = at_once([lambda: desk.submit(builders.create(topic_key="tides"))] * 16)
    assert 15 == sum(isinstance(one, Refusal) for one in outcomes)


def test_a_topic_that_went_through_erased_hands_is_rebuilt(ledger: Ledger, desk: Desk) -> None:
    first = desk.revise(desk.create(topic_key="tides"))
    second = desk.create(topic_key="tides")
    desk.delete(first)
    desk.delete(second)
    third = desk.create(topic_key="tides")
    assert third.record_id == holder(ledger, desk)
    assert_rebuilds(ledger)
