"""Filters made ready for a scan: whether a row agrees with every member given."""

from __future__ import annotations

from relatum.core.answers.eligibility import RecordEligibility, RelationEligibility
from relatum.core.answers.standings import StandingView
from relatum.core.kinds import REGISTRY
from relatum.core.queries import RecordFilter, RelationFilter, RetainedFilter
from relatum.core.records import Payload, RecordMeta
from relatum.core.relations import StoredRelation


class RecordMatch:
    """A record filter. Deletion leaves a record its type and nothing else to find it by."""

    def __init__(self, wanted: RecordFilter) -> None:
        self._type = wanted.type
        self._text = None if wanted.text is None else wanted.text.casefold()
        self._tag = wanted.tag
        self._names = (wanted.category, wanted.fact_key, wanted.topic_key)
        self._source = wanted.source_id
        others = (self._text, self._tag, self._source, *self._names)
        self._any_payload = all(other is None for other in others)

    def facts(self, meta: RecordMeta) -> bool:
        """Whether the kept part agrees."""
        return self._type is None or self._type == meta.facts.type

    def payload(self, payload: Payload | None) -> bool:
        """Whether the content agrees; an erased one agrees only with a filter that asks nothing of it."""
        if self._any_payload or payload is None:
            return self._any_payload
        if self._tag is not None and self._tag not in payload.tags:
            return False
        source = None if payload.provenance is None else payload.provenance.source_id
        if self._source not in (None, source):
            return False
        given = (payload.category, payload.fact_key, payload.topic_key)
        if any(name is not None and name != other for name, other in zip(self._names, given, strict=True)):
            return False
        return self._text is None or self._is_in(payload.content) or self._is_in(payload.title)

    def _is_in(self, text: str | None) -> bool:
        return text is not None and self._text is not None and self._text in text.casefold()


class RetainedMatch(RecordMatch):
    """What a reviewer asks for besides: of the record's own state, of its standing, and of the verdict on it."""

    def __init__(self, wanted: RetainedFilter) -> None:
        super().__init__(wanted)
        self._wanted = wanted
        self.asks_standing = wanted.standing is not None or wanted.pinned is not None
        self.asks_verdict = wanted.eligible is not None or wanted.reason is not None

    def facts(self, meta: RecordMeta) -> bool:
        """Whether the kept part agrees."""
        wanted = self._wanted
        return (
            super().facts(meta)
            and wanted.state in (None, meta.state)
            and wanted.derived in (None, meta.derivation is not None)
            and wanted.author in (None, meta.author.subject_id)
            and _is_disposition(wanted.disposition, None if meta.review is None else meta.review.disposition)
        )

    def standing(self, standing: StandingView) -> bool:
        """Whether the standing agrees."""
        wanted = self._wanted
        return wanted.standing in (None, standing.state) and wanted.pinned in (None, standing.pinned)

    def verdict(self, eligibility: RecordEligibility) -> bool:
        """Whether the verdict agrees."""
        wanted, failure = self._wanted, eligibility.first_failure
        reason = None if failure is None else failure.reason
        return wanted.eligible in (None, eligibility.eligible) and wanted.reason in (None, reason)


def _is_disposition(wanted: str | None, given: str | None) -> bool:
    """`waiting` is whatever nobody has decided: never reviewed, or left unreviewed."""
    if wanted == "waiting":
        return given in (None, "unreviewed")
    return wanted in (None, given or "none")


class RelationMatch:
    """A relation filter."""

    def __init__(self, wanted: RelationFilter) -> None:
        self._wanted = wanted
        self.asks_verdict = wanted.eligible is not None or wanted.reason is not None

    def verdict(self, eligibility: RelationEligibility) -> bool:
        """Whether the verdict agrees."""
        wanted = self._wanted
        return wanted.eligible in (None, eligibility.eligible) and wanted.reason in (None, eligibility.reason)

    def relation(self, relation: StoredRelation) -> bool:
        """Whether the relation agrees."""
        wanted, given = self._wanted, relation.input
        return (
            wanted.kind in (None, given.kind)
            and wanted.state in (None, relation.state)
            and wanted.kind_class in (None, REGISTRY[given.kind].kind_class)
            and wanted.method in (None, given.provenance.method)
            and _is_disposition(wanted.disposition, relation.disposition)
            and wanted.origin in (None, given.provenance.origin)
            and wanted.reporter in (None, relation.reported_by.subject_id)
            and wanted.endpoint in (None, given.source.record_id, given.target.record_id)
        )
