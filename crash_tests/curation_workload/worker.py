"""Who tends a scope: sends its requests one after another, beside the clients, and some of them again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from crash_tests.command_requests import Unsettled, require_unavailable
from crash_tests.curation_workload.outcomes import Tended
from crash_tests.curation_workload.requests import Ideas, Request
from crash_tests.server import Server
from crash_tests.wire import Connection, Response
from crash_tests.worker import until_gone

REPEATED = 0.1
REFUSALS = {"invalid_request", "record_not_found", "revision_conflict", "candidate_not_found"}


class Tender:
    """One thread's work. `pace` waits for others to have done something; whether the work goes on."""

    def __init__(
        self,
        tended: Tended,
        server: Server,
        name: str,
        pace: Callable[[], bool],
        unsettled: Unsettled | None = None,
    ) -> None:
        self._unsettled = unsettled or partial(require_unavailable, server)
        self._tended = tended
        self._server = server
        self._ideas = Ideas(tended.known, name)
        self._pace = pace
        self._connection = Connection(server.port, tended.desk.account.secret)

    def work(self, is_over: Callable[[], bool]) -> None:
        """Until called off, or until the server is gone because it was to go."""
        with until_gone(self._server, [self._connection]):
            while not is_over() and self._pace():
                answered = self._tended.answered()
                if answered and self._ideas.dice.random() < REPEATED:
                    again = self._ideas.dice.choice(answered)
                    self._send(again, f"the replay of the {again.kind} {again.key}")
                else:
                    request = self._ideas.next()
                    self._tended.ask(request)
                    self._send(request, f"the {request.kind} {request.key}")

    def _send(self, request: Request, name: str) -> None:
        response = post(self._connection, request)
        if not settle(self._tended, request, response):
            self._unsettled(name, response.status, response.code)


def post(connection: Connection, request: Request) -> Response:
    """The answer to a request."""
    return connection.post(request.path, msgspec.json.encode(request.body))


def settle(tended: Tended, request: Request, response: Response) -> bool:
    """Enters an answer; whether it is one. Raises `Violation` where it does not go with what was told before."""
    if response.status == 200:
        tended.answer(request, response.json())
    elif response.status in (400, 404, 409) and response.code in REFUSALS:
        tended.refuse(request)
    else:
        return False
    return True
