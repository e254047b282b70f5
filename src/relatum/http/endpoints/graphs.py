"""The two graphs: along typed relations, and back along derivations (graphs.md)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace
from starlette.types import ASGIApp

from relatum.core.answers.graphs import EvidenceGraph, EvidenceGraphAnswer, TypedGraph, TypedGraphAnswer
from relatum.core.company import CompanyTypedGraphRead
from relatum.core.graphs import EvidenceGraphRead, TypedGraphRead
from relatum.errors import Refusal
from relatum.http.responses import encoded
from relatum.http.routes import Handler, Reading, Route, needing, scanning
from relatum.http.server_state import Call, reader_of
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION

WalkT = TypeVar("WalkT", TypedGraphRead, CompanyTypedGraphRead)
AnyGraph = TypeVar("AnyGraph", TypedGraph, EvidenceGraph)


def typed(call: Call[TypedGraphRead], view: RequestView) -> TypedGraphAnswer | Refusal:
    """A walk along relations."""
    found = typed_graph(reader_of(call, view), view.now_millis, call.body.query, view.mined)
    if isinstance(found, Refusal):
        return found
    return TypedGraphAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, graph=in_parts(found))


def evidence(call: Call[EvidenceGraphRead], view: RequestView) -> EvidenceGraphAnswer | Refusal:
    """A walk back along derivations."""
    found = evidence_graph(reader_of(call, view), view.now_millis, call.body.query)
    if isinstance(found, Refusal):
        return found
    return EvidenceGraphAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, graph=in_parts(found))


def in_parts(graph: AnyGraph) -> AnyGraph:
    """`graph` with its nodes encoded one by one, to the same JSON in the end.

    To encode 8 MiB of records in one go would hold up the event loop; between two of them it gets its turn.
    """
    return replace(graph, nodes=tuple(Raw(encoded(node)) for node in graph.nodes))


def walking(walk: Reading[WalkT]) -> Handler[WalkT]:
    """The handler of a walk, which stands in line for mined edges only if it goes along them."""
    alone, with_mined = scanning(walk), scanning(walk, "mined")

    def handle(call: Call[WalkT]) -> Awaitable[Struct | bytes | Refusal | ASGIApp]:
        return (with_mined if call.body.query.include_derived else alone)(call)

    return handle


ROUTES: Final = (
    Route(
        path="/api/v1/memory/graph/typed",
        tag="graphs",
        summary="Walk along relations from up to 16 records",
        access=needing("memory_read"),
        takes=TypedGraphRead,
        answers=TypedGraphAnswer,
        handle=walking(typed),
        slot=True,
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/graph/evidence",
        tag="graphs",
        summary="Walk from up to 16 records to what they were derived from",
        access=needing("memory_read"),
        takes=EvidenceGraphRead,
        answers=EvidenceGraphAnswer,
        handle=scanning(evidence),
        slot=True,
        refuses=("invalid_request",),
    ),
)
