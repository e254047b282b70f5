"""A SQLite file that is known to be as it was left: for what lies beside the engine's files, no part of the ledger.

SQLite notices little of what happens to a file at rest. So a *seal* beside the file has a digest of all its bytes.
While the file is in use every change goes into the log beside it (`-wal`), whose frames SQLite checks itself, and none
into the file; so the seal stays right, after a kill too. Now and then, and at the end, the log is *folded* into the
file, which is sealed anew. A log that is damaged loses its end: the seal tells, if it was told of the changes in it.

Not here: what is in the file, and what to do where it is not as it was left.

Always holds: a file that is opened has the bytes it was sealed with. One that was being folded when its process ended
has no seal, and is checked by SQLite alone.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

from relatum.errors import Failure
from relatum.store.watermark import NOTHING_ANSWERED, WatermarkFile, make_watermark

BESIDE: Final = ("-wal", "-shm", "-journal", "-seal")
"""What lies beside the file, by the end of its name."""

FOLDED_BYTES_MIN: Final = 16 * 1024 * 1024
FOLDED_SHARE: Final = 4
"""A log is folded once it has this size, and a quarter of the file's: so what is hashed keeps to what is written."""

_DIGEST_BYTES: Final = 24
_UNSEALED: Final = bytes(_DIGEST_BYTES)
_SEAL: Final = Struct(f"<{_DIGEST_BYTES}sQ")


class _Seal(NamedTuple):
    """The digest of a file, or that there is none; and how many changes were told."""

    digest: bytes
    changes: int


class SealedDatabase:
    """An open SQLite database. Not thread-safe.

    `connection` is another one after each `fold`. Raises sqlite3.Error and OSError, as all of its methods may.
    """

    def __init__(self, path: Path | None, *pragmas: str) -> None:
        """Opens the file at `path`, or makes it; one in memory where there is no path. `pragmas` are of connections."""
        self._path = path
        self._pragmas = pragmas
        self.changes = 0
        """How many changes the seal was told of: the file must have as many."""
        if path is not None:
            self._require_sealed(path)
        self._connect()

    def fold_if_grown(self) -> None:
        """Folds the log if it is large enough. Call it outside of transactions."""
        if self._path is None:
            return
        log = _size(_beside(self._path, "-wal"))
        if log >= FOLDED_BYTES_MIN and log * FOLDED_SHARE >= _size(self._path):
            self.fold()

    def fold(self) -> None:
        """Brings everything from the log into the file, and seals it. Call it outside of transactions."""
        if self._path is not None:
            try:
                self.close()
            finally:
                self._connect()

    def tell(self, changes: int) -> None:
        """Durably keeps how many changes were committed: a file that has fewer is not opened."""
        self.changes = changes
        if self._path is not None:
            _put(self._path, _read(self._path)._replace(changes=changes))

    def close(self) -> None:
        """Folds and seals, and lets go of the file. Closing twice is allowed."""
        self._end()

    def _connect(self) -> None:
        name = ":memory:" if self._path is None else str(self._path)
        self.connection = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
        # A connection that nobody closes folds the log when it is collected, and seals nothing: so somebody does.
        self._end = weakref.finalize(self, _let_go, self._path, self.connection)
        try:
            for pragma in ("journal_mode = WAL", "wal_autocheckpoint = 0", *self._pragmas):
                self.connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            self._end.detach()
            self.connection.close()
            raise

    def _require_sealed(self, path: Path) -> None:
        """Raises sqlite3.DatabaseError unless the file is as it was left. Where there is none, its seal is made."""
        if not path.exists():
            remove(path)
            make_watermark(_beside(path, "-seal"), NOTHING_ANSWERED)  # which seals nothing yet
            return
        digest, self.changes = _read(path)
        if digest == _UNSEALED:
            _require_sound(path)
        elif digest != _digest(path):
            raise sqlite3.DatabaseError("the file is not as it was left")


def remove(path: Path) -> None:
    """Removes a file and what lies beside it. Raises OSError."""
    for end in ("", *BESIDE):
        _beside(path, end).unlink(missing_ok=True)


def _let_go(path: Path | None, connection: sqlite3.Connection) -> None:
    """Closes a connection; the file is sealed anew unless nothing has changed.

    IMPORTANT: the file is not read before the connection is closed, or the system drops SQLite's locks on it.
    """
    try:
        folded = path is not None and _folded(path, connection)
    finally:
        connection.close()
    if path is not None and folded:
        _put(path, _read(path)._replace(digest=_digest(path)))


def _folded(path: Path, connection: sqlite3.Connection) -> bool:
    """Folds the log, if there is anything in it, into a file that is not sealed; whether it must be sealed now."""
    seal = _read(path)
    if seal.digest != _UNSEALED:
        if not _size(_beside(path, "-wal")):
            return False
        _put(path, seal._replace(digest=_UNSEALED))
    connection.rollback()
    [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if busy:
        raise sqlite3.OperationalError("somebody else reads the file")
    return True


def _require_sound(path: Path) -> None:
    connection = sqlite3.connect(str(path), isolation_level=None)
    try:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise sqlite3.DatabaseError("the file is damaged")
    finally:
        connection.close()


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: blake2b(digest_size=_DIGEST_BYTES)).digest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


# The seal: a file like the watermark, whose position counts how often it was written


def _read(path: Path) -> _Seal:
    with _seal_of(path) as seal:
        return _Seal(*_SEAL.unpack(seal.read().head))


def _put(path: Path, told: _Seal) -> None:
    with _seal_of(path) as seal:
        seal.write(seal.read().position + 1, _SEAL.pack(*told))


@contextmanager
def _seal_of(path: Path) -> Iterator[WatermarkFile]:
    seal = WatermarkFile(os.open(_beside(path, "-seal"), os.O_RDWR | os.O_CLOEXEC))
    try:
        yield seal
    except Failure as failure:
        raise sqlite3.DatabaseError("the seal of the file is damaged, or can't be written") from failure
    finally:
        seal.close()
