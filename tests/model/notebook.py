"""Checkpoints as they must be: for each owner everything ever saved, and which command is refused for what.

Digests are recomputed as docs/digests.md tells, without the ledger's own functions.
"""

from __future__ import annotations

from typing import Any

import msgspec
from blake3 import blake3

from relatum.core.cursors import Advance, Checkpoint, CheckpointCommand, CheckpointReceipt, Reconcile
from relatum.core.ids import Author
from relatum.core.streams import Stream
from tests.model.journal import Journal
from tests.model.words import BAD, CONFLICT, HISTORY, REGRESSION, STALE

Owner = tuple[Stream, str, str]
"""A stream, a subject, a consumer."""


class Notebook:
    """All checkpoints of one partition."""

    def __init__(self) -> None:
        self.saved: dict[Owner, list[CheckpointReceipt]] = {}
        self.answered: dict[tuple[str, str], tuple[Stream, CheckpointCommand, CheckpointReceipt]] = {}

    def current(self, owner: Owner) -> Checkpoint | None:
        receipts = self.saved.get(owner)
        return receipts[-1].checkpoint if receipts else None

    def expect(self, author: Author, command: CheckpointCommand, journal: Journal) -> CheckpointReceipt | str | None:
        """The receipt of a replay, the code of a refusal, or None for a command that must be accepted."""
        if is_unsound(command, journal):
            return BAD
        known = self.answered.get((author.subject_id, command.idempotency_key))
        if known is not None:
            stream, earlier, receipt = known
            return receipt if (stream, earlier) == (journal.stream, command) else CONFLICT
        current = self.current((journal.stream, author.subject_id, command.consumer_id))
        wanted = (command.expected_revision, command.expected_checkpoint_digest)
        if wanted != ((current.revision, current.checkpoint_digest) if current else (0, None)):
            return STALE
        target = command.operation.cursor
        if not journal.holds(target):
            return HISTORY
        if isinstance(command.operation, Advance) and current is not None:
            if not journal.holds(current.cursor):
                return HISTORY
            if target.sequence < current.cursor.sequence:
                return REGRESSION
        return None

    def accept(
        self,
        workspace_id: str,
        author: Author,
        stream: Stream,
        command: CheckpointCommand,
        receipt: CheckpointReceipt,
        now: int,
    ) -> None:
        """Writes down a command that was accepted at `now`, and holds its receipt against what it must say."""
        owner = (stream, author.subject_id, command.consumer_id)
        operation = command.operation
        checkpoint = {
            "schema_version": 1,
            "consumer_id": command.consumer_id,
            "revision": len(self.saved.get(owner, [])) + 1,
            "cursor": operation.cursor,
            "author": author,
            "updated_at_millis": now,
        }
        bound = {"workspace_id": workspace_id, "stream": stream, "checkpoint": checkpoint}
        members = {
            "contract_version": 1,
            "idempotency_key": command.idempotency_key,
            "previous": self.current(owner),
            "checkpoint": checkpoint | {"checkpoint_digest": digest("checkpoint", bound)},
            "reconciliation_evidence": operation.evidence_ref if isinstance(operation, Reconcile) else None,
        }
        sealed = digest("receipt", {"workspace_id": workspace_id, "receipt": members})
        assert msgspec.to_builtins(members | {"receipt_digest": sealed}) == msgspec.to_builtins(receipt)
        self.saved.setdefault(owner, []).append(receipt)
        self.answered[author.subject_id, command.idempotency_key] = (stream, command, receipt)


def is_unsound(command: CheckpointCommand, journal: Journal) -> bool:
    """What is wrong with a command whatever was saved before."""
    first = command.expected_revision == 0
    return (
        first != (command.expected_checkpoint_digest is None)
        or (first and isinstance(command.operation, Reconcile))
        or not journal.is_sound(command.operation.cursor)
    )


def digest(label: str, value: dict[str, Any]) -> str:
    """A digest of values that have all their members: texts, whole numbers, null, and objects of them."""
    packed = msgspec.msgpack.encode(msgspec.to_builtins(value), order="sorted")
    return blake3(b"relatum/1/" + label.encode() + b"\0" + packed).hexdigest()
