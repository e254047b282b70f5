"""What judgments, links and promotions have left: told again from all events, and spread naively over its tables.

IMPORTANT: nothing here may use `relatum.store.projection`, which writes these rows, or `relatum.store.verify`, which
judges them: a fault there would agree with itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from crash_tests.inspection.stored import StoredPartition, same_rows
from crash_tests.violation import Violation, require
from relatum.core import digests
from relatum.core.candidates import Candidate, CandidateChange, Opened, Orphaned, candidate_after, opened
from relatum.core.commands import AssertRelation
from relatum.core.events import Event, JudgmentEvent, LinkEvent, RecordDeleted, RecordEvent, StaleMarked, StandingSet
from relatum.core.links import Link, StoredLink
from relatum.core.promotions import Suspicion
from relatum.core.records import Proof
from relatum.core.relations import StoredRelation
from relatum.core.standings import Standing, StandingChange, confirmed, marked_stale, standing_after
from relatum.core.stored_judgments import Promoted, SweepRun
from relatum.core.verdicts import StoredVerdict
from relatum.store import endpoint_rows, rows
from relatum.store.keys import Table

Told = tuple[Table, bytes, bytes]


@dataclass
class Past:
    """Everything that the events say, by id."""

    standings: dict[str, Standing] = field(default_factory=dict)
    for_topic: dict[str, bool] = field(default_factory=dict)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    verdicts: dict[str, StoredVerdict] = field(default_factory=dict)
    pairs: dict[tuple[str, str], str] = field(default_factory=dict)
    words: dict[int, tuple[Proof, str]] = field(default_factory=dict)
    """By event: what is kept of them, and the relation that they are about."""
    swept: dict[str, int] = field(default_factory=dict)
    links: dict[frozenset[str], StoredLink] = field(default_factory=dict)
    suspicions: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    promoted: Counter[str] = field(default_factory=Counter)

    def hear(self, event: Event) -> None:
        """The next event."""
        if isinstance(event, LinkEvent):
            self._link(event)
        self._besides(event)
        if isinstance(event, RecordEvent):
            self._record(event)
        if isinstance(event, JudgmentEvent):
            self._judgment(event)

    def _record(self, event: RecordEvent) -> None:
        operation, record_id = event.operation, event.record_id
        before = self.standings.get(record_id, Standing())
        if isinstance(operation, StandingSet):
            change = StandingChange(record_id=record_id, action=operation.action)
            self.standings[record_id] = standing_after(before, change, event.committed_at_millis)
        elif isinstance(operation, StaleMarked):
            self.standings[record_id] = marked_stale(before, operation.mark, operation.lifted)
        elif isinstance(operation, RecordDeleted):
            self.standings[record_id] = replace(before, pinned_at_millis=None)
            self.links = {pair: link for pair, link in self.links.items() if record_id not in pair}

    def _judgment(self, event: JudgmentEvent) -> None:
        operation, given = event.operation, event.consequences
        if given is not None and given.words is not None and event.receipt is not None:
            self.words[event.sequence] = given.words, event.receipt.relation_id
        if isinstance(operation, SweepRun):
            orphans = given.candidates if given else ()
            targets = [operation.run_id, *(one.operation_id for one in orphans if isinstance(one, Orphaned))]
            self.swept |= dict.fromkeys(targets, event.sequence)
        if isinstance(operation, Promoted):
            day = operation.run.run_date
            self.promoted[day] += sum(one.outcome == "promoted" for one in operation.outcomes)
            for pair in operation.suspicions:
                self.suspicions[pair] = (*self.suspicions.get(pair, ()), day)

    def _besides(self, event: Event) -> None:
        given = event.consequences
        if given is None:
            return
        words_at = event.sequence if given.words is not None else None
        for part in given.relations:
            if isinstance(part.operation, AssertRelation) and not part.plain:
                said = part.operation.relation
                self.verdicts[part.relation_id] = StoredVerdict(
                    relation_id=part.relation_id,
                    kind=said.kind,
                    source=said.source,
                    target=said.target,
                    candidate_id=part.candidate_id,
                    confidence=part.confidence,
                    words_at=words_at,
                )
                self.pairs[said.source.record_id, said.target.record_id] = part.relation_id
        for change in given.standings:
            before = self.standings.get(change.record_id, Standing())
            self.standings[change.record_id] = standing_after(before, change, event.committed_at_millis)
            self.for_topic[change.record_id] = isinstance(event, RecordEvent)
        for candidate in given.candidates:
            self._candidate(event, candidate, words_at)
        for one in given.confirmations:
            before = self.standings.get(one.record_id, Standing())
            self.standings[one.record_id] = confirmed(before, one.outcome, event.committed_at_millis)

    def _candidate(self, event: Event, change: CandidateChange, words_at: int | None) -> None:
        own, at_millis = change.candidate_id, event.committed_at_millis
        if isinstance(change, Opened):
            require(own not in self.candidates, f"the candidate {own} is opened twice")
            self.candidates[own] = opened(change, at_millis)
            return
        if own not in self.candidates:
            raise Violation(f"the candidate {own} is changed and was never opened")
        run = isinstance(event, JudgmentEvent) and isinstance(event.operation, SweepRun) and event.operation
        author = None if run and run.by_timer else event.author
        self.candidates[own] = candidate_after(self.candidates[own], change, at_millis, author, words_at)

    def _link(self, event: LinkEvent) -> None:
        operation = event.operation
        pair = frozenset((operation.source_id, operation.target_id))
        if isinstance(operation, Link):
            self.links[pair] = StoredLink(
                source_id=operation.source_id,
                target_id=operation.target_id,
                kind=operation.kind,
                linked_at_millis=event.committed_at_millis,
                author=event.author,
            )
        else:
            require(pair in self.links, "a link is taken away that was not there")
            del self.links[pair]


TABLES = [table for table in Table if Table.STANDING <= table <= Table.SOURCE and table is not Table.WORDS]


def check_judgments(partition: StoredPartition, events: list[Event]) -> int:
    """Every row of these tables is told by the events, and the other way round; the number of rows."""
    past = Past()
    for event in events:
        past.hear(event)
    relations = {version.relation.relation_id: version.relation for version in partition.reader.relations()}
    expected: dict[Table, dict[bytes, bytes]] = {table: {} for table in TABLES}
    for table, key, body in (
        *_standings(partition, past),
        *_candidates(partition, past),
        *_verdicts(partition, past, relations),
        *_others(partition, past),
        *_facts(partition),
    ):
        require(key not in expected[table], f"{partition.name}, {table.name.lower()}: two rows under one key")
        expected[table][key] = body
    compared = sum(
        same_rows(f"{partition.name}, {table.name.lower()}", bodies, partition.table(table))
        for table, bodies in expected.items()
    )
    return compared + _check_words(partition, past, relations)


def _standings(partition: StoredPartition, past: Past) -> Iterator[Told]:
    keys = partition.keys
    for own, standing in past.standings.items():
        if standing != Standing():
            yield Table.STANDING, keys.standing(own), rows.STANDING.encode(standing)
        if standing.pinned_at_millis is not None:
            yield Table.PINNED, keys.pinned(own), b""
        if (by := standing.superseded_by) is not None:
            how = endpoint_rows.Replaced(by.relation_id, past.for_topic[own])
            yield Table.REPLACED, keys.replaced_entry(by.record_id, own), how.pack()


def _candidates(partition: StoredPartition, past: Past) -> Iterator[Told]:
    keys = partition.keys
    for own, one in past.candidates.items():
        source, target, waits = one.source.record_id, one.target.record_id, one.status == "pending"
        yield Table.CANDIDATE, keys.candidate(own), rows.CANDIDATE.encode(one)
        yield Table.CANDIDATE_STATUS, keys.candidate_status(one.status, one.since_millis, own), b""
        yield Table.CANDIDATE_END, keys.candidate_end(source, own), endpoint_rows.CandidateEnd(waits, target).pack()
        yield Table.CANDIDATE_END, keys.candidate_end(target, own), endpoint_rows.CandidateEnd(waits, source).pack()
        if waits:
            yield Table.CANDIDATE_PAIR, keys.candidate_pair(source, target), rows.pack_uuid(own)


def _verdicts(partition: StoredPartition, past: Past, relations: dict[str, StoredRelation]) -> Iterator[Told]:
    keys = partition.keys
    for own, verdict in past.verdicts.items():
        source, target, counts = verdict.source.record_id, verdict.target.record_id, relations[own].indexed
        out, into = (endpoint_rows.VerdictEnd(counts, other, verdict.kind).pack() for other in (target, source))
        yield Table.VERDICT, keys.verdict(own), rows.VERDICT.encode(verdict)
        yield Table.VERDICT_END, keys.verdict_end(source, Table.OUTGOING, own), out
        yield Table.VERDICT_END, keys.verdict_end(target, Table.INCOMING, own), into
    for (source, target), own in past.pairs.items():
        yield Table.VERDICT_PAIR, keys.verdict_pair(source, target), rows.pack_uuid(own)


def _others(partition: StoredPartition, past: Past) -> Iterator[Told]:
    keys = partition.keys
    for target_id, sequence in past.swept.items():
        yield Table.SWEPT, keys.swept(target_id), rows.pack_u64(sequence)
    for link in past.links.values():
        yield Table.LINK, keys.link(link.source_id, link.target_id), rows.LINK.encode(link)
        yield Table.LINK, keys.link(link.target_id, link.source_id), rows.LINK.encode(link)
    for (one, other), days in past.suspicions.items():
        yield Table.SUSPICION, keys.suspicion(one, other), rows.SUSPICION.encode(Suspicion(run_dates=days))
    for day, count in past.promoted.items():
        if count:
            yield Table.PROMOTED, keys.promoted(day), rows.PROMOTED.encode(count)


def _facts(partition: StoredPartition) -> Iterator[Told]:
    """A row for each fact key, and each source, of a record that is not deleted."""
    for version in partition.reader.records():
        payload = partition.reader.payload(version.meta) if version.meta.state == "active" else None
        if payload is not None and payload.fact_key is not None:
            said = digests.said_digest(payload.content, payload.provenance.source_hash if payload.provenance else None)
            yield Table.FACT, partition.keys.fact(payload.fact_key, version.meta.record_id), said
        if payload is not None and payload.provenance is not None:
            yield Table.SOURCE, partition.keys.source(payload.provenance.source_id, version.meta.record_id), b""


def _check_words(partition: StoredPartition, past: Past, relations: dict[str, StoredRelation]) -> int:
    """Words are there unless an end of their verdict was deleted, and match what their event keeps of them."""
    gone = {version.meta.record_id for version in partition.reader.records() if version.meta.state == "deleted"}
    found = partition.table(Table.WORDS)
    expected: set[bytes] = set()
    for sequence, (proof, relation_id) in past.words.items():
        given, key = relations[relation_id].input, partition.keys.words(sequence)
        if {given.source.record_id, given.target.record_id} & gone:
            continue
        expected.add(key)
        require(key in found, f"{partition.name}: the words of event {sequence} are missing")
        words = rows.WORDS.decode(found[key])
        require(
            digests.words_digest(words) == proof.digest, f"{partition.name}: the words of event {sequence} are others"
        )
    require(
        set(found) == expected, f"{partition.name}: words are left that nothing refers to, of a deleted record perhaps"
    )
    return len(found)
