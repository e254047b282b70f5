"""What lies at a record's content, read with proof that nothing of it is missing (graphs.md, rule 7).

Each content has two indexes, of its outgoing and of its incoming relations, a list of what depends on it, and one
header that counts and sums all three. A content is named by the revision that brought it, whatever revision is pinned.
What always holds: whoever has read an index, or the list, to its end has read every entry that was ever put there and
not taken away, or was told StorageInconsistency.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from relatum.core import digests
from relatum.core.ids import Ref
from relatum.core.records import RecordMeta
from relatum.core.relations import StoredRelation
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import Table, Use, beyond
from relatum.store.partition import Direction, PartitionReader
from relatum.store.rows import Completeness


class IndexEntry(NamedTuple):
    """One entry: its relation, and what it says of it."""

    relation_id: str
    body: bytes


_USES: Final = {bytes([use]): use for use in Use}


def header_of(partition: PartitionReader, content: Ref) -> Completeness:
    """What counts and sums all that lies at a content."""
    header = partition.completeness(content)
    if header is None:
        raise StorageInconsistency("a completeness header is missing")
    return header


def entries(
    partition: PartitionReader, direction: Direction, content: Ref, header: Completeness | None = None
) -> Iterator[IndexEntry]:
    """The entries of one index in ascending relation id. Its header is checked after the last one was taken.

    The header is read where it is not given. A reader that stops early has not read the index to its end, and the sum
    is not checked.
    """
    if header is None:
        header = header_of(partition, content)
    expected_count, expected_sum = header.of(outgoing=direction is Table.OUTGOING)
    prefix = partition.keys.adjacency(direction, content.record_id, content.revision)
    count = total = 0
    for key, row in partition.reader.scan(prefix, beyond(prefix)):
        body = rows.unseal(key, row)
        count += 1
        total += digests.adjacency_digest(key + body)
        if count > expected_count:
            raise StorageInconsistency("an index has more entries than its header counts")
        yield IndexEntry(rows.unpack_uuid(key[len(prefix) :]), body)
    if count != expected_count or total % digests.ACCUMULATOR_MODULUS != expected_sum:
        raise StorageInconsistency("an index does not match its completeness header")


class Neighbour(NamedTuple):
    """What an entry says without its relation being read: the relation, its kind, the record at the other end."""

    relation_id: str
    kind: str
    ref: Ref


def neighbours(partition: PartitionReader, direction: Direction, content: Ref) -> Iterator[Neighbour]:
    """The entries of one index, told apart by their own bytes: for reads that ask for kinds before relations."""
    for entry in entries(partition, direction, content):
        kind, other = rows.unpack_adjacency(entry.body)
        yield Neighbour(entry.relation_id, kind, other)


def neighbour(entry: IndexEntry, direction: Direction, at: RecordMeta, relation: StoredRelation) -> Ref:
    """What the relation of an entry, found at the content of a current record, pins at its other end.

    Raises StorageInconsistency unless the entry says of the relation what the relation says of itself.
    """
    given = relation.input
    own, other = (given.source, given.target) if direction is Table.OUTGOING else (given.target, given.source)
    holds = own.record_id == at.record_id and at.holds(own.revision)
    if not (relation.indexed and holds and entry.body == rows.pack_adjacency(given.kind, other)):
        raise StorageInconsistency("an index entry does not match its relation")
    return other


class Dependent(NamedTuple):
    """What pins a content: as what, and the id of the relation, or of the derived record."""

    use: Use
    dependent_id: str


def dependents(partition: PartitionReader, content: Ref) -> Iterator[Dependent]:
    """Everything that pins a content, by use and id. The header is checked after the last one was taken."""
    header, prefix = header_of(partition, content), partition.keys.dependents(content.record_id, content.revision)
    count = total = 0
    for key, row in partition.reader.scan(prefix, beyond(prefix)):
        use = _USES.get(key[len(prefix) : len(prefix) + 1])
        if rows.unseal(key, row) or use is None:
            raise StorageInconsistency("what depends on a record can't be decoded")
        count += 1
        total += digests.dependent_digest(key)
        yield Dependent(use, rows.unpack_uuid(key[len(prefix) + 1 :]))
    if (count, total % digests.ACCUMULATOR_MODULUS) != (header.uses_count, header.uses_sum):
        raise StorageInconsistency("what depends on a record does not match its completeness header")
