"""The receipt that an event must hold, made again from what it did.

What lives here: one function for each family that answers receipts. Of a record's command the digest is taken as it
stands, because the text that it covers lies elsewhere, or was erased.
"""

from __future__ import annotations

from relatum.core import digests, transitions
from relatum.core.commands import AssertRelation
from relatum.core.cursors import Checkpoint, CheckpointReceipt, Reconcile
from relatum.core.events import CheckpointEvent, RecordEvent, RelationEvent
from relatum.core.receipts import RecordReceipt, RelationReceipt


def record_receipt(workspace_id: str, event: RecordEvent, revision: int, digest: bytes) -> RecordReceipt:
    """Of a record command that brought a revision with this digest."""
    receipt = RecordReceipt(
        contract_version=1,
        idempotency_key=event.receipt.idempotency_key,
        record_id=event.record_id,
        revision=revision,
        action=transitions.RECORD_ACTIONS[type(event.operation)],
        author=event.author,
        committed_at_millis=event.committed_at_millis,
        record_digest=digest.hex(),
        command_digest=event.receipt.command_digest,
        receipt_digest="",
        commit_sequence=event.sequence,
    )
    return digests.sealed_receipt(workspace_id, receipt)


def relation_receipt(workspace_id: str, event: RelationEvent, revision: int, digest: bytes) -> RelationReceipt:
    """Of a relation command that brought a revision with this digest."""
    operation = event.operation
    told = operation.relation.provenance if isinstance(operation, AssertRelation) else operation
    receipt = RelationReceipt(
        contract_version=1,
        idempotency_key=event.receipt.idempotency_key,
        relation_id=event.relation_id,
        revision=revision,
        action=transitions.RELATION_ACTIONS[type(operation)],
        author=event.author,
        committed_at_millis=event.committed_at_millis,
        evidence_ref=told.evidence_ref,
        relation_digest=digest.hex(),
        command_digest=digests.relation_command_digest(operation),
        receipt_digest="",
        commit_sequence=event.sequence,
    )
    return digests.sealed_receipt(workspace_id, receipt)


def checkpoint_receipt(
    workspace_id: str, event: CheckpointEvent, before: Checkpoint | None, after: Checkpoint
) -> CheckpointReceipt:
    """Of a checkpoint command that saved `after` in the place of `before`."""
    operation = event.command.operation
    receipt = CheckpointReceipt(
        contract_version=1,
        idempotency_key=event.command.idempotency_key,
        previous=before,
        checkpoint=after,
        reconciliation_evidence=operation.evidence_ref if isinstance(operation, Reconcile) else None,
        receipt_digest="",
    )
    return digests.sealed_receipt(workspace_id, receipt)
