"""The store's position, which counts the events of all partitions, against their heads at one moment.

What lives here: `check_position`, which looks at each place of the store once and so also finds the rows that lie
beside all of them. The digest of the history can't be derived, because it depends on how commands were grouped; it is
compared with the watermark (`directory.py`).
"""

from __future__ import annotations

from relatum.core.events import Head
from relatum.errors import StorageInconsistency
from relatum.store import keys, rows
from relatum.store.database import START
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, Table
from relatum.store.kv import Reader
from relatum.store.verify.expected_rows import UNKNOWN
from relatum.store.verify.findings import Findings
from relatum.store.verify.prefixes import places, uncovered
from relatum.store.view import store_body


def read_position(view: Reader) -> rows.Position | None:
    """The position; None where it can't be read, which is told elsewhere."""
    try:
        body = store_body(view, keys.POSITION)
        return START if body is None else rows.POSITION.decode(body)
    except StorageInconsistency:
        return None


def check_position(view: Reader, findings: Findings) -> None:
    """The position is the sum of all heads, and every row lies in some table."""
    try:
        _check_position(view, findings)
    except StorageInconsistency as error:
        findings.add("position", f"what the store is made of can't be counted: {error}")


def _check_position(view: Reader, findings: Findings) -> None:
    events = at_millis = 0
    whole = True
    for place in places(view):
        if len(place) < PREFIX_BYTES:
            findings.add(UNKNOWN, f"the row {place.hex()} lies in no table")
        elif place != STORE_PREFIX:
            head = _head_under(view, place)
            whole = whole and head is not None
            if head is not None:
                events, at_millis = events + head.sequence, max(at_millis, head.committed_at_millis)
    for key in uncovered(view):
        findings.add(UNKNOWN, f"the row {key.hex()} lies in no table")
    if view.get(keys.FORMAT) is None:
        findings.add("format", "the row that tells the format is missing")
    position = read_position(view)
    if position is None or not whole:
        return
    if position.position != events:
        findings.add("position", f"the store is at position {position.position} after {events} events")
    elif position.committed_at_millis != at_millis:
        findings.add("position", "the store's last commit time is not that of its last event")


def _head_under(view: Reader, prefix: bytes) -> Head | None:
    """The head under a prefix; None where it can't be read, which is told elsewhere."""
    try:
        body = store_body(view, prefix + bytes([Table.HEAD]))
        return None if body is None else rows.HEAD.decode(body)
    except StorageInconsistency:
        return None
