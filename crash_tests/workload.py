"""Several clients at work at once, each in a thread, until the server goes away or the work is called off."""

from __future__ import annotations

from threading import Condition, Thread

from crash_tests.client import Client
from crash_tests.ground import Ground
from crash_tests.plan import Place, seeded
from crash_tests.server import Server
from crash_tests.violation import require
from crash_tests.wire import ANSWER_SECONDS_MAX


class Workload:
    """Clients at work against one server."""

    def __init__(self, ground: Ground, server: Server, place: Place, clients: int) -> None:
        self._condition = Condition()
        self._accepted = 0
        self._failure: Exception | None = None
        self._over = False
        work = [Client(ground, server, seeded(*place, number), self._count_accepted) for number in range(clients)]
        self._threads = [Thread(target=self._run, args=(client,), daemon=True) for client in work]
        for thread in self._threads:
            thread.start()

    def wait_for(self, accepted: int, seconds_max: float) -> None:
        """Wait until so many commands were acknowledged, or a client has failed. A violation if neither comes about."""
        with self._condition:
            came = self._condition.wait_for(lambda: self._accepted >= accepted or self._failure, seconds_max)
        require(bool(came), f"only {self._accepted} of {accepted} commands were acknowledged within {seconds_max:g} s")

    def finish(self) -> int:
        """Call the clients off and wait for them; how many commands were acknowledged. Raises what a client met."""
        self._over = True
        for thread in self._threads:
            thread.join(2 * ANSWER_SECONDS_MAX)
            require(not thread.is_alive(), "a client got no end to its request")
        if self._failure is not None:
            raise self._failure
        return self._accepted

    def _count_accepted(self) -> None:
        with self._condition:
            self._accepted += 1
            self._condition.notify_all()

    def _run(self, client: Client) -> None:
        try:
            client.work(lambda: self._over)
        except Exception as error:  # noqa: BLE001 - the campaign's thread raises it again
            with self._condition:
                self._failure = self._failure or error
                self._condition.notify_all()
