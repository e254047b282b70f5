"""The state that an event found: revisions that earlier events have left.

What lives here: look-ups of what there was by an event, whatever came later. What must not: a look at current rows, or
at any row that is about to be implied: each of these follows from revisions and events, which are compared by
themselves. `RevisionMissing` is raised where one is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from relatum.core.commands import AssertRelation, RelationOperation
from relatum.core.cursors import Checkpoint
from relatum.core.events import CheckpointEvent, RelationEvent
from relatum.core.ids import Ref
from relatum.core.relation_events import relation_part
from relatum.core.relations import StoredRelation
from relatum.core.state import RecordVersion, RelationVersion
from relatum.errors import StorageInconsistency
from relatum.limits import U64_MAX
from relatum.store.keys import Table, beyond
from relatum.store.partition import PartitionReader
from relatum.store.verify.versions import REVISION_BYTES


class RevisionMissing(StorageInconsistency):
    """A revision that an event found is not there; the event is not at fault."""

    def __init__(self, table: Table, message: str) -> None:
        super().__init__(message)
        self.table = table


def record_at(reader: PartitionReader, record_id: str, sequence: int) -> RecordVersion:
    """A record as the events up to a number have left it."""
    for revision in _revisions(reader, reader.keys.record_revision(record_id, 0)[:-REVISION_BYTES]):
        version = reader.record_revision(record_id, revision)
        if version is not None and version.sequence <= sequence:
            return version
    raise RevisionMissing(Table.RECORD_REVISION, "the record that it found is missing")


def relation_at(reader: PartitionReader, relation_id: str, sequence: int) -> RelationVersion:
    """A relation as the events up to a number have left it."""
    for revision in _revisions(reader, reader.keys.relation_revision(relation_id, 0)[:-REVISION_BYTES]):
        version = reader.relation_revision(relation_id, revision)
        if version is not None and version.sequence <= sequence:
            return version
    raise RevisionMissing(Table.RELATION_REVISION, "the relation that it found is missing")


def content_at(reader: PartitionReader, pin: Ref) -> Ref:
    """The content that a pin names, by the revision that brought it."""
    if pin.revision == 1:
        return pin
    version = reader.record_revision(pin.record_id, pin.revision)
    if version is None:
        raise RevisionMissing(Table.RECORD_REVISION, "a revision that it pins is missing")
    meta = version.meta
    brought = meta.payload_revision if meta.state == "active" else meta.revision
    return Ref(record_id=pin.record_id, revision=brought)


def _revisions(reader: PartitionReader, prefix: bytes) -> Iterator[int]:
    """The revisions that are stored of an object, the newest first."""
    for key, _ in reader.reader.scan(prefix, beyond(prefix), reverse=True):
        if len(key) == len(prefix) + REVISION_BYTES:
            yield int.from_bytes(key[-REVISION_BYTES:], "big")


def is_erased(reader: PartitionReader, record_id: str) -> bool:
    """Whether a record was deleted by now."""
    return record_at(reader, record_id, U64_MAX).meta.state == "deleted"


def relation_before(reader: PartitionReader, relation_id: str, operation: RelationOperation) -> StoredRelation | None:
    """A relation as an operation found it; None for a new one."""
    if isinstance(operation, AssertRelation):
        return None
    if operation.relation_id != relation_id:
        raise StorageInconsistency("a relation's event is about another relation")
    found = reader.relation_revision(relation_id, operation.expected_revision)
    if found is None:
        raise RevisionMissing(Table.RELATION_REVISION, "the revision that it found is missing")
    return found.relation


def is_verdict(reader: PartitionReader, relation_id: str) -> bool:
    """Whether a relation came from a verdict, which the event that asserted it says."""
    event = reader.event(asserted(reader, relation_id).sequence)
    part = None if event is None else relation_part(event, relation_id)
    if part is None:
        raise StorageInconsistency("the event that asserted its relation is missing")
    return not isinstance(event, RelationEvent) and not part.plain


def asserted(reader: PartitionReader, relation_id: str) -> RelationVersion:
    """A relation at its first revision."""
    first = reader.relation_revision(relation_id, 1)
    if first is None:
        raise RevisionMissing(Table.RELATION_REVISION, "the first revision of its relation is missing")
    return first


def checkpoint_before(reader: PartitionReader, event: CheckpointEvent) -> Checkpoint | None:
    """A checkpoint as an event found it; None for a new one."""
    command = event.command
    if command.expected_revision == 0:
        return None
    key = reader.keys.checkpoint_revision(
        event.stream, event.author.subject_id, command.consumer_id, command.expected_revision
    )
    found = reader.stored_checkpoint(key)
    if found is None:
        raise RevisionMissing(Table.CHECKPOINT_REVISION, "the revision that it found is missing")
    return found.checkpoint


def require(holds: bool, message: str) -> None:
    """Raises StorageInconsistency unless something that an event says of itself holds."""
    if not holds:
        raise StorageInconsistency(message)
