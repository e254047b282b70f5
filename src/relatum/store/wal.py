"""The write-ahead logs of a store: each record is a batch of rows, and batches are numbered without gaps.

What lives here: `scan_log`, which walks one log and tells which batches it holds. What must not: anything about the
rows inside the batches, and what follows from a log that is not whole (`relatum.store.preflight`).
"""

from __future__ import annotations

import re
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from relatum.store.log_format import LogScan, scan_records

_LOG_NAME = re.compile(r"\d+\.log")
_BATCH = Struct("<QI")  # the number of its first row among all rows ever written, the number of its rows


class Batches(NamedTuple):
    """What a log holds: rows from number `first` up to before number `following`; both are None where it holds none."""

    first: int | None
    following: int | None


class _Numbering:
    """Numbers of the batches of one log, as they are met."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.following: int | None = None

    def accept(self, record: bytes) -> bool:
        if len(record) < _BATCH.size:
            return False
        sequence, rows = _BATCH.unpack_from(record)
        if self.following not in (None, sequence):
            return False
        if self.first is None:
            self.first = sequence
        self.following = sequence + rows
        return True


def scan_log(log: bytes) -> tuple[LogScan, Batches]:
    """Walk the records of a log up to its end or its first break, and judge what lies behind."""
    numbering = _Numbering()
    scan = scan_records(log, numbering.accept, beginning_bytes=_BATCH.size)
    return scan, Batches(numbering.first, numbering.following)


def logs_in(directory: Path) -> list[Path]:
    """The logs in `directory` that are not empty, in the order in which they were written."""
    logs = (path for path in directory.iterdir() if _LOG_NAME.fullmatch(path.name) and path.stat().st_size)
    return sorted(logs, key=lambda path: (len(path.name), path.name))  # numbers of at least six digits
