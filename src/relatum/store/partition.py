"""One partition over a reader: the typed gets and scans that decisions, reads and projections share.

Rows are checked as they are read: checksum always, digests of versions and payloads too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from relatum.core import digests
from relatum.core.access import StoredCredential
from relatum.core.changes import RecordEntry, RelationEntry
from relatum.core.cursors import Checkpoint
from relatum.core.decide.record_events import stored_length
from relatum.core.ids import Ref, uuid_bytes, uuid_text
from relatum.core.records import Payload, PayloadRow, Proof, RecordMeta
from relatum.core.state import RecordVersion, RelationVersion
from relatum.core.streams import RELATIONS, Stream
from relatum.errors import StorageInconsistency
from relatum.store import latest, rows
from relatum.store.judgments import JudgmentReader
from relatum.store.keys import Table, beyond, credential_company

Direction = Literal[Table.OUTGOING, Table.INCOMING]


class PartitionReader(JudgmentReader):
    """Typed access to one partition. Cheap to make; holds no resources of its own."""

    # Records

    def record(self, record_id: str) -> RecordVersion | None:
        """A record at its current revision, deleted or not; there is no newer one."""
        body = self.body(self.keys.record(record_id))
        if body is None:
            self.require_absent(self.keys.record_revision(record_id, 1), "a record is missing")
            return None
        version = _record(body)
        meta = version.meta
        _require_own(meta.record_id == record_id)
        self.require_absent(self.keys.record_revision(record_id, meta.revision + 1), "a record is behind its revisions")
        return version

    def record_revision(self, record_id: str, revision: int) -> RecordVersion | None:
        """A record at one revision."""
        body = self.body(self.keys.record_revision(record_id, revision))
        if body is None:
            return None
        version = _record(body)
        _require_own(version.meta.record_id == record_id and version.meta.revision == revision)
        return version

    def records(self, after: str | None = None, *, reverse: bool = False) -> Iterator[RecordVersion]:
        """Current records in the order of their ids, which is the order of creation.

        Strictly after (or before) `after`.
        """
        for record_id, body in self._current(Table.RECORD, Table.RECORD_REVISION, after, reverse):
            version = _record(body)
            _require_own(version.meta.record_id == record_id)
            yield version

    def payload(self, meta: RecordMeta) -> Payload | None:
        """The content of a record, None once erased. Raises StorageInconsistency where a living record's is missing."""
        row = self._erasable(meta.record_id, meta.payload_revision, meta.payload)
        return None if row is None else row.payload

    def review_evidence(self, meta: RecordMeta) -> str | None:
        """The evidence reference of a record's review, None where there is none or it was erased."""
        if meta.review is None:
            return None
        row = self._erasable(meta.record_id, meta.review.revision, meta.review.evidence)
        return None if row is None else row.evidence_ref

    def _erasable(self, record_id: str, revision: int, proof: Proof) -> PayloadRow | None:
        body = self.body(self.keys.payload(record_id, revision))
        if body is None:
            if not self.is_erased(record_id):
                raise StorageInconsistency("a payload is missing")
            return None
        row = rows.PAYLOAD.decode(body)
        if digests.stored_payload_digest(body) != proof.digest:
            raise StorageInconsistency("a payload does not match its digest")
        return row

    def is_erased(self, record_id: str) -> bool:
        """Whether the record was deleted."""
        current = self.record(record_id)
        return current is not None and current.meta.state == "deleted"

    def topic_of_record(self, record_id: str) -> str | None:
        """The topic key of a record's content; None where there is none or it was erased."""
        version = self.record(record_id)
        payload = None if version is None or version.meta.state == "deleted" else self.payload(version.meta)
        return None if payload is None else payload.topic_key

    def topic_holder(self, topic: str) -> str | None:
        """The id of the record that holds a topic slot."""
        body = self.counted_body(self.keys.topic(topic))
        return None if body is None else rows.unpack_uuid(body)

    # Relations

    def relation(self, relation_id: str) -> RelationVersion | None:
        """A relation at its current revision."""
        body = self.body(self.keys.relation(relation_id))
        if body is None:
            self.require_absent(self.keys.relation_revision(relation_id, 1), "a relation is missing")
            return None
        version = _relation(body)
        _require_own(version.relation.relation_id == relation_id)
        return version

    def indexed_relation(self, relation_id: str) -> RelationVersion:
        """The current relation that an index entry names, equal to its newest revision."""
        body = self.body(self.keys.relation(relation_id))
        if body is None:
            raise StorageInconsistency("a relation of an index is missing")
        version = _remembered_relation(body)
        _require_own(version.relation.relation_id == relation_id)
        revision = version.relation.revision
        if self.body(self.keys.relation_revision(relation_id, revision)) != body:
            raise StorageInconsistency("a relation does not match its revision")
        self.require_absent(
            self.keys.relation_revision(relation_id, revision + 1), "a relation is behind its revisions"
        )
        return version

    def relation_revision(
        self, relation_id: str, revision: int, current: RelationVersion | None = None
    ) -> RelationVersion | None:
        """A relation at one revision. Where that is the very body of `current`, it is not decoded again."""
        body = self.body(self.keys.relation_revision(relation_id, revision))
        if body is None:
            return None
        version = current if current is not None and current.body == body else _relation(body)
        _require_own(version.relation.relation_id == relation_id and version.relation.revision == revision)
        return version

    def relations(self, after: str | None = None, *, reverse: bool = False) -> Iterator[RelationVersion]:
        """Current relations in the order of their ids, which is the order of creation.

        Strictly after (or before) `after`.
        """
        for relation_id, body in self._current(Table.RELATION, Table.RELATION_REVISION, after, reverse):
            version = _relation(body)
            _require_own(version.relation.relation_id == relation_id)
            yield version

    def content_of(self, pin: Ref) -> Ref:
        """The content that a pin names, by the revision that brought it: all its pins lie there, whatever reviews came.

        The first revision of a record always brings a content, so most pins need no look.
        """
        if pin.revision == 1:
            return pin
        version = self.record_revision(pin.record_id, pin.revision)
        if version is None:
            raise StorageInconsistency("a revision that is pinned is missing")
        return version.meta.content

    def completeness(self, content: Ref) -> rows.Completeness | None:
        """The completeness headers of a record's content; every content has them from its first commit on."""
        body = self.body(self.keys.header(content.record_id, content.revision))
        return None if body is None else rows.unpack_completeness(body)

    # Receipts, journals, credentials

    def receipt(self, family: str, subject_id: str, idempotency_key: str) -> rows.ReceiptPointer | None:
        """Where a subject's key leads. Raises StorageInconsistency where one of the key's two rows is lost."""
        body = self.body(self.keys.receipt(family, subject_id, idempotency_key))
        witness = self.body(self.keys.receipt_witness(family, subject_id, idempotency_key))
        if body is None and witness is None:
            return None
        if body is None or witness is None:
            raise StorageInconsistency("a receipt can't be found by its key")
        pointer = rows.unpack_receipt(body)
        if pointer.sequence != rows.unpack_u64(witness):
            raise StorageInconsistency("a receipt does not match its witness")
        return pointer

    def entry(self, stream: Stream, sequence: int) -> RelationEntry | RecordEntry | None:
        """A journal entry by its sequence."""
        body = self.body(self.keys.journal_entry(stream, sequence))
        return None if body is None else decode_entry(stream, body)

    def entries(self, stream: Stream, after: int) -> Iterator[tuple[int, RelationEntry | RecordEntry]]:
        """Journal entries with a sequence greater than `after`, ascending."""
        start = self.keys.journal_entry(stream, after + 1)
        for key, row in self.reader.scan(start, beyond(self.keys.journal(stream))):
            yield int.from_bytes(key[-8:], "big"), decode_entry(stream, rows.unseal(key, row))

    def checkpoint(self, stream: Stream, subject_id: str, consumer_id: str) -> Checkpoint | None:
        """What a consumer of a subject has saved of a stream."""
        stored = self.stored_checkpoint(self.keys.checkpoint(stream, subject_id, consumer_id))
        return None if stored is None else stored.checkpoint

    def stored_checkpoint(self, key: bytes) -> rows.StoredCheckpoint | None:
        """The checkpoint row, current or of one revision, under a key."""
        body = self.body(key)
        return None if body is None else rows.CHECKPOINT.decode(body)

    def credential(self, credential_id: str) -> StoredCredential | None:
        """A credential of the company whose partition this is."""
        body = self.body(self.keys.credential(credential_id))
        place = self._place(credential_id)
        if body is None:
            if place is not None and place.company_id == self.partition.company_id:
                raise StorageInconsistency("a credential is missing")
            return None
        return self._placed(credential_id, body, place)

    def credentials(self, after: str | None = None) -> Iterator[StoredCredential]:
        """Credentials of the company, ascending by id, strictly after `after`."""
        table = self.keys.table(Table.CREDENTIAL)
        start = table if after is None else table + uuid_bytes(after) + b"\0"
        for key, row in self.reader.scan(start, beyond(table)):
            credential_id = uuid_text(key[len(table) :])
            yield self._placed(credential_id, rows.unseal(key, row), self._place(credential_id))

    def _place(self, credential_id: str) -> rows.CredentialPlace | None:
        """What the store's own table says of a credential, of this company or another."""
        body = self.body(credential_company(credential_id))
        return None if body is None else rows.unpack_credential_place(body)

    def _placed(self, credential_id: str, body: bytes, place: rows.CredentialPlace | None) -> StoredCredential:
        """The credential of a body, which must be the one that its place speaks of, and no older one."""
        if place != (digests.credential_digest(body), self.partition.company_id):
            raise StorageInconsistency("a credential does not match its place in the store")
        stored = rows.CREDENTIAL.decode(body)
        _require_own(stored.credential.id == credential_id)
        return stored

    def _current(self, table: Table, revisions: Table, after: str | None, reverse: bool) -> Iterator[tuple[str, bytes]]:
        """The ids and bodies of a table of what is current, beside the revisions."""
        beginning = None if after is None else uuid_bytes(after)
        found = latest.walk(self.reader, self.keys.table(table), self.keys.table(revisions), beginning, reverse=reverse)
        for key, body in found:
            yield uuid_text(key), body


def _require_own(is_own: bool) -> None:
    """A row may be sound and still not be the one that was asked for."""
    if not is_own:
        raise StorageInconsistency("a row lies under a foreign key")


@lru_cache(maxsize=8192)
def _record(body: bytes) -> RecordVersion:
    """The checked version of a body. Remembered by its bytes: commands name the same endpoints again and again."""
    sequence, digest, canonical = rows.unpack_version(body)
    if digest != digests.record_digest(canonical):
        raise StorageInconsistency("a record does not match its digest")
    meta = rows.RECORD.decode(canonical)
    return RecordVersion(meta, digest, sequence, stored_length(meta, len(canonical)), body)


def _relation(body: bytes) -> RelationVersion:
    sequence, digest, canonical = rows.unpack_version(body)
    if digest != digests.relation_digest(canonical):
        raise StorageInconsistency("a relation does not match its digest")
    return RelationVersion(rows.RELATION.decode(canonical), digest, sequence, len(canonical), body)


_remembered_relation = lru_cache(maxsize=2048)(_relation)
"""As `_record`, for walks, which come to the same relations again and again; single reads would turn them out."""


def decode_entry(stream: Stream, body: bytes) -> RelationEntry | RecordEntry:
    """The journal entry of a body."""
    return rows.RELATION_ENTRY.decode(body) if stream == RELATIONS else rows.RECORD_ENTRY.decode(body)
