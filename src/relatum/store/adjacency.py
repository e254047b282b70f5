"""The adjacency index, read with proof that nothing of it is missing (graphs.md, rule 7).

Each record at an exact revision has two indexes, of its outgoing and of its incoming relations, and one header that
counts the entries of each and sums their digests. What always holds: whoever has read an index to its end has read
every entry that was ever put there and not taken away, or was told StorageInconsistency.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from relatum.core import digests
from relatum.core.ids import Ref
from relatum.core.relations import StoredRelation
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import Table, beyond
from relatum.store.partition import Direction, PartitionReader
from relatum.store.rows import Completeness


class IndexEntry(NamedTuple):
    """One entry: its relation, and what it says of it."""

    relation_id: str
    body: bytes


def header_of(partition: PartitionReader, end: Ref) -> Completeness:
    """What counts and sums both indexes of a record at an exact revision."""
    header = partition.completeness(end)
    if header is None:
        raise StorageInconsistency("a completeness header is missing")
    return header


def entries(
    partition: PartitionReader, direction: Direction, end: Ref, header: Completeness | None = None
) -> Iterator[IndexEntry]:
    """The entries of one index in ascending relation id. Its header is checked after the last one was taken.

    The header is read where it is not given. A reader that stops early has not read the index to its end, and the sum
    is not checked.
    """
    if header is None:
        header = header_of(partition, end)
    expected_count, expected_sum = header.of(outgoing=direction is Table.OUTGOING)
    prefix = partition.keys.adjacency(direction, end.record_id, end.revision)
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


def neighbours(partition: PartitionReader, direction: Direction, end: Ref) -> Iterator[Neighbour]:
    """The entries of one index, told apart by their own bytes: for reads that ask for kinds before relations."""
    for entry in entries(partition, direction, end):
        kind, other = rows.unpack_adjacency(entry.body)
        yield Neighbour(entry.relation_id, kind, other)


def neighbour(entry: IndexEntry, direction: Direction, end: Ref, relation: StoredRelation) -> Ref:
    """The record at the other end of an entry's relation.

    Raises StorageInconsistency unless the entry says of the relation what the relation says of itself.
    """
    given = relation.input
    own, other = (given.source, given.target) if direction is Table.OUTGOING else (given.target, given.source)
    if not (relation.indexed and own == end and entry.body == rows.pack_adjacency(given.kind, other)):
        raise StorageInconsistency("an index entry does not match its relation")
    return other
