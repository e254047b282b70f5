"""A table of what is current, walked beside the table of its revisions.

What lives here: `walk`. A scan for whatever there is can't miss what is not there; beside the revisions it does. What
must not: anything about what is in the rows.

What always holds: whoever has come to some id was given every row before it that has a revision, and each row was, to
the byte, its newest revision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import beyond
from relatum.store.kv import Reader

_REVISION_BYTES: Final = 8

Row = tuple[bytes, bytes]
"""An id and a body."""


def walk(reader: Reader, current: bytes, revisions: bytes, after: bytes | None, *, reverse: bool) -> Iterator[Row]:
    """The rows of the table under the prefix `current`, each as its id and its checked body.

    In the order of their ids, strictly after (or before) `after`. `revisions` is the prefix of the other table, whose
    keys go on with a revision behind the id.
    """
    newest = _newest(reader, revisions, after, reverse)
    for key, row in _scan(reader, current, after, reverse):
        found = key[len(current) :], rows.unseal(key, row)
        if found != next(newest, None):
            raise StorageInconsistency("a current row is not the newest revision, or one is missing")
        yield found
    if next(newest, None) is not None:
        raise StorageInconsistency("a current row is missing")


def _newest(reader: Reader, revisions: bytes, after: bytes | None, reverse: bool) -> Iterator[Row]:
    """The newest revision of each id. Its checksum does not matter, since it must equal a row whose checksum does."""
    size = len(revisions)
    one, newest = b"", b""
    for key, row in _scan(reader, revisions, after, reverse):
        other = key[size:-_REVISION_BYTES]
        if other != one:
            if one:
                yield one, rows.body_of(newest)
            one, newest = other, row
        elif not reverse:
            newest = row
    if one:
        yield one, rows.body_of(newest)


def _scan(reader: Reader, prefix: bytes, after: bytes | None, reverse: bool) -> Iterator[Row]:
    start, stop = prefix, beyond(prefix)
    if after is not None and reverse:
        stop = prefix + after
    elif after is not None:
        start = prefix + after + b"\xff" * (_REVISION_BYTES + 1)
    return reader.scan(start, stop, reverse=reverse)
