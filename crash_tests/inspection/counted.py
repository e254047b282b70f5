"""What the head counts and sums of the rows that nothing else witnesses, added up naively."""

from __future__ import annotations

from typing import Final

from blake3 import blake3

from crash_tests.inspection.stored import StoredPartition
from crash_tests.violation import require
from relatum.store.keys import Table

TABLES: Final = [table for table in Table if table is Table.TOPIC or Table.STANDING <= table <= Table.SOURCE]


def check_counted(partition: StoredPartition) -> None:
    """The head counts and sums the rows that are there."""
    found = {key: body for table in TABLES for key, body in partition.table(table).items()}
    total = sum(int.from_bytes(blake3(b"relatum/1/row\0" + key + body).digest(), "big") for key, body in found.items())
    counted = partition.reader.head().counted
    require(
        (counted.rows, int.from_bytes(counted.sum, "big")) == (len(found), total % 2**256),
        f"{partition.name}: the head counts {counted.rows} rows that nothing else witnesses, of {len(found)}, or sums "
        "others",
    )
