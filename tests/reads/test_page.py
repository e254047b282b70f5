"""Gathering a page: why it ends, and where the next one begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum import limits
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.ledger.reads.pagination import Gathered, gather


class Row(NamedTuple):
    """A row of a scan. `costly`: the dependency budget of a page suffices for one such row."""

    name: str
    wanted: bool = True
    stored_bytes: int = 1
    costly: bool = False


def page_of(
    rows: Sequence[Row], *, after: str | None = None, entries_max: int = 100, scanned_max: int = 1000
) -> Gathered[str]:
    begin = 0 if after is None else [row.name for row in rows].index(after) + 1
    budget = 1

    def select(row: Row) -> Callable[[], str] | None:
        nonlocal budget
        if row.costly:
            if budget == 0:
                raise DependencyBudgetExhausted
            budget -= 1
        return (lambda: row.name) if row.wanted else None

    return gather(iter(rows[begin:]), lambda row: row.name, select, entries_max=entries_max, scanned_max=scanned_max)


def rows_named(names: str) -> list[Row]:
    """A row for each letter; a capital one is wanted."""
    return [Row(name, wanted=name.isupper()) for name in names]


@pytest.mark.parametrize(
    ("names", "entries_max", "scanned_max", "entries", "scanned", "stop_reason", "last"),
    [
        pytest.param("", 2, 9, "", 0, "exhausted", None, id="nothing is there"),
        pytest.param("AB", 2, 9, "AB", 2, "exhausted", None, id="exactly full, nothing behind"),
        pytest.param("ABC", 2, 9, "AB", 2, "record_limit", "B", id="full, one behind"),
        pytest.param("ABcd", 2, 9, "AB", 4, "exhausted", None, id="full, nothing wanted behind"),
        pytest.param("ABcD", 2, 9, "AB", 3, "record_limit", "c", id="full, one wanted further behind"),
        pytest.param("AB", 2, 2, "AB", 2, "exhausted", None, id="both limits met, nothing behind"),
        pytest.param("ABc", 2, 2, "AB", 2, "record_limit", "B", id="full, what lies behind is beyond the scan"),
        pytest.param("Ab", 9, 2, "A", 2, "exhausted", None, id="scan limit met, nothing behind"),
        pytest.param("AbC", 9, 2, "A", 2, "scan_limit", "b", id="scan limit met, one behind"),
        pytest.param("abC", 9, 2, "", 2, "scan_limit", "b", id="an empty page with a cursor"),
        pytest.param("abc", 9, 9, "", 3, "exhausted", None, id="nothing is wanted"),
    ],
)
def test_a_page_ends_for_one_reason(
    names: str, entries_max: int, scanned_max: int, entries: str, scanned: int, stop_reason: str, last: str | None
) -> None:
    page = page_of(rows_named(names), entries_max=entries_max, scanned_max=scanned_max)
    assert (tuple(entries), scanned, stop_reason, last) == (
        page.entries,
        page.scanned,
        page.stop_reason,
        page.last_id,
    )


def test_a_page_takes_four_mebibytes_and_not_a_byte_more() -> None:
    half = limits.PAGE_BYTES_MAX // 2
    exactly = page_of([Row("A", stored_bytes=half), Row("B", stored_bytes=half), Row("C")])
    assert (("A", "B"), limits.PAGE_BYTES_MAX, "byte_limit", "B") == (
        exactly.entries,
        exactly.stored_bytes,
        exactly.stop_reason,
        exactly.last_id,
    )
    over = page_of([Row("A", stored_bytes=half), Row("B", stored_bytes=half + 1)])
    assert (("A",), half, "byte_limit", "A") == (over.entries, over.stored_bytes, over.stop_reason, over.last_id)


def test_bytes_of_rows_that_are_not_returned_do_not_count() -> None:
    page = page_of([Row("a", wanted=False, stored_bytes=limits.PAGE_BYTES_MAX), Row("B")])
    assert (("B",), 1, "exhausted") == (page.entries, page.stored_bytes, page.stop_reason)


def test_an_exhausted_dependency_budget_ends_the_page_before_the_row_that_it_does_not_suffice_for() -> None:
    rows = [Row("A", costly=True), Row("B"), Row("C", costly=True)]
    first = page_of(rows)
    assert (("A", "B"), 2, "dependency_limit", "B") == (
        first.entries,
        first.scanned,
        first.stop_reason,
        first.last_id,
    )
    assert ("C",) == page_of(rows, after="B").entries


def test_a_full_page_is_full_whatever_the_look_ahead_ran_into() -> None:
    page = page_of([Row("A", costly=True), Row("B", costly=True)], entries_max=1)
    assert (("A",), "record_limit", "A") == (page.entries, page.stop_reason, page.last_id)


ROWS = st.lists(
    st.builds(
        Row,
        name=st.just(""),
        wanted=st.booleans(),
        stored_bytes=st.sampled_from([1, limits.PAGE_BYTES_MAX // 3, limits.PAGE_BYTES_MAX]),
        costly=st.booleans(),
    ),
    max_size=12,
).map(lambda rows: [row._replace(name=str(number)) for number, row in enumerate(rows)])


@given(rows=ROWS, entries_max=st.integers(1, 5), scanned_max=st.integers(1, 5))
def test_following_cursors_gives_every_wanted_row_once_and_comes_to_an_end(
    rows: list[Row], entries_max: int, scanned_max: int
) -> None:
    found: list[str] = []
    after: str | None = None
    for _ in range(len(rows) + 1):
        page = page_of(rows, after=after, entries_max=entries_max, scanned_max=scanned_max)
        assert len(page.entries) <= entries_max
        assert page.scanned <= scanned_max
        assert page.stored_bytes <= limits.PAGE_BYTES_MAX
        assert (page.stop_reason == "exhausted") == (page.last_id is None)
        found += page.entries
        after = page.last_id
        if after is None:
            break
    assert after is None
    assert found == [row.name for row in rows if row.wanted]
