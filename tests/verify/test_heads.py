"""A head that counts or sums other rows than lie there is found, and nothing is made of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from relatum.core.row_counts import NOTHING, Tally
from relatum.store import rows
from relatum.store.keys import Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from relatum.store.verify.directory import verify_rows
from relatum.store.verify.repair import beyond_repair
from tests.integrity import judged_scene
from tests.support.builders import PARTITION

Rows = dict[bytes, bytes]


@pytest.fixture(scope="module")
def judged() -> Rows:
    return judged_scene.made().rows


def with_tally(found: Rows, counted: Tally) -> Rows:
    reader = PartitionReader(MemoryStore(found), PARTITION)
    body = rows.HEAD.encode(replace(reader.head(), counted=counted))
    return {**found, reader.keys.head: rows.seal(reader.keys.head, body)}


def tally_in(found: Rows) -> Tally:
    return PartitionReader(MemoryStore(found), PARTITION).head().counted


@pytest.mark.parametrize("step_rows", [10, 50_000])
@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: NOTHING,
        lambda right: replace(right, rows=right.rows + 1),
        lambda right: replace(right, sum=right.sum[:-1] + bytes([right.sum[-1] ^ 1])),
    ],
    ids=["nothing", "count", "sum"],
)
def test_a_head_that_alone_is_wrong_is_found(judged: Rows, wrong: Callable[[Tally], Tally], step_rows: int) -> None:
    found = with_tally(judged, wrong(tally_in(judged)))
    report = verify_rows(MemoryStore(found), step_rows=step_rows)
    assert ["head"] == [finding.family for finding in report.findings]
    assert ["head"] == beyond_repair(report)


@pytest.mark.parametrize("table", [Table.PINNED, Table.TOPIC, Table.FACT, Table.WORDS])
def test_where_a_row_is_gone_nothing_is_said_of_the_head(judged: Rows, table: Table) -> None:
    reader = PartitionReader(MemoryStore(judged), PARTITION)
    lost = next(key for key in sorted(judged) if key.startswith(reader.keys.table(table)))
    left = {key: row for key, row in judged.items() if key != lost}
    assert {table.name.lower()} == {finding.family for finding in verify_rows(MemoryStore(left)).findings}
