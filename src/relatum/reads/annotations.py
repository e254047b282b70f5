"""What judgments say of a record, seen from that record (judgments.md, annotations).

What always holds: ends that are deleted are left out without a placeholder; a verdict that was found to be no conflict
and a candidate that nobody judged in time are never shown; a record's verdicts are read in one scan per direction.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import UNSET, UnsetType

from relatum import limits
from relatum.core.records import Record
from relatum.core.standings import StandingView
from relatum.core.verdicts import VERDICTS, Verdict
from relatum.core.wire import Closed, Uuid
from relatum.errors import StorageInconsistency
from relatum.reads.records import payload_of
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader

AnnotationKind = Literal[
    "conflicts_with", "supersedes", "superseded_by", "pending_conflict", "scoped", "compatible", "related"
]
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


class Annotation(Closed, frozen=True, kw_only=True):
    """What one judgment says, from the reader's point of view. Absent members are not known or were erased."""

    kind: AnnotationKind
    direction: Literal["outgoing", "incoming"]
    target_id: Uuid
    preview: str
    candidate_id: Uuid | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    status: Literal["judged", "pending"]


class AnnotatedRecord(Closed, frozen=True, kw_only=True):
    """A record with its standing and what judgments say of it; `relations_total` counts those left out too."""

    record: Record
    standing: StandingView
    relations: tuple[Annotation, ...]
    relations_total: int


class _Mention(NamedTuple):
    """A judgment before its words are read: enough to put it in order."""

    kind: AnnotationKind
    outgoing: bool
    other_id: str
    relation_id: str | None
    candidate_id: str | None

    @property
    def made_by(self) -> str:
        """The id that says when it was made."""
        return self.relation_id or self.candidate_id or ""


class Annotator:
    """Annotates records of one partition; remembers the other ends, which several of them may share."""

    def __init__(self, partition: PartitionReader, reason_characters_max: int) -> None:
        self._partition = partition
        self._reason_characters_max = reason_characters_max
        self._previews: dict[str, str | None] = {}

    def annotations(self, record_id: str, limit: int) -> tuple[tuple[Annotation, ...], int]:
        """At most `limit` annotations of a record in their order, and how many there are."""
        mentions = [one for one in self._mentions(record_id) if self._preview(one.other_id) is not None]
        mentions.sort(key=lambda one: one.made_by, reverse=True)
        mentions.sort(key=lambda one: ORDER[one.kind])
        return tuple(self._annotation(one) for one in mentions[:limit]), len(mentions)

    def _mentions(self, record_id: str) -> list[_Mention]:
        found: list[_Mention] = []
        for direction in (Table.OUTGOING, Table.INCOMING):
            outgoing = direction is Table.OUTGOING
            for relation_id, end in self._partition.verdict_ends(record_id, direction):
                verdict = VERDICTS[end.kind]
                if end.indexed and verdict not in _HIDDEN:
                    found.append(_Mention(_seen(verdict, outgoing), outgoing, end.other_id, relation_id, None))
        for candidate_id, candidate_end in self._partition.candidate_ends(record_id):
            if candidate_end.pending:
                candidate = self._partition.candidate(candidate_id)
                outgoing = candidate is not None and candidate.source.record_id == record_id
                found.append(_Mention("pending_conflict", outgoing, candidate_end.other_id, None, candidate_id))
        return found

    def _annotation(self, mention: _Mention) -> Annotation:
        preview = self._preview(mention.other_id)
        assert preview is not None, "mentions of deleted ends are left out"
        direction: Literal["outgoing", "incoming"] = "outgoing" if mention.outgoing else "incoming"
        if mention.relation_id is None:
            return Annotation(
                kind=mention.kind,
                direction=direction,
                target_id=mention.other_id,
                preview=preview,
                candidate_id=mention.candidate_id or UNSET,
                status="pending",
            )
        verdict = self._partition.verdict(mention.relation_id)
        if verdict is None:
            raise StorageInconsistency("a verdict is missing")
        words = self._partition.words(verdict.words_at)
        reason = None if words is None else words.reason
        return Annotation(
            kind=mention.kind,
            direction=direction,
            target_id=mention.other_id,
            preview=preview,
            candidate_id=verdict.candidate_id or UNSET,
            reason=UNSET if reason is None else reason[: self._reason_characters_max],
            confidence=UNSET if verdict.confidence is None else verdict.confidence,
            status="judged",
        )

    def _preview(self, record_id: str) -> str | None:
        """The first characters of a record; None once it is deleted."""
        if record_id not in self._previews:
            version = self._partition.record(record_id)
            payload = None if version is None else payload_of(self._partition, version.meta)
            preview = None if payload is None else payload.content[: limits.PREVIEW_CHARACTERS_MAX]
            self._previews[record_id] = preview
        return self._previews[record_id]


def _seen(verdict: Verdict, outgoing: bool) -> AnnotationKind:
    match verdict:
        case "supersedes":
            return "supersedes" if outgoing else "superseded_by"
        case "not_conflict":
            raise ValueError("never shown")
        case _:
            return verdict
