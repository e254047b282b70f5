"""The format in which the engine keeps its write-ahead logs and its manifest: records, in fragments, in blocks.

What lives here: `scan_records`, which walks a log up to its end or its first break and judges what lies behind. What
must not: anything about what is in the records.

The format: blocks of 32 KiB filled with fragments, each a header of masked CRC-32C, length and kind before its data. A
fragment never crosses a block; a record is one FULL fragment, or FIRST, MIDDLE ..., LAST. Fewer than seven bytes at the
end of a block are padding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import chain
from struct import Struct
from typing import NamedTuple

from google_crc32c import value as crc32c

BLOCK_BYTES = 32768
HEADER_BYTES = 7

_HEADER = Struct("<IHB")  # checksum, length of the data, kind
_KIND_OFFSET = 6
_UNUSED, _FULL, _FIRST, _MIDDLE, _LAST = range(5)  # kinds
_BEGINNINGS = (_FULL, _FIRST)
_ENDS = (_FULL, _LAST)


class Beginning(NamedTuple):
    """What the first fragment of a record looks like from its kind on, if it has as many bytes as are looked at."""

    pattern: re.Pattern[bytes]
    looked_at_bytes: int


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


class _Fragment(NamedTuple):
    """An intact fragment: its data is `log[start:end]`."""

    kind: int
    start: int
    end: int


def scan_records(
    log: bytes,
    accept: Callable[[bytes], bool],
    *,
    beginning_bytes: int,
    later: Callable[[], Beginning],
) -> LogScan:
    """Walk the records of a log up to its end or its first break, and judge what lies behind.

    `accept` is given each intact record in turn, at most so many bytes of each fragment of it, and says whether it may
    follow the ones before; one that may not is damage. `later` tells, at a break, how any later record would begin.
    """
    intact = reached = 0
    inside = False  # a record: its first fragment has been met, its last one not yet
    record = b""
    for kind, start, end in _fragments(log):
        if kind > _LAST:
            return LogScan(Verdict.FOREIGN, intact)
        if (kind in _BEGINNINGS) is inside:
            break
        record = (record if inside else b"") + log[start : min(end, start + beginning_bytes)]
        inside = kind not in _ENDS
        reached = end
        if inside:
            continue
        if not accept(record):
            return LogScan(Verdict.DAMAGED, intact)
        intact = end
    if _record_begins_from(log, reached, later()):
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


def _record_begins_from(log: bytes, offset: int, later: Beginning) -> bool:
    """Whether an intact fragment at or behind `offset` begins a later record. Lengths can't be trusted: try all.

    Most places are sorted out by a search for what a later record begins with: to compute a checksum at each would take
    minutes where a torn tail is full of bytes that could be kinds. Near the end of a block a first fragment may be too
    short for all of that; there are few such places.
    """
    matches = (match.start() - _KIND_OFFSET for match in later.pattern.finditer(log, offset + _KIND_OFFSET))
    candidates = chain(matches, _cramped_places(log, offset, later.looked_at_bytes))
    return any(_fragment_at(log, place) for place in candidates)


def _cramped_places(log: bytes, offset: int, looked_at_bytes: int) -> Iterator[int]:
    """Where a record may begin in a fragment that has no room for the bytes that are looked at."""
    cramped = HEADER_BYTES + looked_at_bytes - 1
    for block_end in range(offset - offset % BLOCK_BYTES + BLOCK_BYTES, len(log) + BLOCK_BYTES, BLOCK_BYTES):
        for place in range(max(offset, block_end - cramped), block_end - HEADER_BYTES + 1):
            if log[place + _KIND_OFFSET : place + HEADER_BYTES] in (b"\x01", b"\x02"):
                yield place
