"""Pages of relations: retained ones, each with the verdict on it, in the order of creation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relatum.clock import ManualClock
from relatum.core.answers.relations import RelationPage
from tests.reads.reading import BAD_REQUEST, Reading, answered, refused
from tests.support.builders import BOB, MODEL, PRIVATE, START_MILLIS, provenance
from tests.support.desk import Desk


def ids(page: RelationPage) -> list[str]:
    return [entry.relation.relation_id for entry in page.relations]


def related_one_by_one(desk: Desk, clock: ManualClock, count: int) -> list[str]:
    source, target = desk.create(), desk.create()
    made = []
    for _ in range(count):
        clock.advance(1)
        made.append(desk.relate(source, target).relation_id)
    return made


def test_an_empty_partition_has_an_exhausted_page(reading: Reading) -> None:
    page = answered(reading.relation_page())
    assert ((), START_MILLIS, 0, 0, "exhausted", None) == (
        page.relations,
        page.evaluated_at_millis,
        page.scanned_relations,
        page.relation_bytes,
        page.stop_reason,
        page.next_cursor,
    )


def test_relations_in_every_state_are_returned_as_inspected(desk: Desk, reading: Reading) -> None:
    made = [desk.relate(desk.create(), desk.create()) for _ in range(3)]
    desk.retire(made[0])
    desk.judge(made[1], "rejected")
    page = answered(reading.relation_page())
    assert {"retired", "rejected", "eligible"} == {entry.eligibility.reason for entry in page.relations}
    for entry in page.relations:
        assert answered(reading.relation_inspection(entry.relation.relation_id)) == entry


def test_pages_of_every_size_give_every_relation_once_in_order(
    desk: Desk, reading: Reading, clock: ManualClock
) -> None:
    made = related_one_by_one(desk, clock, 4)
    for order, expected in (("created_asc", made), ("created_desc", made[::-1])):
        for limit in range(1, 6):
            found: list[str] = []
            page = answered(reading.relation_page(order=order, limit=limit))
            found += ids(page)
            while page.next_cursor is not None:
                page = answered(reading.relation_page(order=order, limit=limit, cursor=page.next_cursor))
                found += ids(page)
            assert expected == found


def test_a_full_page_has_a_cursor_only_where_something_follows(
    desk: Desk, reading: Reading, clock: ManualClock
) -> None:
    related_one_by_one(desk, clock, 3)
    assert "exhausted" == answered(reading.relation_page(limit=3)).stop_reason
    page = answered(reading.relation_page(limit=2))
    assert ("record_limit", 2) == (page.stop_reason, page.scanned_relations)
    page = answered(reading.relation_page(kind="contradicts", scan_limit=2))
    assert ("scan_limit", 2, ()) == (page.stop_reason, page.scanned_relations, page.relations)
    assert "exhausted" == answered(reading.relation_page(scan_limit=3)).stop_reason


def test_dependency_work_of_a_page_is_the_sum_over_its_entries(desk: Desk, reading: Reading) -> None:
    evidence = desk.create()
    for _ in range(3):
        desk.relate(desk.create(), desk.create(), evidence_sources=(evidence,))
    page = answered(reading.relation_page(limit=2))
    each = sorted(entry.eligibility.dependency_work.records_examined for entry in page.relations)
    assert ([0, 1], 1) == (each, page.dependency_work.records_examined)


# Predicates: each makes a relation that the filter wants


def of_a_kind(desk: Desk) -> tuple[str, dict[str, str]]:
    return desk.relate(desk.create(), desk.create(), "contradicts").relation_id, {"kind": "contradicts"}


def retired(desk: Desk) -> tuple[str, dict[str, str]]:
    return desk.retire(desk.relate(desk.create(), desk.create())).relation_id, {"state": "retired"}


def rejected(desk: Desk) -> tuple[str, dict[str, str]]:
    receipt = desk.judge(desk.relate(desk.create(), desk.create()), "rejected")
    return receipt.relation_id, {"disposition": "rejected"}


def unreviewed(desk: Desk) -> tuple[str, dict[str, str]]:
    receipt = desk.judge(desk.relate(desk.create(), desk.create()), "unreviewed")
    return receipt.relation_id, {"disposition": "unreviewed"}


def inferred(desk: Desk) -> tuple[str, dict[str, str]]:
    origin = provenance(origin="model_inference", model=MODEL)
    receipt = desk.relate(desk.create(), desk.create(), provenance=origin)
    return receipt.relation_id, {"origin": "model_inference"}


def from_an_end(desk: Desk) -> tuple[str, dict[str, str]]:
    source = desk.create()
    return desk.relate(source, desk.create()).relation_id, {"endpoint": source.record_id}


def to_an_end(desk: Desk) -> tuple[str, dict[str, str]]:
    target = desk.create()
    return desk.relate(desk.create(), target).relation_id, {"endpoint": target.record_id}


def by_another_reporter(desk: Desk) -> tuple[str, dict[str, str]]:
    other = Desk(desk.ledger, desk.partition, BOB)
    return other.relate(desk.create(), desk.create()).relation_id, {"reporter": BOB.subject_id}


@pytest.mark.parametrize(
    "make", [of_a_kind, retired, rejected, unreviewed, inferred, from_an_end, to_an_end, by_another_reporter]
)
def test_a_relation_passes_that_agrees_with_the_filter(
    desk: Desk, reading: Reading, make: Callable[[Desk], tuple[str, dict[str, str]]]
) -> None:
    plain = desk.relate(desk.create(), desk.create()).relation_id
    wanted_id, wanted = make(desk)
    page = answered(reading.relation_page(**wanted))
    assert ([wanted_id], 2) == (ids(page), page.scanned_relations)
    everything = {"kind": "supports", "state": "active", "disposition": "none", "reporter": "ada"}
    assert plain in ids(answered(reading.relation_page(**everything, origin="tool_observation")))


def test_every_member_of_a_filter_counts(desk: Desk, reading: Reading) -> None:
    source = desk.create()
    desk.relate(source, desk.create())
    assert 1 == len(ids(answered(reading.relation_page(endpoint=source.record_id, kind="supports"))))
    assert [] == ids(answered(reading.relation_page(endpoint=source.record_id, kind="contradicts")))


def test_who_reviewed_a_relation_is_not_its_reporter(desk: Desk, reading: Reading) -> None:
    receipt = desk.relate(desk.create(), desk.create())
    Desk(desk.ledger, desk.partition, BOB).judge(receipt)
    assert [] == ids(answered(reading.relation_page(reporter=BOB.subject_id)))


def test_a_filter_by_a_reporter_that_nobody_can_be_is_refused(reading: Reading) -> None:
    assert BAD_REQUEST == refused(reading.relation_page(reporter=" "))


# Cursors


def test_a_cursor_belongs_to_one_filter_and_one_partition(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    made = related_one_by_one(desk, clock, 3)
    cursor = answered(reading.relation_page(limit=1, kind="supports")).next_cursor
    assert made[1::-1] == ids(answered(reading.relation_page(kind="supports", cursor=cursor, scan_limit=9)))
    assert BAD_REQUEST == refused(reading.relation_page(cursor=cursor))
    assert BAD_REQUEST == refused(reading.relation_page(kind="contradicts", cursor=cursor))
    assert BAD_REQUEST == refused(reading.relation_page(kind="supports", order="created_asc", cursor=cursor))
    assert BAD_REQUEST == refused(reading.record_page(cursor=cursor))
    foreign = Reading(Desk(desk.ledger, PRIVATE))
    assert BAD_REQUEST == refused(foreign.relation_page(kind="supports", cursor=cursor))
