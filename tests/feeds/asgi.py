"""A change stream in process: the application driven message by message, so that a test decides who waits for whom."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import msgspec
from starlette.types import Message

from relatum.clock import ManualClock
from relatum.core.access import Credential, CredentialSpec
from relatum.errors import Refusal
from relatum.http.app import application
from relatum.http.responses import ABORT
from relatum.http.route_table import ROUTES
from relatum.http.server_state import Pages, Services, StreamBounds
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.telemetry import Log
from tests.feeds.following import answered
from tests.feeds.wire import Event, parsed
from tests.http.client import RELATIONS
from tests.support.builders import SCOPE, START_MILLIS
from tests.support.desk import Desk
from tests.support.polling import WAIT_SECONDS

NEVER_SECONDS = 3600.0
"""A bound that no test comes to."""
PATIENT = StreamBounds(write_seconds=NEVER_SECONDS, idle_seconds=NEVER_SECONDS)
RESTLESS = StreamBounds(write_seconds=NEVER_SECONDS, idle_seconds=0.01)


def run(test: Coroutine[Any, Any, None]) -> None:
    """Runs a test, with a bound on all its waits."""
    asyncio.run(asyncio.wait_for(test, WAIT_SECONDS))


class Host:
    """A server without sockets on a ledger in memory, with an administrator, and one consumer at a desk's partition."""

    def __init__(self, bounds: StreamBounds, ledger: Ledger, clock: ManualClock, admin: Credential) -> None:
        log = Log(sys.stderr, clock.millis, "error")
        self.clock = clock
        self.ledger = ledger
        self.services = Services(ledger, log, Pages(b"", b""), slots_max=1, read_threads=2, stream_bounds=bounds)
        self.app = application(ROUTES, self.services)
        self.desk = Desk(ledger)
        self.admin = admin
        self.consumer: IssuedCredential

    async def admit(self, expires_at_millis: int | None = None) -> None:
        """Issues the consumer's credential."""
        spec = CredentialSpec(
            subject_id="eve", capabilities=("memory_read",), grants=(SCOPE,), expires_at_millis=expires_at_millis
        )
        self.consumer = answered(await self.ledger.issue_credential(self.admin, spec))

    def post(self, route: str, *headers: tuple[bytes, bytes], **members: Any) -> Connection:
        """A request of the consumer on a connection of its own."""
        body = {"contract_version": 1, "scope": SCOPE, **members}
        token = (b"authorization", b"Bearer " + self.consumer.secret.encode())
        return Connection(self, f"{RELATIONS}/{route}", [token, *headers], msgspec.json.encode(body))

    def streams_open(self) -> int:
        return self.services.streams.taken

    def watching(self) -> bool:
        return bool(self.services.watches._watching)


@asynccontextmanager
async def host(bounds: StreamBounds = PATIENT, expires_at_millis: int | None = None) -> AsyncIterator[Host]:
    """A host that is closed again; nobody is left on a stream."""
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock) as ledger:
        admin = ledger.bootstrap("acme", "root")
        assert not isinstance(admin, Refusal)
        opened = Host(bounds, ledger, clock, admin.credential)
        await opened.admit(expires_at_millis)
        yield opened
        opened.services.stop()
        opened.services.close()
        assert (0, False) == (opened.streams_open(), opened.watching())


class Connection:
    """One request, its answer taken message by message. A reader that is not `reading` leaves the server waiting."""

    def __init__(self, at: Host, path: str, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.aborted = False
        self.reading = asyncio.Event()
        self.reading.set()
        self._app = at.app
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._body = [body]
        self._departed = asyncio.Event()
        self._scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "headers": [(b"content-type", b"application/json"), *headers],
            "extensions": {ABORT: {"now": self._abort}},
        }

    async def __aenter__(self) -> Self:
        self._serving = asyncio.ensure_future(self._app(self._scope, self._receive, self._send))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.depart()
        await self.ended()

    def depart(self) -> None:
        """The client is gone."""
        self._departed.set()
        self.reading.set()

    async def ended(self) -> None:
        """Returns once the application is done with the request."""
        await asyncio.shield(self._serving)

    async def status(self) -> int:
        """The status, which comes first."""
        message = await self._messages.get()
        assert "http.response.start" == message["type"]
        status: int = message["status"]
        return status

    async def body(self) -> Any:
        """The whole of an answer that is no stream."""
        message = await self._messages.get()
        return msgspec.json.decode(message["body"])

    async def events(self) -> list[Event]:
        """The events of one message; none once the stream has come to an orderly end."""
        message = await self._messages.get()
        assert message["more_body"] == bool(message["body"])
        return parsed(message["body"].decode())

    async def event(self) -> Event:
        """The one event of a message."""
        [event] = await self.events()
        return event

    async def _receive(self) -> Message:
        if self._body:
            return {"type": "http.request", "body": self._body.pop(), "more_body": False}
        await self._departed.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.reading.wait()
        self._messages.put_nowait(message)

    def _abort(self) -> None:
        self.aborted = True
        self.depart()
