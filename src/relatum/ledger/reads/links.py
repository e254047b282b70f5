"""The curated links of one record (console.md, added routes; views.md, curated links)."""

from __future__ import annotations

from relatum import limits
from relatum.core.answers.review import LinkView
from relatum.core.eligibility import Evaluator
from relatum.core.links import StoredLink
from relatum.core.state import RecordVersion
from relatum.errors import Refusal, Refused, StorageInconsistency, missing
from relatum.ledger.reads.records import payload_of
from relatum.store.partition import PartitionReader


def links_of(partition: PartitionReader, now_millis: int, record_id: str) -> tuple[LinkView, ...] | Refusal:
    """The links of an eligible record to eligible ones, the newest first; an inactive one says so.

    404 `record_not_found` for every other record; 400 over the dependency budget.
    """
    evaluator = Evaluator(partition, now_millis)
    try:
        version = evaluator.record(record_id)
        if version is None or not evaluator.is_eligible(version):
            return missing()
        archived = partition.standing(record_id).archived
        found: list[tuple[tuple[int, str], LinkView]] = []
        for other_id, link in partition.links_of(record_id):
            other = evaluator.record(other_id)
            if other is None:
                raise StorageInconsistency("an end of a link is missing")
            if evaluator.is_eligible(other):
                active = not archived and not partition.standing(other_id).archived
                found.append(((link.linked_at_millis, other_id), _view(partition, link, other, active)))
    except Refused as refused:
        return refused.refusal
    found.sort(key=lambda one: one[0], reverse=True)
    return tuple(view for _, view in found)


def _view(partition: PartitionReader, link: StoredLink, other: RecordVersion, active: bool) -> LinkView:
    payload = payload_of(partition, other.meta)
    if payload is None:
        raise StorageInconsistency("the content of an eligible record is missing")
    return LinkView(
        source_id=link.source_id,
        target_id=link.target_id,
        kind=link.kind,
        author=link.author,
        created_at_millis=link.linked_at_millis,
        active=active,
        title=payload.title,
        preview=payload.content[: limits.PREVIEW_CHARACTERS_MAX],
    )
