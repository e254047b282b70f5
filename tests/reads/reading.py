"""The reads of one desk, each over a view of its own; answers that must not be refusals come checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from relatum.core.answers.company import CompanyRecordPage
from relatum.core.answers.records import Record, RecordBatchAnswer, RecordHistory, RecordInspection, RecordPage
from relatum.core.answers.relations import Relation, RelationHistory, RelationInspection, RelationPage
from relatum.core.queries import CompanyRecordFilter, RecordFilter, RelationFilter
from relatum.errors import Refusal
from relatum.ledger.reads import record_query, records, relation_query, relations
from relatum.store.projection import Staging
from relatum.store.staged_rows import Bodies
from tests.support.desk import Desk

Answer = TypeVar("Answer")
NOT_FOUND = (404, "record_not_found")
BAD_REQUEST = (400, "invalid_request")


def answered(outcome: Answer | Refusal) -> Answer:
    """An answer that must not be a refusal."""
    assert not isinstance(outcome, Refusal), outcome
    return outcome


def refused(outcome: object) -> tuple[int, str]:
    """Status and code of an answer that must be a refusal."""
    assert isinstance(outcome, Refusal), outcome
    return outcome.status, outcome.code


class Reading:
    """What a reader at a desk sees now."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def record(self, record_id: str) -> Record | Refusal:
        with self.desk.view() as view:
            return records.read(view.partition(self.desk.partition), view.now_millis, record_id)

    def batch(self, *record_ids: str) -> RecordBatchAnswer | Refusal:
        with self.desk.view() as view:
            return records.batch(view.partition(self.desk.partition), view.now_millis, record_ids)

    def record_inspection(self, record_id: str) -> RecordInspection | Refusal:
        with self.desk.view() as view:
            return records.inspect(view.partition(self.desk.partition), view.now_millis, record_id)

    def record_revision(self, record_id: str, number: int) -> RecordHistory | Refusal:
        with self.desk.view() as view:
            return records.revision(view.partition(self.desk.partition), record_id, number)

    def record_page(self, **wanted: Any) -> RecordPage | Refusal:
        with self.desk.view() as view:
            partition = view.partition(self.desk.partition)
            return record_query.query(partition, view.now_millis, view.store_key, RecordFilter(**wanted))

    def company_page(self, **wanted: Any) -> CompanyRecordPage | Refusal:
        with self.desk.view() as view:
            partition = view.partition(self.desk.partition)
            wanted_filter = CompanyRecordFilter(**wanted)
            return record_query.company_query(partition, view.now_millis, view.store_key, wanted_filter)

    def relation(self, relation_id: str) -> Relation | Refusal:
        with self.desk.view() as view:
            return relations.read(view.partition(self.desk.partition), view.now_millis, relation_id)

    def relation_inspection(self, relation_id: str) -> RelationInspection | Refusal:
        with self.desk.view() as view:
            return relations.inspect(view.partition(self.desk.partition), view.now_millis, relation_id)

    def relation_revision(self, relation_id: str, number: int) -> RelationHistory | Refusal:
        with self.desk.view() as view:
            return relations.revision(view.partition(self.desk.partition), relation_id, number)

    def relation_page(self, **wanted: Any) -> RelationPage | Refusal:
        with self.desk.view() as view:
            partition = view.partition(self.desk.partition)
            return relation_query.query(partition, view.now_millis, view.store_key, RelationFilter(**wanted))

    @contextmanager
    def damage(self) -> Iterator[Staging]:
        """The desk's partition, to be altered row by row; nothing reaches the store."""
        with self.desk.view() as view:
            yield Staging(Bodies(view.partition(self.desk.partition).reader), self.desk.partition)
