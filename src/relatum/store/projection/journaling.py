"""The journal entries of an event: one for each object of a stream that it changed, in the order of the event."""

from __future__ import annotations

from collections.abc import Sequence

from relatum.core import journal
from relatum.core.changes import JournalHead, RecordChange, RecordEntry, RelationChange, RelationEntry
from relatum.core.events import Event, Head
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.store import rows
from relatum.store.projection.staging import Staging


def journaled(staging: Staging, event: Event, changes: Sequence[RecordChange | RelationChange]) -> Head:
    """Stages an entry for each change; the head with the tips that they leave."""
    streams = dict(staging.head().streams)
    moved: dict[Stream, JournalHead] = {}
    for nonce, change in zip(event.nonces, changes, strict=True):
        stream: Stream = RELATIONS if isinstance(change, RelationChange) else RECORDS
        tip = moved[stream] if stream in moved else _tip(staging, stream, event)
        moved[stream] = extended = journal.extended(staging.workspace_id, stream, tip, nonce, change)
        key = staging.keys.journal_entry(stream, extended.sequence)
        staging.put(key, _entry(event.sequence, nonce, extended.prefix_digest, change))
    return Head(streams={**streams, **moved})


def _entry(sequence: int, nonce: bytes, prefix_digest: bytes, change: RecordChange | RelationChange) -> bytes:
    if isinstance(change, RelationChange):
        return rows.RELATION_ENTRY.encode(
            RelationEntry(commit_sequence=sequence, nonce=nonce, prefix_digest=prefix_digest, change=change)
        )
    return rows.RECORD_ENTRY.encode(
        RecordEntry(commit_sequence=sequence, nonce=nonce, prefix_digest=prefix_digest, change=change)
    )


def _tip(staging: Staging, stream: Stream, event: Event) -> JournalHead:
    tip = staging.tip(stream)
    return tip if tip is not None else journal.opened(staging.workspace_id, stream, event.journal_ids[stream])
