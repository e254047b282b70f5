"""The look at the change streams after a restart notices what a stream must not tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crash_tests.event_stream import Event
from crash_tests.feeds import Feeds, check_resumption
from crash_tests.history import Command, Desk, Json, Stream
from crash_tests.random_draws import seeded
from crash_tests.store_clients import Ground
from crash_tests.timeline import Timeline
from crash_tests.violation import Violation
from tests.crash.told import ACCOUNT, DESK, accepted, consumer, create, cursor, delivery, revise


class Teller:
    """Stands where a restarted server would: tells what it was given, and remembers from where it was asked to."""

    def __init__(self, deliveries: list[Json], baseline: Json | None = None) -> None:
        self.deliveries = deliveries
        self.baseline = baseline or cursor(0)
        self.asked_after: list[Json | None] = []

    def changes(self, desk: Desk, stream: Stream, after: Json | None) -> tuple[Json | None, list[Json]]:
        if stream == "relation":
            return None, []
        self.asked_after.append(after)
        return self.baseline, self.deliveries

    def events(self, desk: Desk, stream: Stream, last_event_id: str, through: Json) -> list[Event]:
        return [Event("", f"id {one['cursor']['sequence']}", one) for one in self.deliveries]

    def activate(self, desk: Desk, stream: Stream) -> Json:
        return self.baseline


def commands() -> list[Command]:
    first = accepted(create(), 1, record_digest="d", receipt_digest="receipt 1")
    changed: Json = {"revision": 2, "action": "revised", "record_digest": "d", "receipt_digest": "receipt 2"}
    return [first, accepted(revise("key 2", 1), 2, **changed)]


def look(teller: Teller, heard: list[Json] | None = None) -> Feeds:
    """The first look after a restart; consumers had heard some of it before."""
    accepted_commands, timeline, ground = commands(), Timeline(), Ground([ACCOUNT], [DESK])
    timeline.follow(accepted_commands, {})
    for one in heard or []:
        ground.heard(DESK, "record").hear(one)
    feeds = Feeds(ground, timeline)
    assert 2 == feeds.check(teller, accepted_commands)  # type: ignore[arg-type]  # a stand-in
    return feeds


def test_a_stream_that_tells_every_command_once_is_followed_from_where_it_was_left() -> None:
    teller = Teller([delivery(1), delivery(2)])
    feeds = look(teller)
    teller.deliveries = []
    feeds.check(teller, [])  # type: ignore[arg-type]  # a stand-in
    assert [None, cursor(2)] == teller.asked_after


UNSOUND: dict[str, Callable[[], list[Json]]] = {
    "a change is missing": lambda: [delivery(1)],
    "a change is told twice": lambda: [delivery(1), delivery(2), delivery(2)],
    "changes are out of order": lambda: [delivery(2), delivery(1)],
    "a sequence is skipped": lambda: [delivery(1), delivery(2) | {"cursor": cursor(3)}],
    "a change tells another revision": lambda: [delivery(1), delivery(2, record_revision=3)],
    "a change tells another digest": lambda: [delivery(1), delivery(2, receipt_digest="f")],
}


@pytest.mark.parametrize("deliveries", UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_stream_is_noticed(deliveries: Callable[[], list[Json]]) -> None:
    with pytest.raises(Violation, match="the change stream of records"):
        look(Teller(deliveries()))


HEARD: dict[str, tuple[list[Json], str]] = {
    "a change that a consumer was told is gone": ([delivery(1), delivery(2), delivery(3)], "and now ends at 2"),
    "a change has another cursor than a consumer was told": (
        [delivery(1) | {"cursor": cursor(1, prefix_digest="0" * 64)}],
        "what a change stream tells at sequence 1",
    ),
    "a consumer was told it at another place": ([delivery(1), delivery(3, receipt_digest="receipt 2")], "told at 3"),
}


@pytest.mark.parametrize(("heard", "noticed"), HEARD.values(), ids=HEARD)
def test_what_a_consumer_was_told_must_not_be_taken_back(heard: list[Json], noticed: str) -> None:
    with pytest.raises(Violation, match=noticed):
        look(Teller([delivery(1), delivery(2)]), heard)


# Streams that were activated where nothing else goes on


def activated(baseline: Json | None, teller: Any) -> None:
    ground = Ground([ACCOUNT], [DESK])
    ground.activated.append((DESK, "record"))
    if baseline is not None:
        ground.heard(DESK, "record").begin(baseline)
    assert 1 == Feeds(ground, Timeline()).check_activated(teller)


class Asleep(Teller):
    """A server on which nothing is active until it is activated."""

    def changes(self, desk: Desk, stream: Stream, after: Json | None) -> tuple[Json | None, list[Json]]:
        return None, []


def test_an_activation_of_unknown_outcome_may_be_there_or_not() -> None:
    for teller in (Teller([]), Asleep([])):
        activated(None, teller)
    activated(cursor(0), Teller([]))


def test_an_activation_that_is_lost_is_noticed() -> None:
    with pytest.raises(Violation, match="is not active any more"):
        activated(cursor(0), Asleep([]))


def test_a_stream_that_begins_elsewhere_after_a_restart_is_noticed() -> None:
    with pytest.raises(Violation, match="where a change stream begins"):
        activated(cursor(0), Teller([], cursor(0, prefix_digest="f" * 64)))


# Resumption


def resume(deliveries: list[Json]) -> int:
    one = consumer(2)
    one.event_ids = one.event_ids[-1:]
    return check_resumption(Teller(deliveries), [one], seeded(1))  # type: ignore[arg-type]  # a stand-in


def test_a_stream_that_goes_on_behind_its_last_event_is_sound() -> None:
    assert 1 == resume([delivery(3), delivery(4), delivery(5)])


@pytest.mark.parametrize(
    "sequences", [[], [3, 4], [4, 5], [2, 3, 4, 5], [3, 5, 4], [3, 3, 4, 5]], ids=lambda one: f"told {one}"
)
def test_a_stream_that_does_not_go_on_exactly_where_it_broke_off_is_noticed(sequences: list[int]) -> None:
    with pytest.raises(Violation, match="resumed behind sequence 2"):
        resume([delivery(sequence) for sequence in sequences])
