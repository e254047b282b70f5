"""Pages of retained relations, each with the verdict on it (relations.md, reads)."""

from __future__ import annotations

from collections.abc import Callable

from relatum.core.answers.relations import RelationInspection, RelationPage
from relatum.core.eligibility import Evaluator
from relatum.core.queries import RelationFilter
from relatum.core.relations import relation_view
from relatum.core.state import RelationVersion
from relatum.errors import Refusal, Refused, invalid
from relatum.ledger.reads.cursor import Cursors
from relatum.ledger.reads.filters import RelationMatch
from relatum.ledger.reads.pagination import gather
from relatum.store import integrity
from relatum.store.partition import PartitionReader


def query(
    partition: PartitionReader, now_millis: int, store_key: bytes, wanted: RelationFilter
) -> RelationPage | Refusal:
    """A page of retained relations; the rows of each one returned are checked.

    400 `invalid_request` for an unsound filter or a cursor of another query.
    """
    problem = wanted.problem()
    if problem is not None:
        return invalid(problem)
    evaluator, match = Evaluator(partition, now_millis), RelationMatch(wanted)

    def inspected(version: RelationVersion) -> RelationInspection:
        integrity.verify_relation(partition, version)
        eligibility = evaluator.explain_relation(version.relation)
        return RelationInspection(relation=relation_view(version.relation), eligibility=eligibility)

    def retained(version: RelationVersion) -> Callable[[], RelationInspection] | None:
        if not match.relation(version.relation):
            return None
        if not match.asks_verdict:
            return lambda: inspected(version)
        made = inspected(version)
        return (lambda: made) if match.verdict(made.eligibility) else None

    cursors = Cursors(store_key, partition.workspace_id, "relations/query", wanted)
    try:
        page = gather(
            partition.relations(cursors.after(), reverse=wanted.newest_first),
            lambda version: version.relation.relation_id,
            retained,
            entries_max=wanted.entries_max,
            scanned_max=wanted.scanned_max,
        )
    except Refused as refused:
        return refused.refusal
    return RelationPage(
        relations=page.entries,
        evaluated_at_millis=now_millis,
        scanned_relations=page.scanned,
        relation_bytes=page.stored_bytes,
        dependency_work=evaluator.work,
        stop_reason=page.stop_reason,
        next_cursor=None if page.last_id is None else cursors.at(page.last_id),
    )
