"""Consumers at work notice, then and there, what a stream must not tell and what must not become of a checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from crash_tests.consumers.consumer import Consumer
from crash_tests.consumers.follower import take_event
from crash_tests.consumers.page_reader import take_page
from crash_tests.consumers.stream_history import Heard
from crash_tests.event_stream import Event
from crash_tests.history import Json
from crash_tests.violation import Violation
from tests.crash.told import OWNER, consumer, cursor, delivery, save, saved

ANOTHER_JOURNAL = "00000000-0000-4000-8000-00000000000d"

# What a stream tells


def test_a_consumer_takes_what_comes_next_and_may_start_again_from_what_it_saved() -> None:
    one = consumer(2)
    one.learn(saved(save(one)))
    one.take(delivery(3))
    one.start_from_checkpoint()
    one.take(delivery(3))
    assert (3, 5) == (one.sequence, one.heard.last)


TOLD: dict[str, tuple[Json, str]] = {
    "a change is skipped": (delivery(4), "was told sequence 4 after 2"),
    "a change is told again": (delivery(2), "was told sequence 2 after 2"),
    "another change stands where one was told": (delivery(3, kind="deleted"), "what a change stream tells at sequence"),
    "a place has another cursor": (
        delivery(3) | {"cursor": cursor(3, prefix_digest="0" * 64)},
        "what a change stream tells at sequence",
    ),
    "a change is told at another place": (delivery(6, receipt_digest="receipt 4"), "told at 4"),
    "another journal goes on": (delivery(6) | {"cursor": cursor(6, journal_id=ANOTHER_JOURNAL)}, "the journal of"),
}


@pytest.mark.parametrize(("told", "noticed"), TOLD.values(), ids=TOLD)
def test_what_a_stream_must_not_tell_is_noticed(told: Json, noticed: str) -> None:
    one = consumer(2)
    if told["cursor"]["sequence"] == 6:
        for sequence in (3, 4, 5):
            one.take(delivery(sequence))
    with pytest.raises(Violation, match=noticed):
        one.take(told)


def test_a_stream_that_begins_elsewhere_is_noticed() -> None:
    with pytest.raises(Violation, match="where a change stream begins"):
        consumer().heard.begin(cursor(0, journal_id=ANOTHER_JOURNAL))


# Pages

INACTIVE: Json = {
    "active": False,
    "baseline": None,
    "changes": [],
    "next_cursor": None,
    "high_watermark": None,
    "complete": True,
}


def page(**members: Any) -> Json:
    """Two changes for a consumer that has taken two, of a stream that has five."""
    told: Json = {
        "active": True,
        "baseline": cursor(0),
        "changes": [delivery(3), delivery(4)],
        "next_cursor": cursor(4),
        "high_watermark": cursor(5),
        "complete": False,
    }
    return told | members


def query(**members: Any) -> Json:
    return {"after": cursor(2), "limit": 2} | members


def test_a_page_is_taken_over() -> None:
    one = consumer(2)
    take_page(one, query(), page(), 5)
    take_page(one, query(after=cursor(4)), page(changes=[delivery(5)], next_cursor=cursor(5), complete=True), 5)
    take_page(one, query(after=cursor(5)), page(changes=[], next_cursor=cursor(5), complete=True), 5)
    assert cursor(5) == one.place


def test_a_stream_that_is_not_active_has_an_empty_page() -> None:
    one = Consumer(OWNER, Heard())
    take_page(one, query(after=None), INACTIVE, 0)
    assert one.place is None


PAGES: dict[str, tuple[Json, str]] = {
    "its next cursor lies further": (page(next_cursor=cursor(5)), "the next cursor"),
    "its next cursor lies back": (page(next_cursor=cursor(2)), "the next cursor"),
    "it lacks what was acknowledged": (
        page(high_watermark=cursor(4), complete=True),
        "is told of 4 changes after 5 acknowledgements",
    ),
    "it says complete too early": (page(complete=True), "whether a page .* is complete"),
    "it says complete too late": (page(high_watermark=cursor(4)), "acknowledgements|is complete"),
    "it is longer than asked for": (
        page(changes=[delivery(3), delivery(4), delivery(5)], next_cursor=cursor(5), complete=True),
        "longer than asked for",
    ),
    "it makes no way": (page(changes=[], next_cursor=cursor(2)), "gets an empty page"),
    "it leaves out a change": (page(changes=[delivery(4)]), "was told sequence 4 after 2"),
    "its stream is not active any more": (INACTIVE, "reads an active stream as inactive"),
    "it begins elsewhere": (page(baseline=cursor(0, journal_id=ANOTHER_JOURNAL)), "where a change stream begins"),
}


@pytest.mark.parametrize(("told", "noticed"), PAGES.values(), ids=PAGES)
def test_what_a_page_must_not_tell_is_noticed(told: Json, noticed: str) -> None:
    with pytest.raises(Violation, match=noticed):
        take_page(consumer(2), query(), told, 5)


def test_a_page_beyond_its_fence_is_noticed() -> None:
    with pytest.raises(Violation, match="the fence"):
        take_page(consumer(2), query(through=cursor(4)), page(), 5)


# Events

EVENTS: dict[str, tuple[Event, str]] = {
    "a change is skipped": (Event("", "id 4", delivery(4)), "was told sequence 4 after 2"),
    "an idle stream is elsewhere": (Event("checkpoint", "id 3", {"cursor": cursor(3)}), "where the stream"),
    "a stream is lost": (Event("resync", "", {"code": "journal_history_conflict"}), "ended with resync"),
}


@pytest.mark.parametrize(("event", "noticed"), EVENTS.values(), ids=EVENTS)
def test_what_an_event_must_not_tell_is_noticed(event: Event, noticed: str) -> None:
    with pytest.raises(Violation, match=noticed):
        take_event(consumer(2), event)


def test_events_move_a_consumer_and_are_resumed_from() -> None:
    one = consumer(2)
    take_event(one, Event("checkpoint", "id 2", {"cursor": cursor(2)}))
    take_event(one, Event("", "id 3", delivery(3)))
    assert ("id 3", ("id 3", 3)) == (one.event_id, one.event_ids[-1])


# Checkpoints


def test_receipts_of_checkpoints_follow_one_another() -> None:
    one = consumer(2)
    one.learn(saved(save(one)))
    one.learn(saved(save(one, "key 2")))
    one.learn(saved(save(one, "key 3", type="reconcile", cursor=cursor(0), evidence_ref="decision 3")))
    assert one.checkpoint is not None
    assert (3, cursor(0)) == (one.checkpoint["revision"], one.checkpoint["cursor"])


RECEIPTS: dict[str, Json] = {
    "a revision is skipped": {"revision": 3},
    "a revision is told again": {"revision": 1},
    "another place is saved": {"cursor": cursor(1)},
    "another consumer's": {"consumer_id": "other"},
    "another author's": {"author": {"subject_id": "eve"}},
}


@pytest.mark.parametrize("members", RECEIPTS.values(), ids=RECEIPTS)
def test_a_receipt_of_another_checkpoint_is_noticed(members: Json) -> None:
    one = consumer(2)
    one.learn(saved(save(one)))
    with pytest.raises(Violation, match="the receipt of the checkpoint command 'key 2'"):
        one.learn(saved(save(one, "key 2"), **members))


REFUSED: dict[str, tuple[Json, str]] = {
    "it goes backwards": ({"cursor": cursor(1)}, "checkpoint_regression"),
    "it names another history": ({"cursor": cursor(2, prefix_digest="0" * 64)}, "journal_history_conflict"),
    "it lies ahead of the journal": ({"cursor": cursor(9)}, "journal_history_conflict"),
}


@pytest.mark.parametrize(("operation", "code"), REFUSED.values(), ids=REFUSED)
def test_a_save_that_must_be_refused_and_was_accepted_is_noticed(operation: Json, code: str) -> None:
    one = consumer(2)
    one.learn(saved(save(one)))
    command = save(one, "key 2", **operation)
    assert code == one.refusal_of(command)
    with pytest.raises(Violation, match=f"which was accepted: expected '{code}'"):
        one.learn(saved(command))


def test_a_stale_save_and_a_reconciliation_of_nothing_must_be_refused() -> None:
    one = consumer(2)
    stale = save(one)
    assert "invalid_request" == one.refusal_of(save(one, type="reconcile", evidence_ref="decision 3"))
    assert one.refusal_of(stale) is None
    one.learn(saved(save(one, "key 2")))
    assert "revision_conflict" == one.refusal_of(stale)
