"""Controls: damage done to a store between a kill and the restart, each of which must make a campaign fail.

They stand for what no kill can bring about on a healthy disk, and show that the oracle would see it. Run in a process
of its own, which alone opens the store:

    python -m crash_tests.kills.controls NAME STORE BEFORE

`BEFORE` is a copy of the store from before the round's first command. The exit status is `NO_OCCASION`, and the store
is as it was, where nothing came before the kill that could be damaged in this way.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from relatum.store import rows
from relatum.store.database import ENGINE_NAME
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, Table
from relatum.store.rocks import RocksStore

_BEYOND_ALL = b"\xff" * (PREFIX_BYTES + 1)

NO_OCCASION = 3


class NoOccasion(Exception):
    """There is nothing to damage."""


def rollback(store: Path, before: Path) -> None:
    """Everything since the copy is lost, watermark included: as on a disk that lied about every sync."""
    shutil.rmtree(store)
    before.rename(store)


def empty_log(store: Path, before: Path) -> None:  # noqa: ARG001 - controls are called alike
    """The write-ahead log is emptied, and with it goes what was acknowledged since the last start."""
    log = max(path for path in (store / ENGINE_NAME).glob("*.log") if path.stat().st_size)
    os.truncate(log, 0)


def lose_receipt(store: Path, before: Path) -> None:  # noqa: ARG001
    """A key no longer leads to its receipt."""
    with _rows_of(store, Table.RECEIPT) as (found, change):
        change(found[-1][0], None)


def lose_adjacency(store: Path, before: Path) -> None:  # noqa: ARG001
    """A relation is torn: one of its two index entries is gone."""
    with _rows_of(store, Table.OUTGOING) as (found, change):
        change(found[-1][0], None)


def alter_record(store: Path, before: Path) -> None:  # noqa: ARG001
    """A record's current row is that of another record, under a sound checksum."""
    with _rows_of(store, Table.RECORD, count_min=2) as (found, change):
        key = found[-1][0]
        change(key, rows.seal(key, rows.unseal(*found[0])))


def set_checkpoint_back(store: Path, before: Path) -> None:  # noqa: ARG001
    """A consumer's progress is that of one revision before, as if the last one had never been."""
    with _rows_of(store, Table.CHECKPOINT_REVISION) as (found, change):
        again = [pair for pair in pairwise(reversed(found)) if pair[0][0][:-8] == pair[1][0][:-8]]
        if not again:
            raise NoOccasion
        (lost, _), (kept, row) = again[0]
        current = bytearray(lost[:-8])
        current[PREFIX_BYTES] = Table.CHECKPOINT
        change(lost, None)
        change(bytes(current), rows.seal(bytes(current), rows.unseal(kept, row)))


def lose_journal_entry(store: Path, before: Path) -> None:  # noqa: ARG001
    """A change that was told is no longer in its stream."""
    with _rows_of(store, Table.JOURNAL) as (found, change):
        change(found[-1][0], None)


CONTROLS: dict[str, Callable[[Path, Path], None]] = {
    "rollback": rollback,
    "empty-log": empty_log,
    "lose-receipt": lose_receipt,
    "lose-adjacency": lose_adjacency,
    "alter-record": alter_record,
    "set-checkpoint-back": set_checkpoint_back,
    "lose-journal-entry": lose_journal_entry,
}


@contextmanager
def _rows_of(
    store: Path, table: Table, *, count_min: int = 1
) -> Iterator[tuple[list[tuple[bytes, bytes]], Callable[[bytes, bytes | None], None]]]:
    """The rows of a table in all partitions, and a way to write one back. Raises NoOccasion if there are too few."""
    engine = RocksStore.open(store / ENGINE_NAME, create=False)
    try:
        every = engine.scan(b"", _BEYOND_ALL)
        found = [row for row in every if row[0][PREFIX_BYTES] == table and not row[0].startswith(STORE_PREFIX)]
        if len(found) < count_min:
            raise NoOccasion
        yield found, lambda key, row: engine.write({key: row})
        engine.sync()
    finally:
        engine.close()


if __name__ == "__main__":
    try:
        CONTROLS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
    except NoOccasion:
        sys.exit(NO_OCCASION)
