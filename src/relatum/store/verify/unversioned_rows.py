"""The rows of what has no revisions: only who has followed all events of a partition knows what one of them changed.

What lives here: `Remembered`, which is given every event of a partition from the first one on, and holds in memory
what can still change: credentials, standings, candidates until they are judged, the last verdict on each pair, links,
what promotions count, and the end of the log. It is made as `Implied` is, without `store.projection`, and looks at no
stored row at all.

What always holds: what an event replaced is revoked as it was implied, to the byte.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from relatum.core import transitions
from relatum.core.candidates import Candidate, CandidateChange, Opened, candidate_after, opened
from relatum.core.commands import AssertRelation
from relatum.core.consequences import RelationPart
from relatum.core.events import (
    ActivationEvent,
    CheckpointEvent,
    CredentialEvent,
    CredentialIssued,
    Event,
    FoundEvent,
    JudgmentEvent,
    LinkEvent,
    RecordDeleted,
    RecordEvent,
    RelationEvent,
    StaleMarked,
    StandingSet,
)
from relatum.core.ids import Author
from relatum.core.links import Link, StoredLink
from relatum.core.promotions import Suspicion
from relatum.core.standings import Standing, StandingChange, confirmed, marked_stale, standing_after
from relatum.core.stored_judgments import Promoted, SweepRun
from relatum.errors import StorageInconsistency
from relatum.store import endpoint_rows, rows
from relatum.store.keys import Table
from relatum.store.verify import receipts
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.log_rows import LogRows
from relatum.store.verify.prior_state import require

Row = tuple[Table, bytes, bytes]
"""Table, key and body."""


class Remembered:
    """What all events of one partition so far have left. Bodies are held as bytes, which take the least memory."""

    def __init__(self, books: Books) -> None:
        self._log = LogRows(books)
        self._keys = books.keys
        self._audits = books.tables
        self._company_id = books.partition.company_id
        self._workspace_id = books.workspace_id
        self._credentials: dict[str, bytes] = {}
        self._standings: dict[str, bytes] = {}
        self._left_by, self._lately = 0, dict[bytes, Row]()
        """The last event that changed a standing, and what it has left of each so far."""
        self._replaced: dict[str, bytes] = {}
        """By what was superseded, how."""
        self._candidates: dict[str, bytes] = {}
        """Those that are not judged, which is for ever."""
        self._verdicts: dict[bytes, bytes] = {}
        """By the key of the pair."""
        self._links: dict[str, dict[str, bytes]] = {}
        """Under both ends."""
        self._suspicions: dict[bytes, bytes] = {}
        self._promoted: dict[str, int] = {}

    def log(self) -> bytes:
        """What the head must say of the log."""
        return self._log.roots()

    def rows_of(self, event: Event, event_digest: bytes) -> None:
        """Enters what the next event changed, given with the digest of its stored bytes.

        Raises StorageInconsistency where it does not follow from those before.
        """
        self._log.add(event, event_digest)
        match event:
            case RecordEvent():
                self._record(event)
            case RelationEvent():
                self._consequences(event)
            case JudgmentEvent():
                self._consequences(event)
                if isinstance(event.operation, Promoted):
                    self._promotion(event, event.operation)
            case LinkEvent():
                self._link(event)
            case CredentialEvent():
                self._credential(event)
            case FoundEvent() | CheckpointEvent() | ActivationEvent():
                pass
            case _:
                assert_never(event)

    def _record(self, event: RecordEvent) -> None:
        operation, record_id = event.operation, event.record_id
        self._consequences(event)
        if isinstance(operation, StandingSet):
            self._standing(event, StandingChange(record_id=record_id, action=operation.action))
        elif isinstance(operation, StaleMarked):
            before = self._standing_of(record_id)
            self._stand(event, record_id, marked_stale(before, operation.mark, operation.lifted))
        elif isinstance(operation, RecordDeleted):
            self._stand(event, record_id, replace(self._standing_of(record_id), pinned_at_millis=None))
            for other_id in list(self._links.get(record_id, {})):
                self._unlink(event, record_id, other_id)

    def _consequences(self, event: RecordEvent | RelationEvent | JudgmentEvent) -> None:
        given = event.consequences
        if given is None:
            return
        for part in given.relations:
            if isinstance(part.operation, AssertRelation) and not part.plain:
                self._last_verdict(event, part, part.operation)
        for standing in given.standings:
            self._standing(event, standing)
        for candidate in given.candidates:
            self._candidate(event, candidate, event.sequence if given.words is not None else None)
        for one in given.confirmations:
            after = confirmed(self._standing_of(one.record_id), one.outcome, event.committed_at_millis)
            self._stand(event, one.record_id, after)

    # Standings

    def _standing_of(self, record_id: str) -> Standing:
        body = self._standings.get(record_id)
        return Standing() if body is None else rows.STANDING.decode(body)

    def _standing(self, event: Event, change: StandingChange) -> None:
        record_id, before = change.record_id, self._standing_of(change.record_id)
        if change.action == "superseded":
            require(change.by is not None and before.superseded_by is None, "a record is superseded twice")
            self._replaced[record_id] = bytes([isinstance(event, RecordEvent)])
        elif change.action == "reinstated":
            require(before.superseded_by is not None, "a record is reinstated that was not superseded")
        self._stand(event, record_id, standing_after(before, change, event.committed_at_millis))

    def _stand(self, event: Event, record_id: str, after: Standing) -> None:
        """A standing and what lists it: pins, and what the superseder has replaced."""
        before = self._standing_of(record_id)
        for row in self._rows_of_standing(record_id, before):
            self._revoke(event, row)
        for row in self._rows_of_standing(record_id, after):
            self._imply(event, row)
        body = self._standings[record_id] = rows.STANDING.encode(after)
        if after != before:
            self._left(event, (Table.STANDING_REVISION, self._keys.standing_revision(record_id, event.sequence), body))

    def _left(self, event: Event, row: Row) -> None:
        """What an event leaves of a standing: the last of its changes."""
        if self._left_by != event.sequence:
            self._left_by, self._lately = event.sequence, {}
        if row[1] in self._lately:
            self._revoke(event, self._lately[row[1]])
        self._lately[row[1]] = row
        self._imply(event, row)

    def _rows_of_standing(self, record_id: str, standing: Standing) -> list[Row]:
        keys, found = self._keys, list[Row]()
        if standing != Standing():
            found.append((Table.STANDING, keys.standing(record_id), rows.STANDING.encode(standing)))
        if standing.pinned_at_millis is not None:
            found.append((Table.PINNED, keys.pinned(record_id), b""))
        by = standing.superseded_by
        if by is not None:
            how = endpoint_rows.Replaced(by.relation_id, for_topic=self._replaced[record_id] == b"\1").pack()
            found.append((Table.REPLACED, keys.replaced_entry(by.record_id, record_id), how))
        return found

    # Candidates and verdicts

    def _candidate(self, event: Event, change: CandidateChange, words_at: int | None) -> None:
        at_millis, candidate_id = event.committed_at_millis, change.candidate_id
        known = self._candidates.pop(candidate_id, None)
        if isinstance(change, Opened):
            require(known is None, "a candidate is opened twice")
            after = opened(change, at_millis)
        else:
            if known is None:
                raise StorageInconsistency("a candidate is changed that is judged already, or was never opened")
            before = rows.CANDIDATE.decode(known)
            for row in self._rows_of_candidate(before):
                self._revoke(event, row)
            after = candidate_after(before, change, at_millis, _shown_author(event), words_at)
        for row in self._rows_of_candidate(after):
            self._imply(event, row)
        if after.status != "judged":
            self._candidates[candidate_id] = rows.CANDIDATE.encode(after)

    def _rows_of_candidate(self, candidate: Candidate) -> list[Row]:
        keys, own = self._keys, candidate.candidate_id
        source, target = candidate.source.record_id, candidate.target.record_id
        pending = candidate.status == "pending"
        listed = keys.candidate_status(candidate.status, candidate.since_millis, own)
        found: list[Row] = [
            (Table.CANDIDATE, keys.candidate(own), rows.CANDIDATE.encode(candidate)),
            (Table.CANDIDATE_STATUS, listed, b""),
            (Table.CANDIDATE_END, keys.candidate_end(source, own), endpoint_rows.CandidateEnd(pending, target).pack()),
            (Table.CANDIDATE_END, keys.candidate_end(target, own), endpoint_rows.CandidateEnd(pending, source).pack()),
        ]
        if pending:
            found.append((Table.CANDIDATE_PAIR, keys.candidate_pair(source, target), rows.pack_uuid(own)))
        return found

    def _last_verdict(self, event: Event, part: RelationPart, operation: AssertRelation) -> None:
        given, table = operation.relation, Table.VERDICT_PAIR
        key = self._keys.verdict_pair(given.source.record_id, given.target.record_id)
        before = self._verdicts.get(key)
        if before is not None:
            self._revoke(event, (table, key, before))
        self._verdicts[key] = after = rows.pack_uuid(part.relation_id)
        self._imply(event, (table, key, after))

    def _promotion(self, event: Event, promoted: Promoted) -> None:
        run_date, held = promoted.run.run_date, self._promoted
        key, before = self._keys.promoted(run_date), held.get(run_date, 0)
        after = before + sum(outcome.outcome == "promoted" for outcome in promoted.outcomes)
        if before:
            self._revoke(event, (Table.PROMOTED, key, rows.PROMOTED.encode(before)))
        if after:
            held[run_date] = after
            self._imply(event, (Table.PROMOTED, key, rows.PROMOTED.encode(after)))
        for one_id, other_id in promoted.suspicions:
            self._suspicion(event, self._keys.suspicion(one_id, other_id), run_date)

    def _suspicion(self, event: Event, key: bytes, run_date: str) -> None:
        before = self._suspicions.get(key)
        dates = () if before is None else rows.SUSPICION.decode(before).run_dates
        if before is not None:
            self._revoke(event, (Table.SUSPICION, key, before))
        self._suspicions[key] = after = rows.SUSPICION.encode(Suspicion(run_dates=(*dates, run_date)))
        self._imply(event, (Table.SUSPICION, key, after))

    # Links

    def _link(self, event: LinkEvent) -> None:
        operation = event.operation
        source_id, target_id = operation.source_id, operation.target_id
        known = self._links.get(source_id, {}).get(target_id)
        said = None if known is None else rows.LINK.decode(known)
        if known is not None:
            self._unlink(event, source_id, target_id)
        if isinstance(operation, Link):
            said = StoredLink(
                source_id=source_id,
                target_id=target_id,
                kind=operation.kind,
                linked_at_millis=event.committed_at_millis,
                author=event.author,
            )
            for one_id, other_id in ((source_id, target_id), (target_id, source_id)):
                body = self._links.setdefault(one_id, {})[other_id] = rows.LINK.encode(said)
                self._imply(event, (Table.LINK, self._keys.link(one_id, other_id), body))
        if said is None or event.receipt != receipts.link_receipt(self._workspace_id, event, said):
            raise StorageInconsistency("a link's event does not lead to what its receipt says")

    def _unlink(self, event: Event, source_id: str, target_id: str) -> None:
        for one_id, other_id in ((source_id, target_id), (target_id, source_id)):
            body = self._links[one_id].pop(other_id)
            self._revoke(event, (Table.LINK, self._keys.link(one_id, other_id), body))

    # Credentials

    def _credential(self, event: CredentialEvent) -> None:
        operation, held, table = event.operation, self._credentials, Table.CREDENTIAL
        credential_id = operation.credential_id
        before = held.get(credential_id)
        issued = isinstance(operation, CredentialIssued)
        require(issued == (before is None), "a credential's event does not follow from the ones before it")
        known = None if before is None else rows.CREDENTIAL.decode(before)
        after = rows.CREDENTIAL.encode(
            transitions.credential_after(known, operation, self._company_id, event.committed_at_millis, event.author)
        )
        key = self._keys.credential(credential_id)
        if before is not None:
            self._revoke(event, (table, key, before))
        self._imply(event, (table, key, after))
        held[credential_id] = after

    def _imply(self, event: Event, row: Row) -> None:
        table, key, body = row
        self._audits[table].imply(event.sequence, key, body)

    def _revoke(self, event: Event, row: Row) -> None:
        table, key, body = row
        self._audits[table].revoke(event.sequence, key, body)


def _shown_author(event: Event) -> Author | None:
    """Who closed a candidate; the timer has no author."""
    by_timer = isinstance(event, JudgmentEvent) and isinstance(event.operation, SweepRun) and event.operation.by_timer
    return None if by_timer else event.author
