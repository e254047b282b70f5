"""One request as a value: its bytes, how it may be repeated, and the type of what answers it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Generic, Literal, NamedTuple, TypedDict, TypeVar
from urllib.parse import urlencode

import msgspec

from relatum.client.errors import UnexpectedAnswer
from relatum.core.records import RecordProvenance
from relatum.entropy import SystemEntropy
from relatum.limits import CONTRACT_VERSION

T = TypeVar("T")

Policy = Literal["read", "command", "once"]
MEMORY: Final = "/api/v1/memory"
VERSION: Final = CONTRACT_VERSION

_ENTROPY: Final = SystemEntropy()


class CallOptions(TypedDict, total=False):
    """What every call takes besides: seconds for one attempt, and for the whole call."""

    timeout: float
    deadline: float


class CommandOptions(CallOptions, total=False):
    """What every command takes besides: the key under which it is repeated, a fresh one by default."""

    idempotency_key: str | None


class RecordMembers(CommandOptions, total=False):
    """The members of a record input besides its content (records.md, shapes)."""

    type: Literal["memory", "person", "session", "task"] | None
    title: str | None
    data: dict[str, Any] | None
    tags: tuple[str, ...] | list[str] | None
    category: str | None
    topic_key: str | None
    fact_key: str | None
    provenance: RecordProvenance | None
    confidence: float | None
    event_time_millis: int | None
    valid_until_millis: int | None


class Request(NamedTuple, Generic[T]):
    """A request. `route` is the template of its path, which is logged; `wait` are seconds that the server may take."""

    method: Literal["GET", "POST"]
    path: str
    route: str
    content: bytes | None
    answers: type[T]
    policy: Policy
    key: str | None = None
    family: str | None = None
    wait: float = 0.0
    also: tuple[int, ...] = ()
    """Statuses beside 2xx whose answer is one of `answers`."""
    public: bool = False
    """Whether the route asks for no credential."""


def fresh_key() -> str:
    """A key that nobody else has: 32 hex digits of 16 random bytes."""
    return _ENTROPY.draw(16).hex()


def post(
    path: str,
    body: object,
    answers: type[T],
    policy: Policy = "read",
    *,
    key: str | None = None,
    family: str | None = None,
    wait: float = 0.0,
    route: str | None = None,
) -> Request[T]:
    """A request with a JSON body: a struct, or plain values."""
    return Request("POST", path, route or path, msgspec.json.encode(body), answers, policy, key, family, wait)


def get(path: str, answers: type[T], route: str | None = None, **query: object) -> Request[T]:
    """A read without a body; query parameters that are None are left out."""
    given = {name: value for name, value in query.items() if value is not None}
    return Request("GET", f"{path}?{urlencode(given)}" if given else path, route or path, None, answers, "read")


@cache
def _decoder(answers: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(answers)


def decoded(request: Request[T], status: int, media_type: str, body: bytes) -> T:
    """The answer. Raises UnexpectedAnswer for what is none."""
    try:
        kind: Any = request.answers
        answer: T = _decoder(kind).decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UnexpectedAnswer(status, media_type, body) from error
    return answer


def calling(options: Mapping[str, Any]) -> CallOptions:
    """Of the options of a command those of any call."""
    found: CallOptions = {}
    if options.get("timeout") is not None:
        found["timeout"] = options["timeout"]
    if options.get("deadline") is not None:
        found["deadline"] = options["deadline"]
    return found


def draw() -> float:
    """A random number from 0 to 1."""
    return int.from_bytes(_ENTROPY.draw(4), "big") / 2**32
