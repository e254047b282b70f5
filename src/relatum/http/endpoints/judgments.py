"""The routes below `judgments/` (judgments.md, routes)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.judgments import (
    CandidatesAnswer,
    CompareAnswer,
    JudgmentBatchAnswer,
    JudgmentResult,
    JudgmentsQueryAnswer,
    JudgmentView,
    SweepAnswer,
    SweepOperation,
    UndoAnswer,
)
from relatum.core.candidates import Orphaned, Resumed
from relatum.core.events import JudgmentEvent
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.core.judgments import (
    CandidatesCommand,
    CompareCommand,
    JudgmentBatchCommand,
    SweepCommand,
    UndoCommand,
)
from relatum.core.receipts import RelationReceipt
from relatum.core.stored_judgments import PairsSubmitted, SweepRun, VerdictGiven
from relatum.errors import Refusal, StorageInconsistency
from relatum.http.endpoints.judgment_requests import judged, judged_alone
from relatum.http.routes import Route, needing, scanning
from relatum.http.server_state import Call, reader_of
from relatum.ledger.reads import judgments
from relatum.ledger.view import RequestView
from relatum.limits import BATCH_BODY_BYTES_MAX, CONTRACT_VERSION
from relatum.store.partition import PartitionReader


async def batch(call: Call[JudgmentBatchCommand]) -> JudgmentBatchAnswer | Refusal:
    """Verdicts on candidates, each on its own."""
    events = await judged(call, call.body.operation)
    if isinstance(events, Refusal):
        return events
    with call.ledger.view() as view:
        results = tuple(_result(reader_of(call, view), event) for event in events)
    failed = not any(result.ok for result in results)
    return JudgmentBatchAnswer(contract_version=CONTRACT_VERSION, results=results, all_failed=failed)


async def compare(call: Call[CompareCommand]) -> CompareAnswer | Refusal:
    """One verdict on two records."""
    event = await judged_alone(call, call.body.operation)
    if isinstance(event, Refusal):
        return event
    with call.ledger.view() as view:
        given, receipt = _given(reader_of(call, view), event)
    return CompareAnswer(contract_version=CONTRACT_VERSION, judgment=given, receipt=receipt)


async def candidates(call: Call[CandidatesCommand]) -> CandidatesAnswer | Refusal:
    """Pairs of an outside detector."""
    event = await judged_alone(call, call.body.operation)
    if isinstance(event, Refusal):
        return event
    assert isinstance(event.operation, PairsSubmitted)
    with call.ledger.view() as view:
        found = judgments.candidates_by_id(reader_of(call, view), event.operation.candidate_ids)
    return CandidatesAnswer(contract_version=CONTRACT_VERSION, candidates=found)


async def sweep(call: Call[SweepCommand]) -> SweepAnswer | Refusal:
    """A run of the sweep on demand."""
    event = await judged_alone(call, call.body.operation)
    if isinstance(event, Refusal):
        return event
    assert isinstance(event.operation, SweepRun)
    changes = event.consequences.candidates if event.consequences else ()
    operations = tuple(
        SweepOperation(operation_id=change.operation_id, candidate_id=change.candidate_id)
        for change in changes
        if isinstance(change, Orphaned)
    )
    return SweepAnswer(contract_version=CONTRACT_VERSION, run_id=event.operation.run_id, operations=operations)


async def undo(call: Call[UndoCommand]) -> UndoAnswer | Refusal:
    """Undo a run or an operation."""
    event = await judged_alone(call, call.body.operation)
    if isinstance(event, Refusal):
        return event
    changes = event.consequences.candidates if event.consequences else ()
    resumed = tuple(change.candidate_id for change in changes if isinstance(change, Resumed))
    return UndoAnswer(contract_version=CONTRACT_VERSION, candidate_ids=resumed)


def query(call: Call[JudgmentsQuery], view: RequestView) -> JudgmentsQueryAnswer:
    """Candidates of a status."""
    ages = view.ages
    page = judgments.query(
        reader_of(call, view), view.now_millis, call.body, ages.resurfacing_millis, ages.deadline_millis
    )
    return JudgmentsQueryAnswer(
        contract_version=CONTRACT_VERSION, scope=call.body.scope, candidates=page.candidates, total=page.total
    )


def _result(partition: PartitionReader, event: JudgmentEvent) -> JudgmentResult:
    operation = event.operation
    assert isinstance(operation, VerdictGiven)
    if operation.refused is not None:
        return JudgmentResult(ok=False, code=operation.refused.code, message=operation.refused.message)
    given, receipt = _given(partition, event)
    return JudgmentResult(ok=True, judgment=given, receipt=receipt)


def _given(partition: PartitionReader, event: JudgmentEvent) -> tuple[JudgmentView, RelationReceipt]:
    """A verdict of its event; what it says of which records stands in the relation, which never changes that."""
    operation, receipt = event.operation, event.receipt
    relation = None if receipt is None else partition.relation(receipt.relation_id)
    if not isinstance(operation, VerdictGiven) or receipt is None or relation is None:
        raise StorageInconsistency("the relation of a verdict is missing")
    given = relation.relation.input
    verdict = JudgmentView(
        relation=operation.relation,
        relation_kind=given.kind,
        relation_id=receipt.relation_id,
        source=given.source,
        target=given.target,
        candidate_id=operation.candidate_id,
        confidence=operation.confidence,
    )
    return verdict, receipt


_CONFLICTS: Final = ("revision_conflict", "idempotency_conflict")
ROUTES: Final = (
    Route(
        path="/api/v1/memory/judgments/candidates",
        tag="judgments",
        summary="Submit pairs of records to be judged",
        access=needing("memory_read", "memory_write"),
        takes=CandidatesCommand,
        answers=CandidatesAnswer,
        handle=candidates,
        writes=True,
        refuses=("invalid_request", "record_not_found", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/judgments/batch",
        tag="judgments",
        summary="Judge 1 to 20 candidates, each on its own",
        access=needing("memory_read", "memory_write"),
        takes=JudgmentBatchCommand,
        answers=JudgmentBatchAnswer,
        handle=batch,
        writes=True,
        body_bytes_max=BATCH_BODY_BYTES_MAX,
        refuses=("invalid_request", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/judgments/compare",
        tag="judgments",
        summary="Judge two records without a candidate",
        access=needing("memory_read", "memory_write"),
        takes=CompareCommand,
        answers=CompareAnswer,
        handle=compare,
        writes=True,
        refuses=("invalid_request", "record_not_found", *_CONFLICTS),
    ),
    Route(
        path="/api/v1/memory/judgments/query",
        tag="judgments",
        summary="Candidates that wait for a verdict, oldest first",
        access=needing("memory_read"),
        takes=JudgmentsQuery,
        answers=JudgmentsQueryAnswer,
        handle=scanning(query),
    ),
    Route(
        path="/api/v1/memory/judgments/sweep",
        tag="judgments",
        summary="Orphan candidates that have waited too long",
        access=needing("memory_read", "memory_review"),
        takes=SweepCommand,
        answers=SweepAnswer,
        handle=sweep,
        writes=True,
        refuses=("invalid_request", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/judgments/undo",
        tag="judgments",
        summary="Undo a run of the sweep, or one operation of it",
        access=needing("memory_read", "memory_review"),
        takes=UndoCommand,
        answers=UndoAnswer,
        handle=undo,
        writes=True,
        refuses=("invalid_request", "candidate_not_found", *_CONFLICTS),
    ),
)
