"""The application in this process, driven byte by byte: what arrives is cut into pieces, what leaves is judged."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

import httpx
from starlette.types import ASGIApp, Message

from relatum.clock import ManualClock
from relatum.errors import Refusal
from relatum.http.app import application
from relatum.http.openapi.document import document
from relatum.http.route_table import METRICS_ROUTE, ROUTES
from relatum.http.server_state import Pages, Services
from relatum.ledger import Ledger
from relatum.telemetry import Log
from tests.http.client import Json
from tests.http.described import Described
from tests.support.builders import START_MILLIS

DESCRIBED: Final = Described(document((*ROUTES, METRICS_ROUTE)))
SCOPE: Json = {"project_id": "atlas", "mission_id": None, "agent_id": "scout", "visibility": "shared"}
EVERYTHING = ["memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine"]


@dataclass(frozen=True)
class Door:
    """A server without sockets; its streams and long polls end at once, so that nothing waits for time to pass."""

    app: ASGIApp
    admin: str
    """The secret of an administrator."""
    worker: str
    """The secret of a credential that may do everything at SCOPE."""
    victim: str
    """The id of a credential that may be changed."""
    log: StringIO
    clock: ManualClock

    def secret(self, path: str) -> str:
        return self.admin if "/credentials" in path or "/company" in path else self.worker

    async def get(self, path: str, query: str) -> Json:
        """The answer to a sound request without a body."""
        response = await self._answer("GET", path, query, Exchange((), whole=True))
        assert response is not None
        assert response.status_code == 200, response.text
        answer: Json = response.json()
        return answer

    async def post(self, path: str, *pieces: bytes, whole: bool = True) -> httpx.Response | None:
        """The judged answer to a body in pieces; None for none, as a client gets that leaves before it is `whole`."""
        return await self._answer("POST", path.replace("{id}", self.victim), "", Exchange(pieces, whole=whole))

    async def _answer(self, method: str, path: str, query: str, exchange: Exchange) -> httpx.Response | None:
        token = b"Bearer " + self.secret(path).encode()
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"content-type", b"application/json"), (b"authorization", token)],
        }
        await self.app(scope, exchange.receive, exchange.send)
        response = exchange.response(httpx.Request(method, f"http://relatum{path}"))
        if response is not None:
            DESCRIBED.judge(response)
        return response

    async def ask(self, path: str, **members: Any) -> Json:
        """The answer to a sound request."""
        body = {"contract_version": 1, "scope": SCOPE, **members}
        response = await self.post(path, json.dumps(body).encode())
        assert response is not None
        assert response.status_code == 200, response.text
        answer: Json = response.json()
        return answer


class Exchange:
    """One request and what is answered to it."""

    def __init__(self, pieces: Iterable[bytes], *, whole: bool) -> None:
        self._incoming: list[Message] = [
            {"type": "http.request", "body": piece, "more_body": True} for piece in (*pieces, b"")
        ]
        self._incoming[-1]["more_body"] = not whole
        self._start: Message | None = None
        self._body = b""

    async def receive(self) -> Message:
        return self._incoming.pop(0) if self._incoming else {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert self._start is None, "an answer starts once"
            self._start = message
        else:
            self._body += message.get("body", b"")

    def response(self, request: httpx.Request) -> httpx.Response | None:
        if self._start is None:
            return None
        return httpx.Response(
            self._start["status"], headers=self._start["headers"], content=self._body, request=request
        )


@asynccontextmanager
async def door() -> AsyncIterator[Door]:
    clock, log = ManualClock(START_MILLIS), StringIO()
    with Ledger.in_memory(clock=clock) as ledger:
        admin = ledger.bootstrap("acme", "root")
        assert not isinstance(admin, Refusal)
        services = Services(ledger, Log(log, clock.millis, "warning"), Pages(b"{}", b""), slots_max=8, read_threads=1)
        services.stop()
        app = application((*ROUTES, METRICS_ROUTE), services)
        opened = Door(app, admin.secret, "", "", log, clock)
        worker = await _issued(opened, "worker")
        victim = await _issued(opened, "victim")
        yield Door(app, admin.secret, worker["secret"], victim["credential"]["id"], log, clock)
        services.close()


async def _issued(at: Door, subject_id: str) -> Json:
    spec = {"subject_id": subject_id, "capabilities": EVERYTHING, "grants": [SCOPE]}
    response = await at.post("/api/v1/credentials", json.dumps({"contract_version": 1, "spec": spec}).encode())
    assert response is not None
    assert response.status_code == 201, response.text
    issued: Json = response.json()
    return issued
