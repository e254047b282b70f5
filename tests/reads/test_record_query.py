"""Pages of records: which, in what order, up to which bound, and from which cursor on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from relatum import limits
from relatum.clock import ManualClock
from relatum.core.answers.records import RecordPage
from relatum.core.ids import Ref
from relatum.core.queries import RecordFilter
from relatum.core.receipts import Receipt
from relatum.core.records import RecordProvenance
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads import record_query
from tests.reads.reading import BAD_REQUEST, Reading, answered, refused
from tests.support.builders import PRIVATE, START_MILLIS, create, derive
from tests.support.desk import Desk
from tests.support.steps import Operation, reached


def ids(page: RecordPage) -> list[str]:
    return [record.record_id for record in page.records]


def contents(page: RecordPage) -> list[str]:
    return [record.input.content for record in page.records if record.input is not None]


def follow(reading: Reading, **wanted: Any) -> Iterator[RecordPage]:
    """Every page of a query, at most a hundred."""
    cursor: str | None = None
    for _ in range(100):
        page = answered(reading.record_page(**wanted, cursor=cursor))
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
    raise AssertionError("the pages never came to an end")


def created_one_by_one(desk: Desk, clock: ManualClock, count: int) -> list[str]:
    refs = []
    for number in range(count):
        clock.advance(1)
        refs.append(desk.create(f"record {number}").record_id)
    return refs


# Order


def test_the_newest_comes_first_unless_the_oldest_is_asked_for(
    desk: Desk, reading: Reading, clock: ManualClock
) -> None:
    made = created_one_by_one(desk, clock, 5)
    assert made[::-1] == ids(answered(reading.record_page()))
    assert made[::-1] == ids(answered(reading.record_page(order="created_desc")))
    assert made == ids(answered(reading.record_page(order="created_asc")))


def test_records_of_one_millisecond_are_ordered_by_id(desk: Desk, reading: Reading) -> None:
    made = sorted(desk.create().record_id for _ in range(5))
    assert made == ids(answered(reading.record_page(order="created_asc")))
    assert made[::-1] == ids(answered(reading.record_page()))


@pytest.mark.parametrize("order", ["created_asc", "created_desc"])
def test_pages_of_every_size_give_every_record_once_in_order(
    desk: Desk, reading: Reading, clock: ManualClock, order: str
) -> None:
    made = created_one_by_one(desk, clock, 5)
    expected = made if order == "created_asc" else made[::-1]
    for limit in range(1, 7):
        assert expected == [one for page in follow(reading, order=order, limit=limit) for one in ids(page)]


def test_a_revision_does_not_move_a_record(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    made = created_one_by_one(desk, clock, 3)
    desk.revise(Ref(record_id=made[0], revision=1))
    assert made == ids(answered(reading.record_page(order="created_asc")))


@pytest.mark.parametrize("order", ["created_asc", "created_desc"])
def test_records_of_a_source_cost_what_they_are(desk: Desk, reading: Reading, clock: ManualClock, order: str) -> None:
    made = []
    for number in range(6):
        created_one_by_one(desk, clock, 5)
        origin = RecordProvenance(source_id="book" if number % 2 else "film")
        made.append(desk.create(f"from it {number}", provenance=origin))
    elsewhere = desk.revise(made[3], "from elsewhere", provenance=RecordProvenance(source_id="film"))
    desk.delete(made[1])
    gone = desk.review(made[5], "rejected")
    late = desk.create("from it at last", provenance=RecordProvenance(source_id="book"))
    back = desk.revise(elsewhere, "from it again", provenance=RecordProvenance(source_id="book"))
    expected = [back.record_id, late.record_id] if order == "created_asc" else [late.record_id, back.record_id]
    pages = list(follow(reading, source_id="book", order=order, limit=1))
    assert expected == [one for page in pages for one in ids(page)]
    assert 3 == sum(page.scanned_records for page in pages), "the two, and the one that was rejected"
    desk.review(gone, "approved")
    assert 3 == len(ids(answered(reading.record_page(source_id="book", text="FROM IT"))))
    assert [] == ids(answered(reading.record_page(source_id="no such book")))
    assert BAD_REQUEST == refused(reading.record_page(source_id=" "))
    assert BAD_REQUEST == refused(reading.record_page(source_id="film", cursor=pages[0].next_cursor))


# Members of a page


def test_an_empty_partition_has_an_exhausted_page(reading: Reading) -> None:
    page = answered(reading.record_page())
    assert ((), START_MILLIS, 0, 0, "exhausted", None) == (
        page.records,
        page.evaluated_at_millis,
        page.scanned_records,
        page.record_bytes,
        page.stop_reason,
        page.next_cursor,
    )
    assert (0, 0) == (page.dependency_work.records_examined, page.dependency_work.bytes_examined)


def test_a_page_holds_what_reads_hold(desk: Desk, reading: Reading) -> None:
    reviewed = desk.review(desk.create(title="Tides", tags=("sea",)))
    derived = desk.derive(reviewed)
    page = answered(reading.record_page(order="created_asc"))
    reads = {answered(reading.record(ref.record_id)) for ref in (reviewed, derived)}
    assert reads == set(page.records)
    batch = answered(reading.batch(reviewed.record_id, derived.record_id))
    assert (batch.record_bytes, batch.dependency_work) == (page.record_bytes, page.dependency_work)


def test_only_eligible_records_are_returned_and_the_others_are_counted_as_scanned(
    desk: Desk, reading: Reading, clock: ManualClock
) -> None:
    kept = desk.create("kept")
    desk.delete(desk.create())
    desk.review(desk.create(), "rejected")
    desk.create(valid_until_millis=START_MILLIS + 5)
    source = desk.create()
    desk.derive(source)
    desk.revise(source, "kept too")
    clock.set(START_MILLIS + 5)
    page = answered(reading.record_page())
    assert {"kept", "kept too"} == set(contents(page))
    assert kept.record_id in ids(page)
    assert (6, "exhausted") == (page.scanned_records, page.stop_reason)


def test_records_of_other_partitions_are_not_on_the_page(desk: Desk, reading: Reading) -> None:
    Desk(desk.ledger, PRIVATE).create()
    own = desk.create()
    page = answered(reading.record_page())
    assert ([own.record_id], 1) == (ids(page), page.scanned_records)


# Bounds


def test_a_full_page_has_a_cursor_only_where_something_follows(
    desk: Desk, reading: Reading, clock: ManualClock
) -> None:
    created_one_by_one(desk, clock, 3)
    assert "exhausted" == answered(reading.record_page(limit=3)).stop_reason
    first = answered(reading.record_page(limit=2))
    assert ("record_limit", 2) == (first.stop_reason, first.scanned_records)
    second = answered(reading.record_page(limit=2, cursor=first.next_cursor))
    assert ("exhausted", 1, None) == (second.stop_reason, len(second.records), second.next_cursor)


def test_what_follows_must_be_wanted_for_a_cursor(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    made = created_one_by_one(desk, clock, 3)
    desk.delete(Ref(record_id=made[0], revision=1))
    page = answered(reading.record_page(limit=2))
    assert ("exhausted", 2, None) == (page.stop_reason, len(page.records), page.next_cursor)


def test_a_page_may_be_empty_and_still_have_a_cursor(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    desk.create("a needle")
    created_one_by_one(desk, clock, 4)
    pages = list(follow(reading, text="needle", scan_limit=2))
    assert ["scan_limit", "scan_limit", "exhausted"] == [page.stop_reason for page in pages]
    assert [2, 2, 1] == [page.scanned_records for page in pages]
    assert [[], [], ["a needle"]] == [contents(page) for page in pages]


def test_the_default_page_holds_forty(desk: Desk, reading: Reading) -> None:
    accept_all(desk, [create() for _ in range(41)])
    page = answered(reading.record_page())
    assert (40, "record_limit") == (len(page.records), page.stop_reason)


def test_a_page_returns_at_most_four_mebibytes(desk: Desk, reading: Reading) -> None:
    accept_all(desk, [create("x" * limits.CONTENT_BYTES_MAX) for _ in range(86)])
    first, second = follow(reading, limit=100)
    each = first.record_bytes // len(first.records)
    assert ("byte_limit", "exhausted") == (first.stop_reason, second.stop_reason)
    assert first.record_bytes <= limits.PAGE_BYTES_MAX < first.record_bytes + each
    assert 86 == len({*ids(first), *ids(second)})


# Dependencies


def accept_all(desk: Desk, operations: list[Operation]) -> list[Ref]:
    """Many commands at once, each of which must be accepted."""
    outcomes: list[Receipt | Refusal | Failure] = desk.ledger.submit_all([desk.command(one) for one in operations])
    return [reached(outcome) for outcome in outcomes if not isinstance(outcome, Refusal | Failure)]


@pytest.fixture(scope="module")
def forest() -> Iterator[Desk]:
    """64 roots, each over 64 records of its own (16 between it and 48 leaves), and one root over one more."""
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        desk = Desk(ledger)
        leaves = accept_all(desk, [create("leaf", category="leaf") for _ in range(64 * 48)])
        between = accept_all(desk, [derive(*leaves[3 * n : 3 * n + 3], category="between") for n in range(64 * 16)])
        accept_all(desk, [derive(*between[16 * n : 16 * n + 16], category="root") for n in range(64)])
        last = desk.create("leaf", category="leaf")
        desk.derive(last, category="root")
        yield desk


def roots(forest: Desk) -> list[str]:
    pages = follow(Reading(forest), category="root", order="created_asc", limit=100, scan_limit=limits.SCAN_LIMIT_MAX)
    return [one for page in pages for one in ids(page)]


def test_a_page_that_runs_out_of_dependency_budget_stops_early_and_the_next_goes_on(forest: Desk) -> None:
    wanted = {"category": "root", "limit": 100, "scan_limit": limits.SCAN_LIMIT_MAX}
    first, second = follow(Reading(forest), **wanted)
    assert ("dependency_limit", "exhausted") == (first.stop_reason, second.stop_reason)
    assert first.dependency_work.records_examined <= limits.DEPENDENCY_LOOKUPS_MAX
    assert 65 == len({*ids(first), *ids(second)})


def test_a_batch_may_use_the_whole_dependency_budget_and_not_one_more(forest: Desk) -> None:
    reading = Reading(forest)
    large = sorted(roots(forest), key=lambda one: -answered(reading.batch(one)).dependency_work.records_examined)
    work = answered(reading.batch(*large[:64])).dependency_work
    assert limits.DEPENDENCY_LOOKUPS_MAX == work.records_examined
    assert BAD_REQUEST == refused(reading.batch(*large))


# Predicates


PREDICATES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"text": "tide"}, {"content": "the tide turned"}, {"content": "the wind turned"}),
    ({"text": "TIDE"}, {"content": "low tide"}, {"content": "low t ide"}),
    ({"text": "STRASSE"}, {"content": "Große Straße"}, {"content": "Großer Weg"}),
    ({"text": "straße"}, {"content": "GROSSE STRASSE"}, {"content": "Großer Weg"}),
    ({"text": "harbour"}, {"title": "At the Harbour"}, {"title": "At the pier"}),
    ({"text": "harbour"}, {"content": "no title, the harbour"}, {"tags": ("harbour",)}),
    ({"tag": "sea"}, {"tags": ("sky", "sea")}, {"tags": ("Sea", "seaside")}),
    ({"type": "person"}, {"type": "person"}, {"type": "task"}),
    ({"type": "memory"}, {}, {"type": "session"}),
    ({"category": "project"}, {"category": "project"}, {"category": "feedback"}),
    ({"category": "project"}, {"category": "project"}, {"fact_key": "project"}),
    ({"fact_key": "depth"}, {"fact_key": "depth"}, {"fact_key": "Depth"}),
    ({"topic_key": "charts"}, {"topic_key": "charts"}, {"topic_key": "chart"}),
    ({"tag": "sea", "category": "a"}, {"tags": ("sea",), "category": "a"}, {"tags": ("sea",), "category": "b"}),
]


@pytest.mark.parametrize(("wanted", "fitting", "other"), PREDICATES)
def test_a_record_passes_that_agrees_with_every_member_of_the_filter(
    desk: Desk, reading: Reading, wanted: dict[str, Any], fitting: dict[str, Any], other: dict[str, Any]
) -> None:
    expected = desk.create(**fitting)
    desk.create(**other)
    page = answered(reading.record_page(**wanted))
    assert ([expected.record_id], 2) == (ids(page), page.scanned_records)


def test_an_empty_text_is_in_every_record(desk: Desk, reading: Reading) -> None:
    desk.create()
    assert 1 == len(answered(reading.record_page(text="")).records)


# Cursors


def test_a_cursor_goes_on_under_other_limits(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    made = created_one_by_one(desk, clock, 4)
    first = answered(reading.record_page(limit=1, scan_limit=10))
    second = answered(reading.record_page(limit=2, scan_limit=20, cursor=first.next_cursor))
    assert made[::-1][1:3] == ids(second)


def test_what_comes_to_be_behind_a_cursor_is_not_met_again(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    made = created_one_by_one(desk, clock, 3)
    first = answered(reading.record_page(limit=1))
    created_one_by_one(desk, clock, 1)
    assert made[1::-1] == ids(answered(reading.record_page(cursor=first.next_cursor)))


def test_a_cursor_outlives_the_record_that_it_points_behind(desk: Desk, reading: Reading, clock: ManualClock) -> None:
    made = created_one_by_one(desk, clock, 3)
    first = answered(reading.record_page(limit=1))
    desk.delete(Ref(record_id=made[2], revision=1))
    assert made[1::-1] == ids(answered(reading.record_page(cursor=first.next_cursor)))


@pytest.fixture
def cursor(desk: Desk, reading: Reading) -> str:
    """A cursor of a page of records with the tag sea, newest first."""
    for _ in range(2):
        desk.create(tags=("sea",))
    found = answered(reading.record_page(tag="sea", limit=1)).next_cursor
    assert found is not None
    return found


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"tag": "Sea"},
        {"tag": "sea", "text": ""},
        {"tag": "sea", "type": "memory"},
        {"tag": "sea", "order": "created_asc"},
        {"category": "sea"},
    ],
)
def test_a_cursor_of_another_filter_is_refused(cursor: str, reading: Reading, other: dict[str, Any]) -> None:
    answered(reading.record_page(tag="sea", cursor=cursor))
    assert BAD_REQUEST == refused(reading.record_page(**other, cursor=cursor))


def test_a_cursor_of_another_partition_is_refused(cursor: str, desk: Desk) -> None:
    assert BAD_REQUEST == refused(Reading(Desk(desk.ledger, PRIVATE)).record_page(tag="sea", cursor=cursor))


def test_a_cursor_of_another_store_is_refused(cursor: str, desk: Desk) -> None:
    with desk.view() as view:
        wanted = RecordFilter(tag="sea", cursor=cursor)
        outcome = record_query.query(view.partition(desk.partition), view.now_millis, bytes(32), wanted)
    assert BAD_REQUEST == refused(outcome)


def test_a_cursor_of_another_route_is_refused(cursor: str, reading: Reading) -> None:
    assert BAD_REQUEST == refused(reading.company_page(tag="sea", cursor=cursor))
    assert BAD_REQUEST == refused(reading.relation_page(cursor=cursor))


def test_a_filter_by_a_name_that_no_record_can_have_is_refused(reading: Reading) -> None:
    assert BAD_REQUEST == refused(reading.record_page(category=" "))
    assert BAD_REQUEST == refused(reading.company_page(fact_key=" "))


@pytest.mark.parametrize(
    "spoil",
    [
        *[lambda text, at=at: text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :] for at in range(44)],
        lambda text: "",
        lambda text: text[:-1],
        lambda text: text + "A",
        lambda text: text + "=",
        lambda text: text + "\n",
        lambda text: "+" + text[1:],
        lambda text: "é" + text[1:],
        lambda text: "not a cursor",
    ],
)
def test_a_cursor_with_any_character_changed_is_refused(
    cursor: str, reading: Reading, spoil: Callable[[str], str]
) -> None:
    assert BAD_REQUEST == refused(reading.record_page(tag="sea", cursor=spoil(cursor)))
