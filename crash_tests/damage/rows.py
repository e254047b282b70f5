"""Damage to one row, done through the engine, whose own checksums are in order afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from crash_tests.damage.damages import Case, Done
from crash_tests.violation import require
from relatum.store import rows as sealing
from relatum.store.database import ENGINE_NAME
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, StoreTable, Table
from relatum.store.rocks import RocksStore

Changed = dict[bytes, bytes | None]
"""What is left of rows; None is nothing."""
Manner = Callable[[Case, bytes], Changed | None]
"""Damages the row under a key; None where that kind of row can't be damaged so."""

TABLES: Final[tuple[StoreTable | Table, ...]] = (*StoreTable, *Table)
ATTEMPTS = 50


def table_of(key: bytes) -> StoreTable | Table:
    """The table of a row."""
    return (StoreTable if key.startswith(STORE_PREFIX) else Table)(key[PREFIX_BYTES])


def body_of(row: bytes) -> bytes:
    """A row without its checksum."""
    return row[5:]


def removed(case: Case, key: bytes) -> Changed:  # noqa: ARG001 - one of several manners
    """The row is gone."""
    return {key: None}


def torn(case: Case, key: bytes) -> Changed:
    """A bit is another one, and the checksum that of the row before."""
    return {key: _flipped(case.scene.rows[key], case.random)}


def forged(case: Case, key: bytes) -> Changed | None:
    """A bit is another one, and the checksum knows of it: a fault of a program, not of a disk."""
    body = body_of(case.scene.rows[key])
    return {key: sealing.seal(key, _flipped(body, case.random))} if body else None


def swapped(case: Case, key: bytes) -> Changed | None:
    """The row and another one of its table have changed places, checksums and all."""
    other = _another(case, key)
    if other is None:
        return None
    found = case.scene.rows
    return {key: found[other], other: found[key]}


def misplaced(case: Case, key: bytes) -> Changed | None:
    """The row has the content of another one of its table, with a checksum for its own place."""
    other = _another(case, key)
    return None if other is None else {key: sealing.seal(key, body_of(case.scene.rows[other]))}


def old(case: Case, key: bytes) -> Changed | None:
    """The row is as it was at an earlier moment."""
    was = [rows[key] for rows in case.scene.older if key in rows and rows[key] != case.scene.rows[key]]
    return {key: case.random.choice(was)} if was else None


def risen(case: Case, key: bytes) -> Changed | None:
    """A row of the same table that was deleted is there again."""
    gone = {
        other: row
        for rows in case.scene.older
        for other, row in rows.items()
        if other not in case.scene.rows and table_of(other) is table_of(key)
    }
    chosen = case.random.choice(sorted(gone)) if gone else None
    return None if chosen is None else {chosen: gone[chosen]}


def foreign(case: Case, key: bytes) -> Changed | None:
    """A row that was never written stands beside one that was: the same content under the next key."""
    rest = key[PREFIX_BYTES + 1 :]
    if not rest:
        return None
    number = (int.from_bytes(rest, "big") + 1) % 256 ** len(rest)
    beside = key[: PREFIX_BYTES + 1] + number.to_bytes(len(rest), "big")
    if beside in case.scene.rows:
        return None
    return {beside: sealing.seal(beside, body_of(case.scene.rows[key]))}


MANNERS: Final[dict[str, Manner]] = {
    "removed": removed,
    "torn": torn,
    "forged": forged,
    "swapped": swapped,
    "misplaced": misplaced,
    "old": old,
    "risen": risen,
    "foreign": foreign,
}
UNREADABLE = ("removed", "torn", "swapped")
SINGLE = ("format", "position")
"""Tables of one row: it has no other to be swapped with, and none beside it."""
WITHOUT_NEIGHBOURS = ("head", "partition")
"""Tables of one row in each partition: none can stand beside it."""
CHANGED = (
    "position",
    "credential_company",
    "head",
    "record",
    "relation",
    "header",
    "topic",
    "credential",
    "checkpoint",
    "standing",
    "candidate",
    "candidate_end",
    "link",
    "tile",
)
"""Tables whose rows are written again; those of all others are written once."""
DELETED_FROM = (
    "payload",
    "outgoing",
    "incoming",
    "topic",
    "pinned",
    "candidate_status",
    "candidate_pair",
    "source",
)
"""Tables of which rows are deleted."""
WITHOUT_BODIES = ("dependent", "pinned", "candidate_status", "source")
"""Tables whose rows say all that they say by their keys."""
ALIKE = ("promoted",)
"""Tables whose rows all say the same in a scene: each day has as many promotions."""


def kinds() -> Iterator[tuple[str, str]]:
    """Every table with every manner in which its rows can be damaged."""
    for table in TABLES:
        name = table.name.lower()
        impossible = {
            "forged": name in WITHOUT_BODIES,
            "swapped": name in SINGLE + WITHOUT_BODIES + ALIKE,
            "misplaced": name in SINGLE + WITHOUT_BODIES + ALIKE,
            "foreign": name in SINGLE + WITHOUT_NEIGHBOURS,
            "old": name not in CHANGED,
            "risen": name not in DELETED_FROM,
        }
        yield from ((_name(table), manner) for manner in MANNERS if not impossible.get(manner))


def keys_of(case: Case, kind: str) -> list[bytes]:
    """The rows of a table. Raises `Violation` where the scene has none: a kind of damage would be left out."""
    own = [key for key in sorted(case.scene.rows) if _name(table_of(key)) == kind]
    require(bool(own), f"the scene has no {kind}")
    return own


def damage(case: Case, kind: str, manner: str) -> Done:
    """Damages one row of a table."""
    own = keys_of(case, kind)
    for _ in range(ATTEMPTS):
        key = case.random.choice(own)
        changed = MANNERS[manner](case, key)
        if changed is not None and any(case.scene.rows.get(one) != row for one, row in changed.items()):
            break
    else:
        key, manner = case.random.choice(own), "removed"
        changed = removed(case, key)
    _write(case, changed)
    unreadable = frozenset(changed) if manner in UNREADABLE else frozenset()
    return Done(f"the row {key.hex()} {manner}", unreadable, in_rows=True)


def _write(case: Case, changed: Changed) -> None:
    store = RocksStore.open(case.store / ENGINE_NAME, create=False)
    store.write(changed)
    store.sync()
    store.close()


def _name(table: StoreTable | Table) -> str:
    return f"row {table.name.lower()}"


def _another(case: Case, key: bytes) -> bytes | None:
    """A row of the same table with another content: of the same partition and stream if there is one."""
    own, table = body_of(case.scene.rows[key]), table_of(key)
    others = [other for other, row in case.scene.rows.items() if table_of(other) is table and body_of(row) != own]
    near = [other for other in others if other.startswith(key[: PREFIX_BYTES + 2])] or others
    return case.random.choice(near) if near else None


def _flipped(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
