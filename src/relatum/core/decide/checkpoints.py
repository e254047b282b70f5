"""Decisions on checkpoint commands (feeds.md, checkpoints)."""

from __future__ import annotations

from typing import NamedTuple

from relatum.core import digests, text, transitions
from relatum.core.cursors import Advance, Checkpoint, CheckpointCommand, CheckpointReceipt, Reconcile
from relatum.core.decide.event_envelope import linked
from relatum.core.events import CheckpointEvent, Stamp
from relatum.core.state import PartitionState
from relatum.core.streams import Cursor, Stream
from relatum.errors import Refusal, refusal, stale


class CheckpointDecision(NamedTuple):
    """An accepted checkpoint: its event and what is saved from now on."""

    event: CheckpointEvent
    after: Checkpoint


def broken_rule(stream: Stream, command: CheckpointCommand) -> str | None:
    """The first static rule that a command breaks, in words; tested before its key is looked up."""
    operation = command.operation
    if not text.is_idempotency_key(command.idempotency_key):
        return "the idempotency key must be 1 to 256 bytes, not blank, without control characters"
    if not text.is_consumer_id(command.consumer_id):
        return "consumer_id must be 1 to 128 bytes, not blank, without control characters"
    if (command.expected_checkpoint_digest is None) != (command.expected_revision == 0):
        return "expected_checkpoint_digest goes with an expected_revision over 0, and only with one"
    if command.expected_checkpoint_digest is not None and not text.is_digest(command.expected_checkpoint_digest):
        return "expected_checkpoint_digest must be 64 lower-case hex digits"
    if isinstance(operation, Reconcile):
        if command.expected_revision == 0:
            return "there is nothing to reconcile at revision 0"
        if not text.is_evidence_ref(operation.evidence_ref):
            return "evidence_ref must be 1 to 2048 bytes, not blank, without control characters"
    return operation.cursor.problem(stream)


def decide(
    state: PartitionState, stream: Stream, command: CheckpointCommand, command_digest: str, stamp: Stamp
) -> CheckpointDecision | Refusal:
    """Accepts or refuses a sound command whose key is new.

    Revision and digest, then the target, then the old position.
    """
    subject_id = stamp.author.subject_id
    before = state.checkpoint(stream, subject_id, command.consumer_id)
    revision = 0 if before is None else before.revision
    digest = None if before is None else before.checkpoint_digest
    if (command.expected_revision, command.expected_checkpoint_digest) != (revision, digest):
        return stale("the checkpoint is at another revision")
    target = command.operation.cursor
    if not state.lies_on_journal(stream, target):
        return refusal("journal_history_conflict", "the cursor does not lie on this journal")
    if isinstance(command.operation, Advance) and before is not None:
        refused = _not_an_advance(state, stream, before.cursor, target)
        if refused is not None:
            return refused
    return _accept(state, stream, command, before, command_digest, stamp)


def _not_an_advance(state: PartitionState, stream: Stream, saved: Cursor, target: Cursor) -> Refusal | None:
    if not state.lies_on_journal(stream, saved):
        return refusal("journal_history_conflict", "the saved cursor no longer lies on this journal")
    if target.sequence < saved.sequence:
        return refusal("checkpoint_regression", "the cursor lies before the saved one")
    return None


def _accept(
    state: PartitionState,
    stream: Stream,
    command: CheckpointCommand,
    before: Checkpoint | None,
    command_digest: str,
    stamp: Stamp,
) -> CheckpointDecision:
    operation = command.operation
    after = transitions.checkpoint_after(state.workspace_id, stream, before, command, stamp.at_millis, stamp.author)
    receipt = CheckpointReceipt(
        contract_version=1,
        idempotency_key=command.idempotency_key,
        previous=before,
        checkpoint=after,
        reconciliation_evidence=operation.evidence_ref if isinstance(operation, Reconcile) else None,
        receipt_digest="",
    )
    event = CheckpointEvent(
        stream=stream,
        command=command,
        command_digest=command_digest,
        receipt=digests.sealed_receipt(state.workspace_id, receipt),
        **linked(state.head(), state.partition, stamp),
    )
    return CheckpointDecision(event, after)
