"""`records/commands` and its batch (records.md, commands)."""

from __future__ import annotations

from typing import Final, TypedDict

from msgspec.structs import replace

from relatum.core.answers.commands import (
    ItemError,
    RecordBatchResult,
    RecordBatchResults,
    RecordCommandAnswer,
    SurfacedCandidate,
)
from relatum.core.commands import RecordBatch, RecordBatchItem, RecordCommand, SaveRecord
from relatum.core.receipts import RecordReceipt
from relatum.errors import Refusal
from relatum.http.endpoints.command_requests import RECORD_NEEDS, submit, submit_batch
from relatum.http.routes import Route, needing_by_operation
from relatum.http.server_state import Call, Scoped, reader_of
from relatum.ledger.reads import judgments
from relatum.limits import BATCH_BODY_BYTES_MAX, CONTRACT_VERSION


class _Surfaced(TypedDict):
    """The members that a save's answer has besides its receipt."""

    candidates: tuple[SurfacedCandidate, ...]
    judgment_required: bool
    candidates_detected: int


async def command(call: Call[RecordCommand]) -> RecordCommandAnswer | Refusal:
    """One record command."""
    outcome = await submit(call, call.body)
    if isinstance(outcome, Refusal):
        return outcome
    assert isinstance(outcome, RecordReceipt)
    answer = RecordCommandAnswer(contract_version=CONTRACT_VERSION, receipt=outcome)
    return replace(answer, **_surfaced(call, outcome)) if isinstance(call.body.operation, SaveRecord) else answer


async def batch(call: Call[RecordBatch]) -> RecordBatchResults | Refusal:
    """Many record commands, each on its own."""
    outcomes = await submit_batch(call, call.body.commands)
    if isinstance(outcomes, Refusal):
        return outcomes
    results = tuple(_result(call, item, outcome) for item, outcome in zip(call.body.commands, outcomes, strict=True))
    return RecordBatchResults(contract_version=CONTRACT_VERSION, results=results)


def _result(call: Call[RecordBatch], item: RecordBatchItem, outcome: object) -> RecordBatchResult:
    if isinstance(outcome, ItemError):
        return RecordBatchResult(error=outcome)
    assert isinstance(outcome, RecordReceipt)
    result = RecordBatchResult(receipt=outcome)
    return replace(result, **_surfaced(call, outcome)) if isinstance(item.operation, SaveRecord) else result


def _surfaced(call: Call[Scoped], receipt: RecordReceipt) -> _Surfaced:
    """What a save has surfaced, as its event keeps it."""
    with call.ledger.view() as view:
        found = judgments.surfaced(reader_of(call, view), receipt.commit_sequence)
    return _Surfaced(
        candidates=found.candidates,
        judgment_required=bool(found.candidates),
        candidates_detected=found.detected,
    )


ROUTES: Final = (
    Route(
        path="/api/v1/memory/records/commands",
        tag="records",
        summary="Create, save, revise, delete, derive, review, archive or pin a record",
        access=needing_by_operation(RECORD_NEEDS, lambda body: (body.operation,)),
        takes=RecordCommand,
        answers=RecordCommandAnswer,
        handle=command,
        writes=True,
        refuses=("invalid_request", "record_not_found", "revision_conflict", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/records/commands/batch",
        tag="records",
        summary="1 to 256 record commands, each with its own receipt or error",
        access=needing_by_operation(RECORD_NEEDS, lambda body: (item.operation for item in body.commands)),
        takes=RecordBatch,
        answers=RecordBatchResults,
        handle=batch,
        slot=True,
        writes=True,
        body_bytes_max=BATCH_BODY_BYTES_MAX,
        refuses=("invalid_request",),
    ),
)
