"""`/mcp` as a path of this server: the rules of HTTP before the protocol begins (mcp.md, transports).

Always holds: what is refused here has the envelope and the headers of every other answer; what is let in asks this
server's own application, in process, with the credential that the request came with. The package that speaks the
protocol is an extra and is imported here alone, once it is known to be wanted.
"""

from __future__ import annotations

import ipaddress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relatum.clock import SystemClock
from relatum.core.access import Credential
from relatum.entropy import SystemEntropy
from relatum.errors import Refusal, invalid
from relatum.http import errors
from relatum.http.decoding import ClientGone, read_body
from relatum.http.endpoint import NO_ROOM
from relatum.http.headers import bearer_token
from relatum.http.responses import ALWAYS, Header, write
from relatum.http.server_state import Services
from relatum.http.settings import Settings, SettingsError
from relatum.ledger.reads import credentials
from relatum.limits import MIB

if TYPE_CHECKING:
    from relatum.mcp.endpoint import Query

PATH: Final = "/mcp"
BODY_BYTES_MAX: Final = MIB

_BAD_ORIGIN: Final = Refusal("forbidden", "the Origin is neither a loopback one nor in the setting mcp_origins", 403)
_PACKAGE: Final = "mcp"


def is_served(settings: Settings) -> bool:
    """Whether there is a `/mcp`. Raises SettingsError where it is wanted and can't be had, or has wrong settings."""
    installed = find_spec(_PACKAGE) is not None
    if settings.mcp == "off" or (settings.mcp == "auto" and not installed):
        return False
    if not installed:
        raise SettingsError(("mcp is on and the package mcp is not installed: pip install 'relatum[mcp]'",))
    from relatum.mcp.table import names_of

    try:
        names_of(settings.mcp_tools)
    except ValueError as error:
        raise SettingsError((f"mcp_tools: {error}",)) from None
    return True


class McpEndpoint:
    """The ASGI application of `/mcp`. `app`, this server's own, is set once there is one. Event loop only."""

    app: ASGIApp

    def __init__(self, services: Services, settings: Settings) -> None:
        from relatum.mcp.endpoint import Mounted

        self._services = services
        self._sets = settings.mcp_tools
        self._origins = frozenset(one.strip() for one in (settings.mcp_origins or "").split(",") if one.strip())
        self._mounted = Mounted(SystemClock(), SystemEntropy())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        seen = _Seen(send)
        try:
            refused = await self._serve(scope, receive, seen)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - as for every other route
            self._services.log.failure("a request failed inside the server", error, route=PATH)
            refused = None if seen.status else errors.INTERNAL
        if refused is not None:
            await write(scope, seen, errors.refused(refused))
        self._services.metrics.requests(PATH, str(seen.status)).inc()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> Refusal | None:
        """Serve a request, or tell why not, by the first check that fails."""
        headers: list[Header] = scope["headers"]
        if not all(self._is_welcome(value.decode("latin-1")) for name, value in headers if name == b"origin"):
            return _BAD_ORIGIN
        token = bearer_token(headers)
        credential = None if token is None else self._authenticated(token)
        if token is None or credential is None:
            return errors.UNAUTHORIZED
        body = await read_body(receive, BODY_BYTES_MAX)
        if isinstance(body, Refusal):
            return body
        query = self._query(scope["query_string"])
        if isinstance(query, Refusal):
            return query
        if NO_ROOM in scope.get("extensions", {}):
            return errors.BUSY
        await self._answer(token, credential, query, body, scope, receive, send)
        return None

    async def _answer(
        self,
        token: str,
        credential: Credential,
        query: Query,
        body: bytes,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        from relatum.client import AsyncClient

        async with AsyncClient.over(_InProcess(self.app), secret=token) as client:
            await self._mounted.serve(client, credential.id, query, _bare(scope), _again(body, receive), send)

    def _authenticated(self, token: str) -> Credential | None:
        with self._services.ledger.view() as view:
            return credentials.authenticate(view, token)

    def _query(self, query_string: bytes) -> Query | Refusal:
        from relatum.mcp.endpoint import BadQuery, Query

        try:
            return Query(query_string, self._sets)
        except BadQuery as error:
            return invalid(str(error))

    def _is_welcome(self, origin: str) -> bool:
        """Whether a page of this origin may ask: one of this machine, or one that was named."""
        if origin in self._origins:
            return True
        try:
            host = urlsplit(origin).hostname or ""
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


class _InProcess(httpx.ASGITransport):
    """Hands requests to this server's own application; tells that they were sent, as a connection would."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        trace = request.extensions.get("trace")
        if trace is not None:
            await trace("http11.send_request_headers.started", {})
        return await super().handle_async_request(request)


class _Seen:
    """Passes an answer on with the headers that every answer has, and remembers its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            named = {name for name, _ in ALWAYS}
            kept = [header for header in message["headers"] if header[0].lower() not in named]
            message = {**message, "headers": [*kept, *ALWAYS]}
        await self._send(message)


def _bare(scope: Scope) -> Scope:
    """The scope without the means of this server's own, which the package does not know."""
    return {**scope, "extensions": {}}


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already once more."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
