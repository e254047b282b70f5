"""Group commit for a peer that has none: one thread that owns the only writing client and commits whatever has arrived.

It is what a program has to put before a store that lets one transaction in at a time, and what the product has inside.
While one group waits for the disk the next one gathers; nobody waits on purpose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, NamedTuple

from relatum.cli.bench.peers import peer
from relatum.cli.bench.peers.seed import Seed

GROUP_COMMANDS_MAX: Final = 128

Answers = list[bytes] | BaseException
TellAll = Callable[[Callable[[], None]], object]


class Ticket(NamedTuple):
    """Commands that arrived together, and who is told."""

    commands: Sequence[bytes]
    tell: Callable[[Answers], None]


class Committer:
    """The thread. `tell_all` runs what it is given, once a group: in this thread, or wherever the waiters are."""

    def __init__(self, client: Callable[[], peer.Client], tell_all: TellAll = lambda tell: tell()) -> None:
        self._client = client
        self._tell_all = tell_all
        self._arrived: SimpleQueue[Ticket | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="committer")
        self._thread.start()

    def submit(self, ticket: Ticket) -> None:
        """Puts commands in the queue."""
        self._arrived.put(ticket)

    def stop(self) -> None:
        """Ends the thread once it has committed what is before."""
        self._arrived.put(None)
        self._thread.join()

    def _run(self) -> None:
        client = self._client()
        try:
            while (group := self._gather()) is not None:
                self._commit(client, group)
        finally:
            client.close()

    def _gather(self) -> list[Ticket] | None:
        """Whatever has arrived, at least one; None at the end."""
        first = self._arrived.get()
        if first is None:
            return None
        group, size = [first], len(first.commands)
        while size < GROUP_COMMANDS_MAX:
            try:
                more = self._arrived.get_nowait()
            except Empty:
                break
            if more is None:
                self._arrived.put(None)
                break
            group.append(more)
            size += len(more.commands)
        return group

    def _commit(self, client: peer.Client, group: list[Ticket]) -> None:
        answers: Answers
        try:
            answers = client.commit([command for ticket in group for command in ticket.commands])
        except Exception as error:  # noqa: BLE001 - whoever waits is told, whatever it was
            answers = error
        self._tell_all(lambda: _tell(group, answers))


def _tell(group: list[Ticket], answers: Answers) -> None:
    start = 0
    for commands, tell in group:
        tell(answers if isinstance(answers, BaseException) else answers[start : start + len(commands)])
        start += len(commands)


class Peer:
    """Another peer, behind a committer."""

    def __init__(self, inner: peer.Peer, name: str | None = None) -> None:
        self._inner = inner
        self.name = name or f"{inner.name}, behind a committer"

    def start(self, directory: Path) -> None:
        """Starts the other."""
        self._inner.start(directory)
        self._committer: Committer | None = None

    def load(self, seed: Seed) -> None:
        """Loads the other, and starts the committer."""
        self._inner.load(seed)
        self._committer = Committer(self._inner.client)

    def client(self) -> Client:
        """Writes by the committer, reads by itself."""
        assert self._committer is not None
        return Client(self._committer, self._inner.client())

    def stop(self) -> None:
        """Stops both."""
        if self._committer is not None:
            self._committer.stop()
        self._inner.stop()


class Client:
    """One client."""

    def __init__(self, committer: Committer, reader: peer.Client) -> None:
        self._committer = committer
        self._reader = reader
        self.two_hop = reader.two_hop
        self.close = reader.close

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """Waits for the group that takes them."""
        waiting: Future[list[bytes]] = Future()

        def tell(answers: Answers) -> None:
            if isinstance(answers, BaseException):
                waiting.set_exception(answers)
            else:
                waiting.set_result(answers)

        self._committer.submit(Ticket(commands, tell))
        return waiting.result()


async def committed(committer: Committer, command: bytes) -> bytes:
    """The answer of one command, for an event loop; the committer tells in it."""
    waiting: asyncio.Future[list[bytes]] = asyncio.get_running_loop().create_future()

    def tell(answers: Answers) -> None:
        if waiting.done():
            return  # whoever waited has gone
        if isinstance(answers, BaseException):
            waiting.set_exception(answers)
        else:
            waiting.set_result(answers)

    committer.submit(Ticket((command,), tell))
    return (await waiting)[0]
