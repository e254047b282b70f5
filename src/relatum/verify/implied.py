"""The rows that an event implies, from the event and the state that it found.

What lives here: `Implied`, which is given the events of a partition in order and enters what each of them must have
left into the audits. It uses the pure core and the makers of keys and rows, and not `store.projection`, which wrote the
rows: a fault there would agree with itself. What must not: a look at the rows that are about to be implied. The state
that an event found is the revision before, which an earlier event has implied.

A new family of events gets its branch here; the type checker says so. StorageInconsistency is raised where an event
does not lead to what its own receipt says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from relatum.core import digests, journal, transitions
from relatum.core.canonical import encode
from relatum.core.changes import RecordChange, RelationChange
from relatum.core.commands import AssertRelation
from relatum.core.cursors import Checkpoint
from relatum.core.events import (
    ActivationEvent,
    CheckpointEvent,
    CredentialEvent,
    CredentialIssued,
    Event,
    RecordCreated,
    RecordDerived,
    RecordEvent,
    RelationEvent,
)
from relatum.core.ids import Ref
from relatum.core.receipts import Family
from relatum.core.records import RecordMeta
from relatum.core.relations import RelationInput, StoredRelation
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import Table, Use
from relatum.store.partition import PartitionReader
from relatum.verify import receipts
from relatum.verify.books import Books
from relatum.verify.journals import fact


class Implied:
    """What the events of one partition imply."""

    def __init__(self, books: Books) -> None:
        self._audits = books.tables
        self._told = books.told
        self._credentials: dict[str, bytes] = {}
        """Of a company, as the events so far left them: they have no rows by revision to look into."""

    def rows_of(self, event: Event, reader: PartitionReader) -> None:
        """Enters the rows of the next event. `reader` shows at least what the events before it left."""
        match event:
            case RecordEvent():
                self._record(event, reader)
            case RelationEvent():
                self._relation(event, reader)
            case CheckpointEvent():
                self._checkpoint(event, reader)
            case CredentialEvent():
                self._credential(event, reader)
            case ActivationEvent():
                pass  # the walk notes which journal it opens, as of any event that names one
            case _:
                assert_never(event)

    def _record(self, event: RecordEvent, reader: PartitionReader) -> None:
        before = _record_before(event, reader)
        after = transitions.record_after(
            before, event.operation, event.record_id, event.committed_at_millis, event.author
        )
        canonical = encode(after)
        digest = digests.record_digest(canonical)
        receipt = receipts.record_receipt(reader.workspace_id, event, after.revision, digest)
        _require(event.receipt == receipt, "a record's event does not lead to what its receipt says")
        version = rows.Version(event.sequence, digest, canonical).pack()
        self._imply(Table.RECORD_REVISION, event, reader.keys.record_revision(after.record_id, after.revision), version)
        if isinstance(event.operation, RecordDerived):
            self._uses(
                event, reader, after.record_id, ((Use.DERIVED, one) for one in event.operation.derivation.sources)
            )
        self._receipt("record", event, reader, receipt.idempotency_key, receipt.command_digest)
        self._tells(event, RECORDS, journal.record_change(receipt))

    def _relation(self, event: RelationEvent, reader: PartitionReader) -> None:
        before = _relation_before(event, reader)
        after = transitions.relation_after(
            before, event.operation, event.relation_id, event.committed_at_millis, event.author
        )
        canonical = encode(after)
        digest = digests.relation_digest(canonical)
        receipt = receipts.relation_receipt(reader.workspace_id, event, after.revision, digest)
        _require(event.receipt == receipt, "a relation's event does not lead to what its receipt says")
        version = rows.Version(event.sequence, digest, canonical).pack()
        key = reader.keys.relation_revision(after.relation_id, after.revision)
        self._imply(Table.RELATION_REVISION, event, key, version)
        if before is None:
            self._uses(event, reader, after.relation_id, _uses_of(after.input))
        if after.indexed != (before is not None and before.indexed):
            self._index(event, reader, after)
        self._receipt("relation", event, reader, receipt.idempotency_key, receipt.command_digest)
        self._tells(event, RELATIONS, journal.relation_change(receipt, after.input))

    def _index(self, event: RelationEvent, reader: PartitionReader, after: StoredRelation) -> None:
        """The two entries of a relation that has become indexed, or no longer is."""
        given, own, keys = after.input, after.relation_id, reader.keys
        for table, end, other in (
            (Table.OUTGOING, given.source, given.target),
            (Table.INCOMING, given.target, given.source),
        ):
            audit = self._audits[table]
            enter = audit.imply if after.indexed else audit.revoke
            key = keys.adjacency_entry(table, end.record_id, end.revision, own)
            enter(event.sequence, key, rows.pack_adjacency(given.kind, other))

    def _uses(self, event: Event, reader: PartitionReader, dependent_id: str, uses: Iterable[tuple[Use, Ref]]) -> None:
        """What a derived record or a relation depends on. One that is used twice in one way has one row."""
        found = {reader.keys.dependent(ref.record_id, use, dependent_id): ref.revision for use, ref in uses}
        for key, revision in found.items():
            self._imply(Table.DEPENDENT, event, key, rows.pack_u64(revision))

    def _checkpoint(self, event: CheckpointEvent, reader: PartitionReader) -> None:
        before = _checkpoint_before(event, reader)
        stream, command, subject_id = event.stream, event.command, event.author.subject_id
        after = transitions.checkpoint_after(
            reader.workspace_id, stream, before, command, event.committed_at_millis, event.author
        )
        digest = digests.checkpoint_command_digest(stream, command)
        receipt = receipts.checkpoint_receipt(reader.workspace_id, event, before, after)
        _require(
            event.receipt == receipt and event.command_digest == digest,
            "a checkpoint's event does not lead to what its receipt says",
        )
        row = rows.CHECKPOINT.encode(rows.StoredCheckpoint(sequence=event.sequence, checkpoint=after))
        key = reader.keys.checkpoint_revision(stream, subject_id, after.consumer_id, after.revision)
        self._imply(Table.CHECKPOINT_REVISION, event, key, row)
        self._receipt("checkpoint", event, reader, command.idempotency_key, digest)

    def _credential(self, event: CredentialEvent, reader: PartitionReader) -> None:
        operation, held = event.operation, self._credentials
        credential_id = operation.credential_id
        before = held.get(credential_id)
        issued = isinstance(operation, CredentialIssued)
        _require(issued == (before is None), "a credential's event does not follow from the ones before it")
        after = rows.CREDENTIAL.encode(
            transitions.credential_after(
                None if before is None else rows.CREDENTIAL.decode(before),
                operation,
                reader.partition.company_id,
                event.committed_at_millis,
                event.author,
            )
        )
        key, audit = reader.keys.credential(credential_id), self._audits[Table.CREDENTIAL]
        if before is not None:
            audit.revoke(event.sequence, key, before)
        audit.imply(event.sequence, key, after)
        held[credential_id] = after

    def _receipt(
        self, family: Family, event: Event, reader: PartitionReader, idempotency_key: str, command_digest: str
    ) -> None:
        key = reader.keys.receipt(family, event.author.subject_id, idempotency_key)
        self._imply(Table.RECEIPT, event, key, rows.ReceiptPointer(event.sequence, command_digest).pack())

    def _tells(self, event: RecordEvent | RelationEvent, stream: Stream, change: RecordChange | RelationChange) -> None:
        """The entry of a stream that an event makes."""
        _require(len(event.nonces) == 1, "an event that enters a stream has another number of nonces than one")
        self._told[stream].imply(event.sequence, b"", fact(event.sequence, event.nonces[0], change))

    def _imply(self, table: Table, event: Event, key: bytes, body: bytes) -> None:
        self._audits[table].imply(event.sequence, key, body)


def _record_before(event: RecordEvent, reader: PartitionReader) -> RecordMeta | None:
    operation = event.operation
    if isinstance(operation, RecordCreated | RecordDerived):
        return None
    _require(operation.record_id == event.record_id, "a record's event is about another record")
    found = reader.record_revision(event.record_id, operation.expected_revision)
    if found is None:
        raise StorageInconsistency("the revision that a record's event found is missing")
    return found.meta


def _relation_before(event: RelationEvent, reader: PartitionReader) -> StoredRelation | None:
    operation = event.operation
    if isinstance(operation, AssertRelation):
        return None
    _require(operation.relation_id == event.relation_id, "a relation's event is about another relation")
    found = reader.relation_revision(event.relation_id, operation.expected_revision)
    if found is None:
        raise StorageInconsistency("the revision that a relation's event found is missing")
    return found.relation


def _uses_of(given: RelationInput) -> Iterable[tuple[Use, Ref]]:
    yield Use.SOURCE, given.source
    yield Use.TARGET, given.target
    for ref in given.evidence_sources:
        yield Use.EVIDENCE, ref


def _checkpoint_before(event: CheckpointEvent, reader: PartitionReader) -> Checkpoint | None:
    command = event.command
    if command.expected_revision == 0:
        return None
    key = reader.keys.checkpoint_revision(
        event.stream, event.author.subject_id, command.consumer_id, command.expected_revision
    )
    found = reader.stored_checkpoint(key)
    if found is None:
        raise StorageInconsistency("the revision that a checkpoint's event found is missing")
    return found.checkpoint


def _require(agreed: bool, message: str) -> None:
    if not agreed:
        raise StorageInconsistency(message)
