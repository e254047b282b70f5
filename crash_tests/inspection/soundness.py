"""Whether what judgments have left in a store makes sense, row by row, whatever the events say.

Always holds of a sound store: no candidate without its records, no verdict without its relation, no standing without
its cause and no cause without its standing, at most one pending candidate a pair and one holder a topic slot, and no
words of a verdict whose end was deleted.

IMPORTANT: nothing here may use `relatum.store.projection`, which writes these rows: a fault there would agree with
itself.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from crash_tests.inspection.rederived import check_rederived
from crash_tests.inspection.stored import StoredPartition, StoredRows, read_store, same_rows
from crash_tests.violation import Violation, require, require_same
from relatum.core.candidates import Candidate
from relatum.core.events import JudgmentEvent
from relatum.core.ids import uuid_text
from relatum.core.records import RecordMeta
from relatum.core.relations import StoredRelation
from relatum.core.standings import Standing
from relatum.core.verdicts import VERDICTS, StoredVerdict
from relatum.store import endpoint_rows, rows
from relatum.store.keys import Table


class Left(NamedTuple):
    """Everything of one partition that the checks look at, by id."""

    partition: StoredPartition
    records: dict[str, RecordMeta]
    relations: dict[str, StoredRelation]
    candidates: dict[str, Candidate]
    verdicts: dict[str, StoredVerdict]
    standings: dict[str, Standing]

    @property
    def where(self) -> str:
        """For messages."""
        return self.partition.name

    def is_current(self, record_id: str) -> bool:
        """Whether a record is active and current."""
        standing = self.standings.get(record_id, Standing())
        return self.records[record_id].state == "active" and standing.state == "current"


class Counts(NamedTuple):
    """How much was looked at."""

    rows: int
    candidates: int
    orphaned: int
    verdicts: int
    superseded: int


def check_store(directory: Path) -> Counts:
    """Judges a store that nobody serves; opening it may repair a torn log. Raises `Violation`."""
    return check_rows(read_store(directory))


def check_rows(found: dict[bytes, bytes]) -> Counts:
    """The same of all rows of a store, which must also be those that its events lead to, byte for byte."""
    stored = StoredRows(found)
    check_rederived(stored, list(stored.partitions()))
    return check_sense(found)


def check_sense(found: dict[bytes, bytes]) -> Counts:
    """What judgments have left in the rows of a store makes sense by itself."""
    counted = Counts(len(found), 0, 0, 0, 0)
    for partition in StoredRows(found).partitions():
        more = check_soundness(partition)
        counted = Counts(counted.rows, *(one + other for one, other in zip(counted[1:], more[1:], strict=True)))
    return counted


def check_soundness(partition: StoredPartition) -> Counts:
    """The same of one partition, whose rows of other kinds are sound."""
    left = _left(partition)
    _check_candidates(left)
    _check_verdicts(left)
    _check_standings(left)
    _check_topics(left)
    _check_words(left)
    superseded = sum(one.superseded_by is not None for one in left.standings.values())
    orphaned = sum(one.status == "orphaned" for one in left.candidates.values())
    return Counts(0, len(left.candidates), orphaned, len(left.verdicts), superseded)


def _left(partition: StoredPartition) -> Left:
    def table(which: Table) -> dict[str, bytes]:
        return {uuid_text(key[-16:]): body for key, body in partition.table(which).items()}

    return Left(
        partition,
        {own: rows.RECORD.decode(rows.unpack_version(body)[2]) for own, body in table(Table.RECORD).items()},
        {own: rows.RELATION.decode(rows.unpack_version(body)[2]) for own, body in table(Table.RELATION).items()},
        {own: rows.CANDIDATE.decode(body) for own, body in table(Table.CANDIDATE).items()},
        {own: rows.VERDICT.decode(body) for own, body in table(Table.VERDICT).items()},
        {own: rows.STANDING.decode(body) for own, body in table(Table.STANDING).items()},
    )


def _check_candidates(left: Left) -> None:
    partition, k = left.partition, left.partition.keys
    listed: dict[bytes, bytes] = {}
    pairs: dict[bytes, bytes] = {}
    ends: dict[bytes, bytes] = {}
    for own, one in left.candidates.items():
        source, target = one.source.record_id, one.target.record_id
        require({source, target} <= left.records.keys(), f"{left.where}: a candidate without its records")
        pending = one.status == "pending"
        listed[k.candidate_status(one.status, one.since_millis, own)] = b""
        ends[k.candidate_end(source, own)] = endpoint_rows.CandidateEnd(pending, target).pack()
        ends[k.candidate_end(target, own)] = endpoint_rows.CandidateEnd(pending, source).pack()
        if pending:
            pair = k.candidate_pair(source, target)
            require(pair not in pairs, f"{left.where}: a pair with two pending candidates")
            pairs[pair] = rows.pack_uuid(own)
        if one.status == "judged":
            _check_judged(left, one)
        if one.status == "orphaned":
            swept = partition.reader.swept(one.operation_id or "")
            require((own, one.operation_id) in (swept or ()), f"{left.where}: an orphan that nobody swept")
    _same(left, Table.CANDIDATE_STATUS, listed)
    _same(left, Table.CANDIDATE_PAIR, pairs)
    _same(left, Table.CANDIDATE_END, ends)


def _check_judged(left: Left, one: Candidate) -> None:
    relation = left.relations.get(one.relation_id or "")
    if relation is None:
        raise Violation(f"{left.where}: a judged candidate without its relation")
    given = relation.input
    ends = {given.source.record_id, given.target.record_id}
    closed = one.kind, {one.source.record_id, one.target.record_id}
    require_same(f"{left.where}: the kind and the ends of a judged candidate", (given.kind, ends), closed)


def _check_verdicts(left: Left) -> None:
    k = left.partition.keys
    ends: dict[bytes, bytes] = {}
    pairs: set[bytes] = set()
    for own, verdict in left.verdicts.items():
        require(own in left.relations, f"{left.where}: a verdict without its relation")
        relation = left.relations[own]
        source, target = relation.input.source, relation.input.target
        said = verdict.kind, verdict.source, verdict.target
        require_same(f"{left.where}: what a verdict says", (relation.input.kind, source, target), said)
        require(verdict.kind in VERDICTS, f"{left.where}: a verdict of no kind of verdicts")
        if verdict.candidate_id is not None:
            judged = left.candidates.get(verdict.candidate_id)
            open_still = judged is None or judged.status != "judged"
            require(not open_still, f"{left.where}: a verdict on a candidate that is open")
        pairs.add(k.verdict_pair(source.record_id, target.record_id))
        for record_id, other, direction in (
            (source.record_id, target.record_id, Table.OUTGOING),
            (target.record_id, source.record_id, Table.INCOMING),
        ):
            end = endpoint_rows.VerdictEnd(relation.indexed, other, verdict.kind)
            ends[k.verdict_end(record_id, direction, own)] = end.pack()
    _same(left, Table.VERDICT_END, ends)
    found = set(left.partition.table(Table.VERDICT_PAIR))
    require(pairs == found, f"{left.where}: the pairs of verdicts are not those that were judged")


def _check_standings(left: Left) -> None:
    k = left.partition.keys
    replaced: set[bytes] = set()
    for record_id, standing in left.standings.items():
        require(record_id in left.records, f"{left.where}: a standing without its record")
        by = standing.superseded_by
        if by is None:
            continue
        require(by.relation_id in left.verdicts, f"{left.where}: a standing without its verdict")
        relation = left.relations[by.relation_id]
        require(relation.indexed, f"{left.where}: a standing whose cause is retired or rejected")
        cause = relation.input.kind, relation.input.source.record_id, relation.input.target.record_id
        require_same(f"{left.where}: the cause of a standing", ("supersedes", by.record_id, record_id), cause)
        replaced.add(k.replaced_entry(by.record_id, record_id))
        _check_no_cycle(left, record_id)
    found = set(left.partition.table(Table.REPLACED))
    require(replaced == found, f"{left.where}: what is listed as replaced is not what is superseded")
    causes = Counter(
        left.relations[own].input.target.record_id
        for own, verdict in left.verdicts.items()
        if verdict.kind == "supersedes" and left.relations[own].indexed
    )
    superseded = {record_id: 1 for record_id, one in left.standings.items() if one.superseded_by is not None}
    require_same(f"{left.where}: the causes of standings", superseded, dict(causes))


def _check_no_cycle(left: Left, start: str) -> None:
    seen, at = {start}, left.standings[start].superseded_by
    while at is not None:
        require(at.record_id not in seen, f"{left.where}: a cycle of supersessions")
        seen.add(at.record_id)
        at = left.standings.get(at.record_id, Standing()).superseded_by


def _check_topics(left: Left) -> None:
    reader, holders = left.partition.reader, dict[bytes, bytes]()
    for record_id in left.records:
        topic = reader.topic_of_record(record_id)
        if topic is not None and left.is_current(record_id):
            slot = left.partition.keys.topic(topic)
            require(slot not in holders, f"{left.where}: a topic slot with two holders")
            holders[slot] = rows.pack_uuid(record_id)
    _same(left, Table.TOPIC, holders)


def _check_words(left: Left) -> None:
    for key in left.partition.table(Table.WORDS):
        event = left.partition.reader.event(int.from_bytes(key[-8:], "big"))
        receipt = event.receipt if isinstance(event, JudgmentEvent) else None
        if receipt is None:
            raise Violation(f"{left.where}: words that nobody said")
        ends = left.relations[receipt.relation_id].input
        for end in (ends.source.record_id, ends.target.record_id):
            outlived = left.records[end].state != "active"
            require(not outlived, f"{left.where}: words that outlived an end of their verdict")


def _same(left: Left, table: Table, expected: dict[bytes, bytes]) -> None:
    same_rows(f"{left.where}, {table.name.lower()}", expected, left.partition.table(table))
