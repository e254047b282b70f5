"""The receipt of a key, for whoever lost an answer (relations.md, idempotency and receipts)."""

from __future__ import annotations

from relatum.core.cursors import CheckpointReceipt
from relatum.core.receipts import Family, JudgmentReceipt, Receipt
from relatum.core.text import is_idempotency_key
from relatum.errors import Refusal, invalid, missing
from relatum.store.partition import PartitionReader
from relatum.store.replay import stored_checkpoint_receipt, stored_judgment_receipt, stored_receipt


def read(
    partition: PartitionReader, subject_id: str, family: Family, idempotency_key: str
) -> Receipt | CheckpointReceipt | JudgmentReceipt | Refusal:
    """The receipt of the command that a subject's key was accepted for. 404 `record_not_found` for an unused key."""
    if not is_idempotency_key(idempotency_key):
        return invalid("the idempotency key must be 1 to 256 bytes, not blank, without control characters")
    receipt: Receipt | CheckpointReceipt | JudgmentReceipt | None
    if family == "checkpoint":
        receipt = stored_checkpoint_receipt(partition, subject_id, idempotency_key)
    elif family == "judgment":
        receipt = stored_judgment_receipt(partition, subject_id, idempotency_key)
    else:
        receipt = stored_receipt(partition, family, subject_id, idempotency_key)
    return receipt or missing("no such receipt")
