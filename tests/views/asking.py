"""Views asked for in process, over one view of the sample partition."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from relatum.core.answers.context import Context
from relatum.core.answers.graphs import TypedGraph
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Ref
from relatum.core.view_queries import StatusQuery, ValidateQuery
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads import context as contexts
from relatum.ledger.reads import graph_typed, health, overview, validate
from relatum.ledger.reads.context_work import WANTED_DEFAULT, Wanted
from tests.support.builders import PARTITION, SCOPE


class Asking:
    """Asks one ledger, of the sample partition unless told otherwise."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def context(
        self, prompt: str, budget: int = 6000, shown: Collection[str] = (), wanted: Wanted = WANTED_DEFAULT
    ) -> Context:
        with self.ledger.view() as view:
            partition = view.partition(PARTITION)
            around = view.surroundings(partition, prompt)
            return contexts.context(partition, view.now_millis, around, budget, shown, wanted)

    def shown(self, prompt: str, budget: int = 6000) -> Context:
        """The block that is answered to whoever was shown it before."""
        first = self.context(prompt, budget)
        return self.context(prompt, budget, [one.record_id for one in first.entries])

    def graph(self, *roots: Ref, **query: Any) -> TypedGraph:
        with self.ledger.view() as view:
            asked = TypedGraphQuery(root_record_ids=tuple(one.record_id for one in roots), **query)
            found = graph_typed.typed_graph(view.partition(PARTITION), view.now_millis, asked, view.mined)
        assert isinstance(found, TypedGraph), found
        return found

    def statuses(self, *records: Ref) -> validate.StatusPage:
        asked = StatusQuery(contract_version=1, scope=SCOPE, record_ids=tuple(one.record_id for one in records))
        with self.ledger.view() as view:
            found = validate.statuses(view.partition(PARTITION), view.now_millis, view.store_key, asked)
        assert not isinstance(found, Refusal), found
        return found

    def authored(self, *records: Ref, prompt: str = "") -> bytes:
        """Everything that views say of what was authored, as one string of bytes."""
        with self.ledger.view() as view:
            partition, now = view.partition(PARTITION), view.now_millis
            checked = validate.validate(partition, ValidateQuery(contract_version=1, scope=SCOPE))
            answers: list[object] = [health.health(partition, now), overview.overview(partition, now, 200)]
        answers += [self.context(prompt), *(self.graph(one) for one in records)]
        return msgspec.json.encode([answers, checked, self.statuses(*records).statuses])
