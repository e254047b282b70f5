"""Every index, derived naively from the records and relations that it is an index of.

IMPORTANT: nothing here may use `relatum.store.projection`, which writes these rows: a fault there would agree with
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from crash_tests.inspection.stored import StoredPartition, same_rows
from crash_tests.violation import require
from relatum.core import digests
from relatum.core.ids import Ref, uuid_bytes
from relatum.core.records import RecordMeta
from relatum.core.relations import StoredRelation
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table, Use

Bodies = dict[bytes, bytes]

_END = slice(PREFIX_BYTES + 1, PREFIX_BYTES + 25)
"""Where a key names a record and the revision that brought a content of it."""


def check_indexes(partition: StoredPartition) -> int:
    """Adjacency, completeness headers, dependents, topic slots and payloads; the number of rows compared."""
    records = [version.meta for version in partition.reader.records()]
    relations = [version.relation for version in partition.reader.relations()]
    revisions = [rows.RECORD.decode(rows.unpack_version(body).canonical) for body in partition.record_revisions()]
    contents = _Contents(revisions)
    outgoing, incoming = _adjacency(partition, relations, contents)
    dependents = dict(_dependents(partition, records, relations, contents))
    expected: dict[Table, Bodies] = {
        Table.OUTGOING: outgoing,
        Table.INCOMING: incoming,
        Table.DEPENDENT: dependents,
        Table.HEADER: _headers(partition, contents, outgoing, incoming, dependents),
        Table.TOPIC: dict(_topics(partition, records)),
    }
    compared = sum(
        same_rows(f"{partition.name}, {table.name.lower()}", bodies, partition.table(table))
        for table, bodies in expected.items()
    )
    return compared + _check_payloads(partition, records, revisions)


class _Contents:
    """Which revision brought the content that a pin names. A review brings none."""

    def __init__(self, revisions: list[RecordMeta]) -> None:
        self._brought: dict[tuple[str, int], int] = {}
        for meta in sorted(revisions, key=lambda meta: meta.revision):
            before = self._brought.get((meta.record_id, meta.revision - 1))
            reviewed = meta.review is not None and meta.review.revision == meta.revision and meta.state != "deleted"
            brought = before if reviewed and before is not None else meta.revision
            self._brought[meta.record_id, meta.revision] = brought

    def of(self, pin: Ref) -> Ref:
        """The record at that revision."""
        return Ref(record_id=pin.record_id, revision=self._brought[pin.record_id, pin.revision])

    def all(self) -> set[Ref]:
        """Every content of every record."""
        return {Ref(record_id=record_id, revision=brought) for (record_id, _), brought in self._brought.items()}


def _adjacency(
    partition: StoredPartition, relations: list[StoredRelation], contents: _Contents
) -> tuple[Bodies, Bodies]:
    """Two entries for each relation that is active and not rejected, one at either end, each naming the other end."""
    outgoing, incoming = Bodies(), Bodies()
    for relation in relations:
        if relation.state != "active" or (relation.review is not None and relation.review.disposition == "rejected"):
            continue
        source, target, own = relation.input.source, relation.input.target, uuid_bytes(relation.relation_id)
        outgoing[_entries_at(partition, Table.OUTGOING, contents.of(source)) + own] = rows.pack_adjacency(
            relation.input.kind, target
        )
        incoming[_entries_at(partition, Table.INCOMING, contents.of(target)) + own] = rows.pack_adjacency(
            relation.input.kind, source
        )
    return outgoing, incoming


def _entries_at(partition: StoredPartition, direction: Table, end: Ref) -> bytes:
    return partition.keys.adjacency(direction, end.record_id, end.revision)


def _headers(
    partition: StoredPartition, contents: _Contents, outgoing: Bodies, incoming: Bodies, dependents: Bodies
) -> Bodies:
    """One for each content of each record, with the number and the sum of the entries and of the dependents there."""
    counted = (
        _totals(dependents, digests.dependent_digest),
        _totals(outgoing, digests.adjacency_digest),
        _totals(incoming, digests.adjacency_digest),
    )
    headers = Bodies()
    for content in contents.all():
        end = uuid_bytes(content.record_id) + content.revision.to_bytes(8, "big")
        header = rows.Completeness(*(part for totals in counted for part in totals.get(end, (0, 0))))
        headers[partition.keys.header(content.record_id, content.revision)] = header.pack()
    return headers


def _totals(entries: Bodies, number: Callable[[bytes], int]) -> dict[bytes, tuple[int, int]]:
    """The number and the sum of entries at each content, by the record's id and the revision that brought it."""
    totals: dict[bytes, tuple[int, int]] = {}
    for key, body in entries.items():
        end = key[_END]
        count, total = totals.get(end, (0, 0))
        totals[end] = count + 1, (total + number(key + body)) % digests.ACCUMULATOR_MODULUS
    return totals


def _dependents(
    partition: StoredPartition, records: list[RecordMeta], relations: list[StoredRelation], contents: _Contents
) -> Iterator[tuple[bytes, bytes]]:
    """What uses a record, whatever has become of the user since, under the content that it pins."""

    def use(ref: Ref, kind: Use, dependent_id: str) -> tuple[bytes, bytes]:
        content = contents.of(ref)
        return partition.keys.dependent(content.record_id, content.revision, kind, dependent_id), b""

    for relation in relations:
        yield use(relation.input.source, Use.SOURCE, relation.relation_id)
        yield use(relation.input.target, Use.TARGET, relation.relation_id)
        for ref in relation.input.evidence_sources:
            yield use(ref, Use.EVIDENCE, relation.relation_id)
    for meta in records:
        for ref in meta.derivation.sources if meta.derivation else ():
            yield use(ref, Use.DERIVED, meta.record_id)


def _topics(partition: StoredPartition, records: list[RecordMeta]) -> Iterator[tuple[bytes, bytes]]:
    """A slot for each topic key of a record that is active and current."""
    for meta in records:
        current = meta.state == "active" and partition.reader.standing(meta.record_id).state == "current"
        payload = partition.reader.payload(meta) if current else None
        if payload is not None and payload.topic_key is not None:
            yield partition.keys.topic(payload.topic_key), uuid_bytes(meta.record_id)


def _check_payloads(partition: StoredPartition, records: list[RecordMeta], revisions: list[RecordMeta]) -> int:
    """A payload for each revision that brought one, matching the digest that stays; none at all once deleted."""
    deleted = {meta.record_id for meta in records if meta.state == "deleted"}
    expected: set[bytes] = set()
    for meta in revisions:
        if meta.record_id in deleted:
            continue
        partition.reader.payload(meta)
        partition.reader.review_evidence(meta)
        if meta.payload_revision == meta.revision or (meta.review and meta.review.revision == meta.revision):
            expected.add(partition.keys.payload(meta.record_id, meta.revision))
    found = set(partition.table(Table.PAYLOAD))
    require(expected <= found, f"{partition.name}: a payload is missing")
    require(
        found <= expected, f"{partition.name}: a payload is left that nothing refers to, of a deleted record perhaps"
    )
    return len(found)
