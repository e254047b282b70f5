"""Search: the best of what an index has found, judged and annotated (judgments.md, routes)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from relatum.core.answers.annotated import FoundRecord
from relatum.core.eligibility import Evaluator
from relatum.core.judgment_queries import SearchQuery
from relatum.core.queries import RecordFilter
from relatum.errors import Refusal, Refused, invalid
from relatum.ledger.reads.filters import RecordMatch
from relatum.ledger.reads.judgments import annotator_of
from relatum.ledger.reads.needs_review import why
from relatum.ledger.reads.records import assembled, payload_of
from relatum.ledger.reads.standings import Standings
from relatum.ledger.reads.status import Statuses
from relatum.store.partition import PartitionReader

Share = Callable[[str | None, str], float]

LOOKED_AT_MAX = 1_000
"""How many of what was found are looked at before the search gives up: a filter may pass hardly any."""


def search(
    partition: PartitionReader, now_millis: int, wanted: SearchQuery, found: Iterable[str], share: Share
) -> tuple[FoundRecord, ...] | Refusal:
    """The first of `found` that are eligible and current and agree with the filter, in their order, annotated.

    `share` tells which share of the query's words a title and a content have.
    """
    problem = wanted.problem()
    if problem is not None:
        return invalid(problem)
    match = RecordMatch(
        RecordFilter(
            tag=wanted.tag,
            type=wanted.type,
            category=wanted.category,
            fact_key=wanted.fact_key,
            topic_key=wanted.topic_key,
            source_id=wanted.source_id,
        )
    )
    evaluator = Evaluator(partition, now_millis)
    annotator = annotator_of(partition, evaluator, wanted.records_max)
    standings = Standings(partition)
    statuses = Statuses(partition, now_millis, {}) if wanted.exclude_stale else None
    records: list[FoundRecord] = []
    try:
        for looked_at, record_id in enumerate(found):
            if len(records) == wanted.records_max or looked_at == LOOKED_AT_MAX:
                break
            version = evaluator.record(record_id)
            if version is None or not match.facts(version.meta):
                continue
            payload = payload_of(partition, version.meta)
            if not match.payload(payload) or not evaluator.is_eligible(version):
                continue
            standing = standings.of(record_id)
            if standing.state != "current" or (statuses is not None and statuses.is_stale(record_id)):
                continue
            relations, total = annotator.annotations(record_id, standing, wanted.relations_max)
            record = assembled(partition, version.meta, payload)
            records.append(
                FoundRecord(
                    record=record,
                    standing=standing,
                    relations=relations,
                    relations_total=total,
                    needs_review=why(partition, version, now_millis),
                    score=0.0 if payload is None else share(payload.title, payload.content),
                )
            )
    except Refused as refused:
        return refused.refusal
    return tuple(records)
