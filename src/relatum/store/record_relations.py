"""What relations join with a record, those that were retired or rejected too.

The index has the relations that hold, and a header that counts and sums them: whoever has read it has missed none. The
others stand among the dependents of both their ends, which nothing counts. What always holds: what is told of an end is
true, and whoever is told nothing by both ends of a pair has missed no relation between them, unless two rows are gone
together of one that does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from relatum.core.ids import Ref, uuid_text
from relatum.errors import StorageInconsistency
from relatum.store import adjacency, rows
from relatum.store.keys import Table, Use, beyond
from relatum.store.partition import Direction, PartitionReader

_SIDES: tuple[tuple[Direction, Use], ...] = ((Table.OUTGOING, Use.SOURCE), (Table.INCOMING, Use.TARGET))


def relations_at(partition: PartitionReader, end: Ref) -> int:
    """How many relations hold that a record has at an exact revision."""
    header = adjacency.header_of(partition, end)
    return header.outgoing_count + header.incoming_count


def joined_with(partition: PartitionReader, end: Ref) -> frozenset[Ref]:
    """The other ends of every relation that a record has at an exact revision, whatever direction and state.

    Costs a scan of the record's index entries and dependents, and three look-ups for each relation that does not hold.
    """
    found: set[Ref] = set()
    for direction, use in _SIDES:
        held = {entry.relation_id: entry.body for entry in adjacency.entries(partition, direction, end)}
        used = set(map(uuid_text, _used_by(partition, end, use)))
        if not held.keys() <= used:
            raise StorageInconsistency("a relation is missing among what depends on its end")
        found.update(rows.unpack_adjacency(body)[1] for body in held.values())
        found.update(_other_end(partition, relation_id, end, use) for relation_id in used - held.keys())
    return frozenset(found)


def once_joined_with(partition: PartitionReader, end: Ref) -> frozenset[Ref]:
    """As `joined_with`, but where all relations of a record hold nothing is told, and its index is not read."""
    used = sum(1 for _, use in _SIDES for _ in _used_by(partition, end, use))
    return frozenset() if used == relations_at(partition, end) else joined_with(partition, end)


def _used_by(partition: PartitionReader, end: Ref, use: Use) -> Iterator[bytes]:
    """The ids of relations that are said to have a record at exactly this revision for their source, or target."""
    prefix, revision = partition.keys.dependents(end.record_id) + bytes([use]), rows.pack_u64(end.revision)
    for key, row in partition.reader.scan(prefix, beyond(prefix)):
        if rows.unseal(key, row) == revision:
            yield key[-16:]


def _other_end(partition: PartitionReader, relation_id: str, end: Ref, use: Use) -> Ref:
    """The other end of a relation that does not hold, which must say the same of this one."""
    relation = partition.indexed_relation(relation_id).relation
    source, target = relation.input.source, relation.input.target
    own, other = (source, target) if use is Use.SOURCE else (target, source)
    if own != end or relation.indexed:
        raise StorageInconsistency("what depends on a record does not match its relation")
    return other
