"""The write-ahead logs of a store, read before the engine sees them.

What lives here: a scanner of RocksDB's log format, and `repair_logs`, which opening calls first. The engine alone is no
safe judge of its own logs: some bytes in a torn tail make it spin for ever, and others make it refuse a store that
merely lost power. What must not live here: anything about the rows inside the records.

The format: blocks of 32 KiB filled with fragments, each a header of masked CRC-32C, length and kind before its data. A
fragment never crosses a block; a record is one FULL fragment, or FIRST, MIDDLE ..., LAST. Fewer than seven bytes at the
end of a block are padding. Each record is a batch of rows, and batches are numbered without gaps.

What always holds: no intact record is ever cut off. The store has at most one record that is not yet synced (see
`KeyValue.write`), so what a power cut can tear is the last one. If the beginning of an intact record is found anywhere
behind the break, then what broke had been synced: it is damage, acknowledged data is gone, and opening must refuse.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from google_crc32c import value as crc32c

from relatum.errors import StoreUnavailable
from relatum.store.files import write_durably

BLOCK_BYTES = 32768
HEADER_BYTES = 7

_HEADER = Struct("<IHB")  # checksum, length of the data, kind
_KIND_OFFSET = 6
_UNUSED, _FULL, _FIRST, _MIDDLE, _LAST = range(5)  # kinds
_BEGINNINGS = (_FULL, _FIRST)
_BEGINNING_KIND = re.compile(rb"[\x01\x02]")
_ENDS = (_FULL, _LAST)
_BATCH = Struct("<QI")  # the number of its first row among all rows ever written, the number of its rows


class Verdict(Enum):
    """What follows the last intact record of a log. A value completes the sentence "behind it ..."."""

    CLEAN = "nothing follows"
    TORN = "the remains of one record follow"
    DAMAGED = "intact records follow behind damaged or missing ones"
    FOREIGN = "a record of an unknown kind follows, of another version of the engine or with other settings"


class LogScan(NamedTuple):
    """`verdict` on a log whose first `intact_bytes` are whole records."""

    verdict: Verdict
    intact_bytes: int


class TornTail(NamedTuple):
    """Bytes that were cut off the end of the log `log`, and the file that keeps them."""

    log: Path
    kept: Path
    tail_bytes: int


class _Fragment(NamedTuple):
    """An intact fragment: its data is `log[start:end]`."""

    kind: int
    start: int
    end: int


def repair_logs(directory: Path) -> list[TornTail]:
    """Cut the torn tail off the last log in `directory`, if it has one, and keep what was cut in a file beside it.

    Raises `StoreUnavailable`, and changes nothing, if any log is damaged anywhere else.
    """
    try:
        return _repaired(directory)
    except OSError as error:
        raise StoreUnavailable(f"can't read or repair the write-ahead log in {directory}: {error.strerror}") from error


def _repaired(directory: Path) -> list[TornTail]:
    logs = sorted(
        (path for path in directory.glob("*.log") if path.stat().st_size),
        key=lambda path: (len(path.name), path.name),  # numbers of at least six digits
    )
    torn: list[TornTail] = []
    for path in logs:
        log = path.read_bytes()
        verdict, intact_bytes = scan_log(log)
        if verdict is Verdict.TORN and path == logs[-1]:
            torn.append(_cut(path, log, intact_bytes))
        elif verdict is not Verdict.CLEAN:
            raise StoreUnavailable(
                f"the write-ahead log {path} is intact up to byte {intact_bytes}; {verdict.value}. "
                "Acknowledged data behind that point can't be read. Nothing has been changed; restore a backup"
            )
    return torn


def scan_log(log: bytes) -> LogScan:
    """Walk the records of a log up to its end or its first break, and judge what lies behind."""
    intact = reached = 0
    inside = False  # a record: its first fragment has been met, its last one not yet
    batch = b""  # the beginning of what that record holds
    expected: int | None = None  # the sequence number of the next batch
    for kind, start, end in _fragments(log):
        if kind > _LAST:
            return LogScan(Verdict.FOREIGN, intact)
        if (kind in _BEGINNINGS) is inside:
            break
        batch = (batch if inside else b"") + log[start : min(end, start + _BATCH.size)]
        inside = kind not in _ENDS
        reached = end
        if inside:
            continue
        if len(batch) < _BATCH.size:
            return LogScan(Verdict.DAMAGED, intact)
        sequence, rows = _BATCH.unpack_from(batch)
        if expected is not None and sequence != expected:
            return LogScan(Verdict.DAMAGED, intact)
        expected, intact = sequence + rows, end
    if _record_begins_from(log, reached):
        return LogScan(Verdict.DAMAGED, intact)
    at_rest = not inside and _past_padding(reached) >= len(log)
    return LogScan(Verdict.CLEAN if at_rest else Verdict.TORN, intact)


def _fragments(log: bytes) -> Iterator[_Fragment]:
    """The intact fragments up to the end of the log or to the first bytes that are none."""
    offset = 0
    while fragment := _fragment_at(log, _past_padding(offset)):
        yield fragment
        offset = fragment.end


def _past_padding(offset: int) -> int:
    room = BLOCK_BYTES - offset % BLOCK_BYTES
    return offset + room if room < HEADER_BYTES else offset


def _fragment_at(log: bytes, offset: int) -> _Fragment | None:
    if offset + HEADER_BYTES > len(log):
        return None
    checksum, length, kind = _HEADER.unpack_from(log, offset)
    start = offset + HEADER_BYTES
    end = start + length
    if kind == _UNUSED or end > len(log) or end - offset > BLOCK_BYTES - offset % BLOCK_BYTES:
        return None
    if checksum != _masked(crc32c(log[offset + _KIND_OFFSET : end])):
        return None
    return _Fragment(kind, start, end)


def _masked(checksum: int) -> int:
    """RocksDB's disguise of a checksum, for data that itself contains checksums."""
    return (((checksum >> 15) | (checksum << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _record_begins_from(log: bytes, offset: int) -> bool:
    """Whether an intact fragment at or behind `offset` begins a record. Lengths there can't be trusted: try all."""
    candidates = _BEGINNING_KIND.finditer(log, offset + _KIND_OFFSET)
    return any(_fragment_at(log, match.start() - _KIND_OFFSET) for match in candidates)


def _cut(path: Path, log: bytes, intact_bytes: int) -> TornTail:
    """Keep the tail first, then cut it off; each step durable before the next."""
    kept = path.with_name(f"{path.name}.torn-at-{intact_bytes}")
    write_durably(kept, log[intact_bytes:])
    with path.open("r+b") as file:
        file.truncate(intact_bytes)
        os.fsync(file.fileno())
    return TornTail(path, kept, len(log) - intact_bytes)
