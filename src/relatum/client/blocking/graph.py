# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""Walks and pictures of the graph (graphs.md, views.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from relatum.client.blocking.group import Group
from relatum.client.graphs import TypedWalk, typed_walk
from relatum.client.requests import MEMORY, VERSION, CallOptions
from relatum.client.results import RecordAt, id_of
from relatum.core.answers.graphs import Direction, EvidenceGraph, EvidenceGraphAnswer, TypedGraphAnswer
from relatum.core.answers.survey import HealthAnswer, Overview, OverviewAnswer
from relatum.core.graphs import EvidenceGraphQuery, EvidenceGraphRead, TypedGraphQuery, TypedGraphRead
from relatum.core.kinds import Kind
from relatum.core.view_queries import HealthQuery, OverviewQuery


class Graph(Group):
    """Neighbourhoods of records, along relations and along derivations."""

    def walk(
        self,
        root_record_ids: Iterable[RecordAt | str],
        *,
        direction: Direction = "both",
        relation_kinds: Iterable[Kind] | None = None,
        max_depth: int | None = None,
        node_limit: int | None = None,
        edge_limit: int | None = None,
        scan_limit: int | None = None,
        include_derived: bool = False,
        **options: Unpack[CallOptions],
    ) -> TypedWalk:
        """The neighbourhood of 1 to 16 records along relations of one class."""
        query = TypedGraphQuery(
            root_record_ids=tuple(map(id_of, root_record_ids)),
            direction=direction,
            relation_kinds=None if relation_kinds is None else tuple(relation_kinds),
            max_depth=max_depth,
            node_limit=node_limit,
            edge_limit=edge_limit,
            scan_limit=scan_limit,
            include_derived=include_derived,
        )
        found = self._read(
            f"{MEMORY}/graph/typed",
            lambda scope: TypedGraphRead(contract_version=VERSION, scope=scope, query=query),
            TypedGraphAnswer,
            options,
        )
        return typed_walk(found.graph)

    def evidence(
        self,
        root_record_ids: Iterable[RecordAt | str],
        *,
        max_depth: int | None = None,
        node_limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> EvidenceGraph:
        """What 1 to 16 records were derived from."""
        query = EvidenceGraphQuery(
            root_record_ids=tuple(map(id_of, root_record_ids)), max_depth=max_depth, node_limit=node_limit
        )
        found = self._read(
            f"{MEMORY}/graph/evidence",
            lambda scope: EvidenceGraphRead(contract_version=VERSION, scope=scope, query=query),
            EvidenceGraphAnswer,
            options,
        )
        return found.graph

    def health(self, **options: Unpack[CallOptions]) -> HealthAnswer:
        """How well the records hang together."""
        return self._read(
            f"{MEMORY}/graph/health",
            lambda scope: HealthQuery(contract_version=VERSION, scope=scope),
            HealthAnswer,
            options,
        )

    def overview(self, limit: int | None = None, **options: Unpack[CallOptions]) -> Overview:
        """The most linked records and what joins them."""
        found = self._read(
            f"{MEMORY}/graph/overview",
            lambda scope: OverviewQuery(contract_version=VERSION, scope=scope, limit=limit),
            OverviewAnswer,
            options,
        )
        return found.graph
