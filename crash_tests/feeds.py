"""The change streams over HTTP: what was accepted since the last look, once each, in order, and nothing else.

What always holds: a look begins at the cursor where the last one ended. So a cursor that a client was given before a
kill must still lie on the journal afterwards, with the same prefix of history. Whatever a consumer was told meanwhile
is there, at the same place.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from crash_tests.consumers.consumer import Consumer
from crash_tests.history import STREAMS, Command, Desk, Json, Stream
from crash_tests.store_clients import Ground
from crash_tests.timeline import Timeline
from crash_tests.violation import require, require_same
from crash_tests.witness import Witness
from relatum.core.ids import Partition


class Feeds:
    """Both streams of every partition."""

    def __init__(self, ground: Ground, timeline: Timeline) -> None:
        self._ground = ground
        self._timeline = timeline
        self._cursors: dict[tuple[Partition, Stream], Json | None] = {}

    def check(self, witness: Witness, touched: list[Command]) -> int:
        """`touched` are the commands accepted since the last look, in order; how many changes were compared."""
        for desk in {desk.partition: desk for desk in self._ground.desks}.values():
            for stream in STREAMS:
                own = [one for one in touched if one.family == stream and one.desk.partition == desk.partition]
                own = [one for one in own if one.changed]
                self._check(witness, desk, stream, own)
        return len(touched)

    def check_activated(self, witness: Witness) -> int:
        """Streams that were activated and tell nothing still begin where they were said to; how many there are."""
        for desk, stream in self._ground.activated:
            heard = self._ground.heard(desk, stream)
            baseline, deliveries = witness.changes(desk, stream, None)
            where = f"the stream of {stream}s that {desk.scope.agent_id!r} activated"
            require_same(f"{where}: what it tells", [], deliveries)
            require(baseline is not None or heard.baseline is None, f"{where} is not active any more")
            for one in (baseline, witness.activate(desk, stream)):
                if one is not None:
                    heard.begin(one)
        return len(self._ground.activated)

    def _check(self, witness: Witness, desk: Desk, stream: Stream, commands: list[Command]) -> None:
        where = f"the change stream of {stream}s"
        heard = self._ground.heard(desk, stream)
        after = self._cursors.get((desk.partition, stream))
        baseline, deliveries = witness.changes(desk, stream, after)
        require(baseline is not None or heard.baseline is None, f"{where} is not active any more")
        if baseline is not None:
            heard.begin(baseline)
        require_same(f"{where}: how many changes", len(commands), len(deliveries))
        for command, delivery in zip(commands, deliveries, strict=True):
            told = self._timeline.model(desk.partition).change(command)
            require_same(f"{where}: what it tells of {command.name}", told, delivery["change"])
            sequence, before = delivery["cursor"]["sequence"], after["sequence"] if after else 0
            require(sequence == before + 1, f"{where}: sequence {sequence} follows {before}")
            heard.hear(delivery)
            after = delivery["cursor"]
        end = after["sequence"] if after else 0
        require(heard.last <= end, f"{where} told a consumer of sequence {heard.last}, and now ends at {end}")
        self._cursors[desk.partition, stream] = after


def check_resumption(witness: Witness, consumers: Iterable[Consumer], random: Random) -> int:
    """Streams resumed by the id that each follower was given last, and by an older one, go on exactly behind it.

    How many streams that is.
    """
    resumed = 0
    for consumer in consumers:
        heard = consumer.heard
        known = consumer.event_ids
        for event_id, sequence in {*known[-1:], *random.sample(known, min(1, len(known)))}:
            tip = heard.cursor_at(heard.last)
            assert tip is not None, "somebody was told an event"
            events = witness.events(consumer.owner.desk, consumer.owner.stream, event_id, tip)
            told = [event.data for event in events]
            where = f"the stream of {consumer.name}, resumed behind sequence {sequence}"
            require_same(where, heard.between(sequence, heard.last), told)
            require_same(f"the names of events of {where}", {""} if told else set(), {event.name for event in events})
            resumed += 1
    return resumed
