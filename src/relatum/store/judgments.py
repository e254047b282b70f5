"""What judgments have left in a partition: standings, candidates, verdicts, and the words of them."""

from __future__ import annotations

from collections.abc import Iterator

from relatum.core.answers.judgments import Status
from relatum.core.candidates import Candidate, Orphaned, Words
from relatum.core.events import JudgmentEvent
from relatum.core.ids import uuid_text
from relatum.core.links import StoredLink
from relatum.core.standings import Standing
from relatum.core.stored_judgments import SweepRun
from relatum.core.verdicts import StoredVerdict
from relatum.errors import StorageInconsistency
from relatum.store import endpoint_rows, rows
from relatum.store.keys import Table, beyond
from relatum.store.partition_rows import PartitionRows

_UNTOUCHED = Standing()


class JudgmentReader(PartitionRows):
    """Typed access to the judgments of one partition.

    IMPORTANT: by `counted_body` and `_under`, which see to it that no row is missing.
    """

    # Standings

    def standing(self, record_id: str) -> Standing:
        """A record's standing; the default where nothing was ever changed."""
        body = self.counted_body(self.keys.standing(record_id))
        return _UNTOUCHED if body is None else rows.STANDING.decode(body)

    def standings(self) -> Iterator[tuple[str, Standing]]:
        """The records whose standing was ever changed, or that were ever confirmed, the newest first."""
        for key, body in self._under(self.keys.table(Table.STANDING), reverse=True):
            yield uuid_text(key[-16:]), rows.STANDING.decode(body)

    def pinned(self) -> list[str]:
        """The ids of pinned records, at most 20, in the order of their creation."""
        prefix = self.keys.table(Table.PINNED)
        return [uuid_text(key[-16:]) for key, row in self._under(prefix)]

    def pins(self) -> int:
        """How many records are pinned."""
        return len(self.pinned())

    def replaces(self, record_id: str) -> Iterator[tuple[str, endpoint_rows.Replaced]]:
        """What a record has superseded, in the order of creation, each with how."""
        for key, body in self._under(self.keys.replaced(record_id)):
            yield uuid_text(key[-16:]), endpoint_rows.unpack_replaced(body)

    def supersessions(self) -> Iterator[tuple[str, str]]:
        """Every record that has superseded another, with what it superseded."""
        for key, _ in self._under(self.keys.table(Table.REPLACED)):
            yield uuid_text(key[-32:-16]), uuid_text(key[-16:])

    def replaced_for_topic(self, record_id: str) -> str | None:
        """The record whose topic slot a record took over; None where it took a free one."""
        return next((other for other, how in self.replaces(record_id) if how.for_topic), None)

    # Candidates

    def candidate(self, candidate_id: str) -> Candidate | None:
        """A candidate, whatever its status."""
        body = self.counted_body(self.keys.candidate(candidate_id))
        if body is None:
            return None
        candidate = rows.CANDIDATE.decode(body)
        if candidate.candidate_id != candidate_id:
            raise StorageInconsistency("a row lies under a foreign key")
        return candidate

    def pending_between(self, one_id: str, other_id: str) -> str | None:
        """The pending candidate of an unordered pair, which it agrees with."""
        body = self.counted_body(self.keys.candidate_pair(one_id, other_id))
        if body is None:
            return None
        candidate_id = rows.unpack_uuid(body)
        candidate = self.candidate(candidate_id)
        ends = set() if candidate is None else {candidate.source.record_id, candidate.target.record_id}
        if candidate is None or candidate.status != "pending" or ends != {one_id, other_id}:
            raise StorageInconsistency("a pair does not match its candidate")
        return candidate_id

    def pending_pairs(self) -> Iterator[tuple[str, str, str]]:
        """The pairs of records that have a pending candidate, each with that."""
        for key, body in self._under(self.keys.table(Table.CANDIDATE_PAIR)):
            yield uuid_text(key[-32:-16]), uuid_text(key[-16:]), rows.unpack_uuid(body)

    def pending_ages(self) -> Iterator[tuple[int, str]]:
        """The instants that the age of pending candidates counts from, oldest first, each with the candidate."""
        for key, _ in self._under(self.keys.candidates_of_status("pending")):
            yield int.from_bytes(key[-24:-16], "big"), uuid_text(key[-16:])

    def pending_since(self, before_millis: int) -> Iterator[Candidate]:
        """Pending candidates whose age counts from before an instant, oldest first."""
        for candidate in self.candidates("pending"):
            if candidate.since_millis >= before_millis:
                return
            yield candidate

    def candidates(self, status: Status) -> Iterator[Candidate]:
        """Candidates of a status, in the order of the instant that their age counts from.

        Whoever reads pending ones to the end is told if there are others than there are pairs that wait.
        """
        count = 0
        for key, _ in self._under(self.keys.candidates_of_status(status)):
            candidate = self.candidate(uuid_text(key[-16:]))
            if (
                candidate is None
                or candidate.status != status
                or key != self.keys.candidate_status(status, candidate.since_millis, candidate.candidate_id)
            ):
                raise StorageInconsistency("a candidate does not match the list it stands in")
            count += 1
            yield candidate
        if status == "pending" and count != sum(1 for _ in self._under(self.keys.table(Table.CANDIDATE_PAIR))):
            raise StorageInconsistency("the list of pending candidates does not match that of their pairs")

    def candidate_ends(
        self, record_id: str, *, newest_first: bool = False
    ) -> Iterator[tuple[str, endpoint_rows.CandidateEnd]]:
        """The candidates of which a record is an end, in the order of creation."""
        for key, body in self._under(self.keys.candidate_ends(record_id), reverse=newest_first):
            yield uuid_text(key[-16:]), endpoint_rows.unpack_candidate_end(body)

    def swept(self, target_id: str) -> tuple[tuple[str, str], ...] | None:
        """What a run of the sweep, or one operation of it, orphaned: candidates, each with its operation.

        None for an unknown id.
        """
        body = self.counted_body(self.keys.swept(target_id))
        if body is None:
            return None
        event = self.event(rows.unpack_u64(body))
        if not isinstance(event, JudgmentEvent) or not isinstance(event.operation, SweepRun):
            raise StorageInconsistency("the event of a sweep is missing")
        changes = event.consequences.candidates if event.consequences else ()
        found = tuple(
            (change.candidate_id, change.operation_id)
            for change in changes
            if isinstance(change, Orphaned) and target_id in (event.operation.run_id, change.operation_id)
        )
        if not found and target_id != event.operation.run_id:
            raise StorageInconsistency("the event of a sweep is another one")
        return found

    # Verdicts

    def verdict(self, relation_id: str) -> StoredVerdict | None:
        """The verdict that a relation came from; None for one that was asserted plainly."""
        body = self.counted_body(self.keys.verdict(relation_id))
        if body is None:
            return None
        verdict = rows.VERDICT.decode(body)
        if verdict.relation_id != relation_id:
            raise StorageInconsistency("a row lies under a foreign key")
        return verdict

    def verdict_between(self, source_id: str, target_id: str) -> str | None:
        """The relation of the last verdict on an ordered pair, whatever has become of it."""
        body = self.counted_body(self.keys.verdict_pair(source_id, target_id))
        if body is None:
            return None
        verdict = self.verdict(rows.unpack_uuid(body))
        if verdict is None or (verdict.source.record_id, verdict.target.record_id) != (source_id, target_id):
            raise StorageInconsistency("a pair does not match its verdict")
        return verdict.relation_id

    def standing_verdicts(self, source_id: str, target_id: str) -> Iterator[str]:
        """The relations of the verdicts on an ordered pair that are active and not rejected, in their order."""
        for relation_id, end in self.verdict_ends(source_id, Table.OUTGOING):
            if end.indexed and end.other_id == target_id:
                yield relation_id

    def verdict_ends(
        self, record_id: str, direction: Table, *, newest_first: bool = False
    ) -> Iterator[tuple[str, endpoint_rows.VerdictEnd]]:
        """The verdicts of which a record is the source (OUTGOING) or the target (INCOMING), by creation."""
        for key, body in self._under(self.keys.verdict_ends(record_id, direction), reverse=newest_first):
            yield uuid_text(key[-16:]), endpoint_rows.unpack_verdict_end(body)

    def words(self, sequence: int | None) -> Words | None:
        """What a verdict said in words; None where it said nothing, or they were erased."""
        body = None if sequence is None else self.counted_body(self.keys.words(sequence))
        return None if body is None else rows.WORDS.decode(body)

    # Facts

    def facts(self, fact: str) -> Iterator[tuple[str, bytes]]:
        """The records that say something of a fact, in the order of creation, each with the digest of what it says."""
        for key, body in self._under(self.keys.facts(fact)):
            yield uuid_text(key[-16:]), body

    def all_facts(self) -> Iterator[tuple[bytes, str, bytes]]:
        """What all records say of facts: the fact's place, the record, the digest of what it says; fact by fact."""
        prefix = self.keys.table(Table.FACT)
        for key, body in self._under(prefix):
            yield key[len(prefix) : -16], uuid_text(key[-16:]), body

    # Sources

    def of_source(self, source: str, after: str | None = None, *, reverse: bool = False) -> Iterator[str]:
        """The records that come from a source, in the order of creation, strictly after (or before) `after`."""
        self.require_counted()
        prefix = self.keys.sources(source)
        start, stop = prefix, beyond(prefix)
        if after is not None:
            own = self.keys.source(source, after)
            start, stop = (prefix, own) if reverse else (own + b"\0", stop)
        for key, row in self.reader.scan(start, stop, reverse=reverse):
            rows.unseal(key, row)
            yield uuid_text(key[-16:])

    # Promotions

    def suspicion(self, one_id: str, other_id: str) -> tuple[str, ...]:
        """On which days an unordered pair was found to contradict itself."""
        body = self.counted_body(self.keys.suspicion(one_id, other_id))
        return () if body is None else rows.SUSPICION.decode(body).run_dates

    def promoted_on(self, run_date: str) -> int:
        """How many edges were promoted for a day."""
        body = self.counted_body(self.keys.promoted(run_date))
        return 0 if body is None else rows.PROMOTED.decode(body)

    # Links

    def all_links(self) -> Iterator[StoredLink]:
        """All links, each once, those of the newest records first; whoever reads all knows that each has both its rows.

        IMPORTANT: in this order the row under the newer end comes first.
        """
        awaited: dict[bytes, bytes] = {}
        for key, body in self._under(self.keys.table(Table.LINK), reverse=True):
            own, other = key[-32:-16], key[-16:]
            if own < other:
                if awaited.pop(other + own, None) != body:
                    raise StorageInconsistency("a link is not the same under both its ends")
                continue
            awaited[own + other] = body
            link = rows.LINK.decode(body)
            if {link.source_id, link.target_id} != {uuid_text(own), uuid_text(other)}:
                raise StorageInconsistency("a row lies under a foreign key")
            yield link
        if awaited:
            raise StorageInconsistency("a link is not the same under both its ends")

    def link_between(self, one_id: str, other_id: str) -> StoredLink | None:
        """The link of an unordered pair, which lies under both ends."""
        body = self.counted_body(self.keys.link(one_id, other_id))
        if body != self.counted_body(self.keys.link(other_id, one_id)):
            raise StorageInconsistency("a link is not the same under both its ends")
        return None if body is None else _link(body, one_id, other_id)

    def links_of(self, record_id: str) -> list[tuple[str, StoredLink]]:
        """A record's links, at most 16, each with its other end, in the order of creation of those."""
        found = ((uuid_text(key[-16:]), body) for key, body in self._under(self.keys.links(record_id)))
        return [(other_id, _link(body, record_id, other_id)) for other_id, body in found]

    def links(self, record_id: str) -> int:
        """How many links a record has."""
        return len(self.links_of(record_id))

    def _under(self, prefix: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        self.require_counted()
        for key, row in self.reader.scan(prefix, beyond(prefix), reverse=reverse):
            yield key, rows.unseal(key, row)


def _link(body: bytes, one_id: str, other_id: str) -> StoredLink:
    link = rows.LINK.decode(body)
    if {link.source_id, link.target_id} != {one_id, other_id}:
        raise StorageInconsistency("a row lies under a foreign key")
    return link
