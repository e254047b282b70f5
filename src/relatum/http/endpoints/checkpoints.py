"""Checkpoints of consumers, and their diagnosis (feeds.md, checkpoints)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from relatum.core.answers.feeds import (
    CheckpointReadAnswer,
    CheckpointRevisionAnswer,
    CheckpointSavedAnswer,
    DiagnoseAnswer,
)
from relatum.core.feeds import CheckpointBody, ConsumerBody, ConsumerRevisionBody, DiagnoseBody
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.errors import Refusal
from relatum.http.endpoints.changes import PATHS
from relatum.http.routes import Handler, Reading, Route, needing, reading
from relatum.http.server_state import Call, partition_of, reader_of
from relatum.ledger.reads import checkpoints, diagnosis
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


def saving(stream: Stream) -> Handler[CheckpointBody]:
    """The handler of `checkpoints`."""

    async def handle(call: Call[CheckpointBody]) -> CheckpointSavedAnswer | Refusal:
        author, command = call.credential.author, call.body.command
        saved = await call.ledger.save_checkpoint_async(partition_of(call), author, stream, command)
        if isinstance(saved, Refusal):
            return saved
        return CheckpointSavedAnswer(contract_version=CONTRACT_VERSION, receipt=saved)

    return handle


def read(stream: Stream) -> Reading[ConsumerBody]:
    """What `checkpoints/read` answers."""

    def answer(call: Call[ConsumerBody], view: RequestView) -> CheckpointReadAnswer | Refusal:
        found = checkpoints.read(reader_of(call, view), stream, _subject_id(call), call.body.consumer_id)
        if isinstance(found, Refusal):
            return found
        return CheckpointReadAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, checkpoint=found)

    return answer


def revision(stream: Stream) -> Reading[ConsumerRevisionBody]:
    """What `checkpoints/revision` answers."""

    def answer(call: Call[ConsumerRevisionBody], view: RequestView) -> CheckpointRevisionAnswer | Refusal:
        body = call.body
        found = checkpoints.revision(reader_of(call, view), stream, _subject_id(call), body.consumer_id, body.revision)
        if isinstance(found, Refusal):
            return found
        return CheckpointRevisionAnswer(contract_version=CONTRACT_VERSION, scope=body.scope, receipt=found)

    return answer


def diagnose(stream: Stream) -> Reading[DiagnoseBody]:
    """What `consumers/diagnose` answers."""

    def answer(call: Call[DiagnoseBody], view: RequestView) -> DiagnoseAnswer | Refusal:
        body = call.body
        found = diagnosis.diagnose(reader_of(call, view), stream, _subject_id(call), body.consumer_id, body.witness)
        if isinstance(found, Refusal):
            return found
        return DiagnoseAnswer(contract_version=CONTRACT_VERSION, scope=body.scope, diagnostics=found)

    return answer


def _subject_id(call: Call[Any]) -> str:
    """A consumer belongs to the caller's subject, whichever of its credentials it comes with."""
    return call.credential.spec.subject_id


def _routes(stream: Stream, noun: str) -> Iterator[Route[Any]]:
    path, access = PATHS[stream], needing("memory_read", "memory_checkpoint")
    yield Route(
        path=f"{path}/checkpoints",
        tag="feeds",
        summary=f"Save how far a consumer has come with the changes of {noun}",
        access=access,
        takes=CheckpointBody,
        answers=CheckpointSavedAnswer,
        handle=saving(stream),
        slot=True,
        writes=True,
        refuses=(
            "invalid_request",
            "idempotency_conflict",
            "revision_conflict",
            "journal_history_conflict",
            "checkpoint_regression",
        ),
    )
    yield Route(
        path=f"{path}/checkpoints/read",
        tag="feeds",
        summary=f"Read how far a consumer has come with the changes of {noun}",
        access=access,
        takes=ConsumerBody,
        answers=CheckpointReadAnswer,
        handle=reading(read(stream)),
        slot=True,
        refuses=("invalid_request", "checkpoint_not_found", "journal_history_conflict"),
    )
    yield Route(
        path=f"{path}/checkpoints/revision",
        tag="feeds",
        summary="Look at one revision of a checkpoint, whatever became of the journal",
        access=access,
        takes=ConsumerRevisionBody,
        answers=CheckpointRevisionAnswer,
        handle=reading(revision(stream)),
        slot=True,
        refuses=("invalid_request", "checkpoint_not_found"),
    )
    yield Route(
        path=f"{path}/consumers/diagnose",
        tag="feeds",
        summary="Hold a checkpoint, and a cursor kept elsewhere, against the journal",
        access=access,
        takes=DiagnoseBody,
        answers=DiagnoseAnswer,
        handle=reading(diagnose(stream)),
        slot=True,
        refuses=("invalid_request",),
    )


ROUTES: Final = (*_routes(RELATIONS, "relations"), *_routes(RECORDS, "records"))
