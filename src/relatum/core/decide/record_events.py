"""How an accepted record command becomes an event, whatever the command was."""

from __future__ import annotations

from msgspec import Struct

from relatum import limits
from relatum.core import digests, transitions
from relatum.core.canonical import encode
from relatum.core.consequences import Consequences
from relatum.core.decide.event_envelope import Asked, journaling, linked
from relatum.core.events import RecordDeleted, RecordEvent, Stamp, StoredRecordOperation
from relatum.core.journal import streams_of
from relatum.core.receipts import RecordReceipt
from relatum.core.records import Payload, PayloadRow, Proof, RecordMeta
from relatum.core.state import PartitionState
from relatum.core.streams import RECORDS
from relatum.errors import Refusal, invalid


class RecordDecision(Struct, frozen=True, gc=False):
    """An accepted record command.

    Its event, the record it leaves with its canonical bytes, the erasable row it brings.
    """

    event: RecordEvent
    after: RecordMeta
    canonical: bytes
    payload: PayloadRow | None


def sealed(stamp: Stamp, payload: Payload | None = None, evidence_ref: str | None = None) -> tuple[PayloadRow, Proof]:
    """An erasable row and what of it stays when it goes."""
    row = PayloadRow(salt=digests.draw(stamp.entropy, "salt", 16), payload=payload, evidence_ref=evidence_ref)
    return row, Proof(digest=digests.payload_digest(row), length=len(encode(row)))


def accept(
    state: PartitionState,
    operation: StoredRecordOperation,
    before: RecordMeta | None,
    record_id: str,
    row: PayloadRow | None,
    asked: Asked,
    consequences: Consequences | None = None,
) -> RecordDecision | Refusal:
    """The decision on a command that no rule stands against, but for the bound on what is stored."""
    stamp = asked.stamp
    after = transitions.record_after(before, operation, record_id, stamp.at_millis, stamp.author)
    canonical = encode(after)
    if stored_length(after, len(canonical)) > limits.RECORD_BYTES_MAX and not isinstance(operation, RecordDeleted):
        return invalid("the stored record would be over 64 KiB")
    head = state.head()
    receipt = RecordReceipt(
        contract_version=1,
        idempotency_key=asked.idempotency_key,
        record_id=record_id,
        revision=after.revision,
        action=transitions.record_action(operation),
        author=stamp.author,
        committed_at_millis=stamp.at_millis,
        record_digest=digests.record_digest(canonical).hex(),
        command_digest=asked.command_digest,
        receipt_digest="",
        commit_sequence=head.sequence + 1,
    )
    event = RecordEvent(
        record_id=record_id,
        operation=operation,
        receipt=digests.sealed_receipt(state.workspace_id, receipt),
        **linked(head, state.partition, stamp),
        **journaling(head, stamp, RECORDS, *streams_of(consequences)),
        consequences=consequences,
    )
    return RecordDecision(event, after, canonical, row)


def stored_length(meta: RecordMeta, canonical_length: int) -> int:
    """Stored bytes of a record: its kept part, its content and the evidence reference of its review."""
    if meta.state == "deleted":
        return canonical_length
    return canonical_length + meta.payload.length + (meta.review.evidence.length if meta.review else 0)
