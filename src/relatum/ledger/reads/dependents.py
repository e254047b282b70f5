"""What pins a record: derived records, and relations by their ends or their evidence (console.md, added routes).

The present content first, then earlier ones, the newest first; within a content by use and id. What pins a content that
has moved on is shown too: that is what a reviewer wants to know of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from relatum import limits
from relatum.core.answers.review import DependentPage, DependentTotals, DependentUse, DependentView
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref, uuid_bytes
from relatum.core.relations import relation_view
from relatum.errors import Refusal, Refused, StorageInconsistency, missing
from relatum.ledger.reads.cursor import OpaqueCursors
from relatum.ledger.reads.heads import Heads
from relatum.store import adjacency, integrity
from relatum.store.adjacency import Dependent
from relatum.store.keys import Use
from relatum.store.partition import PartitionReader

_USES: Final[dict[Use, DependentUse]] = {
    Use.DERIVED: "source",
    Use.SOURCE: "endpoint",
    Use.TARGET: "endpoint",
    Use.EVIDENCE: "evidence",
}


class _Place(NamedTuple):
    """One dependent of one content of the record."""

    content: Ref
    dependent: Dependent

    @property
    def raw(self) -> bytes:
        """The place as a cursor has it."""
        use, dependent_id = self.dependent
        return self.content.revision.to_bytes(8, "big") + bytes([use]) + uuid_bytes(dependent_id)


def dependents(
    partition: PartitionReader,
    now_millis: int,
    store_key: bytes,
    record_id: str,
    limit: int | None,
    cursor: str | None,
) -> DependentPage | Refusal:
    """At most `limit` (1 to 100, default 25) dependents; `totals` are those of the present content.

    404 if the record is absent; 400 for a cursor of another query, and over the dependency budget. The dependents of a
    content that a page looks at are all read, so that a lost one is missed.
    """
    evaluator = Evaluator(partition, now_millis)
    binding = {"workspace_id": partition.workspace_id, "route": "records/dependents", "record_id": record_id}
    cursors = OpaqueCursors(store_key, binding, place_bytes=25)
    entries_max = limit or limits.DEPENDENTS_DEFAULT
    try:
        after = None if cursor is None else cursors.read(cursor)
        version = evaluator.record(record_id)
        if version is None:
            return missing()
        present = version.meta.content
        uses = list(adjacency.dependents(partition, present))
        found: list[_Place] = []
        for place in _places(partition, present, uses, after):
            found.append(place)
            if len(found) > entries_max:
                break
        page = found[:entries_max]
        view = _View(partition, evaluator, record_id)
        counts = Counter(_USES[one.use] for one in uses)
        return DependentPage(
            dependents=tuple(map(view.of, page)),
            totals=DependentTotals(source=counts["source"], endpoint=counts["endpoint"], evidence=counts["evidence"]),
            next_cursor=cursors.at(page[-1].raw) if len(found) > entries_max else None,
        )
    except Refused as refused:
        return refused.refusal


def _places(partition: PartitionReader, present: Ref, uses: list[Dependent], after: bytes | None) -> Iterator[_Place]:
    """All dependents behind a place, content by content."""
    content: Ref | None = present
    while content is not None:
        own = uses if content == present else adjacency.dependents(partition, content)
        places = [_Place(content, one) for one in own]
        if after is None:
            yield from places
        elif content.revision == int.from_bytes(after[:8], "big"):
            yield from (place for place in places if place.raw > after)
            after = None
        elif content.revision < int.from_bytes(after[:8], "big"):  # the content in which the page before ended is gone
            raise StorageInconsistency("what depends on a record is missing")
        content = _before(partition, content)


def _before(partition: PartitionReader, content: Ref) -> Ref | None:
    """The newest earlier content of a record on which anything depends; None where there is none."""
    first = partition.keys.dependents(content.record_id, 0)
    own = partition.keys.dependents(content.record_id, content.revision)
    for key, _ in partition.reader.scan(first, own, reverse=True):
        place = len(first) - 8
        return Ref(record_id=content.record_id, revision=int.from_bytes(key[place : place + 8], "big"))
    return None


class _View:
    """Dependents of one record as answered."""

    def __init__(self, partition: PartitionReader, evaluator: Evaluator, record_id: str) -> None:
        self._partition = partition
        self._evaluator = evaluator
        self._heads = Heads(partition, evaluator)
        self._record_id = record_id

    def of(self, place: _Place) -> DependentView:
        use, dependent_id = place.dependent
        return self._derived(place, dependent_id) if use is Use.DERIVED else self._relation(place, use, dependent_id)

    def _derived(self, place: _Place, derived_id: str) -> DependentView:
        version = self._evaluator.record(derived_id)
        derivation = None if version is None else version.meta.derivation
        if version is None or derivation is None:
            raise StorageInconsistency("a derived record is missing")
        head = self._heads.of_version(version)
        return DependentView(
            use="source",
            pinned_revision=self._pinned(place, derivation.sources),
            head=head,
            relation=None,
            eligible=head.eligible,
        )

    def _relation(self, place: _Place, use: Use, relation_id: str) -> DependentView:
        version = self._partition.relation(relation_id)
        if version is None:
            raise StorageInconsistency("a relation is missing")
        integrity.verify_relation(self._partition, version)
        given = version.relation.input
        pins = {Use.SOURCE: (given.source,), Use.TARGET: (given.target,)}.get(use, given.evidence_sources)
        return DependentView(
            use=_USES[use],
            pinned_revision=self._pinned(place, pins),
            head=None,
            relation=relation_view(version.relation),
            eligible=self._evaluator.relation_is_eligible(version.relation),
        )

    def _pinned(self, place: _Place, pins: tuple[Ref, ...]) -> int:
        """At which revision a dependent pins the record, which must be one of the content under which it lies."""
        pinned = next((pin for pin in pins if pin.record_id == self._record_id), None)
        if pinned is None or self._partition.content_of(pinned) != place.content:
            raise StorageInconsistency("what depends on a record does not match it")
        return pinned.revision
