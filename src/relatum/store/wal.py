"""The write-ahead logs of a store, read before the engine sees them.

What lives here: a scanner of RocksDB's log format, and `repair_logs`, which opening calls first. The engine alone is no
safe judge of its own logs: some bytes in a torn tail make it spin for ever, and others make it refuse a store that
merely lost power. What must not live here: anything about the rows inside the records.

The format: blocks of 32 KiB filled with fragments, each of a masked CRC-32C, a length and a type before its data. A
fragment never crosses a block; a record is one FULL fragment, or FIRST, MIDDLE ..., LAST. Fewer than seven bytes at the
end of a block are padding.

What always holds: no intact record is ever cut off. The store has at most one record that is not yet synced (see
`KeyValue.write`), so what a power cut can tear is the last one. If the beginning of an intact record is found anywhere
behind the break, then what broke had been synced: it is damage, acknowledged data is gone, and opening must refuse.
"""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from google_crc32c import value as crc32c

from relatum.errors import StoreUnavailable
from relatum.store.files import write_durably

BLOCK_BYTES = 32768
HEADER_BYTES = 7

_HEADER = Struct("<IHB")  # checksum, length of the data, type
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_BEGINNINGS = (_FULL, _FIRST)
_ENDS = (_FULL, _LAST)
_BEGINNING_TYPE = re.compile(rb"[\x01\x02]")
_TYPE_OFFSET = 6


class Verdict(Enum):
    """What follows the last intact record of a log. A value completes the sentence "behind it ..."."""

    CLEAN = "nothing follows"
    TORN = "the remains of one record follow"
    DAMAGED = "a damaged record and then intact ones follow"
    FOREIGN = "a record of an unknown type follows, of another version of the engine or with other settings"


class LogScan(NamedTuple):
    """`verdict` on a log whose first `intact_bytes` are whole records."""

    verdict: Verdict
    intact_bytes: int


class TornTail(NamedTuple):
    """Bytes that were cut off the end of the log `log`, and the file that keeps them."""

    log: Path
    kept: Path
    tail_bytes: int


def repair_logs(directory: Path) -> list[TornTail]:
    """Cut the torn tail off the last log in `directory`, if it has one, and keep what was cut in a file beside it.

    Raises `StoreUnavailable`, and changes nothing, if any log is damaged anywhere else.
    """
    logs = sorted(path for path in directory.glob("*.log") if path.stat().st_size)
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
    offset = intact = 0
    inside = False  # between the FIRST and the LAST fragment of a record
    while offset < len(log):
        room = BLOCK_BYTES - offset % BLOCK_BYTES
        if room < HEADER_BYTES:
            offset += room
            continue
        fragment = _fragment_at(log, offset)
        if fragment is None:
            break
        kind, end = fragment
        if kind > _LAST:
            return LogScan(Verdict.FOREIGN, intact)
        if (kind in _BEGINNINGS) is inside:
            break
        offset = end
        inside = kind not in _ENDS
        if not inside:
            intact = offset
    else:
        return LogScan(Verdict.TORN if inside else Verdict.CLEAN, intact)
    return LogScan(Verdict.DAMAGED if _record_begins_from(log, offset) else Verdict.TORN, intact)


def _fragment_at(log: bytes, offset: int) -> tuple[int, int] | None:
    """The type and the end of the fragment at `offset`; None if there is no intact one."""
    if offset + HEADER_BYTES > len(log):
        return None
    checksum, length, kind = _HEADER.unpack_from(log, offset)
    end = offset + HEADER_BYTES + length
    if kind == 0 or end > len(log) or end - offset > BLOCK_BYTES - offset % BLOCK_BYTES:
        return None
    if checksum != _masked(crc32c(log[offset + _TYPE_OFFSET : end])):
        return None
    return kind, end


def _masked(checksum: int) -> int:
    """RocksDB's disguise of a checksum, for data that itself contains checksums."""
    return (((checksum >> 15) | (checksum << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _record_begins_from(log: bytes, offset: int) -> bool:
    """Whether an intact fragment at or behind `offset` begins a record. Lengths there can't be trusted: try all."""
    candidates = _BEGINNING_TYPE.finditer(log, offset + _TYPE_OFFSET)
    return any(_fragment_at(log, match.start() - _TYPE_OFFSET) for match in candidates)


def _cut(path: Path, log: bytes, intact_bytes: int) -> TornTail:
    """Keep the tail first, then cut it off; each step durable before the next."""
    kept = path.with_name(f"{path.name}.torn-at-{intact_bytes}")
    write_durably(kept, log[intact_bytes:])
    with path.open("r+b") as file:
        file.truncate(intact_bytes)
        os.fsync(file.fileno())
    return TornTail(path, kept, len(log) - intact_bytes)
