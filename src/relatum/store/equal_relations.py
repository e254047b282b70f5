"""The relations in force that say what another one would say (relations.md, `if_absent`)."""

from __future__ import annotations

from collections.abc import Iterator

from relatum.core.ids import Ref
from relatum.core.kinds import REGISTRY
from relatum.core.relations import RelationInput
from relatum.core.state import RelationVersion
from relatum.errors import StorageInconsistency
from relatum.store import adjacency
from relatum.store.keys import Table
from relatum.store.partition import Direction, PartitionReader

_OUTGOING: tuple[Direction, ...] = (Table.OUTGOING,)
_INCOMING: tuple[Direction, ...] = (Table.INCOMING,)
_BOTH: tuple[Direction, ...] = (Table.OUTGOING, Table.INCOMING)


def equal_relations(partition: PartitionReader, given: RelationInput) -> Iterator[RelationVersion]:
    """Relations of the kind between the present contents of both ends, active and not rejected, the oldest first.

    Of a symmetric kind in either direction. Costs a scan of the indexes of the end that has fewer relations, so that a
    hub costs nothing to who asserts something of it.
    """
    source, target = _content(partition, given.source), _content(partition, given.target)
    if source is None or target is None:
        return
    at_source, at_target = adjacency.header_of(partition, source), adjacency.header_of(partition, target)
    fewer_at_source = at_source.outgoing_count + at_source.incoming_count <= (
        at_target.outgoing_count + at_target.incoming_count
    )
    end, other = (source, target) if fewer_at_source else (target, source)
    own = _OUTGOING if fewer_at_source else _INCOMING
    found = [
        neighbour.relation_id
        for direction in (_BOTH if REGISTRY[given.kind].symmetric else own)
        for neighbour in adjacency.neighbours(partition, direction, end)
        if neighbour.kind == given.kind and neighbour.ref.record_id == other.record_id
    ]
    # Ids of one millisecond are in no order, nor are those that were made while the clock lay behind the commit times.
    for relation_id in sorted(found, key=lambda one: (_asserted_at(partition, one), one)):
        version = partition.indexed_relation(relation_id)
        if all(_holds(partition, pin) for pin in (version.relation.input.source, version.relation.input.target)):
            yield version


def _asserted_at(partition: PartitionReader, relation_id: str) -> int:
    """The place in the partition's history of the event that brought a relation."""
    first = partition.relation_revision(relation_id, 1)
    if first is None:
        raise StorageInconsistency("the first revision of a relation is missing")
    return first.sequence


def _content(partition: PartitionReader, pin: Ref) -> Ref | None:
    """Where the index of a record's present content lies."""
    version = partition.record(pin.record_id)
    return None if version is None else version.meta.content


def _holds(partition: PartitionReader, pin: Ref) -> bool:
    version = partition.record(pin.record_id)
    return version is not None and version.meta.holds(pin.revision)
