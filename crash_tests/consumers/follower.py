"""A thread that follows one stream of server-sent events after the other, and leaves them in the middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from crash_tests.command_requests import require_unavailable
from crash_tests.consumers.checkpoint_writer import Saver
from crash_tests.consumers.consumer import Consumer
from crash_tests.event_stream import Event, EventStream
from crash_tests.server import Server
from crash_tests.store_clients import Ground
from crash_tests.violation import Violation, require, require_same
from crash_tests.wire import Connection, Unreachable
from crash_tests.worker import until_gone

EVENTS_MAX = 80
EVENTS_PER_SAVING = 6


class Follower:
    """One thread's consumers. `on_event` is called after each change that came by a stream."""

    def __init__(
        self,
        ground: Ground,
        server: Server,
        random: Random,
        consumers: Sequence[Consumer],
        on_sending: Callable[[], None],
        on_event: Callable[[], None],
        on_break: Callable[[], None],
    ) -> None:
        self._server = server
        self._random = random
        self._consumers = consumers
        self._on_event = on_event
        self._on_break = on_break
        self._saver = Saver(ground, server, random, on_sending)
        self._connections = {account: Connection(server.port, account.secret) for account in ground.accounts}

    def work(self, is_over: Callable[[], bool]) -> None:
        """Until called off, or until the server is gone because it was to go."""
        with until_gone(self._server, self._connections.values()):
            while not is_over():
                self._follow(self._random.choice(self._consumers))

    def _follow(self, consumer: Consumer) -> None:
        if self._random.random() < 0.2:
            consumer.start_from_checkpoint()
        with open_stream(self._server.port, consumer) as events:
            if events.refusal is not None:
                name = f"the stream of {consumer.name}"
                require_unavailable(self._server, name, events.refusal.status, events.refusal.code)
                return
            try:
                self._take(events, consumer)
            except Unreachable:
                self._on_break()
                raise

    def _take(self, events: EventStream, consumer: Consumer) -> None:
        """Some events, and what is saved in between."""
        for _ in range(self._random.randint(1, EVENTS_MAX)):
            event = events.next()
            if event is None:
                require(self._server.stopping, f"the stream of {consumer.name} ended by itself")
                return
            take_event(consumer, event)
            self._on_event()
            if self._random.randrange(EVENTS_PER_SAVING) == 0:
                self._saver.step(self._connections[consumer.owner.desk.account], consumer)


def open_stream(port: int, consumer: Consumer) -> EventStream:
    """The stream from where a consumer is: behind the last event if there was one, else behind its cursor."""
    owner = consumer.owner
    query = {} if consumer.event_id is not None else {"after": consumer.place}
    path = f"/api/v1/memory/{owner.stream}s/changes/stream"
    return EventStream(port, owner.desk.account.secret, path, owner.desk.body(query=query), consumer.event_id)


def take_event(consumer: Consumer, event: Event) -> None:
    """A change, which must be the next one; or the word that there is none."""
    if event.name == "":
        consumer.take(event.data, event.event_id)
    elif event.name == "checkpoint":
        cursor = event.data["cursor"]
        if cursor is not None and cursor["sequence"] == 0:
            consumer.heard.begin(cursor)
        require_same(f"where the stream of {consumer.name} stands", consumer.place or consumer.heard.baseline, cursor)
    else:
        raise Violation(f"the stream of {consumer.name} ended with {event.name} {event.data}")
