"""Mined edges (views.md, derived edges)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Unpack

from relatum.client.asynchronous.group import AsyncGroup
from relatum.client.packing import edge_pages
from relatum.client.requests import MEMORY, VERSION, CallOptions, CommandOptions, Request, post
from relatum.core.answers.edges import (
    DanglingAnswer,
    DropEdgesAnswer,
    PromoteAnswer,
    ProposalAnswer,
    RepairAnswer,
    ReplaceEdgesAnswer,
)
from relatum.core.ids import Scope
from relatum.core.promotions import MiningRun, PromoteCommand, Proposal
from relatum.core.view_queries import DanglingEdges, DropEdges, EdgeInput, ReplaceEdges

_PATH: Final = f"{MEMORY}/edges"


class AsyncEdges(AsyncGroup):
    """Edges that nobody authored: recomputed as a whole, and apart from the relations."""

    async def replace(
        self, run: MiningRun, edges: Iterable[EdgeInput], **options: Unpack[CallOptions]
    ) -> ReplaceEdgesAnswer:
        """Put the edges of a run in the place of all mined edges, at once, when the last page is there.

        Takes any iterable; the deadline counts anew for each page. Whoever loses the run repeats the whole of it.
        """
        answer: ReplaceEdgesAnswer | None = None
        for page, finish in edge_pages(edges):
            answer = await self._page(ReplaceEdgesAnswer, run, page, finish, options)
        assert answer is not None
        return answer

    async def _page(
        self,
        answers: type[ReplaceEdgesAnswer],
        run: MiningRun,
        page: list[EdgeInput],
        finish: bool,
        options: CallOptions,
    ) -> ReplaceEdgesAnswer:
        def request(scope: Scope) -> Request[ReplaceEdgesAnswer]:
            body = ReplaceEdges(contract_version=VERSION, scope=scope, run=run, edges=tuple(page), finish=finish)
            return post(f"{_PATH}/derived/replace", body, answers, "command")

        return await self._scoped.send(request, options)

    async def drop(self, **options: Unpack[CallOptions]) -> int:
        """Drop all mined edges; how many there were, as the attempt that was answered saw it."""

        def request(scope: Scope) -> Request[DropEdgesAnswer]:
            body = DropEdges(contract_version=VERSION, scope=scope)
            return post(f"{_PATH}/derived/drop", body, DropEdgesAnswer, "command")

        return (await self._scoped.send(request, options)).dropped

    async def promote(
        self, run: MiningRun, proposals: Iterable[Proposal], **options: Unpack[CommandOptions]
    ) -> tuple[ProposalAnswer, ...]:
        """Make authored relations of mined edges; what became of each proposal, in order."""
        given = tuple(proposals)

        def body(scope: Scope, key: str) -> PromoteCommand:
            return PromoteCommand(contract_version=VERSION, scope=scope, idempotency_key=key, run=run, proposals=given)

        return (await self._command(f"{_PATH}/promote", "judgment", body, PromoteAnswer, options)).outcomes

    async def dangling(self, limit: int | None = None, **options: Unpack[CallOptions]) -> DanglingAnswer:
        """Mined edges whose end is gone."""
        return await self._read(
            f"{_PATH}/dangling",
            lambda scope: DanglingEdges(contract_version=VERSION, scope=scope, limit=limit),
            DanglingAnswer,
            options,
        )

    async def repair(self, limit: int | None = None, **options: Unpack[CallOptions]) -> RepairAnswer:
        """Lead mined edges on to the superseders of their ends, and drop the rest. Goes out once."""

        def request(scope: Scope) -> Request[RepairAnswer]:
            body = DanglingEdges(contract_version=VERSION, scope=scope, limit=limit)
            return post(f"{_PATH}/repair", body, RepairAnswer, "once")

        return await self._scoped.send(request, options)
