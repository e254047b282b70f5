"""The seam between relatum and its storage engine: ordered bytes to bytes, in three roles.

What lives here: the protocols, and nothing that runs. `RocksStore` and `MemoryStore` implement `KeyValue`, their views
implement `View`, and `Overlay` is a `Reader` over any of them. One conformance suite holds them all to this page.

What must not live here: keys, rows, or anything that knows what the bytes mean.

What always holds:

* keys are ordered as unsigned bytes, a shorter key before its extensions;
* a write is atomic, and lasting once `sync` has returned;
* nobody but the writer sees a row before it has been synced and published;
* every error leaves as `StorageFailure` (disk, engine, misuse of something closed) or `StorageInconsistency`
  (the engine met damaged bytes), never as an exception of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Protocol, Self


class Reader(Protocol):
    """Anything rows can be read from."""

    def get(self, key: bytes) -> bytes | None:
        """The value stored under `key`, or None."""
        ...

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        """Rows with `start <= key < stop`, ascending, or descending if `reverse`. An empty range yields nothing.

        Rows are fetched as they are asked for, so a scan may be left early, and several may run at once on one reader.
        """
        ...


class View(Reader, Protocol):
    """Everything as it was at one publication, whatever is written meanwhile.

    A view is a context manager, and is closed by whoever took it: an open view keeps superseded rows on disk and keeps
    the store from closing. It may be taken in one thread and used in another. After `close` it raises `StorageFailure`.
    """

    @property
    def position(self) -> object:
        """What `publish` was given; None if nothing has been published since the store was opened."""
        ...

    def close(self) -> None:
        """Give the view back. Closing twice is allowed."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class KeyValue(Reader, Protocol):
    """The live store. One thread, the writer, may use it; any other thread may only call `view`.

    The order is `write`, `sync`, `publish`, and then the answer to whoever asked for the write. After a write or sync
    that failed, the outcome on disk is unknown: all later writes, syncs and publications raise `StorageFailure`, views
    keep working, and reopening the store decides what was kept.

    `get` and `scan` see everything written, published or not. A scan must be finished before the next write.
    """

    def write(self, rows: Mapping[bytes, bytes | None]) -> None:
        """Put every row, and delete those whose value is None, all or nothing. Not yet durable.

        At most one batch is ever in doubt: if the previous one has not been synced, it is synced first. Opening relies
        on it to tell the torn end of a log from damage (see `relatum.store.preflight`).
        """
        ...

    def sync(self) -> None:
        """Return once everything written would survive a power cut. Other threads run while the disk is waited for."""
        ...

    def publish(self, position: object = None) -> None:
        """Let views taken from now on see everything written. `position` is handed to each of them.

        Raises RuntimeError if something written has not been synced: a reader must never see what a power cut could
        take back.
        """
        ...

    def view(self) -> View:
        """A view of the last publication; of what was found on disk, if there has been none. For any thread."""
        ...

    def close(self, *, wait_seconds: float = 10.0) -> None:
        """Refuse new views, wait for the open ones to be closed, and let go of the directory.

        Raises `StorageFailure` if views are still open after `wait_seconds`; the store then stays open for them and
        may be closed again later. Closing twice is allowed.
        """
        ...
