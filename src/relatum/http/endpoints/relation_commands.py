"""`relations/commands` and its batch (relations.md, commands)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.commands import (
    ItemError,
    RelationBatchResult,
    RelationBatchResults,
    RelationCommandAnswer,
)
from relatum.core.commands import RelationBatch, RelationCommand
from relatum.core.receipts import RelationReceipt
from relatum.errors import Refusal
from relatum.http.endpoints.command_requests import RELATION_NEEDS, submit, submit_batch
from relatum.http.routes import Route, needing_by_operation
from relatum.http.server_state import Call
from relatum.limits import BATCH_BODY_BYTES_MAX, CONTRACT_VERSION


async def command(call: Call[RelationCommand]) -> RelationCommandAnswer | Refusal:
    """One relation command."""
    outcome = await submit(call, call.body)
    if isinstance(outcome, Refusal):
        return outcome
    assert isinstance(outcome, RelationReceipt)
    return RelationCommandAnswer(contract_version=CONTRACT_VERSION, receipt=outcome)


async def batch(call: Call[RelationBatch]) -> RelationBatchResults | Refusal:
    """Many relation commands, each on its own."""
    outcomes = await submit_batch(call, call.body.commands)
    if isinstance(outcomes, Refusal):
        return outcomes
    return RelationBatchResults(contract_version=CONTRACT_VERSION, results=tuple(map(_result, outcomes)))


def _result(outcome: object) -> RelationBatchResult:
    if isinstance(outcome, ItemError):
        return RelationBatchResult(error=outcome)
    assert isinstance(outcome, RelationReceipt)
    return RelationBatchResult(receipt=outcome)


ROUTES: Final = (
    Route(
        path="/api/v1/memory/relations/commands",
        tag="relations",
        summary="Assert, retire, restore or review a relation",
        access=needing_by_operation(RELATION_NEEDS, lambda body: (body.operation,)),
        takes=RelationCommand,
        answers=RelationCommandAnswer,
        handle=command,
        slot=True,
        writes=True,
        refuses=("invalid_request", "record_not_found", "revision_conflict", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/relations/commands/batch",
        tag="relations",
        summary="1 to 256 relation commands, each with its own receipt or error",
        access=needing_by_operation(RELATION_NEEDS, lambda body: (item.operation for item in body.commands)),
        takes=RelationBatch,
        answers=RelationBatchResults,
        handle=batch,
        slot=True,
        writes=True,
        body_bytes_max=BATCH_BODY_BYTES_MAX,
        refuses=("invalid_request",),
    ),
)
