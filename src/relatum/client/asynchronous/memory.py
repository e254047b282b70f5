"""The memory of one scope: the groups of its routes, and what belongs to none of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, Unpack

import msgspec

from relatum.client.asynchronous.edges import AsyncEdges
from relatum.client.asynchronous.graph import AsyncGraph
from relatum.client.asynchronous.judgments import AsyncJudgments
from relatum.client.asynchronous.links import AsyncLinks
from relatum.client.asynchronous.records import AsyncRecords
from relatum.client.asynchronous.relations import AsyncRelations
from relatum.client.asynchronous.scoped import AsyncScoped
from relatum.client.errors import OutcomeUnknown, RecordNotFound
from relatum.client.requests import MEMORY, VERSION, CallOptions, Request, post
from relatum.client.results import RecordAt, id_of
from relatum.core.answers.context import ContextAnswer
from relatum.core.answers.receipts import (
    AnyReceipt,
    CheckpointReceipt,
    JudgmentReceipt,
    LinkReceipt,
    RecordReceipt,
    RelationReceipt,
)
from relatum.core.ids import Scope
from relatum.core.queries import ReceiptRead
from relatum.core.receipts import Family
from relatum.core.view_queries import ContextQuery
from relatum.core.wire import Closed

T = TypeVar("T")


class _Received(Closed, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The answer of `receipts/read`, whose receipt has a type by the family asked for."""

    receipt: msgspec.Raw


class AsyncMemory:
    """Everything at one scope. To make one costs nothing and asks nothing."""

    records: AsyncRecords
    relations: AsyncRelations
    judgments: AsyncJudgments
    links: AsyncLinks
    graph: AsyncGraph
    edges: AsyncEdges

    def __init__(self, scoped: AsyncScoped) -> None:
        self._scoped = scoped
        self.records = AsyncRecords(scoped)
        self.relations = AsyncRelations(scoped)
        self.judgments = AsyncJudgments(scoped)
        self.links = AsyncLinks(scoped)
        self.graph = AsyncGraph(scoped)
        self.edges = AsyncEdges(scoped)

    async def scope(self) -> Scope:
        """The scope, asked for once where it is the sole grant of the credential. Raises ConfigurationError."""
        return await self._scoped.scope()

    async def context(
        self,
        prompt: str,
        *,
        budget_characters: int | None = None,
        shown: Iterable[RecordAt | str] | None = None,
        judgments_limit: int | None = None,
        review_limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> ContextAnswer:
        """A block for a model's prompt, what it is made of, and what awaits whoever starts to work."""

        def make(scope: Scope) -> Request[ContextAnswer]:
            body = ContextQuery(
                contract_version=VERSION,
                scope=scope,
                prompt=prompt,
                budget_characters=budget_characters,
                shown=None if shown is None else tuple(map(id_of, shown)),
                judgments_limit=judgments_limit,
                review_limit=review_limit,
            )
            return post(f"{MEMORY}/context", body, ContextAnswer)

        return await self._scoped.send(make, options)

    async def receipt(self, family: Family, key: str, **options: Unpack[CallOptions]) -> AnyReceipt:
        """The receipt of an accepted command of the caller's own. Raises RecordNotFound where there is none."""

        def make(scope: Scope) -> Request[_Received]:
            body = ReceiptRead(contract_version=VERSION, scope=scope, family=family, idempotency_key=key)
            return post(f"{MEMORY}/receipts/read", body, _Received)

        found = await self._scoped.send(make, options)
        kinds: tuple[Any, ...] = _KINDS[family]
        kind = kinds[0]
        if family == "judgment" and b'"relation_id"' in bytes(found.receipt):
            kind = RelationReceipt
        receipt: AnyReceipt = msgspec.json.decode(found.receipt, type=kind)
        return receipt

    async def recover(self, error: OutcomeUnknown, **options: Unpack[CallOptions]) -> AnyReceipt | None:
        """What became of a command whose outcome is unknown: its receipt, or None where it was not accepted so far.

        Raises ValueError for an outcome that no receipt tells of: that of a request without a key, or of a batch, which
        is repeated under its keys.
        """
        if error.idempotency_key is None or error.family is None:
            raise ValueError("no receipt tells of this request")
        family = msgspec.convert(error.family, Family)  # type: ignore[arg-type,unused-ignore]
        try:
            return await self.receipt(family, error.idempotency_key, **options)
        except RecordNotFound:
            return None


_KINDS: dict[str, tuple[Any, ...]] = {
    "record": (RecordReceipt,),
    "relation": (RelationReceipt,),
    "judgment": (JudgmentReceipt, RelationReceipt),
    "link": (LinkReceipt,),
    "checkpoint": (CheckpointReceipt,),
}
