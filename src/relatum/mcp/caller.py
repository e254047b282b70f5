"""Who calls: a client with its credential, the scope that it works in, and what is offered to it (mcp.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from relatum.client import AsyncClient, RelatumError
from relatum.clock import Clock
from relatum.core.ids import Scope
from relatum.entropy import Entropy
from relatum.mcp import arguments
from relatum.mcp.calls import Call, Model, Setting, told
from relatum.mcp.refusals import NO_SCOPE, ToolRefused, invalid
from relatum.mcp.table import Offer
from relatum.mcp.tool import Answer, Tool

IDENTITY_SECONDS: Final = 5.0
"""For listing the tools: a host that waits for them should not wait long for a server that is down."""

SCOPE_MEMBERS: Final = ("project_id", "mission_id", "agent_id", "visibility")


class Caller:
    """One caller. `named` are the members of its scope that were given; without any the sole grant counts."""

    def __init__(
        self,
        client: AsyncClient,
        named: Mapping[str, str],
        offer: Offer,
        *,
        clock: Clock,
        entropy: Entropy,
        shown: list[str],
        model: Model | None = None,
    ) -> None:
        self.offer = offer
        self._client = client
        self._named = named
        self._scope: Scope | None = None
        self._setting = Setting(client, self._found_scope, clock, entropy, shown, model)

    async def capabilities(self) -> frozenset[str] | None:
        """What the credential may do; None where that can't be asked."""
        try:
            found = await self._client.with_options(deadline=IDENTITY_SECONDS, retry=False).identity()
        except RelatumError:
            return None
        return frozenset(found.spec.capabilities)

    async def run(self, tool: Tool, given: Mapping[str, Any] | None) -> Answer:
        """The answer of a tool; what it can't do is an answer too."""
        given = {} if given is None else {name: value for name, value in given.items() if value is not None}
        try:
            taken = arguments.read(tool.takes, given)
            return await tool.run(self.call(tool.name, taken), taken)
        except ToolRefused as refused:
            return refused.answer()

    def call(self, name: str, taken: Mapping[str, Any]) -> Call:
        """A call with the arguments as they were read: two spellings of one argument are one call."""
        return Call(self._setting, name, taken)

    async def _found_scope(self) -> Scope:
        if self._scope is None:
            self._scope = self._named_scope() if self._named else await self._sole_grant()
        return self._scope

    def _named_scope(self) -> Scope:
        if not {"project_id", "agent_id"} <= self._named.keys():
            raise invalid("a scope needs a project and an agent; " + NO_SCOPE)
        try:
            return msgspec.convert({"visibility": "shared", **self._named}, Scope)
        except msgspec.ValidationError:
            raise invalid("visibility must be shared or private") from None

    async def _sole_grant(self) -> Scope:
        with told():
            found = await self._client.identity()
        grants = found.spec.grants
        if len(grants) != 1:
            raise invalid(NO_SCOPE)
        return grants[0]
