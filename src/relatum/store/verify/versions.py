"""Anything that has revisions: they run from 1 without a gap, and the last one is what is current."""

from __future__ import annotations

from typing import Final

from relatum.store.keys import Table
from relatum.store.verify.merge_scan import Site

REVISION_BYTES: Final = 8


def check_versions(site: Site, own: bytes, table: Table, by_revision: Table) -> None:
    """The rows of an object that consists of nothing else."""
    current, revisions = site.tables
    found = current.take(own)
    number, newest = 0, None
    while revisions.rest.startswith(own):
        number = revision_of(site, by_revision, own, number + 1, revisions.rest)
        newest = revisions.body
        revisions.next()
    check_current(site, table, own, found, newest)


def revision_of(site: Site, by_revision: Table, own: bytes, expected: int, rest: bytes) -> int:
    """The revision of a row, which must be the expected one."""
    if rest != own + expected.to_bytes(REVISION_BYTES, "big"):
        site.find(by_revision, f"revision {expected} of {own.hex()} is missing")
    return int.from_bytes(rest[-REVISION_BYTES:], "big")


def check_current(site: Site, table: Table, own: bytes, current: bytes | None, newest: bytes | None) -> None:
    """The current row is that of the newest revision, byte for byte."""
    if current != newest:
        site.find(table, f"the current row of {own.hex()} is not its newest revision")
