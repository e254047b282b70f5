"""Tables read side by side, object by object.

What lives here: `Group`, tables of a partition whose rows belong together because the rest of their keys begins with
one id; `Site`, where a check finds them; and `read_slice`, which takes one object after another. What must not: what
the rows of an object must look like, which is told by `object_rows.py`.

What always holds: all rows of an object are read from one view, so what is changed together is seen together; a row
that no check has accounted for is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from relatum.errors import StorageInconsistency
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader
from relatum.store.verify.audit import Audit
from relatum.store.verify.scan import END, Rows


class Site(NamedTuple):
    """One slice of a group: the partition as one view shows it, and the group's tables from one object on."""

    reader: PartitionReader
    audits: dict[Table, Audit]
    tables: tuple[Rows, ...]

    def find(self, table: Table, message: str) -> None:
        """Something about a table does not hold."""
        self.audits[table].find(message)


Check = Callable[[Site, bytes], None]
"""Judges the rows of one object, by its id, and passes those that it accounts for.

Raises StorageInconsistency where it can't go on.
"""


class Group(NamedTuple):
    """Tables that are read together. The first one names the family of what can't be said of any single row."""

    tables: tuple[Table, ...]
    id_bytes: int
    check: Check


def read_slice(group: Group, reader: PartitionReader, audits: dict[Table, Audit], start: bytes, room: int) -> bytes:
    """Checks objects from `start` on until `room` rows are passed; where the next slice begins, `END` at the end."""
    tables = tuple(Rows(audits[table], reader.reader, start) for table in group.tables)
    site = Site(reader, audits, tables)
    boundary = min([rows.rest for rows in tables])
    while boundary != END and sum([rows.passed for rows in tables]) < room:
        _check(group, site, boundary[: group.id_bytes])
        boundary = min([rows.rest for rows in tables])
        if any(rows.broken for rows in tables):
            _leave(group, audits)
            boundary = END
    for rows in tables:
        if boundary == END and not rows.broken:
            rows.reject_all(END)
        rows.close(boundary)
    return boundary


def _leave(group: Group, audits: dict[Table, Audit]) -> None:
    """Where one table can't be read on, the others of its group have nothing to be compared with."""
    for table in group.tables:
        audits[table].complete = False


def _check(group: Group, site: Site, own: bytes) -> None:
    if len(own) < group.id_bytes:
        for rows in site.tables:
            if rows.rest == own:
                rows.reject()
        return
    try:
        group.check(site, own)
    except StorageInconsistency as error:
        site.find(group.tables[0], f"the rows of {own.hex()}: {error}")
        for rows in site.tables:
            rows.skip(own)
    for rows in site.tables:
        if rows.rest.startswith(own):
            rows.reject_all(own)
