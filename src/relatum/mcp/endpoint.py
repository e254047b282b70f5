"""The server at `/mcp`: each request stands alone and is answered in JSON (mcp.md, transports).

The rules of HTTP (methods, origins, credentials, sizes) are those of `relatum.http`, which mounts this.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qsl

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from relatum.client import AsyncClient
from relatum.clock import Clock
from relatum.entropy import Entropy
from relatum.limits import MIB
from relatum.mcp.caller import Caller
from relatum.mcp.protocol import Context, server
from relatum.mcp.table import Offer, names_of

CALLER: Final = "relatum.mcp.caller"
"""Where a request's scope keeps who calls."""

REMEMBERED_MAX: Final = 1_000
REMEMBERED_SECONDS: Final = 30 * 60.0

_SCOPE: Final = {"project": "project_id", "mission": "mission_id", "agent": "agent_id", "visibility": "visibility"}
_SWITCHES: Final = ("read_only", "text_only")


class BadQuery(Exception):
    """The query string has something that `/mcp` does not take; the message says what it does."""


class Query:
    """What the address says: a scope, and what is offered."""

    def __init__(self, query_string: bytes, sets_default: str) -> None:
        try:
            pairs = parse_qsl(query_string.decode("ascii"), keep_blank_values=True, strict_parsing=bool(query_string))
        except ValueError:
            raise BadQuery("the query string is malformed") from None
        given = dict(pairs)
        if len(given) != len(pairs) or given.keys() - {*_SCOPE, "tools", *_SWITCHES}:
            taken = ", ".join((*_SCOPE, "tools", *_SWITCHES))
            raise BadQuery(f"/mcp takes each of these query parameters once, and no others: {taken}")
        if any(given.get(name, "true") not in ("true", "false") for name in _SWITCHES):
            raise BadQuery(f"{' and '.join(_SWITCHES)} are true or false")
        try:
            names = names_of(given.get("tools", sets_default))
        except ValueError as error:
            raise BadQuery(str(error)) from None
        self.scope: Mapping[str, str] = {member: given[name] for name, member in _SCOPE.items() if name in given}
        self.offer = Offer(names, *(given.get(name) == "true" for name in _SWITCHES))


class Shown:
    """The ids of the last block, by credential and scope: 1,000 of them for half an hour."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, tuple[float, list[str]]] = OrderedDict()

    def of(self, key: object) -> list[str]:
        """The list of a caller, which the caller's calls change."""
        now = monotonic()
        used, found = self._known.pop(key, (now, []))
        if now - used > REMEMBERED_SECONDS:
            found = []
        self._known[key] = (now, found)
        while len(self._known) > REMEMBERED_MAX:
            self._known.popitem(last=False)
        return found


class Mounted:
    """What serves requests once they may be served."""

    def __init__(self, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._shown = Shown()
        self._server = server(_caller)

    async def serve(
        self, client: AsyncClient, credential_id: str, query: Query, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve one request of the credential that `client` has."""
        shown = self._shown.of((credential_id, tuple(sorted(query.scope.items()))))
        caller = Caller(client, query.scope, query.offer, clock=self._clock, entropy=self._entropy, shown=shown)
        # A manager for each request: it holds nothing between them, and what it started ends with it.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=2 * MIB
        )
        async with manager.run():
            await manager.handle_request({**scope, CALLER: caller}, receive, send)


def _caller(context: Context) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope[CALLER]
    return caller
