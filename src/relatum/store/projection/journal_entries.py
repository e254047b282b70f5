"""The journal entries of an event: one for each object of a stream that it changed, in the order of the event."""

from __future__ import annotations

from collections.abc import Sequence

from relatum.core import journal
from relatum.core.changes import JournalHead, RecordChange, RecordEntry, RelationChange, RelationEntry
from relatum.core.events import Event
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.store import rows
from relatum.store.projection.staged_partition import Staging


def journaled(
    staging: Staging, event: Event, changes: Sequence[RecordChange | RelationChange]
) -> dict[Stream, JournalHead]:
    """Stages an entry for each change; the tips of all streams as they leave them."""
    tips = dict(staging.head().streams)
    for nonce, change in zip(event.nonces, changes, strict=True):
        stream: Stream = RELATIONS if isinstance(change, RelationChange) else RECORDS
        staging.require_sound(stream)
        tip = tips.get(stream) or journal.opened(staging.workspace_id, stream, event.journal_ids[stream])
        tips[stream] = tip = journal.extended(staging.workspace_id, stream, tip, nonce, change)
        staging.put(
            staging.keys.journal_entry(stream, tip.sequence), _entry(event.sequence, nonce, tip.prefix_digest, change)
        )
    return tips


def _entry(sequence: int, nonce: bytes, prefix_digest: bytes, change: RecordChange | RelationChange) -> bytes:
    if isinstance(change, RelationChange):
        return rows.RELATION_ENTRY.encode(
            RelationEntry(commit_sequence=sequence, nonce=nonce, prefix_digest=prefix_digest, change=change)
        )
    return rows.RECORD_ENTRY.encode(
        RecordEntry(commit_sequence=sequence, nonce=nonce, prefix_digest=prefix_digest, change=change)
    )
