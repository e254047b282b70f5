"""The rows that a change of a relation implies, be it a command of its own or the consequence of another one.

What lives here: the revision, the uses of records, the index entries, and what makes a relation a verdict. What an
event did to which verdict was the last on its pair is known only to who has followed all events
(`unversioned_rows.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from relatum.core import digests, journal, transitions
from relatum.core.canonical import encode
from relatum.core.changes import RelationChange
from relatum.core.consequences import RelationPart
from relatum.core.events import Event, RelationEvent
from relatum.core.ids import Ref
from relatum.core.relations import RelationInput, StoredRelation
from relatum.core.verdicts import VERDICTS, StoredVerdict
from relatum.store import endpoint_rows, rows
from relatum.store.instants import Timed
from relatum.store.keys import Table, Use
from relatum.store.partition import PartitionReader
from relatum.store.verify import receipts
from relatum.store.verify.audit import Audit
from relatum.store.verify.prior_state import content_at, is_verdict, relation_before, require
from relatum.store.verify.receipts import Named


class RelationRows:
    """Enters what changes of relations imply."""

    def __init__(self, audits: dict[Table, Audit]) -> None:
        self._audits = audits

    def imply(self, event: Event, reader: PartitionReader, part: RelationPart, command: Named) -> RelationChange:
        """The rows of a relation's new revision; what its stream tells of it."""
        before = relation_before(reader, part.relation_id, part.operation)
        after = transitions.relation_after(
            before, part.operation, part.relation_id, event.committed_at_millis, event.author
        )
        canonical = encode(after)
        digest = digests.relation_digest(canonical)
        receipt = receipts.relation_receipt(reader.workspace_id, event, part, command, after.revision, digest)
        require(part.receipt == receipt, "a relation's event does not lead to what its receipt says")
        version = rows.pack_version(event.sequence, digest, canonical)
        key = reader.keys.relation_revision(after.relation_id, after.revision)
        self._audits[Table.RELATION_REVISION].imply(event.sequence, key, version)
        if before is None:
            self.uses(event, reader, after.relation_id, _uses_of(after.input))
            self._instants(event, reader, after)
        if after.indexed != (before is not None and before.indexed):
            self._index(event, reader, after)
        self._verdict(event, reader, part, before, after)
        return journal.relation_change(receipt, after.input)

    def uses(self, event: Event, reader: PartitionReader, dependent_id: str, uses: Iterable[tuple[Use, Ref]]) -> None:
        """What a derived record or a relation depends on, each under the content that it pins."""
        for use, ref in uses:
            content = content_at(reader, ref)
            key = reader.keys.dependent(content.record_id, content.revision, use, dependent_id)
            self._audits[Table.DEPENDENT].imply(event.sequence, key, b"")

    def _instants(self, event: Event, reader: PartitionReader, after: StoredRelation) -> None:
        """The bounds of a new relation's interval."""
        given = after.input
        for at_millis, bound in ((given.valid_from_millis, b"\1"), (given.valid_until_millis, b"\2")):
            if at_millis is not None:
                key = reader.keys.instant(at_millis, Timed.RELATION, after.relation_id)
                self._audits[Table.INSTANT].imply(event.sequence, key, bound)

    def _index(self, event: Event, reader: PartitionReader, after: StoredRelation) -> None:
        """The two entries of a relation that has become indexed, or no longer is."""
        given, own, keys = after.input, after.relation_id, reader.keys
        for table, end, other in (
            (Table.OUTGOING, given.source, given.target),
            (Table.INCOMING, given.target, given.source),
        ):
            audit = self._audits[table]
            enter = audit.imply if after.indexed else audit.revoke
            content = content_at(reader, end)
            key = keys.adjacency_entry(table, content.record_id, content.revision, own)
            enter(event.sequence, key, rows.pack_adjacency(given.kind, other))

    def _verdict(
        self,
        event: Event,
        reader: PartitionReader,
        part: RelationPart,
        before: StoredRelation | None,
        after: StoredRelation,
    ) -> None:
        """What makes an asserted relation a verdict; and its ends, which say whether it is indexed."""
        if before is None:
            if isinstance(event, RelationEvent) or part.plain:
                return
            body = rows.VERDICT.encode(_stored_verdict(event, part, after))
            self._audits[Table.VERDICT].imply(event.sequence, reader.keys.verdict(after.relation_id), body)
            self._ends(event, reader, after, left=True)
        elif after.indexed != before.indexed and after.input.kind in VERDICTS and is_verdict(reader, after.relation_id):
            self._ends(event, reader, before, left=False)
            self._ends(event, reader, after, left=True)

    def _ends(self, event: Event, reader: PartitionReader, relation: StoredRelation, *, left: bool) -> None:
        """Both ends of a verdict, which an event left as they are or replaced."""
        audit, keys, given = self._audits[Table.VERDICT_END], reader.keys, relation.input
        enter = audit.imply if left else audit.revoke
        for direction, own, other in (
            (Table.OUTGOING, given.source.record_id, given.target.record_id),
            (Table.INCOMING, given.target.record_id, given.source.record_id),
        ):
            body = endpoint_rows.VerdictEnd(relation.indexed, other, given.kind).pack()
            enter(event.sequence, keys.verdict_end(own, direction, relation.relation_id), body)


def _stored_verdict(event: Event, part: RelationPart, relation: StoredRelation) -> StoredVerdict:
    said = event.consequences is not None and event.consequences.words is not None
    return StoredVerdict(
        relation_id=relation.relation_id,
        kind=relation.input.kind,
        source=relation.input.source,
        target=relation.input.target,
        candidate_id=part.candidate_id,
        confidence=part.confidence,
        words_at=event.sequence if said else None,
    )


def _uses_of(given: RelationInput) -> Iterable[tuple[Use, Ref]]:
    yield Use.SOURCE, given.source
    yield Use.TARGET, given.target
    for ref in given.evidence_sources:
        yield Use.EVIDENCE, ref
