"""One client at work: what it does, and what it must not be told.

It sends single commands and batches, repeats old ones, uses old keys for other commands, and reads. Whatever it is told
goes into the history at once, and whatever must not be told is a violation then and there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from crash_tests.command_requests import (
    REFUSALS,
    Unsettled,
    receipt_in,
    require_unavailable,
    results_in,
    send,
    send_batch,
)
from crash_tests.history import Command, Desk, Family, Json
from crash_tests.operations import Author
from crash_tests.server import Server
from crash_tests.store_clients import Ground
from crash_tests.violation import require
from crash_tests.wire import Connection
from crash_tests.worker import until_gone
from relatum.core.ids import Partition


class Client:
    """One thread's work: at one desk after another, on a connection for each account."""

    def __init__(
        self,
        ground: Ground,
        server: Server,
        random: Random,
        on_accepted: Callable[[], None],
        unsettled: Unsettled | None = None,
    ) -> None:
        self._on_accepted = on_accepted
        self._unsettled = unsettled or partial(require_unavailable, server)
        self._ground = ground
        self._server = server
        self._random = random
        self._connections = {account: Connection(server.port, account.secret) for account in ground.accounts}
        self._told: list[Command] = []
        self._refused: list[Command] = []
        self._last: dict[Partition, int] = {}
        self._latest_millis = 0

    def work(self, is_over: Callable[[], bool]) -> None:
        """Until called off, or until the server is gone because it was to go."""
        with until_gone(self._server, self._connections.values()):
            while not is_over():
                self._step()

    def _step(self) -> None:
        chosen = self._random.random()
        if chosen < 0.66:
            self._single(self._fresh(self._random.choice(self._ground.desks)))
        elif chosen < 0.78:
            self._batch()
        elif chosen < 0.86 and self._told:
            self._replay(self._random.choice(self._told))
        elif chosen < 0.90 and self._told:
            self._reuse_taken_key(self._random.choice(self._told))
        elif chosen < 0.93 and self._refused:
            old = self._refused.pop(self._random.randrange(len(self._refused)))
            self._single(self._fresh(old.desk, old.family, old.idempotency_key))
        else:
            self._read(self._random.choice(self._ground.desks))

    def _fresh(self, desk: Desk, family: Family | None = None, key: str | None = None) -> Command:
        """A command that was never sent, entered into the history."""
        author = Author(self._random, self._ground.sight(desk))
        while True:
            its_family, operation = author.operation()
            if family in (None, its_family):
                break
        history = self._ground.history
        command = Command(desk, its_family, key or history.fresh_key(), operation)
        history.enter(command)
        return command

    def _connection(self, desk: Desk) -> Connection:
        return self._connections[desk.account]

    def _single(self, command: Command) -> None:
        response = send(self._connection(command.desk), command)
        if response.status == 200:
            self._accepted(command, receipt_in(response))
        else:
            self._not_accepted(command, response.status, response.code)

    def _batch(self) -> None:
        desk = self._random.choice(self._ground.desks)
        commands = [self._fresh(desk)]
        commands += [self._fresh(desk, commands[0].family) for _ in range(self._random.randrange(12))]
        response = send_batch(self._connection(desk), commands)
        if response.status != 200:
            require(response.status == 503, f"a batch was answered with {response.status} {response.body!r}")
            for command in commands:
                self._not_accepted(command, response.status, response.code)
            return
        results = results_in(response)
        require(len(results) == len(commands), f"{len(results)} results for a batch of {len(commands)}")
        for command, result in zip(commands, results, strict=True):
            if result.error is None:
                self._accepted(command, bytes(result.receipt))
            else:
                self._not_accepted(command, result.error["status"], result.error["code"])

    def _accepted(self, command: Command, receipt: bytes) -> None:
        self._ground.accept(command, receipt)
        self._told.append(command)
        sequence, partition = command.told()["commit_sequence"], command.desk.partition
        require(
            sequence > self._last.get(partition, 0),
            f"{command.name} has commit sequence {sequence} after one that was acknowledged before it was sent",
        )
        self._last[partition] = sequence
        at_millis = command.told()["committed_at_millis"]
        require(
            at_millis >= self._latest_millis,
            f"{command.name} was committed at {at_millis}, before one that was acknowledged before it was sent",
        )
        self._latest_millis = at_millis
        self._on_accepted()

    def _not_accepted(self, command: Command, status: int, code: str) -> None:
        if status in (400, 404, 409) and code in REFUSALS[command.family]:
            self._ground.history.refuse(command)
            self._refused.append(command)
        else:
            self._unsettled(command.name, status, code)

    def _replay(self, command: Command) -> None:
        response = send(self._connection(command.desk), command)
        if response.status == 200:
            require(receipt_in(response) == command.receipt, f"{command.name} was replayed with another receipt")
        else:
            self._unsettled(f"the replay of {command.name}", response.status, response.code)

    def _reuse_taken_key(self, taken: Command) -> None:
        author = Author(self._random, self._ground.sight(taken.desk))
        family, operation = author.operation()
        if family != taken.family or operation == taken.operation:
            return
        response = send(self._connection(taken.desk), Command(taken.desk, family, taken.idempotency_key, operation))
        if (response.status, response.status == 409 and response.code) != (409, "idempotency_conflict"):
            name = f"another command under the key of {taken.name}"
            self._unsettled(name, response.status, response.code if response.status != 200 else "accepted")

    def _read(self, desk: Desk) -> None:
        known = self._ground.sight(desk).record(self._random)
        if known is None:
            return
        path = "/api/v1/memory/records/inspect"
        response = self._connection(desk).post(path, desk.body(record_id=known.object_id))
        if response.status == 200:
            record: Json = response.json()["inspection"]["record"]
            require(
                record["revision"] >= known.revision, "a read shows an older revision than was acknowledged before it"
            )
            self._ground.observed.append((desk, record))
        else:
            self._unsettled("a read of a record that was acknowledged", response.status, response.code)
