"""The company's pages of records: all that are retained with the verdict on each, or only the current ones."""

from __future__ import annotations

import pytest

from relatum.core.answers.company import CompanyRecordPage
from relatum.core.queries import RecordsView
from tests.reads.reading import BAD_REQUEST, Reading, answered, refused
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk


def reasons(page: CompanyRecordPage) -> dict[str, str | None]:
    """What failed of each record on a page."""
    failures = {entry.record.record_id: entry.eligibility.first_failure for entry in page.entries}
    return {one: None if failure is None else failure.reason for one, failure in failures.items()}


@pytest.fixture
def made(desk: Desk) -> dict[str, str | None]:
    """Records in every state, and why each is not current."""
    source = desk.create("a source")
    expected = {
        desk.create("current").record_id: None,
        desk.delete(desk.create("deleted")).record_id: "deleted",
        desk.review(desk.create("rejected"), "rejected").record_id: "rejected",
        desk.create("expired", valid_until_millis=START_MILLIS).record_id: "expired",
        desk.derive(source, content="derived").record_id: "source_revision_changed",
    }
    return {desk.revise(source).record_id: None} | expected


def test_every_retained_record_is_returned_with_the_verdict_on_it(
    reading: Reading, made: dict[str, str | None]
) -> None:
    page = answered(reading.company_page())
    assert made == reasons(page)
    assert made == reasons(answered(reading.company_page(view="retained")))
    assert ("exhausted", len(made)) == (page.stop_reason, page.scanned_records)
    for entry in page.entries:
        assert answered(reading.record_inspection(entry.record.record_id)).record == entry.record


def test_the_current_view_holds_what_readers_see(reading: Reading, made: dict[str, str | None]) -> None:
    page = answered(reading.company_page(view="current"))
    assert {one for one, reason in made.items() if reason is None} == set(reasons(page))
    assert all(entry.eligibility.eligible for entry in page.entries)
    assert answered(reading.record_page()).records == tuple(entry.record for entry in page.entries)


def test_a_deleted_record_can_be_found_by_its_type_alone(desk: Desk, reading: Reading) -> None:
    gone = desk.delete(desk.create("gone", type="task", category="a", tags=("sea",))).record_id
    assert [gone] == list(reasons(answered(reading.company_page(type="task"))))
    assert {} == reasons(answered(reading.company_page(type="person")))
    for erased in ({"text": ""}, {"tag": "sea"}, {"category": "a"}, {"fact_key": "a"}, {"topic_key": "a"}):
        assert {} == reasons(answered(reading.company_page(**erased)))


@pytest.mark.parametrize("view", ["retained", "current"])
def test_dependency_work_of_a_page_is_the_sum_over_its_entries(desk: Desk, reading: Reading, view: RecordsView) -> None:
    source = desk.create()
    for _ in range(2):
        desk.derive(source)
    page = answered(reading.company_page(view=view))
    each = sorted(entry.eligibility.dependency_work.records_examined for entry in page.entries)
    assert ([0, 0, 1], 1) == (each, page.dependency_work.records_examined)


def test_a_cursor_belongs_to_one_view(desk: Desk, reading: Reading) -> None:
    refs = {desk.create().record_id for _ in range(2)}
    first = answered(reading.company_page(limit=1))
    assert "record_limit" == first.stop_reason
    second = answered(reading.company_page(view="retained", cursor=first.next_cursor))
    assert refs == {*reasons(first), *reasons(second)}
    assert BAD_REQUEST == refused(reading.company_page(view="current", cursor=first.next_cursor))
    assert BAD_REQUEST == refused(reading.record_page(cursor=first.next_cursor))
