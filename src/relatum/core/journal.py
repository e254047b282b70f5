"""How an accepted command enters a change stream: the change it makes and the tip it leaves (feeds.md, journals)."""

from __future__ import annotations

from typing import Protocol

from relatum.core import digests
from relatum.core.answers.standings import StandingAction
from relatum.core.changes import JournalHead, RecordChange, RelationChange
from relatum.core.consequences import Consequences
from relatum.core.ids import Author
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.core.relations import RelationInput
from relatum.core.state import RecordVersion
from relatum.core.streams import RECORDS, RELATIONS, Cursor, Stream
from relatum.errors import StorageInconsistency


class Stamped(Protocol):
    """What a change takes over from the receipt of the command that brought it."""

    @property
    def author(self) -> Author:
        """Who gave the command."""

    @property
    def committed_at_millis(self) -> int:
        """When it was committed."""

    @property
    def receipt_digest(self) -> str:
        """The digest of the receipt."""


def opened(workspace: str, stream: Stream, journal_id: str) -> JournalHead:
    """The tip of a journal that has no entries yet: its baseline."""
    return JournalHead(
        journal_id=journal_id, sequence=0, prefix_digest=digests.baseline_digest(workspace, stream, journal_id)
    )


def cursor(stream: Stream, position: JournalHead) -> Cursor:
    """A position of a journal, as consumers are told it."""
    return Cursor(
        version=1,
        stream=stream,
        journal_id=position.journal_id,
        sequence=position.sequence,
        prefix_digest=position.prefix_digest.hex(),
    )


def extended(
    workspace: str, stream: Stream, tip: JournalHead, nonce: bytes, change: RecordChange | RelationChange
) -> JournalHead:
    """The tip after one more entry."""
    return JournalHead(
        journal_id=tip.journal_id,
        sequence=tip.sequence + 1,
        prefix_digest=digests.prefix_digest(workspace, stream, tip, nonce, change),
    )


def streams_of(consequences: Consequences | None) -> tuple[Stream, ...]:
    """The stream of each entry that the consequences of a command make, in their order."""
    if consequences is None:
        return ()
    return (RELATIONS,) * len(consequences.relations) + (RECORDS,) * len(consequences.standings)


def standing_change(action: StandingAction, version: RecordVersion, stamp: Stamped) -> RecordChange:
    """The change that a change of standing announces, of a record that stays as it is."""
    return RecordChange(
        schema_version=1,
        kind=action,
        record_id=version.meta.record_id,
        record_revision=version.meta.revision,
        author=stamp.author,
        committed_at_millis=stamp.committed_at_millis,
        record_digest=version.digest.hex(),
        receipt_digest=stamp.receipt_digest,
    )


def record_change(receipt: RecordReceipt) -> RecordChange:
    """The change that a record receipt announces."""
    return RecordChange(
        schema_version=1,
        kind=receipt.action,
        record_id=receipt.record_id,
        record_revision=receipt.revision,
        author=receipt.author,
        committed_at_millis=receipt.committed_at_millis,
        record_digest=receipt.record_digest,
        receipt_digest=receipt.receipt_digest,
    )


def relation_change(receipt: RelationReceipt, given: RelationInput) -> RelationChange:
    """The change that a relation receipt announces. Raises StorageInconsistency for one that announces none."""
    if receipt.action == "found":
        raise StorageInconsistency("a receipt of no change stands for one")
    return RelationChange(
        schema_version=1,
        kind=receipt.action,
        relation_id=receipt.relation_id,
        relation_revision=receipt.revision,
        source=given.source,
        target=given.target,
        relation_kind=given.kind,
        author=receipt.author,
        committed_at_millis=receipt.committed_at_millis,
        relation_digest=receipt.relation_digest,
        receipt_digest=receipt.receipt_digest,
    )
