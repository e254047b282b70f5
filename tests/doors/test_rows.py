"""Stored rows of any bytes: whoever opens one gets its value or StorageInconsistency, whatever the checksum says."""

from __future__ import annotations

import pytest

from relatum.store import rows
from relatum.store.keys import StoreTable, Table
from tests.doors.mutating import MSGPACK_TOKENS, bounded
from tests.doors.openings import PARTITION_OPENINGS, STORE_OPENINGS, VERSION_HEAD_BYTES, decoders_of
from tests.doors.row_fuzzing import (
    TABLES,
    AnyTable,
    every_row,
    fuzz_bodies,
    fuzz_rows,
    keys_of,
    name_of,
    outcome,
    try_body,
    try_values,
)
from tests.support.matrix import every, first_of

CASES = [60, 300]


def test_every_table_is_opened_and_has_rows_to_bend() -> None:
    assert (set(Table), set(StoreTable)) == (set(PARTITION_OPENINGS), set(STORE_OPENINGS))
    assert [] == [name_of(table) for table in TABLES if not keys_of(table)]


def test_every_decoder_of_rows_is_tried() -> None:
    codecs = [made.decode for made in vars(rows).values() if isinstance(made, rows.Codec)]
    unpackings = [made for name, made in vars(rows).items() if name.startswith("unpack_")]
    assert len(codecs) > 10
    assert len(unpackings) > 5
    tried = [decoder.decode for table in TABLES for decoder in decoders_of(table)]
    assert [] == [decode for decode in (*codecs, *unpackings) if decode not in tried]


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_a_row_as_it_was_written_opens(table: AnyTable) -> None:
    for key in keys_of(table):
        assert "a value" == outcome(table, key, every_row()[key])


@pytest.mark.parametrize("cases", first_of(CASES))
@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_bytes_that_are_no_row_are_inconsistent(table: AnyTable, cases: int) -> None:
    with bounded():
        fuzz_rows(table, cases, seed=0)


@pytest.mark.parametrize("cases", first_of(CASES))
@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_bytes_under_a_sound_checksum_are_a_value_or_inconsistent(table: AnyTable, cases: int) -> None:
    with bounded():
        fuzz_bodies(table, cases, seed=0)


@pytest.mark.parametrize("table", every(3, TABLES), ids=name_of)
def test_a_body_that_is_the_beginning_of_something_endless_is_a_value_or_inconsistent(table: AnyTable) -> None:
    with bounded():
        for token in (b"", *MSGPACK_TOKENS):
            for key in keys_of(table)[:1]:
                try_body(table, key, token)
                try_body(table, key, bytes(VERSION_HEAD_BYTES) + token)


STRUCTURED: list[AnyTable] = [
    *(Table.HEAD, Table.PARTITION, Table.EVENT, Table.RECORD, Table.RECORD_REVISION, Table.PAYLOAD, Table.RELATION),
    *(Table.RELATION_REVISION, Table.JOURNAL, Table.CREDENTIAL, Table.CHECKPOINT, Table.CHECKPOINT_REVISION),
    *(Table.STANDING, Table.CANDIDATE, Table.VERDICT, Table.WORDS, Table.LINK, Table.SUSPICION),
    *(StoreTable.FORMAT, StoreTable.POSITION, StoreTable.WORKSPACE),
]
"""Tables whose bodies are MessagePack."""


@pytest.mark.parametrize("table", every(3, STRUCTURED), ids=name_of)
def test_a_value_that_does_not_belong_there_is_taken_for_one_or_inconsistent(table: AnyTable) -> None:
    with bounded():
        assert try_values(table) > 50
