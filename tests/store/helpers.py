"""Small steps that the suites of the store share."""

from __future__ import annotations

from collections.abc import Mapping

from relatum.store.kv import KeyValue, Reader

EVERYTHING = (b"", b"\xff" * 16)


def commit(store: KeyValue, rows: Mapping[bytes, bytes | None], position: object = None) -> None:
    """One group as the writer commits it."""
    store.write(rows)
    store.sync()
    store.publish(position)


def rows_of(reader: Reader) -> dict[bytes, bytes]:
    """Every row, provided that no key is as great as sixteen 0xff."""
    return dict(reader.scan(*EVERYTHING))
