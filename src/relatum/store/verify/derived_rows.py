"""The rows that an event implies by itself, from the event and the revisions that it found.

What lives here: `Implied`, which is given events of a partition in order, from any of them on, and enters what each
must have left into the audits. It uses the pure core and the makers of keys and rows, and not `store.projection`, which
wrote the rows: a fault there would agree with itself. What must not: a look at the rows that are about to be implied;
and whatever depends on more than revisions, which is left to `unversioned_rows.py`.

A new family of events gets its branch here; the type checker says so. StorageInconsistency is raised where an event
does not lead to what its own receipt says.
"""

from __future__ import annotations

from typing import assert_never

from relatum.core import digests, journal, transitions
from relatum.core.candidates import Orphaned
from relatum.core.canonical import encode
from relatum.core.changes import RecordChange, RelationChange
from relatum.core.events import (
    ActivationEvent,
    CheckpointEvent,
    CredentialEvent,
    Event,
    FoundEvent,
    JudgmentEvent,
    LinkEvent,
    RecordCreated,
    RecordDerived,
    RecordEvent,
    RecordSaved,
    RelationEvent,
    StaleMarked,
    StandingSet,
)
from relatum.core.kinds import REGISTRY
from relatum.core.records import RecordMeta
from relatum.core.relation_events import receipt_family, receipt_of, relation_part
from relatum.core.state import RecordVersion
from relatum.core.stored_judgments import SweepRun
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import Table, Use
from relatum.store.partition import PartitionReader
from relatum.store.verify import receipts
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.journals import fact
from relatum.store.verify.prior_state import RevisionMissing, checkpoint_before, record_at, relation_at, require
from relatum.store.verify.receipts import named
from relatum.store.verify.relations import RelationRows
from relatum.store.verify.verdict_texts import check_said

Changes = list[RecordChange | RelationChange]
"""What the streams tell of an event, in order."""


class Implied:
    """What events of one partition imply."""

    def __init__(self, books: Books) -> None:
        self._audits = books.tables
        self._told = books.told
        self._relations = RelationRows(books.tables)

    def rows_of(self, event: Event, reader: PartitionReader) -> None:
        """Enters the rows of the next event. `reader` shows at least what the events before it left."""
        match event:
            case RecordEvent():
                self._record(event, reader)
            case RelationEvent():
                self._relation(event, reader)
            case FoundEvent():
                self._found(event, reader)
            case JudgmentEvent():
                self._judgment(event, reader)
            case LinkEvent():
                digest = digests.link_command_digest(event.operation)
                self._receipt(event, reader, event.receipt.idempotency_key, digest)
            case CheckpointEvent():
                self._checkpoint(event, reader)
            case CredentialEvent() | ActivationEvent():
                pass  # the one is remembered; of the other the walk notes which journal it opens
            case _:
                assert_never(event)

    def _record(self, event: RecordEvent, reader: PartitionReader) -> None:
        after = self._record_after(event, reader)
        receipt = receipts.record_receipt(reader.workspace_id, event, after.meta.revision, after.digest)
        require(event.receipt == receipt, "a record's event does not lead to what its receipt says")
        self._receipt(event, reader, receipt.idempotency_key, receipt.command_digest)
        self._tells(event, [journal.record_change(receipt), *self._consequences(event, reader)])

    def _record_after(self, event: RecordEvent, reader: PartitionReader) -> RecordVersion:
        """The record that an event leaves; its row if it is a new revision."""
        operation, record_id = event.operation, event.record_id
        if not isinstance(operation, RecordCreated | RecordSaved | RecordDerived):
            require(operation.record_id == record_id, "a record's event is about another record")
        if isinstance(operation, StandingSet | StaleMarked):
            found = record_at(reader, record_id, event.sequence)
            expected = found.meta.revision if isinstance(operation, StaleMarked) else operation.expected_revision
            require(found.meta.revision == expected, "a standing's event is about another revision")
            return found
        before = _record_before(event, reader)
        after = transitions.record_after(before, operation, record_id, event.committed_at_millis, event.author)
        canonical = encode(after)
        digest = digests.record_digest(canonical)
        version = rows.pack_version(event.sequence, digest, canonical)
        self._imply(Table.RECORD_REVISION, event, reader.keys.record_revision(record_id, after.revision), version)
        if isinstance(operation, RecordDerived):
            sources = ((Use.DERIVED, one) for one in operation.derivation.sources)
            self._relations.uses(event, reader, record_id, sources)
        return RecordVersion(after, digest, event.sequence, len(canonical))

    def _relation(self, event: RelationEvent, reader: PartitionReader) -> None:
        own, command = relation_part(event, event.relation_id), named(event)
        assert own is not None, "a relation's event is about its relation"
        change = self._relations.imply(event, reader, own, command)
        self._receipt(event, reader, *command)
        self._tells(event, [change, *self._consequences(event, reader)])

    def _found(self, event: FoundEvent, reader: PartitionReader) -> None:
        """No row but those of its key: the relation is one from before, which says the same and was in force."""
        found = relation_at(reader, event.receipt.relation_id, event.sequence)
        said, asked = found.relation.input, event.operation.relation
        ends, wanted = [said.source.record_id, said.target.record_id], [asked.source.record_id, asked.target.record_id]
        if REGISTRY[asked.kind].symmetric:
            ends, wanted = sorted(ends), sorted(wanted)
        require(
            event.operation.if_absent
            and found.relation.indexed
            and (said.kind, ends) == (asked.kind, wanted)
            and event.receipt == receipts.found_receipt(reader.workspace_id, event, found),
            "an assertion's event does not lead to what its receipt says",
        )
        self._receipt(event, reader, *named(event))

    def _judgment(self, event: JudgmentEvent, reader: PartitionReader) -> None:
        changes = self._consequences(event, reader)
        _check_judgment_receipts(event, reader)
        if event.consequences is not None and event.consequences.words is not None:
            check_said(event, reader, self._audits[Table.WORDS])
        if isinstance(event.operation, SweepRun):
            orphans = event.consequences.candidates if event.consequences else ()
            operations = [one.operation_id for one in orphans if isinstance(one, Orphaned)]
            for target_id in (event.operation.run_id, *operations):
                self._imply(Table.SWEPT, event, reader.keys.swept(target_id), rows.pack_u64(event.sequence))
        self._receipt(event, reader, *named(event))
        self._tells(event, changes)

    def _consequences(self, event: RecordEvent | RelationEvent | JudgmentEvent, reader: PartitionReader) -> Changes:
        """The rows of what an event brought about besides its own, as far as they follow from it."""
        given = event.consequences
        if given is None:
            return []
        receipt, command = receipt_of(event), named(event)
        changes: Changes = [self._relations.imply(event, reader, part, command) for part in given.relations]
        for one in given.standings:
            if receipt is None:
                raise StorageInconsistency("a refused command has changed a standing")
            version = record_at(reader, one.record_id, event.sequence)
            changes.append(journal.standing_change(one.action, version, receipt))
        return changes

    def _checkpoint(self, event: CheckpointEvent, reader: PartitionReader) -> None:
        before = checkpoint_before(reader, event)
        stream, command, subject_id = event.stream, event.command, event.author.subject_id
        after = transitions.checkpoint_after(
            reader.workspace_id, stream, before, command, event.committed_at_millis, event.author
        )
        digest = digests.checkpoint_command_digest(stream, command)
        receipt = receipts.checkpoint_receipt(reader.workspace_id, event, before, after)
        require(
            event.receipt == receipt and event.command_digest == digest,
            "a checkpoint's event does not lead to what its receipt says",
        )
        row = rows.CHECKPOINT.encode(rows.StoredCheckpoint(sequence=event.sequence, checkpoint=after))
        key = reader.keys.checkpoint_revision(stream, subject_id, after.consumer_id, after.revision)
        self._imply(Table.CHECKPOINT_REVISION, event, key, row)
        self._receipt(event, reader, command.idempotency_key, digest)

    def _receipt(self, event: Event, reader: PartitionReader, idempotency_key: str, command_digest: str) -> None:
        key = reader.keys.receipt(receipt_family(event), event.author.subject_id, idempotency_key)
        self._imply(Table.RECEIPT, event, key, rows.pack_receipt(event.sequence, command_digest))

    def _tells(self, event: Event, changes: Changes) -> None:
        """The entries of the streams that an event makes, with a nonce for each."""
        require(len(event.nonces) == len(changes), "an event has another number of nonces than of entries")
        places: dict[Stream, int] = {RECORDS: 0, RELATIONS: 0}
        for nonce, change in zip(event.nonces, changes, strict=True):
            stream: Stream = RELATIONS if isinstance(change, RelationChange) else RECORDS
            self._told[stream].imply(event.sequence, b"", fact(event.sequence, places[stream], nonce, change))
            places[stream] += 1

    def _imply(self, table: Table, event: Event, key: bytes, body: bytes) -> None:
        self._audits[table].imply(event.sequence, key, body)


def _record_before(event: RecordEvent, reader: PartitionReader) -> RecordMeta | None:
    operation = event.operation
    if isinstance(operation, RecordCreated | RecordSaved | RecordDerived | StaleMarked):
        return None
    found = reader.record_revision(event.record_id, operation.expected_revision)
    if found is None:
        raise RevisionMissing(Table.RECORD_REVISION, "the revision that it found is missing")
    return found.meta


def _check_judgment_receipts(event: JudgmentEvent, reader: PartitionReader) -> None:
    """A verdict is answered with the receipt of its relation, unless it was refused; what else there is, with its own.

    The relation is the one that was asserted, as the last part of what the verdict did, or one from before.
    """
    own = receipts.judgment_receipt(reader.workspace_id, event)
    require(event.judgment_receipt == own, "a judgment's event does not lead to what its receipt says")
    refused = getattr(event.operation, "refused", None) is not None
    require(
        (event.receipt is None) == (refused or own is not None) and not (refused and event.consequences is not None),
        "a verdict's event does not say what became of it",
    )
    if event.receipt is None:
        return
    parts = event.consequences.relations if event.consequences else ()
    if parts:
        expected = parts[-1].receipt
    else:
        found = relation_at(reader, event.receipt.relation_id, event.sequence)
        expected = receipts.repeated_receipt(reader.workspace_id, event, event.receipt, found)
    require(event.receipt == expected, "a verdict's event does not lead to what its receipt says")
