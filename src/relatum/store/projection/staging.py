"""A partition that can be written: rows are staged on an overlay, sealed as they are put."""

from __future__ import annotations

from relatum.core import digests
from relatum.core.events import Event, Head
from relatum.core.ids import Partition, Ref
from relatum.core.state import RecordVersion, RelationVersion
from relatum.errors import StorageInconsistency
from relatum.store import integrity, rows
from relatum.store.keys import Table, beyond
from relatum.store.overlay import Overlay
from relatum.store.partition import Direction, PartitionReader


class Staging(PartitionReader):
    """One partition over an overlay; implements `core.state.PartitionState`. Reads see what is staged.

    Keeps the decoded head, which every command needs.
    """

    def __init__(self, overlay: Overlay, partition: Partition, workspace_id: str | None = None) -> None:
        super().__init__(overlay, partition, workspace_id)
        self._overlay = overlay
        self._head: Head | None = None

    def head(self) -> Head:
        """The partition's tip."""
        if self._head is None:
            self._head = super().head()
        return self._head

    def forget(self) -> None:
        """Drops the decoded head, after a rollback of the overlay."""
        self._head = None

    def verify_record(self, version: RecordVersion) -> None:
        """Checks a current record before it is changed."""
        integrity.verify_record(self, version)

    def verify_relation(self, version: RelationVersion) -> None:
        """Checks a current relation before it is changed."""
        integrity.verify_relation(self, version)

    def put(self, key: bytes, body: bytes) -> None:
        """Stages a row."""
        self._overlay.put(key, rows.seal(key, body))

    def delete(self, key: bytes) -> None:
        """Stages a deletion."""
        self._overlay.delete(key)

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
        key = self.keys.adjacency(direction, end.record_id, end.revision) + bytes.fromhex(relation_id.replace("-", ""))
        step = 1 if present else -1
        summand = step * digests.adjacency_digest(key + body)
        if direction is Table.OUTGOING:
            header = header._replace(
                outgoing_count=header.outgoing_count + step,
                outgoing_sum=(header.outgoing_sum + summand) % digests.ACCUMULATOR_MODULUS,
            )
        else:
            header = header._replace(
                incoming_count=header.incoming_count + step,
                incoming_sum=(header.incoming_sum + summand) % digests.ACCUMULATOR_MODULUS,
            )
        if present:
            self.put(key, body)
        else:
            self.delete(key)
        self.put(self.keys.header(end.record_id, end.revision), header.pack())

    def topic_of(self, record_id: str, revision: int) -> str | None:
        """The topic slot that a stored payload asks for; None where there is none or the payload was erased."""
        body = self.body(self.keys.payload(record_id, revision))
        payload = None if body is None else rows.PAYLOAD.decode(body).payload
        return None if payload is None else payload.topic_key
