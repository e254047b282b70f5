"""A partition that can be written: rows are staged on an overlay, sealed as they are put."""

from __future__ import annotations

from relatum.core import digests
from relatum.core.changes import JournalHead
from relatum.core.cursors import Checkpoint, Cursor
from relatum.core.events import Event, Head
from relatum.core.ids import Partition, Ref
from relatum.core.records import Payload
from relatum.core.state import RecordVersion, RelationVersion
from relatum.core.streams import Stream
from relatum.errors import StorageInconsistency
from relatum.store import checkpoints, integrity, rows
from relatum.store.journal import Journal
from relatum.store.keys import Table, beyond
from relatum.store.overlay import Overlay
from relatum.store.partition import Direction, PartitionReader


class Staging(PartitionReader):
    """One partition over an overlay; implements `core.state.PartitionState`. Reads see what is staged.

    Keeps the decoded head, which every command needs.
    """

    def __init__(self, overlay: Overlay, partition: Partition) -> None:
        super().__init__(overlay, partition)
        self._stage = overlay.put
        self._head: Head | None = None
        self._sound: set[Stream] = set()

    def head(self) -> Head:
        """The partition's tip, checked before anything is built on it."""
        if self._head is None:
            head = super().head()
            integrity.verify_tip(self, head)
            self._head = head
        return self._head

    def forget(self) -> None:
        """Drops the decoded head, after a rollback of the overlay."""
        self._head = None

    def tip(self, stream: Stream) -> JournalHead | None:
        """The tip of a stream, None where it is not active. Its journal is checked before anything is built on it."""
        if stream not in self._sound:
            Journal.open(self, stream)
            self._sound.add(stream)
        return self.head().streams.get(stream)

    def lies_on_journal(self, stream: Stream, cursor: Cursor) -> bool:
        """Whether a well-formed cursor is a position of a stream's journal, baseline and tip included."""
        tip = self.tip(stream)
        return tip is not None and Journal(self, stream, tip).holds(cursor)

    def checkpoint(self, stream: Stream, subject_id: str, consumer_id: str) -> Checkpoint | None:
        """What a consumer has saved of a stream, checked before it is changed."""
        return checkpoints.current(self, stream, subject_id, consumer_id)

    def verify_record(self, version: RecordVersion) -> None:
        """Checks a current record before it is changed."""
        integrity.verify_record(self, version)
        integrity.verify_content(self, version)

    def verify_relation(self, version: RelationVersion) -> None:
        """Checks a current relation before it is changed."""
        integrity.verify_relation(self, version)

    def put(self, key: bytes, body: bytes) -> None:
        """Stages a row."""
        self._stage(key, rows.seal(key, body))

    def delete(self, key: bytes) -> None:
        """Stages a deletion."""
        self._stage(key, None)

    def delete_all(self, prefix: bytes) -> None:
        """Stages the deletion of every row under `prefix`."""
        for key in [key for key, _ in self.reader.scan(prefix, beyond(prefix))]:
            self.delete(key)

    def advance(self, event: Event, streams: Head) -> None:
        """Stages the event row and the new head; `streams` is the head whose stream tips the event has moved."""
        body = rows.EVENT.encode(event)
        self.put(self.keys.event(event.sequence), body)
        if event.partition is not None:
            self.put(self.keys.partition, rows.PARTITION.encode(event.partition))
        self._head = Head(
            sequence=event.sequence,
            event_digest=digests.event_digest(body),
            committed_at_millis=event.committed_at_millis,
            streams=streams.streams,
        )
        self.put(self.keys.head, rows.HEAD.encode(self._head))

    def index(self, direction: Direction, end: Ref, relation_id: str, body: bytes, *, present: bool) -> None:
        """Stages an adjacency entry or its removal, and the header that counts it."""
        header = self.completeness(end)
        if header is None:
            raise StorageInconsistency("a completeness header is missing")
        key = self.keys.adjacency_entry(direction, end.record_id, end.revision, relation_id)
        step = 1 if present else -1
        count_out, sum_out, count_in, sum_in = header
        if direction is Table.OUTGOING:
            count_out, sum_out = count_out + step, _summed(sum_out, step, key + body)
        else:
            count_in, sum_in = count_in + step, _summed(sum_in, step, key + body)
        if present:
            self.put(key, body)
        else:
            self.delete(key)
        moved = rows.Completeness(count_out, sum_out, count_in, sum_in)
        self.put(self.keys.header(end.record_id, end.revision), moved.pack())

    def wanted_topic(self, record_id: str) -> str | None:
        """The topic slot that a record's content asks for; None where there is none or the content was erased."""
        payload = self.kept_payload(record_id)
        return None if payload is None else payload.topic_key

    def kept_payload(self, record_id: str) -> Payload | None:
        """The content of a record; None where it was erased, be it by a deletion that a replay has yet to come to."""
        version = self.record(record_id)
        if version is None or version.meta.state == "deleted":
            return None
        body = self.body(self.keys.payload(record_id, version.meta.payload_revision))
        return None if body is None else rows.PAYLOAD.decode(body).payload


def _summed(total: int, step: int, entry: bytes) -> int:
    return (total + step * digests.adjacency_digest(entry)) % digests.ACCUMULATOR_MODULUS
