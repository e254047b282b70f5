"""Reads of single records: the answer's form, read, batch, inspect, revision (records.md, reads).

`read` and `batch` tell nobody why a record can't be had: absent and ineligible are one and the same answer. `inspect`
and `revision` are for reviewers and look at whatever is retained.

What always holds: of a deleted record no payload and no review is answered, whichever revision is asked for.
"""

from __future__ import annotations

from relatum import limits
from relatum.core.answers.records import Record, RecordBatchAnswer, RecordBatchEntry, RecordHistory, RecordInspection
from relatum.core.eligibility import Evaluator
from relatum.core.records import Payload, RecordMeta, Review, join
from relatum.core.state import RecordVersion
from relatum.errors import Refusal, Refused, StorageInconsistency, invalid, missing
from relatum.ledger.reads.standings import checked_standing
from relatum.store import integrity
from relatum.store.partition import PartitionReader


def record_view(partition: PartitionReader, version: RecordVersion) -> Record:
    """`version` as answered; `input` and `review` are null once the record is deleted."""
    return assembled(partition, version.meta, payload_of(partition, version.meta))


def payload_of(partition: PartitionReader, meta: RecordMeta) -> Payload | None:
    """The content of a record; None once the record is deleted."""
    return None if meta.state == "deleted" else partition.payload(meta)


def assembled(partition: PartitionReader, meta: RecordMeta, payload: Payload | None) -> Record:
    """A record as answered, of its kept part and its content; no content means that the record is deleted."""
    return Record(
        schema_version=1,
        record_id=meta.record_id,
        revision=meta.revision,
        content_revision=meta.content_revision,
        created_at_millis=meta.created_at_millis,
        modified_at_millis=meta.modified_at_millis,
        author=meta.author,
        state=meta.state,
        input=None if payload is None else join(meta.facts, payload),
        review=None if payload is None else _review(partition, meta),
        derivation=meta.derivation,
    )


def _review(partition: PartitionReader, meta: RecordMeta) -> Review | None:
    stored = meta.review
    if stored is None:
        return None
    evidence_ref = partition.review_evidence(meta)
    if evidence_ref is None:
        raise StorageInconsistency("the evidence of a review is missing")
    return Review(
        disposition=stored.disposition,
        evidence_ref=evidence_ref,
        author=stored.author,
        reviewed_at_millis=stored.reviewed_at_millis,
    )


def read(partition: PartitionReader, now_millis: int, record_id: str) -> Record | Refusal:
    """An eligible record. 404 `record_not_found` for every other id."""
    try:
        evaluator = Evaluator(partition, now_millis)
        version = evaluator.record(record_id)
        if version is None or not evaluator.is_eligible(version):
            return missing()
        return record_view(partition, version)
    except Refused as refused:
        return refused.refusal


def batch(partition: PartitionReader, now_millis: int, record_ids: tuple[str, ...]) -> RecordBatchAnswer | Refusal:
    """1 to 100 distinct records at once; null for an absent or ineligible one.

    400 where the records returned are over 8 MiB, or the dependency budget is exhausted.
    """
    if not 1 <= len(record_ids) <= limits.RECORD_BATCH_MAX or len(set(record_ids)) != len(record_ids):
        return invalid("record_ids must be 1 to 100 distinct ids")
    evaluator = Evaluator(partition, now_millis)
    entries: list[RecordBatchEntry] = []
    record_bytes = 0
    try:
        for record_id in record_ids:
            version = evaluator.record(record_id)
            record = None
            if version is not None and evaluator.is_eligible(version):
                record_bytes += version.stored_bytes
                if record_bytes > limits.RECORD_BATCH_BYTES_MAX:
                    return invalid("the records are over the byte budget of a batch")
                record = record_view(partition, version)
            entries.append(RecordBatchEntry(record_id=record_id, record=record))
    except Refused as refused:
        return refused.refusal
    return RecordBatchAnswer(
        evaluated_at_millis=now_millis,
        entries=tuple(entries),
        record_bytes=record_bytes,
        dependency_work=evaluator.work,
    )


def inspect(partition: PartitionReader, now_millis: int, record_id: str) -> RecordInspection | Refusal:
    """A retained record in whatever state, its rows checked, and the verdict on it. 404 if absent."""
    try:
        evaluator = Evaluator(partition, now_millis)
        version = evaluator.record(record_id)
        if version is None:
            return missing()
        integrity.verify_record(partition, version)
        return RecordInspection(
            record=record_view(partition, version),
            standing=checked_standing(partition, record_id),
            eligibility=evaluator.explain_record(version),
        )
    except Refused as refused:
        return refused.refusal


def revision(partition: PartitionReader, record_id: str, number: int) -> RecordHistory | Refusal:
    """A record as of revision `number`, its receipt beside it. 404 where there never was one; 400 below 1."""
    if number < 1:
        return invalid("revisions start at 1")
    current = partition.record(record_id)
    version = None if current is None else partition.record_revision(record_id, number)
    if current is None or (version is None and number > current.meta.revision):
        return missing()
    if version is None or number > current.meta.revision:
        raise StorageInconsistency("a record and its revisions don't agree")
    payload = None if current.meta.state == "deleted" else payload_of(partition, version.meta)
    record = assembled(partition, version.meta, payload)
    return RecordHistory(record=record, receipt=integrity.record_receipt(partition, version))
