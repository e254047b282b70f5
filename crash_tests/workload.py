"""Everybody who is at work on a server at once, each in a thread, until the server goes or they are called off."""

from __future__ import annotations

from collections import Counter
from functools import partial
from threading import Condition, Thread
from typing import Literal

from crash_tests.admin_worker import Clerk
from crash_tests.client import Client
from crash_tests.consumers.follower import Follower
from crash_tests.consumers.page_reader import PageReader
from crash_tests.curation_workload.worker import Tender
from crash_tests.mining import Miner
from crash_tests.random_draws import Place, seeded
from crash_tests.server import Server
from crash_tests.store_clients import Ground
from crash_tests.violation import require
from crash_tests.wire import ANSWER_SECONDS_MAX
from crash_tests.worker import Worker

ACCEPTED_PER_CLERK = 8
ACCEPTED_PER_TENDER = 2
ACCEPTED_PER_MINER = 4
CLERK_SECONDS_MAX = 60.0

Happening = Literal["accepted", "saving", "following", "broken"]
"""A command was acknowledged, a checkpoint is about to be sent, a stream has told a change, a stream broke off."""


class Workload:
    """Threads at work against one server."""

    def __init__(self, ground: Ground, server: Server, place: Place, clients: int, consumers: int) -> None:
        self._ground = ground
        self._server = server
        self._condition = Condition()
        self._counts: Counter[Happening] = Counter()
        self._failure: Exception | None = None
        self._over = False
        self._ended = 0
        """How many workers have come to their end."""
        workers: list[Worker] = [
            Client(ground, server, seeded(*place, number), partial(self._count, "accepted"))
            for number in range(clients)
        ]
        workers += [self._consumer(number, consumers, place) for number in range(consumers)]
        workers.append(Clerk(ground, server, seeded(*place, "clerk"), partial(self._pace, ACCEPTED_PER_CLERK)))
        name = "-".join(map(str, (*place, "tender")))
        workers.append(Tender(ground.tended, server, name, partial(self._pace, ACCEPTED_PER_TENDER)))
        random = seeded(*place, "miner")
        workers.append(Miner(ground.mined, server, random, partial(self._pace, ACCEPTED_PER_MINER)))
        self._threads = [Thread(target=self._run, args=(worker,), daemon=True) for worker in workers]
        for thread in self._threads:
            thread.start()

    def _consumer(self, number: int, consumers: int, place: Place) -> Worker:
        """Every other one follows; they share the consumers of their kind."""
        random, saving = seeded(*place, "consumer", number), partial(self._count, "saving")
        own = slice(number // 2, None, (consumers + 1 - number % 2) // 2)
        if number % 2 == 0:
            return PageReader(self._ground, self._server, random, self._ground.consumers("pager")[own], saving)
        told, broken = partial(self._count, "following"), partial(self._count, "broken")
        following = self._ground.consumers("follower")[own]
        return Follower(self._ground, self._server, random, following, saving, told, broken)

    def wait_for(self, happening: Happening, more: int, seconds_max: float) -> None:
        """Wait until something has happened so often from now on, or somebody has failed.

        A violation if neither comes about.
        """
        with self._condition:
            before = self._counts[happening]
            came = self._condition.wait_for(
                lambda: self._counts[happening] >= before + more or self._failure, seconds_max
            )
            happened = self._counts[happening] - before
        require(bool(came), f"{happening!r} happened only {happened} of {more} times within {seconds_max:g} s")

    def wait_until_gone(self, seconds_max: float) -> bool:
        """Wait until somebody has found the server gone, and says True, or has failed. A violation if neither comes."""
        with self._condition:
            came = self._condition.wait_for(lambda: self._ended or self._failure, seconds_max)
        require(bool(came), f"the server went on for {seconds_max:g} s after it was to die")
        return self._failure is None

    def finish(self) -> Counter[Happening]:
        """Call everybody off and wait for them; what happened how often. Raises what somebody met."""
        with self._condition:
            self._over = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join(2 * ANSWER_SECONDS_MAX)
            require(not thread.is_alive(), "a client got no end to its request")
        if self._failure is not None:
            raise self._failure
        return self._counts

    def _count(self, happening: Happening) -> None:
        with self._condition:
            self._counts[happening] += 1
            self._condition.notify_all()

    def _pace(self, more: int) -> bool:
        """Waits for some more acknowledgements; whether the work goes on."""
        with self._condition:
            goal = self._counts["accepted"] + more
            self._condition.wait_for(
                lambda: self._counts["accepted"] >= goal or self._over or self._failure, CLERK_SECONDS_MAX
            )
            return not self._over and self._failure is None

    def _run(self, worker: Worker) -> None:
        try:
            worker.work(lambda: self._over)
        except Exception as error:  # noqa: BLE001 - the campaign's thread raises it again
            with self._condition:
                self._failure = self._failure or error
        finally:
            with self._condition:
                self._ended += 1
                self._condition.notify_all()
