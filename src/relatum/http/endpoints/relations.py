"""Reads of relations: read, inspect, revision, query (relations.md, reads)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from relatum.core.answers.access import Capability
from relatum.core.answers.relations import (
    RelationInspectAnswer,
    RelationQueryAnswer,
    RelationReadAnswer,
    RelationRevisionAnswer,
)
from relatum.core.queries import RelationQuery, RelationRead, RelationRevisionRead
from relatum.errors import Refusal
from relatum.http.routes import Needs, Route, needing, reading, scanning
from relatum.http.server_state import Call, reader_of
from relatum.ledger.reads import relation_query, relations
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


def read(call: Call[RelationRead], view: RequestView) -> RelationReadAnswer | Refusal:
    """One eligible relation."""
    found = relations.read(reader_of(call, view), view.now_millis, call.body.relation_id)
    if isinstance(found, Refusal):
        return found
    return RelationReadAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, relation=found)


def inspect(call: Call[RelationRead], view: RequestView) -> RelationInspectAnswer | Refusal:
    """One retained relation, whatever its state."""
    found = relations.inspect(reader_of(call, view), view.now_millis, call.body.relation_id)
    if isinstance(found, Refusal):
        return found
    return RelationInspectAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, inspection=found)


def revision(call: Call[RelationRevisionRead], view: RequestView) -> RelationRevisionAnswer | Refusal:
    """One revision of a relation."""
    found = relations.revision(reader_of(call, view), call.body.relation_id, call.body.revision)
    if isinstance(found, Refusal):
        return found
    return RelationRevisionAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, history=found)


def query(call: Call[RelationQuery], view: RequestView) -> RelationQueryAnswer | Refusal:
    """A page of retained relations that a filter wants; of the caller's own where they may not review."""
    wanted, credential = call.body.filter, call.credential
    if not credential.holds("memory_review"):
        wanted = replace(wanted, reporter=credential.spec.subject_id)
    found = relation_query.query(reader_of(call, view), view.now_millis, view.store_key, wanted)
    if isinstance(found, Refusal):
        return found
    return RelationQueryAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, page=found)


def _needed(body: RelationQuery, subject_id: str) -> tuple[Capability, ...]:
    own = body.filter.reporter in (None, subject_id)
    return ("memory_read",) if own else ("memory_read", "memory_review")


QUERYING: Final = Needs(
    words="memory_read; without memory_review it shows what the caller's own subject reported", of=_needed
)

ROUTES: Final = (
    Route(
        path="/api/v1/memory/relations/read",
        tag="relations",
        summary="Read an eligible relation",
        access=needing("memory_read"),
        takes=RelationRead,
        answers=RelationReadAnswer,
        handle=reading(read),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/memory/relations/inspect",
        tag="relations",
        summary="Look at a retained relation and at the reason of its eligibility",
        access=needing("memory_read", "memory_review"),
        takes=RelationRead,
        answers=RelationInspectAnswer,
        handle=reading(inspect),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/memory/relations/revision",
        tag="relations",
        summary="Look at a relation as it was at one revision",
        access=needing("memory_read", "memory_review"),
        takes=RelationRevisionRead,
        answers=RelationRevisionAnswer,
        handle=reading(revision),
        slot=True,
        refuses=("record_not_found",),
    ),
    Route(
        path="/api/v1/memory/relations/query",
        tag="relations",
        summary="Search retained relations, page by page",
        access=QUERYING,
        takes=RelationQuery,
        answers=RelationQueryAnswer,
        handle=scanning(query),
        slot=True,
        refuses=("invalid_request",),
    ),
)
