"""What relations join with a record's content, those that were retired or rejected too.

The index has the relations that are active and not rejected, and the list of dependents has all that ever were; the
header at the content counts and sums both. What always holds: whoever is told what a content is joined with has missed
nothing.
"""

from __future__ import annotations

from collections import defaultdict

from relatum.core.ids import Ref
from relatum.errors import StorageInconsistency
from relatum.store import adjacency, rows
from relatum.store.keys import Table, Use
from relatum.store.partition import Direction, PartitionReader

_SIDES: tuple[tuple[Direction, Use], ...] = ((Table.OUTGOING, Use.SOURCE), (Table.INCOMING, Use.TARGET))


def uses_of(partition: PartitionReader, content: Ref) -> int:
    """How many relations and derived records pin a content, whatever their state."""
    return adjacency.header_of(partition, content).uses_count


def joined_with(partition: PartitionReader, content: Ref) -> frozenset[Ref]:
    """The contents that relations join with one, whatever direction and state.

    Costs a scan of the index entries and dependents, and three look-ups for each relation that does not hold.
    """
    used: defaultdict[Use, set[str]] = defaultdict(set)
    for dependent in adjacency.dependents(partition, content):
        used[dependent.use].add(dependent.dependent_id)
    pins: set[Ref] = set()
    for direction, use in _SIDES:
        held = {entry.relation_id: entry.body for entry in adjacency.entries(partition, direction, content)}
        if not held.keys() <= used[use]:
            raise StorageInconsistency("a relation is missing among what depends on its end")
        pins.update(rows.unpack_adjacency(body)[1] for body in held.values())
        pins.update(_other_end(partition, relation_id, content, use) for relation_id in used[use] - held.keys())
    return frozenset(map(partition.content_of, pins))


def _other_end(partition: PartitionReader, relation_id: str, content: Ref, use: Use) -> Ref:
    """What a relation that does not hold pins at its other end; of this one it must say the same."""
    relation = partition.indexed_relation(relation_id).relation
    source, target = relation.input.source, relation.input.target
    own, other = (source, target) if use is Use.SOURCE else (target, source)
    if relation.indexed or partition.content_of(own) != content:
        raise StorageInconsistency("what depends on a record does not match its relation")
    return other
