"""What the past and the time are told by, made again as naively as it can be: instants, standings and facts since when.

IMPORTANT: nothing here may use `relatum.store.projection`, which writes these rows: a fault there would agree with
itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from crash_tests.inspection.judgments import Past
from crash_tests.inspection.stored import StoredPartition, same_rows
from relatum.core import digests
from relatum.core.events import Event
from relatum.core.records import Payload, RecordMeta
from relatum.core.standings import Standing
from relatum.store import rows
from relatum.store.instants import Bound, Timed
from relatum.store.keys import Table

Told = Iterator[tuple[bytes, bytes]]


def check_history(partition: StoredPartition, events: list[Event]) -> int:
    """The number of rows compared."""
    versions = [rows.unpack_version(body) for body in partition.record_revisions()]
    revisions = [(version.sequence, rows.RECORD.decode(version.canonical)) for version in versions]
    expected = {
        Table.INSTANT: dict(_instants(partition, [meta for _, meta in revisions])),
        Table.STANDING_REVISION: dict(_standings(partition, events)),
        Table.FACT_REVISION: dict(_facts(partition, revisions)),
    }
    return sum(
        same_rows(f"{partition.name}, {table.name.lower()}", bodies, partition.table(table))
        for table, bodies in expected.items()
    )


def _instants(partition: StoredPartition, revisions: list[RecordMeta]) -> Told:
    keys = partition.keys
    for meta in revisions:
        if meta.facts.valid_until_millis is not None:
            yield keys.instant(meta.facts.valid_until_millis, Timed.RECORD, meta.record_id), bytes([Bound.VALID_UNTIL])
    for version in partition.reader.relations():
        given, own = version.relation.input, version.relation.relation_id
        bounds = {Bound.VALID_FROM: given.valid_from_millis, Bound.VALID_UNTIL: given.valid_until_millis}
        for bound, at_millis in bounds.items():
            if at_millis is not None:
                yield keys.instant(at_millis, Timed.RELATION, own), bytes([bound])


def _standings(partition: StoredPartition, events: list[Event]) -> Told:
    """A row for each record whose standing is another one after an event."""
    past, before = Past(), dict[str, Standing]()
    for event in events:
        past.hear(event)
        for record_id, standing in past.standings.items():
            if standing != before.get(record_id, Standing()):
                yield partition.keys.standing_revision(record_id, event.sequence), rows.STANDING.encode(standing)
        before = dict(past.standings)


def _facts(partition: StoredPartition, revisions: list[tuple[int, RecordMeta]]) -> Told:
    """What each content of a record that is there says of a fact, and that the one before says nothing any more."""
    reader, said = partition.reader, dict[str, Payload]()
    for sequence, meta in sorted(revisions, key=lambda found: (found[1].record_id, found[1].revision)):
        own = meta.record_id
        if reader.is_erased(own) or meta.payload_revision != meta.revision:
            continue
        before, content = said.get(own), reader.payload(meta)
        if before is not None and before.fact_key is not None:
            yield partition.keys.fact_revision(before.fact_key, own, sequence), b""
        if content is None:
            continue
        if content.fact_key is not None:
            origin = content.provenance.source_hash if content.provenance else None
            body = digests.said_digest(content.content, origin)
            yield partition.keys.fact_revision(content.fact_key, own, sequence), body
        said[own] = content
