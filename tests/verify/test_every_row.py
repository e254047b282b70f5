"""No row of any table can be lost, torn, altered, exchanged or added without a finding."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relatum.ledger import Ledger
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, StoreTable, Table
from relatum.store.memory import MemoryStore
from relatum.store.verify.directory import verify_rows
from relatum.store.verify.report import Report
from tests.integrity.damage import MANNERS, damaged, forged
from tests.support.matrix import every, matrix
from tests.support.stores import partitions_of, published_rows

Rows = dict[bytes, bytes]

TABLES = [table.name for table in (*StoreTable, *Table)]
ROWS_TRIED = 2
"""Of each table and in each manner."""


def table_of(key: bytes) -> str:
    number = key[PREFIX_BYTES]
    return StoreTable(number).name if key.startswith(STORE_PREFIX) else Table(number).name


def judged(found: Rows) -> Report:
    return verify_rows(MemoryStore(found))


def test_there_is_a_row_of_every_table(sound_rows: Rows) -> None:
    assert {table.name for table in (*StoreTable, *Table)} == {table_of(key) for key in sound_rows}


def test_a_sound_store_is_clean_whatever_the_size_of_a_step(sound_rows: Rows) -> None:
    reports = [verify_rows(MemoryStore(sound_rows), step_rows=step_rows) for step_rows in (10, 100, 50_000)]
    assert [True] * 3 == [report.clean for report in reports]
    assert reports[0] == reports[1] == reports[2]
    assert len(sound_rows) == reports[0].rows == sum(family.rows for family in reports[0].families.values())
    assert len(partitions_of(sound_rows)) == reports[0].partitions


def rows_of(found: Rows, table: str) -> list[bytes]:
    """The keys of some rows of a table, the first and the last among them."""
    own = [key for key in sorted(found) if table_of(key) == table]
    return [*own[:: 1 + len(own) // ROWS_TRIED], own[-1]]


@pytest.mark.parametrize(("table", "manner"), matrix(TABLES, MANNERS))
def test_a_row_that_is_lost_or_damaged_is_found(sound_rows: Rows, table: str, manner: str) -> None:
    if (MANNERS[manner], table) == (forged, StoreTable.POSITION.name):
        pytest.skip("the digest of the history is compared with the watermark, which is not here")
    for key in rows_of(sound_rows, table):
        assert not judged(damaged(sound_rows, (key,), MANNERS[manner])).clean, key.hex()


@pytest.mark.parametrize("table", every(4, TABLES))
def test_a_row_that_is_lost_is_found_in_small_steps_too(sound_rows: Rows, table: str) -> None:
    lost = rows_of(sound_rows, table)[-1]
    report = verify_rows(MemoryStore({key: row for key, row in sound_rows.items() if key != lost}), step_rows=10)
    assert not report.clean
    assert report.rows <= len(sound_rows)


def test_journals_without_a_head_are_gone_through_in_small_steps_once(sound_rows: Rows) -> None:
    found = {key: row for key, row in sound_rows.items() if key[PREFIX_BYTES:] != bytes([Table.HEAD])}
    found |= {key: row for key, row in sound_rows.items() if key.startswith(STORE_PREFIX)}
    report = verify_rows(MemoryStore(found), step_rows=10)
    assert report.families["journal"].findings >= report.families["journal"].rows
    assert len(found) == report.rows


OTHER_KEYS: dict[str, Callable[[bytes], bytes]] = {
    "beside": lambda key: key[:-1] + bytes([key[-1] ^ 1]),
    "longer": lambda key: key + b"\0",
    "shorter": lambda key: key[:-1],
    "last": lambda key: key[: PREFIX_BYTES + 1] + b"\xff" * 70,
}


@pytest.mark.parametrize(("table", "place"), matrix(TABLES, OTHER_KEYS))
def test_a_row_that_is_there_twice_is_found(sound_rows: Rows, table: str, place: str) -> None:
    for key in rows_of(sound_rows, table):
        body, other = rows.unseal(key, sound_rows[key]), OTHER_KEYS[place](key)
        if other not in sound_rows:
            assert not judged({**sound_rows, other: rows.seal(other, body)}).clean, other.hex()


@pytest.mark.parametrize("table", every(3, [table.name for table in Table]))
def test_two_rows_that_were_exchanged_are_found(sound_rows: Rows, table: str) -> None:
    one, *_, other = rows_of(sound_rows, table)
    first, second = rows.unseal(one, sound_rows[one]), rows.unseal(other, sound_rows[other])
    if first != second:
        exchanged = {one: rows.seal(one, second), other: rows.seal(other, first)}
        assert not judged({**sound_rows, **exchanged}).clean


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"short",
        b"\0" * 16,
        b"\0" * 17,
        b"\0" * 16 + b"\x06",
        b"\x77" * 17,
        b"\xff" * 16,
        b"\xff" * 40,
    ],
    ids=bytes.hex,
)
def test_a_row_that_lies_nowhere_is_found(sound_rows: Rows, key: bytes) -> None:
    assert not judged({**sound_rows, key: rows.seal(key, b"stray")}).clean


@pytest.mark.parametrize("table", [0, max(Table) + 1, 255])
def test_a_row_of_a_table_that_does_not_exist_is_found(sound_rows: Rows, table: int) -> None:
    key = max(sound_rows)[:PREFIX_BYTES] + bytes([table]) + b"stray"
    assert not judged({**sound_rows, key: rows.seal(key, b"stray")}).clean


def test_a_stream_that_does_not_exist_has_no_journal(sound_rows: Rows) -> None:
    key = max(sound_rows)[:PREFIX_BYTES] + bytes([Table.JOURNAL, 3]) + (1).to_bytes(8, "big")
    assert not judged({**sound_rows, key: rows.seal(key, b"stray")}).clean


def test_an_empty_store_is_clean() -> None:
    with Ledger.in_memory() as ledger:
        assert judged(published_rows(ledger)).clean
