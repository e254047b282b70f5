"""Damage to a stream: rows written past the writer, which must be idle meanwhile, with checksums that are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from relatum.core import digests
from relatum.core.changes import JournalHead
from relatum.core.cursors import Checkpoint
from relatum.core.decide import checkpoints
from relatum.core.events import Event, Stamp
from relatum.core.streams import Cursor, Stream
from relatum.ledger import Ledger
from relatum.store import rows
from relatum.store.journal import Entry
from relatum.store.partition import PartitionReader
from relatum.store.projection import Staging, project
from relatum.store.staged_rows import Bodies
from tests.feeds.following import advance
from tests.support.desk import Desk


def implant(ledger: Ledger, found: Mapping[bytes, bytes | None]) -> None:
    """Writes rows, removes those that are None, and lets readers see it."""
    store = ledger._database.store
    store.write(found)
    store.sync()
    store.publish(ledger._database.position)


def implant_checkpoint(desk: Desk, stream: Stream, cursor: Cursor) -> Checkpoint:
    """A first checkpoint wherever it may lie, as if a store had been put together of two."""
    overlay = Bodies(desk.ledger._database.store)
    staging = Staging(overlay, desk.partition)
    now = desk.ledger.clock.millis()
    stamp = Stamp(at_millis=now, now_millis=now, author=desk.author, entropy=bytes(32))
    decision = checkpoints._accept(staging, stream, advance(cursor), None, "0" * 64, stamp)
    project(staging, decision)
    implant(desk.ledger, overlay.rows())
    return decision.after


class Damage:
    """What can happen to the journal of one stream of a desk's partition."""

    def __init__(self, desk: Desk, stream: Stream) -> None:
        self._ledger = desk.ledger
        self._stream: Stream = stream
        self._partition = PartitionReader(desk.ledger._database.store, desk.partition)

    @property
    def tip(self) -> JournalHead:
        return self._partition.head().streams[self._stream]

    # The head

    def move_head(self, sequence: int) -> None:
        """The head says that the stream ends at an entry before its tip."""
        self.alter_head(sequence=sequence, prefix_digest=self.entry(sequence).prefix_digest)

    def alter_head(self, **changes: Any) -> None:
        self._put_head(replace(self.tip, **changes))

    def forget_stream(self) -> None:
        """The head says that the stream is not active."""
        self._put_head(None)

    def _put_head(self, tip: JournalHead | None) -> None:
        head = self._partition.head()
        others = {stream: kept for stream, kept in head.streams.items() if stream != self._stream}
        streams = others if tip is None else others | {self._stream: tip}
        self._put(self._partition.keys.head, rows.HEAD.encode(replace(head, streams=streams)))

    # Entries

    def entry(self, sequence: int) -> Entry:
        entry = self._partition.entry(self._stream, sequence)
        assert entry is not None
        return entry

    def remove(self, sequence: int) -> None:
        implant(self._ledger, {self._entry_key(sequence): None})

    def spoil(self, sequence: int) -> None:
        """One bit of an entry has flipped."""
        key = self._entry_key(sequence)
        row = self._partition.reader.get(key)
        assert row is not None
        implant(self._ledger, {key: row[:-1] + bytes([row[-1] ^ 1])})

    def copy(self, sequence: int, to: int) -> None:
        """An entry stands where it does not belong."""
        self._put_entry(to, self.entry(sequence))

    def alter(self, sequence: int, **changes: Any) -> None:
        self._put_entry(sequence, replace(self.entry(sequence), **changes))

    def relink(self, sequence: int) -> None:
        """All links from an entry on are computed again, up to the head: the chain is sound, whatever it tells."""
        tip = self.tip
        workspace = self._partition.workspace_id
        before = digests.baseline_digest(workspace, self._stream, tip.journal_id)
        if sequence > 1:
            before = self.entry(sequence - 1).prefix_digest
        for number in range(sequence, tip.sequence + 1):
            entry = self.entry(number)
            prefix = JournalHead(journal_id=tip.journal_id, sequence=number - 1, prefix_digest=before)
            before = digests.prefix_digest(workspace, self._stream, prefix, entry.nonce, entry.change)
            self.alter(number, prefix_digest=before)
        self.alter_head(prefix_digest=before)

    # What an entry tells of

    def remove_revision(self, record_id: str, revision: int) -> None:
        implant(self._ledger, {self._partition.keys.record_revision(record_id, revision): None})

    def event(self, sequence: int) -> Event:
        event = self._partition.event(sequence)
        assert event is not None
        return event

    def put_event(self, event: Event) -> None:
        self._put(self._partition.keys.event(event.sequence), rows.EVENT.encode(event))

    def _entry_key(self, sequence: int) -> bytes:
        return self._partition.keys.journal_entry(self._stream, sequence)

    def _put_entry(self, sequence: int, entry: Entry) -> None:
        self._put(self._entry_key(sequence), rows.RECORD_ENTRY.encode(entry))  # type: ignore[arg-type]  # encodes both

    def _put(self, key: bytes, body: bytes) -> None:
        implant(self._ledger, {key: rows.seal(key, body)})
