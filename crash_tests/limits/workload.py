"""Clients, and one who judges, at work until enough has happened, and what they were told meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from random import Random
from threading import Condition, Event
from time import monotonic

from crash_tests.client import Client
from crash_tests.curation_workload.worker import Tender
from crash_tests.limits.permitted_answers import Patience, Tolerated
from crash_tests.server import Server
from crash_tests.store_clients import Ground
from crash_tests.violation import require
from crash_tests.wire import ANSWER_SECONDS_MAX, Connection, Response, Unreachable
from crash_tests.worker import Worker

CLIENTS = 3
ANSWERS_PER_TENDER = 2
READ_MAX = 20
PAUSE_SECONDS = 0.02
_INSPECT = "/api/v1/memory/records/inspect"


class Shift:
    """Workers, each in a thread, on one server. Call `finish` in the end."""

    def __init__(self, ground: Ground, server: Server, random: Random, tolerated: Tolerated = frozenset()) -> None:
        self.accepted = 0
        self.unavailable = 0
        """Commands that were not to be had for want of something."""
        self._happened = Condition()
        self._over = False
        unsettled = Patience(server, tolerated, self._refuse)
        workers: list[Worker] = [
            Client(ground, server, Random(random.random()), self._accept, unsettled) for _ in range(CLIENTS)
        ]
        workers.append(Tender(ground.tended, server, str(random.random()), self._pace, unsettled))
        self._threads = ThreadPoolExecutor(len(workers))
        self._working: list[Future[None]] = []
        self._working += [self._threads.submit(self._run, worker) for worker in workers]

    def wait_for(self, enough: Callable[[], bool], seconds_max: float) -> bool:
        """Wait until enough has happened, or somebody has ended; whether it has."""
        with self._happened:
            self._happened.wait_for(lambda: enough() or self._ended(), seconds_max)
            return enough()

    def finish(self) -> None:
        """Call everybody off and wait for them. Raises what somebody met."""
        with self._happened:
            self._over = True
            self._happened.notify_all()
        for working in self._working:
            working.result(2 * ANSWER_SECONDS_MAX)
        self._threads.shutdown()

    def _pace(self) -> bool:
        """Waits for some more answers to the others, good or bad; whether the work goes on."""
        with self._happened:
            goal = self.accepted + self.unavailable + ANSWERS_PER_TENDER
            self._happened.wait_for(
                lambda: self.accepted + self.unavailable >= goal or self._over or self._ended(), ANSWER_SECONDS_MAX
            )
            return not self._over

    def _run(self, worker: Worker) -> None:
        try:
            worker.work(lambda: self._over)
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
