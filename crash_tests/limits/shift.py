"""Clients at work until enough has happened, and what they were told meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from random import Random
from threading import Condition, Event
from time import monotonic

from crash_tests.client import Client
from crash_tests.ground import Ground
from crash_tests.limits.patient import Patient, Unavailable
from crash_tests.server import Server
from crash_tests.violation import require
from crash_tests.wire import ANSWER_SECONDS_MAX, Connection, Response, Unreachable

CLIENTS = 3
READ_MAX = 20
PAUSE_SECONDS = 0.02
_INSPECT = "/api/v1/memory/records/inspect"


class Shift:
    """Clients, each in a thread, on one server. Call `finish` in the end."""

    def __init__(self, ground: Ground, server: Server, random: Random, tolerated: Unavailable = frozenset()) -> None:
        self.accepted = 0
        self.unavailable = 0
        """Commands that were not to be had for want of something."""
        self._happened = Condition()
        self._over = False
        self._threads = ThreadPoolExecutor(CLIENTS)
        clients = [
            Patient(ground, server, Random(random.random()), self._accept, self._refuse, tolerated)
            for _ in range(CLIENTS)
        ]
        self._working = [self._threads.submit(self._run, client) for client in clients]

    def wait_for(self, enough: Callable[[], bool], seconds_max: float) -> bool:
        """Wait until enough has happened, or somebody has ended; whether it has."""
        with self._happened:
            self._happened.wait_for(lambda: enough() or self._ended(), seconds_max)
            return enough()

    def finish(self) -> None:
        """Call everybody off and wait for them. Raises what somebody met."""
        self._over = True
        for working in self._working:
            working.result(2 * ANSWER_SECONDS_MAX)
        self._threads.shutdown()

    def _run(self, client: Client) -> None:
        try:
            client.work(lambda: self._over)
        finally:
            with self._happened:
                self._happened.notify_all()

    def _ended(self) -> bool:
        return any(one.done() for one in self._working)

    def _accept(self) -> None:
        with self._happened:
            self.accepted += 1
            self._happened.notify_all()

    def _refuse(self) -> None:
        with self._happened:
            self.unavailable += 1
            self._happened.notify_all()


def require_reads(ground: Ground, server: Server, random: Random) -> int:
    """Read some of what was acknowledged, at all desks: every read must be answered. The number of reads."""
    reads = 0
    for desk in ground.desks:
        with closing(Connection(server.port, desk.account.secret)) as connection:
            for _ in range(READ_MAX):
                known = ground.sight(desk).record(random)
                if known is None:
                    break
                answer = connection.post(_INSPECT, desk.body(record_id=known.object_id))
                require(answer.status == 200, f"a read was answered with {answer.status} {answer.body!r}")
                found = answer.json()["inspection"]["record"]["revision"]
                require(found >= known.revision, f"a read shows revision {found} after {known.revision}")
                reads += 1
    return reads


def require_states(server: Server, ready: int) -> None:
    """The server is healthy, and ready or not. One that was short of something may drop a connection or two first."""
    for path, expected in (("/health", 200), ("/ready", ready)):
        found = _answered(server, path)
        require(found.status == expected, f"{path} answers {found.status} {found.body!r}")


def _answered(server: Server, path: str) -> Response:
    deadline = monotonic() + ANSWER_SECONDS_MAX
    while True:
        with closing(Connection(server.port, "")) as connection:
            try:
                return connection.get(path)
            except Unreachable as dropped:
                require(not server.ended and monotonic() < deadline, f"{path} is not answered: {dropped}")
        Event().wait(PAUSE_SECONDS)  # until the server has had time to let go of something
