"""Filters made ready for a scan: whether a row agrees with every member given."""

from __future__ import annotations

from relatum.core.queries import RecordFilter, RelationFilter
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


class RelationMatch:
    """A relation filter."""

    def __init__(self, wanted: RelationFilter) -> None:
        self._wanted = wanted

    def relation(self, relation: StoredRelation) -> bool:
        """Whether the relation agrees."""
        wanted, given = self._wanted, relation.input
        return (
            wanted.kind in (None, given.kind)
            and wanted.state in (None, relation.state)
            and wanted.disposition in (None, relation.disposition or "none")
            and wanted.origin in (None, given.provenance.origin)
            and wanted.reporter in (None, relation.reported_by.subject_id)
            and wanted.endpoint in (None, given.source.record_id, given.target.record_id)
        )
