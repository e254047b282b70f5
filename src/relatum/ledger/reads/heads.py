"""Records in outline: enough to name a record and to say whether it is eligible (console.md, added routes)."""

from __future__ import annotations

from collections.abc import Sequence

from relatum import limits
from relatum.core.answers.review import RecordHead
from relatum.core.eligibility import Evaluator
from relatum.core.state import RecordVersion
from relatum.errors import Refusal, Refused, invalid
from relatum.ledger.reads.records import payload_of
from relatum.ledger.reads.standings import Standings
from relatum.store.partition import PartitionReader


class Heads:
    """The outlines of one request: one evaluator, whose budget they share, and one look at the list of pins."""

    def __init__(self, partition: PartitionReader, evaluator: Evaluator) -> None:
        self._partition = partition
        self._evaluator = evaluator
        self._standings = Standings(partition)

    def of(self, record_id: str) -> RecordHead | None:
        """A retained record in whatever state; None where there is none. Raises Refused (400) over the budget."""
        version = self._evaluator.record(record_id)
        return None if version is None else self.of_version(version)

    def of_version(self, version: RecordVersion) -> RecordHead:
        """The same of a record that was read."""
        meta = version.meta
        payload = payload_of(self._partition, meta)
        failure = self._evaluator.explain_record(version).first_failure
        return RecordHead(
            record_id=meta.record_id,
            revision=meta.revision,
            type=meta.facts.type,
            state=meta.state,
            title=None if payload is None else payload.title,
            preview=None if payload is None else payload.content[: limits.PREVIEW_CHARACTERS_MAX],
            standing=self._standings.of(meta.record_id),
            disposition=None if payload is None or meta.review is None else meta.review.disposition,
            eligible=failure is None,
            reason=None if failure is None else failure.reason,
        )


def problem(record_ids: Sequence[str]) -> str | None:
    """The static rule that some ids break, or None."""
    sound = 1 <= len(record_ids) <= limits.RECORD_BATCH_MAX and len(set(record_ids)) == len(record_ids)
    return None if sound else "record_ids must be 1 to 100 distinct ids"


def heads(
    partition: PartitionReader, now_millis: int, record_ids: Sequence[str]
) -> tuple[RecordHead | None, ...] | Refusal:
    """1 to 100 distinct records in outline, in the order asked for; 400 over the dependency budget."""
    broken = problem(record_ids)
    if broken is not None:
        return invalid(broken)
    found = Heads(partition, Evaluator(partition, now_millis))
    try:
        return tuple(found.of(record_id) for record_id in record_ids)
    except Refused as refused:
        return refused.refusal
