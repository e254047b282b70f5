"""A partition that can be written: bodies of rows are staged on an overlay, and sealed when the group is written."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from relatum.core import digests, log
from relatum.core.changes import JournalHead
from relatum.core.cursors import Checkpoint
from relatum.core.events import Event, Head
from relatum.core.ids import Partition, Ref
from relatum.core.records import Payload
from relatum.core.relations import RelationInput
from relatum.core.state import RecordVersion, RelationVersion
from relatum.core.streams import Cursor, Stream
from relatum.errors import StorageInconsistency
from relatum.store import checkpoints, integrity, record_relations, rows
from relatum.store.counts import Counting
from relatum.store.equal_relations import equal_relations
from relatum.store.journal import Journal
from relatum.store.keys import COUNTED, PREFIX_BYTES, Table, Use, beyond
from relatum.store.overlay import Packable, packed
from relatum.store.partition import Direction, PartitionReader
from relatum.store.projection import log_rows
from relatum.store.staged_rows import Bodies


class Staging(PartitionReader):
    """One partition over an overlay; implements `core.state.PartitionState`. Reads see what is staged.

    Keeps the decoded head, which every command needs.

    What always holds: what the head counts moves with every row that it counts, from a tally that was compared with
    the rows; so a row that is missing is missed for ever, whatever is written.
    """

    def __init__(self, overlay: Bodies, partition: Partition, recounts: Counting | None = None) -> None:
        super().__init__(overlay, partition, recounts)
        self._overlay = overlay
        self._fresh = overlay.fresh
        self._head: Head | None = None
        self._sound: set[Stream] = set()

    def body(self, key: bytes) -> bytes | None:
        """The body of a row, staged or stored, or None."""
        return self._overlay.body(key)

    def head(self) -> Head:
        """The partition's tip, checked before anything is built on it."""
        if self._head is None:
            head = super().head()
            integrity.verify_tip(self, head)
            self._head = head
        return self._head

    @property
    def next_sequence(self) -> int:
        """The place of the event whose rows are staged."""
        return self.head().sequence + 1

    def forget(self) -> None:
        """Drops the decoded head, once the overlay has dropped what it was staged with."""
        self._head = None

    def tip(self, stream: Stream) -> JournalHead | None:
        """The tip of a stream, None where it is not active. Its journal is checked before anything is built on it."""
        self.require_sound(stream)
        return self.head().streams.get(stream)

    def require_sound(self, stream: Stream) -> None:
        """Raises JournalBroken where the journal of a stream is not sound; looks at it once a group."""
        if stream not in self._sound:
            Journal.open(self, stream)
            self._sound.add(stream)

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

    def equal_relations(self, given: RelationInput) -> Iterator[RelationVersion]:
        """Relations of a kind between the present contents of both ends, the oldest first."""
        return equal_relations(self, given)

    def uses_of(self, content: Ref) -> int:
        """How many relations and derived records pin a content, whatever their state."""
        return record_relations.uses_of(self, content)

    def joined_with(self, content: Ref) -> frozenset[Ref]:
        """The contents that relations join with one, whatever direction and state."""
        return record_relations.joined_with(self, content)

    def put(self, key: bytes, body: bytes | Packable) -> None:
        """Stages a row by its body."""
        if key[PREFIX_BYTES] in COUNTED:
            self._count(key, packed(body))
        self._fresh[key] = body

    def delete(self, key: bytes) -> None:
        """Stages a deletion."""
        if key[PREFIX_BYTES] in COUNTED:
            self._count(key, None)
        self._fresh[key] = None

    def _count(self, key: bytes, after: bytes | None) -> None:
        """Stages the head that counts what is about to be staged."""
        self.require_counted()
        head, before = self.head(), self.body(key)
        if before != after:
            self._stage_head(replace(head, counted=head.counted.moved(key, before, after)))

    def _stage_head(self, head: Head) -> None:
        self._head = head
        self._fresh[self.keys.head] = rows.StagedHead(head)

    def keep(self) -> None:
        """What is staged stays, whatever becomes of the next command."""
        self._overlay.keep()

    def delete_all(self, prefix: bytes) -> None:
        """Stages the deletion of every row under `prefix`."""
        for key in [key for key, _ in self.reader.scan(prefix, beyond(prefix))]:
            self.delete(key)

    def advance(self, event: Event, streams: dict[Stream, JournalHead]) -> None:
        """Stages the event row and the new head; `streams` are the tips of all streams after the event."""
        body = rows.EVENT.encode(event)
        self.put(self.keys.event(event.sequence), body)
        if event.partition is not None:
            self.put(self.keys.partition, rows.PARTITION.encode(event.partition))
        before, event_digest = self.head(), digests.event_digest(body)
        head = Head(
            sequence=event.sequence,
            event_digest=event_digest,
            committed_at_millis=event.committed_at_millis,
            streams=streams,
            counted=before.counted,
            log=log_rows.stage_leaf(self, before, log.leaf_of(event, event_digest)),
        )
        self._stage_head(head)

    def index(
        self, direction: Direction, content: Ref, relation_id: str, body: bytes, *, present: bool, use: Use | None
    ) -> None:
        """Stages an adjacency entry or its removal, and the header that counts it.

        `use` goes with the first entry of a relation, which depends on the content from then on.
        """
        place, header = self._header(content)
        key = self.keys.adjacency_entry(direction, content.record_id, content.revision, relation_id)
        header = header.counting(key + body, 1 if present else -1, outgoing=direction is Table.OUTGOING)
        if present:
            self.put(key, body)
        else:
            self.delete(key)
        self.put(place, header if use is None else self._used(header, content, use, relation_id))

    def use(self, content: Ref, use: Use, dependent_id: str) -> None:
        """Stages that something depends on a content, and the header that counts it."""
        place, header = self._header(content)
        self.put(place, self._used(header, content, use, dependent_id))

    def _used(self, header: rows.Completeness, content: Ref, use: Use, dependent_id: str) -> rows.Completeness:
        key = self.keys.dependent(content.record_id, content.revision, use, dependent_id)
        self.put(key, b"")
        return header.using(key)

    def _header(self, content: Ref) -> tuple[bytes, rows.Completeness]:
        """Where the headers of a content lie, and what they say."""
        place = self.keys.header(content.record_id, content.revision)
        staged = self._overlay.staged(place)
        if isinstance(staged, rows.Completeness):
            return place, staged
        counted = self._overlay.body(place)  # nobody of this group has moved it
        if counted is None:
            raise StorageInconsistency("a completeness header is missing")
        return place, rows.unpack_completeness(counted)

    def kept_payload(self, record_id: str) -> Payload | None:
        """The content of a record; None where it was erased, be it by a deletion that a replay has yet to come to."""
        version = self.record(record_id)
        if version is None or version.meta.state == "deleted":
            return None
        body = self.body(self.keys.payload(record_id, version.meta.payload_revision))
        return None if body is None else rows.PAYLOAD.decode(body).payload
