"""One tool call: the requests it is made of, with their scope, keys and deadline (mcp.md, repeated calls).

Always holds: whatever a request meets becomes a `ToolRefused`; all requests of a call together have 25 s.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final, Literal, NamedTuple

import msgspec

from relatum import __version__
from relatum.client import AsyncClient, ConfigurationError, NotReached, OutcomeUnknown, RelatumError, RequestRefused
from relatum.clock import Clock
from relatum.core import digests
from relatum.core.ids import Scope
from relatum.entropy import Entropy
from relatum.limits import CONTRACT_VERSION
from relatum.mcp.refusals import ToolRefused, invalid

CALL_SECONDS: Final = 25.0
WINDOW_MILLIS: Final = 10 * 60 * 1000
MEMORY: Final = "/api/v1/memory/"

Body = dict[str, Any]
Family = Literal["record", "relation"]


class Model(NamedTuple):
    """The model that speaks through this server, where it was told."""

    provider: str
    model: str
    revision: str


class Setting(NamedTuple):
    """What the calls of one caller have in common."""

    client: AsyncClient
    scope: Callable[[], Awaitable[Scope]]
    """The caller's scope; raises ToolRefused where there is none."""
    clock: Clock
    entropy: Entropy
    shown: list[str]
    """The ids of the last context block, so that it changes only when the ranking clearly does."""
    model: Model | None = None


class Call:
    """One call of a tool by one caller."""

    def __init__(self, setting: Setting, tool: str, arguments: Mapping[str, Any]) -> None:
        self.tool = tool
        self.shown = setting.shown
        self._setting = setting
        self._arguments = arguments
        self._ends = monotonic() + CALL_SECONDS
        self._mission: str | None = None

    def in_mission(self, mission_id: str) -> None:
        """Address the mission of that name instead of the caller's own."""
        self._mission = mission_id

    def now_millis(self) -> int:
        """What time it is here."""
        return self._setting.clock.millis()

    def evidence_ref(self, evidence: str | None) -> str:
        """What a command names as its evidence: the tool's `evidence`, else the tool."""
        return evidence or f"mcp:{self.tool}"

    def provenance(self, given: Mapping[str, Any]) -> Body:
        """Who says what this tool asserts, member by member unless given."""
        model = self._setting.model
        told = given.get("model") or (None if model is None else model._asdict())
        return {
            "origin": given.get("origin") or ("tool_observation" if model is None else "model_inference"),
            "method": given.get("method") or "mcp",
            "method_revision": given.get("method_revision") or __version__,
            "evidence_ref": self.evidence_ref(given.get("evidence")),
            "model": told,
        }

    async def read(self, route: str, **members: Any) -> Body:
        """What a read answers."""
        return await self._ask(route, members, "read")

    async def command(self, route: str, key: str, **members: Any) -> Body:
        """What a command answers, under `key`."""
        return await self._ask(route, {"idempotency_key": key, **members}, "command")

    def fresh_key(self) -> str:
        """A key that nobody else has: for what names a revision, or repeats without harm."""
        return self._setting.entropy.draw(16).hex()

    async def receipt(self, family: Family, key: str) -> Body | None:
        """The receipt of one of the caller's own keys, or None where nothing was accepted under it."""
        try:
            found = await self.read("receipts/read", family=family, idempotency_key=key)
        except ToolRefused as refused:
            if refused.code == "record_not_found":
                return None
            raise
        receipt: Body = found["receipt"]
        return receipt

    async def repeatable(self, family: Family, stands: Callable[[Body], Awaitable[bool]]) -> tuple[str, Body | None]:
        """The key of a call that may be repeated, and its receipt where it was accepted before.

        An identical call of this window or the one before has the same key. What `stands` no longer says yes to was
        made and has gone since: then the call was meant anew.
        """
        window = self.now_millis() // WINDOW_MILLIS
        key = ""
        for each in (window - 1, window):
            key = base = f"mcp:{each}:{await self._identity()}"
            again = 0
            while (receipt := await self.receipt(family, key)) is not None:
                if await stands(receipt):
                    return key, receipt
                again += 1
                key = f"{base}:{again}"
        return key, None

    async def _identity(self) -> str:
        """A digest of tool, scope and arguments: what makes two calls identical."""
        scope = await self._scope()
        return digests.tool_call_digest(msgspec.json.encode([self.tool, scope, self._arguments], order="deterministic"))

    async def _scope(self) -> Body:
        scope: Body = msgspec.to_builtins(await self._setting.scope())
        return scope if self._mission is None else {**scope, "mission_id": self._mission}

    async def _ask(self, route: str, members: Body, retry: Literal["read", "command"]) -> Body:
        body = {"contract_version": CONTRACT_VERSION, "scope": await self._scope(), **members}
        left = self._ends - monotonic()
        if left <= 0:
            raise ToolRefused("unreachable", "the call's 25 s were over before its last request was sent")
        with told():
            answer: Body = await self._setting.client.call(MEMORY + route, body, retry=retry, deadline=left)
        return answer


@contextmanager
def told() -> Iterator[None]:
    """Tells in the words of the tools what the client meets."""
    try:
        yield
    except RequestRefused as error:
        raise ToolRefused(error.code, error.message) from None
    except OutcomeUnknown as error:
        message = "the answer was lost, so that it is not known whether this was done"
        raise ToolRefused("outcome_unknown", message, idempotency_key=error.idempotency_key) from None
    except NotReached:
        raise ToolRefused("unreachable", "the server was not reached in time") from None
    except ConfigurationError as error:
        raise invalid(str(error)) from None
    except RelatumError:
        raise ToolRefused("internal_error", "what answered is no relatum server, or fails") from None
