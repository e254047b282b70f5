"""What a route is. One declaration feeds both the application and the OpenAPI document.

Always holds: a route's declaration says everything about it that a client sees but the operation itself: who may call
it, what it takes and answers, whether it uses a slot, and with which codes it refuses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal

from msgspec import Struct
from starlette.types import ASGIApp

from relatum.core.answers.access import Capability
from relatum.errors import Code, Refusal
from relatum.http.responses import Response, encoded
from relatum.http.server_state import BodyT, Call, Line, Services
from relatum.ledger.view import RequestView
from relatum.limits import BODY_BYTES_MAX
from relatum.store.counts import Uncounted

PATH_ID: Final = "id"
"""The name of the parameter that a path may have."""

_UNTRACED: Final = nullcontext()

Method = Literal["GET", "POST"]
Handler = Callable[[Call[BodyT]], Awaitable[Struct | bytes | Refusal | ASGIApp]]
"""Does the operation; answers its struct, or the JSON of it, or a refusal, or an application that goes on by itself."""
Reading = Callable[[Call[BodyT], RequestView], Struct | Refusal]


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Capabilities that a scoped request needs, beside a grant of its scope. `words` says the same to people."""

    words: str
    of: Callable[[Any, str], Collection[Capability]]
    """Of a body, and the subject of the credential that it came with."""


@dataclass(frozen=True, kw_only=True)
class Route(Generic[BodyT]):
    """A route that needs a credential.

    `access`: capabilities for a scoped route, "admin" for credential_admin, "any" for any valid credential.
    `answers`: a struct, or the media type of what isn't JSON.
    `takes`: the type of its body, of its query string where the method is GET, or `Nothing`; a path may hold one
    parameter, `PATH_ID`, a UUID. `refuses`: the codes of the operation alone; those of the checks follow from the rest.
    """

    method: Method = "POST"
    path: str
    tag: str
    summary: str
    access: Needs | Literal["admin", "any"]
    takes: type[BodyT]
    answers: type[Struct] | str
    handle: Handler[BodyT]
    status: int = 200
    slot: bool = False
    writes: bool = False
    body_bytes_max: int = BODY_BYTES_MAX
    refuses: tuple[Code, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PublicRoute:
    """A route that needs no credential. `answers`: status to a struct, a media type, or None for an empty answer."""

    path: str
    tag: str
    summary: str
    answers: Mapping[int, type[Struct] | str | None]
    respond: Callable[[Services], Response]


AnyRoute = Route[Any] | PublicRoute


def needing(*capabilities: Capability) -> Needs:
    """The same capabilities whatever the body."""
    return Needs(words=" and ".join(capabilities), of=lambda _body, _subject: capabilities)


def needing_by_operation(
    table: Mapping[type[Struct], tuple[Capability, ...]], operations: Callable[[Any], Iterable[Struct]]
) -> Needs:
    """What each operation of a body needs, all of them together."""
    words = "; ".join(f"`{kind.__struct_config__.tag}`: {' and '.join(table[kind])}" for kind in table)

    def of(body: Any, _subject: str) -> Collection[Capability]:
        return {capability for operation in operations(body) for capability in table[type(operation)]}

    return Needs(words=words, of=of)


def reading(read: Reading[BodyT]) -> Handler[BodyT]:
    """A read of a few rows: on the event loop, over one view; in a thread where rows have to be counted before."""

    def work(call: Call[BodyT], *, counting: bool) -> Struct | Refusal:
        with viewing(call), call.ledger.view(counting=counting) as view:
            return read(call, view)

    async def handle(call: Call[BodyT]) -> Struct | Refusal:
        try:
            return work(call, counting=False)
        except Uncounted:
            return await call.services.in_thread(lambda: work(call, counting=True))

    return handle


def scanning(read: Reading[BodyT], line: Line = "reads") -> Handler[BodyT]:
    """A read of many rows: in a thread, its answer encoded there too."""

    def work(call: Call[BodyT]) -> Struct | Refusal:
        with viewing(call), call.ledger.view() as view:
            return read(call, view)

    return in_thread(work, line)


def viewing(call: Call[Any]) -> AbstractContextManager[object]:
    """Within it, what a request reads is traced, where anything is."""
    tracing = call.services.tracing
    return _UNTRACED if tracing is None else tracing.view()


def in_thread(work: Callable[[Call[BodyT]], Struct | Refusal], line: Line = "reads") -> Handler[BodyT]:
    """What takes longer than the event loop may stand still: in a thread, its answer encoded there too."""

    def answer(call: Call[BodyT]) -> bytes | Refusal:
        found = work(call)
        return found if isinstance(found, Refusal) else encoded(found)

    async def handle(call: Call[BodyT]) -> bytes | Refusal:
        return await call.services.in_thread(lambda: answer(call), line)

    return handle
