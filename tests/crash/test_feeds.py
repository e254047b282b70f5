"""The look at the change streams notices what a stream must not tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crash_tests.feeds import Feeds
from crash_tests.history import Command, Desk, Json
from crash_tests.timeline import Timeline
from crash_tests.violation import Violation
from tests.crash.told import DESK, RECORD_ID, accepted, create, revise

DIGESTS = {"record_digest": "d", "receipt_digest": "e"}


class Teller:
    """Stands where a restarted server would: tells what it was given, and remembers from where it was asked to."""

    def __init__(self, deliveries: list[Json]) -> None:
        self.deliveries = deliveries
        self.asked_after: list[Json | None] = []

    def changes(self, desk: Desk, family: str, after: Json | None) -> list[Json]:
        if family == "relation":
            return []
        self.asked_after.append(after)
        return self.deliveries


def commands() -> list[Command]:
    first = accepted(create(), 1, **DIGESTS)
    return [first, accepted(revise("key 2", 1), 2, revision=2, action="revised", **DIGESTS)]


def delivery(sequence: int, **members: Any) -> Json:
    change = {
        "schema_version": 1,
        "kind": "created" if sequence == 1 else "revised",
        "record_id": RECORD_ID,
        "record_revision": sequence,
        "author": DESK.account.author,
        "committed_at_millis": 7,
        **DIGESTS,
    }
    return {"cursor": {"sequence": sequence}, "change": change | members}


def look(teller: Teller) -> Feeds:
    accepted_commands, timeline = commands(), Timeline()
    timeline.follow(accepted_commands)
    feeds = Feeds(timeline)
    assert 2 == feeds.check(teller, [DESK], accepted_commands)  # type: ignore[arg-type]  # a stand-in
    return feeds


def test_a_stream_that_tells_every_command_once_is_followed_from_where_it_was_left() -> None:
    teller = Teller([delivery(1), delivery(2)])
    feeds = look(teller)
    teller.deliveries = []
    feeds.check(teller, [DESK], [])  # type: ignore[arg-type]  # a stand-in
    assert [None, {"sequence": 2}] == teller.asked_after


UNSOUND: dict[str, Callable[[], list[Json]]] = {
    "a change is missing": lambda: [delivery(1)],
    "a change is told twice": lambda: [delivery(1), delivery(2), delivery(2)],
    "changes are out of order": lambda: [delivery(2), delivery(1)],
    "a sequence is skipped": lambda: [delivery(1), delivery(2) | {"cursor": {"sequence": 3}}],
    "a change tells another revision": lambda: [delivery(1), delivery(2, record_revision=3)],
    "a change tells another digest": lambda: [delivery(1), delivery(2, receipt_digest="f")],
}


@pytest.mark.parametrize("deliveries", UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_stream_is_noticed(deliveries: Callable[[], list[Json]]) -> None:
    with pytest.raises(Violation, match="the change stream of records"):
        look(Teller(deliveries()))
