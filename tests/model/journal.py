"""The change streams as they must be: what each tells, command by command, and the positions it has been seen to have.

Digests of positions cover random numbers that only a store knows, so positions are learnt by looking. Once seen, they
must never be seen otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.core.relations import RelationInput
from relatum.core.streams import Cursor, Stream
from tests.model.words import BAD, HISTORY


@dataclass
class Journal:
    """One stream of one partition. `cursors` are the baseline and the position behind each change seen so far."""

    stream: Stream
    active: bool = False
    changes: list[dict[str, Any]] = field(default_factory=list)
    cursors: list[Cursor] = field(default_factory=list)

    # What is written

    def tell_of_a_record(self, receipt: RecordReceipt) -> None:
        self._tell(
            receipt, {name: getattr(receipt, name) for name in ("record_id", "record_digest")}, "record_revision"
        )

    def tell_of_a_relation(self, receipt: RelationReceipt, given: RelationInput) -> None:
        own: dict[str, Any] = {name: getattr(receipt, name) for name in ("relation_id", "relation_digest")}
        own |= {"source": given.source, "target": given.target, "relation_kind": given.kind}
        self._tell(receipt, own, "relation_revision")

    def _tell(self, receipt: RecordReceipt | RelationReceipt, own: dict[str, Any], revision: str) -> None:
        self.active = True
        told = {
            "schema_version": 1,
            "kind": receipt.action,
            revision: receipt.revision,
            "author": receipt.author,
            "committed_at_millis": receipt.committed_at_millis,
            "receipt_digest": receipt.receipt_digest,
        }
        self.changes.append(msgspec.to_builtins(told | own))

    # What is read

    def see(self, cursors: list[Cursor]) -> None:
        """Learns positions; those that were seen before must be the same."""
        assert len(self.changes) + 1 == len(cursors)
        assert self.cursors == cursors[: len(self.cursors)]
        assert [(1, self.stream, cursors[0].journal_id, at) for at in range(len(cursors))] == [
            (cursor.version, cursor.stream, cursor.journal_id, cursor.sequence) for cursor in cursors
        ]
        assert len(cursors) == len({cursor.prefix_digest for cursor in cursors})
        self.cursors = cursors

    @property
    def tip(self) -> Cursor | None:
        return self.cursors[-1] if self.active else None

    @property
    def baseline(self) -> Cursor | None:
        return self.cursors[0] if self.active else None

    def holds(self, cursor: Cursor) -> bool:
        return self.active and cursor in self.cursors

    def is_sound(self, cursor: Cursor) -> bool:
        """Whether a cursor could be one of this stream, on whatever history."""
        return cursor.version == 1 and cursor.stream == self.stream

    def expect_page(self, after: Cursor | None, through: Cursor | None) -> str | None:
        """The code of the refusal of a stretch, or None."""
        given = [cursor for cursor in (after, through) if cursor is not None]
        if not all(map(self.is_sound, given)):
            return BAD
        if after is not None and through is not None and after.sequence > through.sequence:
            return BAD
        return None if all(map(self.holds, given)) else HISTORY
