"""What consumers ask of their checkpoints: mostly to advance, and now and then what must be refused or changes nothing.

What always holds: whether a command must be accepted, or with what refused, is known before it is sent. One whose
outcome is unknown is sent again, and nothing else, until it is settled.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from crash_tests.command_requests import receipt_in, require_unavailable, send
from crash_tests.consumers.consumer import Consumer
from crash_tests.history import Command, Json
from crash_tests.server import Server
from crash_tests.store_clients import Ground
from crash_tests.violation import require, require_same
from crash_tests.wire import Connection

_ANOTHER_HISTORY = "0" * 64


class Saver:
    """The checkpoint commands of one thread. `on_sending` is called just before each."""

    def __init__(self, ground: Ground, server: Server, random: Random, on_sending: Callable[[], None]) -> None:
        self._ground = ground
        self._server = server
        self._random = random
        self._on_sending = on_sending

    def step(self, connection: Connection, consumer: Consumer) -> None:
        """One request about a consumer's checkpoint."""
        if consumer.doubt is not None:
            self._send(connection, consumer, consumer.doubt)
            return
        chosen = self._random.random()
        if chosen < 0.06 and consumer.saved:
            self._replay(connection, self._random.choice(consumer.saved))
        elif chosen < 0.10 and consumer.saved:
            self._reuse_taken_key(connection, consumer, self._random.choice(consumer.saved))
        else:
            command = self._command(consumer)
            if command is not None:
                self._ground.history.enter(command)
                self._send(connection, consumer, command)

    def _command(self, consumer: Consumer) -> Command | None:
        """The next one, sound in four of five cases; None where there is nothing to save yet."""
        cursor = consumer.place or consumer.heard.baseline
        if cursor is None:
            return None
        before, chosen = consumer.checkpoint, self._random.random()
        operation: Json = {"type": "advance", "cursor": cursor}
        if chosen < 0.12:
            operation["cursor"] = consumer.heard.some_cursor(self._random) or cursor
        if chosen < 0.06:
            operation |= {"type": "reconcile", "evidence_ref": "decision 3"}
        elif 0.12 <= chosen < 0.16:
            operation["cursor"] = {**cursor, "prefix_digest": _ANOTHER_HISTORY}
        elif 0.16 <= chosen < 0.20 and consumer.saved:
            before = self._random.choice(consumer.saved).before
        elif 0.20 <= chosen < 0.25 and before:
            operation["cursor"] = before["cursor"]
        return self._made(consumer, self._ground.history.fresh_key(), operation, before)

    def _made(self, consumer: Consumer, key: str, operation: Json, before: Json | None) -> Command:
        return Command(consumer.owner.desk, "checkpoint", key, operation, owner=consumer.owner, before=before)

    def _send(self, connection: Connection, consumer: Consumer, command: Command) -> None:
        consumer.asked = command
        self._on_sending()
        response = send(connection, command)
        if response.status == 200:
            self._ground.accept(command, receipt_in(response))
        elif response.status == 503:
            require_unavailable(self._server, command.name, response.status, response.code)
        else:
            found = f"{response.status} {response.code}"
            refusal = consumer.refusal_of(command)
            expected = None if refusal is None else f"{400 if refusal == 'invalid_request' else 409} {refusal}"
            require_same(f"the answer to {command.name}", expected, found)
            self._ground.history.refuse(command)

    def _replay(self, connection: Connection, command: Command) -> None:
        response = send(connection, command)
        if response.status == 200:
            require(receipt_in(response) == command.receipt, f"{command.name} was replayed with another receipt")
        else:
            name = f"the replay of {command.name}"
            require_unavailable(self._server, name, response.status, response.code)

    def _reuse_taken_key(self, connection: Connection, consumer: Consumer, taken: Command) -> None:
        operation = {"type": "advance", "cursor": {**taken.operation["cursor"], "prefix_digest": _ANOTHER_HISTORY}}
        response = send(connection, self._made(consumer, taken.idempotency_key, operation, consumer.checkpoint))
        code = "accepted" if response.status == 200 else response.code
        if (response.status, code) != (409, "idempotency_conflict"):
            name = f"another command under the key of {taken.name}"
            require_unavailable(self._server, name, response.status, code)
