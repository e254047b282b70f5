"""Reads of records: read, batch, query, inspect, revision (records.md, reads)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.records import (
    RecordBatchReadAnswer,
    RecordInspectAnswer,
    RecordQueryAnswer,
    RecordReadAnswer,
    RecordRevisionAnswer,
)
from relatum.core.queries import RecordBatchRead, RecordQuery, RecordRead, RecordRevisionRead
from relatum.errors import Refusal
from relatum.http.routes import Route, needing, reading, scanning
from relatum.http.server_state import Call, reader_of
from relatum.ledger.reads import record_query, records
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


def read(call: Call[RecordRead], view: RequestView) -> RecordReadAnswer | Refusal:
    """One eligible record."""
    found = records.read(reader_of(call, view), view.now_millis, call.body.record_id)
    if isinstance(found, Refusal):
        return found
    return RecordReadAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, record=found)


def batch(call: Call[RecordBatchRead], view: RequestView) -> RecordBatchReadAnswer | Refusal:
    """Up to 100 records at once."""
    found = records.batch(reader_of(call, view), view.now_millis, call.body.record_ids)
    if isinstance(found, Refusal):
        return found
    return RecordBatchReadAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, batch=found)


def query(call: Call[RecordQuery], view: RequestView) -> RecordQueryAnswer | Refusal:
    """A page of eligible records that a filter wants."""
    found = record_query.query(reader_of(call, view), view.now_millis, view.store_key, call.body.filter)
    if isinstance(found, Refusal):
        return found
    return RecordQueryAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, page=found)


def inspect(call: Call[RecordRead], view: RequestView) -> RecordInspectAnswer | Refusal:
    """One retained record, whatever its state."""
    found = records.inspect(reader_of(call, view), view.now_millis, call.body.record_id)
    if isinstance(found, Refusal):
        return found
    return RecordInspectAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, inspection=found)


def revision(call: Call[RecordRevisionRead], view: RequestView) -> RecordRevisionAnswer | Refusal:
    """One revision of a record."""
    found = records.revision(reader_of(call, view), call.body.record_id, call.body.revision)
    if isinstance(found, Refusal):
        return found
    return RecordRevisionAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, history=found)


ROUTES: Final = (
    Route(
        path="/api/v1/memory/records/read",
        tag="records",
        summary="Read an eligible record",
        access=needing("memory_read"),
        takes=RecordRead,
        answers=RecordReadAnswer,
        handle=reading(read),
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/memory/records/batch",
        tag="records",
        summary="Read up to 100 records",
        access=needing("memory_read"),
        takes=RecordBatchRead,
        answers=RecordBatchReadAnswer,
        handle=scanning(batch),
        slot=True,
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/records/query",
        tag="records",
        summary="Search eligible records, page by page",
        access=needing("memory_read"),
        takes=RecordQuery,
        answers=RecordQueryAnswer,
        handle=scanning(query),
        slot=True,
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/records/inspect",
        tag="records",
        summary="Look at a retained record and at the reasons of its eligibility",
        access=needing("memory_read", "memory_review"),
        takes=RecordRead,
        answers=RecordInspectAnswer,
        handle=reading(inspect),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/memory/records/revision",
        tag="records",
        summary="Look at a record as it was at one revision",
        access=needing("memory_read", "memory_review"),
        takes=RecordRevisionRead,
        answers=RecordRevisionAnswer,
        handle=reading(revision),
        slot=True,
        refuses=("record_not_found",),
    ),
)
