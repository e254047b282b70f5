"""A SQLite file that is known to be as it was left: for what lies beside the engine's files, no part of the ledger.

SQLite notices little of what happens to a file at rest. So a *seal* beside the file has a digest of all its bytes.
While the file is in use every change goes into the log beside it (`-wal`), whose frames SQLite checks itself, and none
into the file; so the seal stays right, after a kill too. Now and then, and at the end, the log is *folded* into the
file, which is sealed anew. A log that is damaged loses its end: the seal tells, if it was told of the changes in it.

Not here: what is in the file, and what to do where it is not as it was left.

Always holds: a file that is opened has the bytes it was sealed with. One that was being folded when its process ended,
or that could not be sealed afterwards, has no seal; it is checked by SQLite alone, and sealed when it is next opened.
Nothing is folded before the seal durably says that it seals nothing: if that can't be written, the log stays.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import weakref
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

from relatum.errors import Failure, StorageInconsistency
from relatum.store.files import sync_directory
from relatum.store.watermark import NOTHING_ANSWERED, WatermarkFile, make_watermark

BESIDE: Final = ("-wal", "-shm", "-journal", "-seal")
"""What lies beside the file, by the end of its name."""

FOLDED_BYTES_MIN: Final = 16 * 1024 * 1024
FOLDED_SHARE: Final = 4
"""A log is folded once it has this size, and a quarter of the file's: so what is hashed keeps to what is written."""

_DIGEST_BYTES: Final = 24
_UNSEALED: Final = bytes(_DIGEST_BYTES)
_SEAL: Final = Struct(f"<{_DIGEST_BYTES}sQ")


class _Told(NamedTuple):
    """What a seal says: the digest of a file, or that there is none; and how many changes were told."""

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
        self._seal: _Seal | None = None
        self.changes = 0
        """How many changes the seal was told of: the file must have as many."""
        unsealed = path is not None and self._is_unsealed(path)
        self._connect()
        if unsealed:
            self.fold()  # or it would stay unsealed through any number of kills

    def fold_if_grown(self) -> None:
        """Folds the log if it is large enough. Call it outside of transactions."""
        if self._path is None:
            return
        log = _size(_beside(self._path, "-wal"))
        if log >= FOLDED_BYTES_MIN and log * FOLDED_SHARE >= _size(self._path):
            self.fold()

    def fold(self) -> None:
        """Brings everything from the log into the file, and seals it. Call it outside of transactions.

        After an error the database is closed, and the file can be opened anew: see `close`.
        """
        if self._path is not None:
            self.close()
            self._connect()

    def tell(self, changes: int) -> None:
        """Durably keeps how many changes were committed: a file that has fewer is not opened."""
        self.changes = changes
        if self._seal is not None:
            self._seal.write(self._seal.read()._replace(changes=changes))

    def close(self) -> None:
        """Folds and seals, and lets go of the file. Closing twice is allowed.

        After an error the file is let go of too, and nothing is lost. If the seal could not be written before the log
        was folded, the file is as it was sealed, with its log beside it; if anything failed later, it has no seal.
        """
        self._end()

    def _connect(self) -> None:
        let_go: Callable[[], None]
        # After an error closed in the opposite order: the guard outlives the connection, so nothing is folded.
        with ExitStack() as opened:
            if self._path is None:
                self.connection = opened.enter_context(closing(_connection(":memory:")))
                let_go = self.connection.close
            else:
                self._seal = opened.enter_context(closing(_Seal(self._path)))
                guard = opened.enter_context(closing(_guard(self._path)))
                self.connection = opened.enter_context(closing(_connection(str(self._path))))
                let_go = partial(_let_go, self._path, self._seal, guard, self.connection)
            for pragma in ("journal_mode = WAL", "wal_autocheckpoint = 0", *self._pragmas):
                self.connection.execute(f"PRAGMA {pragma}")
            opened.pop_all()
        # A connection that nobody closes is closed when it is collected, and nothing is sealed: so somebody does.
        self._end = weakref.finalize(self, let_go)

    def _is_unsealed(self, path: Path) -> bool:
        """Whether there is a file that nobody sealed. Raises sqlite3.DatabaseError unless it is as it was left.

        Where there is no file, an empty one is made, whose seal seals nothing yet.
        """
        if not path.exists():
            remove(path)
            make_watermark(_beside(path, "-seal"), NOTHING_ANSWERED)
            path.touch(mode=0o600)  # SQLite gives what it makes beside it the same mode
            return False  # nothing is in it that is worth a seal
        with closing(_Seal(path)) as seal:
            told = seal.read()
            self.changes = told.changes
            if told.digest == _UNSEALED:
                seal.write(told)  # once more, since the disk may not have it: the check folds
                _require_sound(path)
            elif told.digest != _digest(path):
                raise sqlite3.DatabaseError("the file is not as it was left")
        return told.digest == _UNSEALED


def remove(path: Path) -> None:
    """Durably removes what there is of a file and of what lies beside it. Raises OSError."""
    removed = False
    for end in ("", *BESIDE):
        with suppress(FileNotFoundError):
            _beside(path, end).unlink()
            removed = True
    if removed:
        sync_directory(path.parent)  # or a power cut could bring back what was purged


def _let_go(path: Path, seal: _Seal, guard: sqlite3.Connection, connection: sqlite3.Connection) -> None:
    """Closes a database; the file is sealed anew unless nothing has changed.

    IMPORTANT: the file is not read before the connections are closed, or the system drops SQLite's locks on it.
    """
    with closing(seal):
        with closing(guard), closing(connection):  # after an error in the opposite order: then nothing is folded
            folded = _folded(path, seal, connection)
            guard.close()  # there is nothing left to fold: the connection removes the log
        if folded:
            seal.write(seal.read()._replace(digest=_digest(path)))


def _folded(path: Path, seal: _Seal, connection: sqlite3.Connection) -> bool:
    """Folds the log, if there is anything in it, into a file that is not sealed; whether it must be sealed now."""
    told = seal.read()
    if told.digest != _UNSEALED:
        if not _size(_beside(path, "-wal")):
            return False
        seal.write(told._replace(digest=_UNSEALED))
    connection.rollback()
    [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if busy:
        raise sqlite3.OperationalError("somebody else reads the file")
    return True


def _connection(name: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(name, uri=uri, check_same_thread=False, isolation_level=None)


def _guard(path: Path) -> sqlite3.Connection:
    """A second connection, that can't write: while it is open, SQLite does not fold the log as the other is closed."""
    guard = _connection(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        guard.execute("PRAGMA user_version").fetchall()  # before something is read, it has not opened the log
    except sqlite3.Error:
        guard.close()
        raise
    return guard


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


class _Seal:
    """The seal of a file: one like the watermark, whose position counts how often it was written.

    It stays open as long as the database, so that writing it needs no descriptor that the process may not get.
    """

    def __init__(self, path: Path) -> None:
        """Opens the seal of the file at `path`. Raises OSError."""
        self._file = WatermarkFile(os.open(_beside(path, "-seal"), os.O_RDWR | os.O_CLOEXEC))

    def read(self) -> _Told:
        """What it says. Raises sqlite3.DatabaseError where it is damaged."""
        try:
            return _Told(*_SEAL.unpack(self._file.read().head))
        except StorageInconsistency as failure:
            raise sqlite3.DatabaseError("the seal of the file is damaged") from failure

    def write(self, told: _Told) -> None:
        """Says something else, durably. Raises sqlite3.OperationalError if the disk fails, now or ever before."""
        try:
            self._file.write(self._file.read().position + 1, _SEAL.pack(*told))
        except Failure as failure:
            raise sqlite3.OperationalError("the seal of the file can't be written") from failure

    def close(self) -> None:
        """Lets go of it. Closing twice is allowed."""
        self._file.close()
