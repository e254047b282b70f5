"""A thread that serves several consumers: the next page for one, a checkpoint of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from crash_tests.command_requests import require_unavailable
from crash_tests.consumers.checkpoint_writer import Saver
from crash_tests.consumers.consumer import Consumer
from crash_tests.history import Json
from crash_tests.server import Server
from crash_tests.store_clients import Ground
from crash_tests.violation import require, require_same
from crash_tests.wire import Connection
from crash_tests.worker import until_gone

_INACTIVE: Json = {
    "active": False,
    "baseline": None,
    "changes": [],
    "next_cursor": None,
    "high_watermark": None,
    "complete": True,
}


class PageReader:
    """One thread's consumers."""

    def __init__(
        self,
        ground: Ground,
        server: Server,
        random: Random,
        consumers: Sequence[Consumer],
        on_sending: Callable[[], None],
    ) -> None:
        self._server = server
        self._random = random
        self._consumers = consumers
        self._saver = Saver(ground, server, random, on_sending)
        self._connections = {account: Connection(server.port, account.secret) for account in ground.accounts}

    def work(self, is_over: Callable[[], bool]) -> None:
        """Until called off, or until the server is gone because it was to go."""
        for consumer in self._consumers:
            if self._random.random() < 0.3:
                consumer.start_from_checkpoint()
        with until_gone(self._server, self._connections.values()):
            while not is_over():
                self._step(self._random.choice(self._consumers))

    def _step(self, consumer: Consumer) -> None:
        connection = self._connections[consumer.owner.desk.account]
        if self._random.random() < 0.6:
            self._read(connection, consumer)
        else:
            self._saver.step(connection, consumer)

    def _read(self, connection: Connection, consumer: Consumer) -> None:
        random, acknowledged = self._random, consumer.heard.acknowledged
        query: Json = {
            "after": consumer.place,
            "limit": random.choice((1, 3, 20, 256)),
            "wait_millis": random.choice((0, 0, 40)),
        }
        if random.random() < 0.2:
            query["through"] = consumer.heard.cursor_at(max(consumer.sequence, consumer.heard.last))
        path = f"/api/v1/memory/{consumer.owner.stream}s/changes"
        response = connection.post(path, consumer.owner.desk.body(query=query))
        if response.status == 200:
            take_page(consumer, query, response.json()["page"], acknowledged)
        else:
            require_unavailable(self._server, f"a page of {consumer.name}", response.status, response.code)


def take_page(consumer: Consumer, query: Json, page: Json, acknowledged: int) -> None:
    """Takes over a page that was asked for when so many of the stream's commands were acknowledged."""
    if not page["active"]:
        require_same(f"a page of {consumer.name}, which is not active", _INACTIVE, page)
        require(acknowledged == 0 and consumer.place is None, f"{consumer.name} reads an active stream as inactive")
        return
    consumer.heard.begin(page["baseline"])
    start = query["after"] or page["baseline"]
    for delivery in page["changes"]:
        consumer.take(delivery)
    fence, reached = page["high_watermark"], consumer.place or start
    require_same(f"the next cursor of {consumer.name}", reached, page["next_cursor"])
    if query.get("through") is not None:
        require_same(f"the fence of {consumer.name}", query["through"], fence)
    else:
        told = fence["sequence"]
        require(
            told >= acknowledged, f"{consumer.name} is told of {told} changes after {acknowledged} acknowledgements"
        )
    require_same(f"whether a page of {consumer.name} is complete", reached == fence, page["complete"])
    require(len(page["changes"]) <= query["limit"], f"a page of {consumer.name} is longer than asked for")
    require(page["complete"] or bool(page["changes"]), f"{consumer.name} gets an empty page and is not at its end")
