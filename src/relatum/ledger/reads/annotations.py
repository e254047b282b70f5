"""What judgments say of a record, seen from that record (judgments.md, annotations).

What always holds: ends that a reader could not read are left out without a placeholder; a verdict that was found to be
no conflict and a candidate that nobody judged in time are never shown; a record's verdicts are read in one bounded scan
per direction, its candidates in one more, the newest first.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from msgspec import UNSET

from relatum import limits
from relatum.core.answers.annotated import Annotation, AnnotationKind
from relatum.core.answers.standings import StandingView
from relatum.core.eligibility import Evaluator
from relatum.core.ids import uuid7_millis
from relatum.core.verdicts import VERDICTS, StoredVerdict, Verdict
from relatum.errors import StorageInconsistency
from relatum.ledger.reads.records import payload_of
from relatum.ledger.reads.standings import check_supersessions
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader

ORDER: dict[AnnotationKind, int] = {
    "conflicts_with": 0,
    "supersedes": 1,
    "superseded_by": 2,
    "pending_conflict": 3,
    "scoped": 4,
    "compatible": 5,
    "related": 6,
}
_HIDDEN: frozenset[Verdict] = frozenset({"not_conflict"})


class _Mention(NamedTuple):
    """A judgment before its words are read: enough to put it in order."""

    kind: AnnotationKind
    other_id: str
    relation_id: str | None = None
    outgoing: bool = True
    candidate_id: str | None = None

    @property
    def order(self) -> tuple[int, int, str]:
        """By kind, then the newest, then by id."""
        made_by = self.relation_id or self.candidate_id or ""
        return ORDER[self.kind], -uuid7_millis(made_by), made_by


class Annotator:
    """Annotates records of one partition; the evaluator remembers the other ends, which several of them may share."""

    def __init__(self, partition: PartitionReader, evaluator: Evaluator, reason_characters_max: int) -> None:
        self._partition = partition
        self._evaluator = evaluator
        self._reason_characters_max = reason_characters_max

    def annotations(self, record_id: str, standing: StandingView, limit: int) -> tuple[tuple[Annotation, ...], int]:
        """At most `limit` annotations of a record in their order, and how many there are.

        Raises Refused where the dependency budget of the request runs out, StorageInconsistency where the verdicts on a
        record say something else than its standing.
        """
        mentions = [one for one in self._mentions(record_id, standing) if self._is_visible(one.other_id)]
        mentions.sort(key=lambda one: one.order)
        return tuple(self._annotation(record_id, one) for one in mentions[:limit]), len(mentions)

    def _mentions(self, record_id: str, standing: StandingView) -> list[_Mention]:
        found: list[_Mention] = []
        for direction in (Table.OUTGOING, Table.INCOMING):
            outgoing = direction is Table.OUTGOING
            ends = self._partition.verdict_ends(record_id, direction, newest_first=True)
            scanned = list(islice(ends, limits.ANNOTATIONS_SCANNED_MAX))
            if len(scanned) < limits.ANNOTATIONS_SCANNED_MAX:
                check_supersessions((end for _, end in scanned), standing, outgoing=outgoing)
            for relation_id, end in scanned:
                verdict = VERDICTS.get(end.kind)
                if end.indexed and verdict is not None and verdict not in _HIDDEN:
                    found.append(_Mention(_seen(verdict, outgoing), end.other_id, relation_id, outgoing))
        candidates = self._partition.candidate_ends(record_id, newest_first=True)
        for candidate_id, candidate in islice(candidates, limits.ANNOTATIONS_SCANNED_MAX):
            if candidate.pending:
                found.append(_Mention("pending_conflict", candidate.other_id, candidate_id=candidate_id))
        return found

    def _is_visible(self, record_id: str) -> bool:
        version = self._evaluator.record(record_id)
        return version is not None and self._evaluator.is_eligible(version)

    def _annotation(self, record_id: str, mention: _Mention) -> Annotation:
        if mention.relation_id is None:
            return self._pending(record_id, mention)
        verdict = self._verdict(record_id, mention, mention.relation_id)
        words = self._partition.words(verdict.words_at)
        if words is None and verdict.words_at is not None:
            raise StorageInconsistency("the words of a verdict on visible records are missing")
        reason = None if words is None else words.reason
        return Annotation(
            kind=mention.kind,
            direction="outgoing" if mention.outgoing else "incoming",
            target_id=mention.other_id,
            preview=self._preview(mention.other_id),
            candidate_id=verdict.candidate_id or UNSET,
            reason=UNSET if reason is None else reason[: self._reason_characters_max],
            confidence=UNSET if verdict.confidence is None else verdict.confidence,
            status="judged",
        )

    def _verdict(self, record_id: str, mention: _Mention, relation_id: str) -> StoredVerdict:
        """The verdict that an end tells of, which tells the same."""
        verdict = self._partition.verdict(relation_id)
        if verdict is None:
            raise StorageInconsistency("a verdict is missing")
        ends = (record_id, mention.other_id) if mention.outgoing else (mention.other_id, record_id)
        if (verdict.source.record_id, verdict.target.record_id) != ends or (
            _seen(VERDICTS[verdict.kind], mention.outgoing) != mention.kind
        ):
            raise StorageInconsistency("a verdict does not match its end")
        return verdict

    def _pending(self, record_id: str, mention: _Mention) -> Annotation:
        candidate = None if mention.candidate_id is None else self._partition.candidate(mention.candidate_id)
        if candidate is None:
            raise StorageInconsistency("a candidate is missing")
        ends = {candidate.source.record_id, candidate.target.record_id}
        if candidate.status != "pending" or ends != {record_id, mention.other_id}:
            raise StorageInconsistency("a candidate does not match its end")
        return Annotation(
            kind=mention.kind,
            direction="outgoing" if candidate.source.record_id == record_id else "incoming",
            target_id=mention.other_id,
            preview=self._preview(mention.other_id),
            candidate_id=candidate.candidate_id,
            status="pending",
        )

    def _preview(self, record_id: str) -> str:
        version = self._evaluator.record(record_id)
        payload = None if version is None else payload_of(self._partition, version.meta)
        if payload is None:
            raise StorageInconsistency("the content of a visible record is missing")
        return payload.content[: limits.PREVIEW_CHARACTERS_MAX]


def _seen(verdict: Verdict, outgoing: bool) -> AnnotationKind:
    match verdict:
        case "supersedes":
            return "supersedes" if outgoing else "superseded_by"
        case "not_conflict":
            raise ValueError("never shown")
        case _:
            return verdict
