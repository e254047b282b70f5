"""`records/commands` and its batch (records.md, commands)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, UnsetType

from relatum.core.commands import RecordBatch, RecordCommand
from relatum.core.receipts import RecordReceipt
from relatum.core.wire import Closed
from relatum.errors import Refusal
from relatum.http.endpoints.submitting import EITHER, RECORD_NEEDS, ItemError, submit, submit_batch
from relatum.http.routes import Route, needing_by_operation
from relatum.http.services import Call
from relatum.limits import BATCH_BODY_BYTES_MAX, CONTRACT_VERSION


class RecordCommandAnswer(Closed, frozen=True, kw_only=True):
    """The receipt of an accepted record command, the same bytes on every replay."""

    contract_version: Literal[1]
    receipt: RecordReceipt


class RecordBatchResult(Closed, frozen=True, kw_only=True):
    """The outcome of one command of a batch: a receipt or an error."""

    receipt: RecordReceipt | UnsetType = UNSET
    error: ItemError | UnsetType = UNSET


class RecordBatchResults(Closed, frozen=True, kw_only=True):
    """The outcomes of a batch of record commands, in the order of the request."""

    contract_version: Literal[1]
    results: tuple[Annotated[RecordBatchResult, EITHER], ...]


async def command(call: Call[RecordCommand]) -> RecordCommandAnswer | Refusal:
    """One record command."""
    outcome = await submit(call, call.body)
    if isinstance(outcome, Refusal):
        return outcome
    assert isinstance(outcome, RecordReceipt)
    return RecordCommandAnswer(contract_version=CONTRACT_VERSION, receipt=outcome)


async def batch(call: Call[RecordBatch]) -> RecordBatchResults | Refusal:
    """Many record commands, each on its own."""
    outcomes = await submit_batch(call, call.body.commands)
    if isinstance(outcomes, Refusal):
        return outcomes
    return RecordBatchResults(contract_version=CONTRACT_VERSION, results=tuple(map(_result, outcomes)))


def _result(outcome: object) -> RecordBatchResult:
    if isinstance(outcome, ItemError):
        return RecordBatchResult(error=outcome)
    assert isinstance(outcome, RecordReceipt)
    return RecordBatchResult(receipt=outcome)


ROUTES: Final = (
    Route(
        path="/api/v1/memory/records/commands",
        tag="records",
        summary="Create, revise, delete, derive or review a record",
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
