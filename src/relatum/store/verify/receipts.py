"""The receipt that an event must hold, made again from what it did.

What lives here: one function for each kind of receipt. Of a record's command and of a judgment the digest is taken as
it stands, because the text that it covers lies elsewhere, or was erased.
"""

from __future__ import annotations

from typing import NamedTuple

from relatum.core import digests, transitions
from relatum.core.answers.receipts import JudgmentAction, RelationAction
from relatum.core.commands import AssertRelation
from relatum.core.consequences import RelationPart
from relatum.core.cursors import Checkpoint, CheckpointReceipt, Reconcile
from relatum.core.events import CheckpointEvent, Event, FoundEvent, JudgmentEvent, LinkEvent, RecordEvent, RelationEvent
from relatum.core.links import LinkReceipt, StoredLink, Unlink
from relatum.core.receipts import JudgmentReceipt, RecordReceipt, RelationReceipt
from relatum.core.state import RelationVersion
from relatum.core.stored_judgments import Confirmed, PairsSubmitted, Promoted, SweepRun, Undone, VerdictGiven

JUDGMENT_ACTIONS: dict[type[object], JudgmentAction] = {
    PairsSubmitted: "submitted",
    SweepRun: "swept",
    Undone: "undone",
    Confirmed: "confirmed",
    Promoted: "promoted",
}


class Named(NamedTuple):
    """The key that a client gave a command, and the digest that identifies it under the key."""

    idempotency_key: str
    command_digest: str


def named(event: RecordEvent | RelationEvent | FoundEvent | JudgmentEvent) -> Named:
    """The command of an event."""
    match event:
        case RecordEvent(receipt=receipt):
            return Named(receipt.idempotency_key, receipt.command_digest)
        case RelationEvent(receipt=told) | FoundEvent(receipt=told):
            return Named(told.idempotency_key, digests.relation_command_digest(event.operation))
        case JudgmentEvent():
            return Named(event.idempotency_key, event.command_digest)


def record_receipt(workspace_id: str, event: RecordEvent, revision: int, digest: bytes) -> RecordReceipt:
    """Of a record command that left the record at a revision with this digest."""
    receipt = RecordReceipt(
        contract_version=1,
        idempotency_key=event.receipt.idempotency_key,
        record_id=event.record_id,
        revision=revision,
        action=transitions.record_action(event.operation),
        author=event.author,
        committed_at_millis=event.committed_at_millis,
        record_digest=digest.hex(),
        command_digest=event.receipt.command_digest,
        receipt_digest="",
        commit_sequence=event.sequence,
    )
    return digests.sealed_receipt(workspace_id, receipt)


def relation_receipt(
    workspace_id: str, event: Event, part: RelationPart, command: Named, revision: int, digest: bytes
) -> RelationReceipt:
    """Of what a command did to a relation, which left it at a revision with this digest."""
    operation = part.operation
    told = operation.relation.provenance if isinstance(operation, AssertRelation) else operation
    action = transitions.RELATION_ACTIONS[type(operation)]
    return _relation_receipt(
        workspace_id, event, command, part.relation_id, action, told.evidence_ref, revision, digest
    )


def found_receipt(workspace_id: str, event: FoundEvent, found: RelationVersion) -> RelationReceipt:
    """Of an assertion that found a relation as it was then."""
    relation, told = found.relation, event.operation.relation.provenance
    return _relation_receipt(
        workspace_id,
        event,
        named(event),
        relation.relation_id,
        "found",
        told.evidence_ref,
        relation.revision,
        found.digest,
    )


def repeated_receipt(
    workspace_id: str, event: JudgmentEvent, receipt: RelationReceipt, found: RelationVersion
) -> RelationReceipt:
    """Of a verdict that was given before. Its evidence is taken as it stands: the event has it nowhere else."""
    relation = found.relation
    return _relation_receipt(
        workspace_id,
        event,
        named(event),
        relation.relation_id,
        "asserted",
        receipt.evidence_ref,
        relation.revision,
        found.digest,
    )


def _relation_receipt(
    workspace_id: str,
    event: Event,
    command: Named,
    relation_id: str,
    action: RelationAction,
    evidence_ref: str,
    revision: int,
    digest: bytes,
) -> RelationReceipt:
    receipt = RelationReceipt(
        contract_version=1,
        idempotency_key=command.idempotency_key,
        relation_id=relation_id,
        revision=revision,
        action=action,
        author=event.author,
        committed_at_millis=event.committed_at_millis,
        evidence_ref=evidence_ref,
        relation_digest=digest.hex(),
        command_digest=command.command_digest,
        receipt_digest="",
        commit_sequence=event.sequence,
    )
    return digests.sealed_receipt(workspace_id, receipt)


def judgment_receipt(workspace_id: str, event: JudgmentEvent) -> JudgmentReceipt | None:
    """Of a judgment command other than a verdict; a verdict is answered with the receipt of its relation."""
    if isinstance(event.operation, VerdictGiven):
        return None
    receipt = JudgmentReceipt(
        contract_version=1,
        idempotency_key=event.idempotency_key,
        action=JUDGMENT_ACTIONS[type(event.operation)],
        author=event.author,
        committed_at_millis=event.committed_at_millis,
        command_digest=event.command_digest,
        receipt_digest="",
        commit_sequence=event.sequence,
    )
    return digests.sealed_receipt(workspace_id, receipt)


def link_receipt(workspace_id: str, event: LinkEvent, link: StoredLink) -> LinkReceipt:
    """Of a link command that made `link` or took it away."""
    receipt = LinkReceipt(
        contract_version=1,
        idempotency_key=event.receipt.idempotency_key,
        source_id=link.source_id,
        target_id=link.target_id,
        kind=link.kind,
        action="unlinked" if isinstance(event.operation, Unlink) else "linked",
        author=event.author,
        committed_at_millis=event.committed_at_millis,
        command_digest=digests.link_command_digest(event.operation),
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
