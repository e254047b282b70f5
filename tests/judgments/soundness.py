"""Whether what judgments have left in a store makes sense, row by row, without the product's own projection.

Always holds of a sound store: no candidate without its records, no verdict without its relation, no standing without
its cause and no cause without its standing, at most one pending candidate a pair and one holder a topic slot, and no
words of a verdict whose end was deleted.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from crash_tests.inspection.rederived import check_rederived
from crash_tests.inspection.stored import StoredPartition, StoredRows, read_store
from relatum.core.candidates import Candidate
from relatum.core.events import JudgmentEvent
from relatum.core.ids import uuid_text
from relatum.core.records import RecordMeta
from relatum.core.relations import StoredRelation
from relatum.core.standings import Standing
from relatum.core.verdicts import VERDICTS, StoredVerdict
from relatum.store import rows
from relatum.store.keys import Table


class Left(NamedTuple):
    """Everything of one partition that the checks look at, by id."""

    partition: StoredPartition
    records: dict[str, RecordMeta]
    relations: dict[str, StoredRelation]
    candidates: dict[str, Candidate]
    verdicts: dict[str, StoredVerdict]
    standings: dict[str, Standing]

    def is_current(self, record_id: str) -> bool:
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
    """Judges a store that nobody serves; opening it may repair a torn log. AssertionError where it makes no sense."""
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
        left = _left(partition)
        _check_candidates(left)
        _check_verdicts(left)
        _check_standings(left)
        _check_topics(left)
        _check_words(left)
        superseded = sum(one.superseded_by is not None for one in left.standings.values())
        orphaned = sum(one.status == "orphaned" for one in left.candidates.values())
        more = (len(left.candidates), orphaned, len(left.verdicts), superseded)
        counted = Counts(counted.rows, *(one + other for one, other in zip(counted[1:], more, strict=True)))
    return counted


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
        assert own == one.candidate_id
        assert {source, target} <= left.records.keys(), "a candidate without its records"
        pending = one.status == "pending"
        listed[k.candidate_status(one.status, one.since_millis, own)] = b""
        ends[k.candidate_end(source, own)] = rows.CandidateEnd(pending, target).pack()
        ends[k.candidate_end(target, own)] = rows.CandidateEnd(pending, source).pack()
        if pending:
            pair = k.candidate_pair(source, target)
            assert pair not in pairs, "a pair with two pending candidates"
            pairs[pair] = rows.pack_uuid(own)
        if one.status == "judged":
            _check_judged(left, one)
        if one.status == "orphaned":
            assert one.operation_id is not None
            assert (own, one.operation_id) in partition.reader.swept(one.operation_id), "an orphan that nobody swept"
    assert listed == partition.table(Table.CANDIDATE_STATUS)
    assert pairs == partition.table(Table.CANDIDATE_PAIR)
    assert ends == partition.table(Table.CANDIDATE_END)


def _check_judged(left: Left, one: Candidate) -> None:
    assert one.relation_id in left.relations, "a judged candidate without its relation"
    given = left.relations[one.relation_id].input
    assert one.kind == given.kind
    ends = {given.source.record_id, given.target.record_id}
    assert ends == {one.source.record_id, one.target.record_id}, "a candidate was closed by a relation of others"


def _check_verdicts(left: Left) -> None:
    k = left.partition.keys
    ends: dict[bytes, bytes] = {}
    last: dict[bytes, str] = {}
    for own, verdict in left.verdicts.items():
        assert own in left.relations, "a verdict without its relation"
        relation = left.relations[own]
        source, target = relation.input.source, relation.input.target
        assert (verdict.kind, verdict.source, verdict.target) == (relation.input.kind, source, target)
        assert verdict.kind in VERDICTS
        if verdict.candidate_id is not None:
            assert "judged" == left.candidates[verdict.candidate_id].status, "a verdict on a candidate that is open"
        pair = k.verdict_pair(source.record_id, target.record_id)
        last[pair] = max(own, last.get(pair, ""))
        for record_id, other, direction in (
            (source.record_id, target.record_id, Table.OUTGOING),
            (target.record_id, source.record_id, Table.INCOMING),
        ):
            end = rows.VerdictEnd(relation.indexed, other, verdict.kind)
            ends[k.verdict_end(record_id, direction, own)] = end.pack()
    assert ends == left.partition.table(Table.VERDICT_END)
    assert last.keys() == left.partition.table(Table.VERDICT_PAIR).keys()


def _check_standings(left: Left) -> None:
    k = left.partition.keys
    replaced: set[bytes] = set()
    for record_id, standing in left.standings.items():
        assert record_id in left.records
        by = standing.superseded_by
        if by is None:
            continue
        assert by.relation_id in left.verdicts, "a standing without its verdict"
        relation = left.relations[by.relation_id]
        assert relation.indexed, "a standing whose cause is retired or rejected"
        assert "supersedes" == relation.input.kind
        assert (by.record_id, record_id) == (relation.input.source.record_id, relation.input.target.record_id)
        replaced.add(k.replaced_entry(by.record_id, record_id))
        _check_no_cycle(left, record_id)
    assert replaced == set(left.partition.table(Table.REPLACED))
    causes = Counter(
        left.relations[own].input.target.record_id
        for own, verdict in left.verdicts.items()
        if verdict.kind == "supersedes" and left.relations[own].indexed
    )
    superseded = {record_id: 1 for record_id, one in left.standings.items() if one.superseded_by is not None}
    assert superseded == dict(causes), "each cause has its standing, and each standing one cause"


def _check_no_cycle(left: Left, start: str) -> None:
    seen, at = {start}, left.standings[start].superseded_by
    while at is not None:
        assert at.record_id not in seen, "a cycle of supersessions"
        seen.add(at.record_id)
        at = left.standings.get(at.record_id, Standing()).superseded_by


def _check_topics(left: Left) -> None:
    reader, holders = left.partition.reader, dict[bytes, bytes]()
    for record_id in left.records:
        topic = reader.topic_of_record(record_id)
        if topic is not None and left.is_current(record_id):
            slot = left.partition.keys.topic(topic)
            assert slot not in holders, "a topic slot with two holders"
            holders[slot] = rows.pack_uuid(record_id)
    assert holders == left.partition.table(Table.TOPIC)


def _check_words(left: Left) -> None:
    for key in left.partition.table(Table.WORDS):
        event = left.partition.reader.event(int.from_bytes(key[-8:], "big"))
        assert isinstance(event, JudgmentEvent), "words that nobody said"
        assert event.receipt is not None
        ends = left.relations[event.receipt.relation_id].input
        for end in (ends.source.record_id, ends.target.record_id):
            assert "active" == left.records[end].state, "words that outlived an end of their verdict"
