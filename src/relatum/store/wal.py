"""The write-ahead logs of a store: each record is a batch of rows, and batches are numbered without gaps.

What lives here: `scan_log`, which walks one log and tells which batches it holds. What must not: anything about the
rows inside the batches, and what follows from a log that is not whole (`relatum.store.preflight`).
"""

from __future__ import annotations

import re
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from relatum.store.log_format import Beginning, LogScan, scan_records

_LOG_NAME = re.compile(r"\d+\.log")
_BATCH = Struct("<QI")  # the number of its first row among all rows ever written, the number of its rows
_OPEN_BITS = 24  # the low bytes of a number, three of eight
_SETTLED_BYTES = 5
_ANY_BATCH = Beginning(  # the engine has 56 bits for a number
    re.compile(rb"[\x01\x02](?=.{7}\x00.{3}\x00)", re.DOTALL), _BATCH.size
)


class Batches(NamedTuple):
    """What a log holds: rows from number `first` up to before number `following`; both are None where it holds none."""

    first: int | None
    following: int | None


class _Numbering:
    """Numbers of the batches of one log, as they are met."""

    def __init__(self, log_bytes: int) -> None:
        self._log_bytes = log_bytes
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

    def later(self) -> Beginning:
        """How a batch begins that follows those that were met, whatever was lost between them.

        Each row takes some bytes. So its number is greater than theirs by less than the log has bytes, which settles
        the high bytes of the number; and no batch has 16 million rows, which settles the high byte of their count.
        """
        if self.following is None:
            return _ANY_BATCH
        high = range(self.following >> _OPEN_BITS, (self.following + self._log_bytes >> _OPEN_BITS) + 1)
        numbers = b"|".join(re.escape(value.to_bytes(_SETTLED_BYTES, "little")) for value in high)
        pattern = re.compile(rb"[\x01\x02](?=.{3}(?:%b).{3}\x00)" % numbers, re.DOTALL)
        return Beginning(pattern, _BATCH.size)


def scan_log(log: bytes) -> tuple[LogScan, Batches]:
    """Walk the records of a log up to its end or its first break, and judge what lies behind."""
    numbering = _Numbering(len(log))
    scan = scan_records(log, numbering.accept, beginning_bytes=_BATCH.size, later=numbering.later)
    return scan, Batches(numbering.first, numbering.following)


def logs_in(directory: Path) -> list[Path]:
    """The logs in `directory` that are not empty, in the order in which they were written."""
    logs = (path for path in directory.iterdir() if _LOG_NAME.fullmatch(path.name) and path.stat().st_size)
    return sorted(logs, key=lambda path: (len(path.name), path.name))  # numbers of at least six digits
