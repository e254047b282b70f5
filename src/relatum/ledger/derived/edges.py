"""Mined edges of all partitions: replaced a run at a time, dropped at will, walked in both directions by an index.

Always holds: within a cut readers see the edges of one finished run or those of another, never parts of two; the pages
of a run that is not finished are seen by nobody. A finished run is durable. The last page of a run, sent again after a
lost answer, does not put itself in the place of the pages before it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any

from relatum.core.ids import uuid_bytes, uuid_text
from relatum.core.kinds import REGISTRY
from relatum.core.mined import MinedEdge
from relatum.core.promotions import MiningRun
from relatum.errors import MinedEdgesUnavailable
from relatum.limits import DERIVED_EDGES_MAX
from relatum.store.sealed_sqlite import SealedDatabase

FILE_NAME = "derived.sqlite"
VERSION = 2
STAGED_RUNS_MAX = 4
"""How many unfinished runs of a partition are kept; the oldest gives way."""

_SCHEMA = f"""
BEGIN;
CREATE TABLE run (workspace BLOB PRIMARY KEY, id TEXT NOT NULL, date TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE edge (
    workspace BLOB NOT NULL, source BLOB NOT NULL, kind TEXT NOT NULL, target BLOB NOT NULL, weight REAL NOT NULL,
    PRIMARY KEY (workspace, source, kind, target)
) WITHOUT ROWID;
CREATE INDEX edge_by_target ON edge (workspace, target, kind, source, weight);
CREATE TABLE staged_run (number INTEGER PRIMARY KEY, workspace BLOB NOT NULL, id TEXT NOT NULL, date TEXT NOT NULL);
CREATE TABLE staged (
    run INTEGER NOT NULL, source BLOB NOT NULL, kind TEXT NOT NULL, target BLOB NOT NULL, weight REAL NOT NULL,
    PRIMARY KEY (run, source, kind, target)
) WITHOUT ROWID;
CREATE TABLE last_page (workspace BLOB PRIMARY KEY, digest BLOB NOT NULL, edges INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE change (number INTEGER NOT NULL);
INSERT INTO change VALUES (0);
PRAGMA user_version = {VERSION};
COMMIT;
"""  # noqa: S608 - nothing in it is given

_Version = tuple[int, int, int]
"""The inode of a file, when it was modified (in nanoseconds), and its size."""


class DerivedEdges:
    """The mined edges of one store. Any thread may use it; one at a time does."""

    def __init__(self, path: Path | None) -> None:
        """Those of the file at `path`, which is opened or made when somebody asks; in memory where there is no path.

        Whoever asks gets MinedEdgesUnavailable where the file is damaged or of another version: it can be deleted, and
        mined again. Nothing else of the store is the worse for it.
        """
        self._path = path
        self._using = RLock()
        self._opened: SealedDatabase | None = None
        self._refused: _Version | None = None
        self._closed = False

    def close(self, timeout_seconds: float = -1) -> bool:
        """Seals the file and lets go of it once nobody uses it; whether that came about in time.

        What can't be sealed now is sealed when it is next opened.
        """
        if not self._using.acquire(timeout=timeout_seconds):
            return False
        try:
            self._closed = True
            self._let_go()
        finally:
            self._using.release()
        return True

    def _let_go(self) -> None:
        file, self._opened = self._opened, None
        if file is not None:
            with suppress(sqlite3.Error, OSError):
                file.close()

    @property
    def _file(self) -> SealedDatabase:
        with self._using:
            if self._closed:
                raise MinedEdgesUnavailable("the mined edges are closed")
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _open(self) -> SealedDatabase:
        """Opens the file. One that was refused for what is in it is not read through again until it is another one."""
        version = _version(self._path)  # taken before, so that a file put there meanwhile is not taken for this one
        try:
            if version is not None and version == self._refused:
                raise sqlite3.DatabaseError("the file was refused, and has not changed since")
            return _opened(self._path)
        except (sqlite3.Error, OSError) as error:
            # What the system has no room for now, or can't read now, may go well the next time.
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                self._refused = version
            raise MinedEdgesUnavailable(
                f"the mined edges in {self._path} can't be read; delete the file and mine again"
            ) from error

    @property
    def _database(self) -> sqlite3.Connection:
        return self._file.connection

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Within this context the edges stay as they are: whoever would change them waits."""
        with self._using:
            yield

    def replace(self, workspace_id: str, run: MiningRun, edges: Sequence[MinedEdge], *, finish: bool) -> int | None:
        """Adds a page to a run; with `finish` the run takes the place of what was there. The run's edges so far.

        An edge that a run names twice is one edge, with the weight that was named last. None, and the page is not
        added, where the run would have more than 500,000 edges. The page that finished a run of several pages changes
        nothing when it comes again, and is answered as before.
        """
        workspace, page = bytes.fromhex(workspace_id), _page_digest(run, edges) if finish else None
        try:
            with self._writing() as database:
                known = self._staged_run(workspace, run)
                finished = self._finished_by(workspace, page) if known is None else None
                if finished is not None:
                    return finished
                number = self._stage(workspace, run) if known is None else known
                database.executemany(
                    "INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?, ?)",
                    [(number, uuid_bytes(e.source_id), e.kind, uuid_bytes(e.target_id), e.weight) for e in edges],
                )
                count = self._counted(number)
                if page is not None:
                    self._finish(workspace, run, number)
                    self._remember(workspace, None if known is None else page, count)
                return count
        except _TooManyEdges:
            return None

    def drop(self, workspace_id: str) -> int:
        """Removes all mined edges of a partition, unfinished runs too; how many edges there were."""
        workspace = bytes.fromhex(workspace_id)
        with self._writing() as database:
            dropped = database.execute("DELETE FROM edge WHERE workspace = ?", (workspace,)).rowcount
            database.execute("DELETE FROM run WHERE workspace = ?", (workspace,))
            self._remember(workspace, None, 0)
            for (number,) in database.execute(
                "SELECT number FROM staged_run WHERE workspace = ?", (workspace,)
            ).fetchall():
                self._forget(number)
            return dropped

    def outgoing(self, workspace_id: str, record_id: str, limit: int) -> list[MinedEdge]:
        """At most `limit` edges that begin at a record, by kind and target."""
        return self._read(
            "SELECT source, kind, target, weight FROM edge WHERE workspace = ? AND source = ?"
            " ORDER BY kind, target LIMIT ?",
            (bytes.fromhex(workspace_id), uuid_bytes(record_id), limit),
        )

    def incoming(self, workspace_id: str, record_id: str, limit: int) -> list[MinedEdge]:
        """At most `limit` edges that end at a record, by kind and source."""
        return self._read(
            "SELECT source, kind, target, weight FROM edge WHERE workspace = ? AND target = ?"
            " ORDER BY kind, source LIMIT ?",
            (bytes.fromhex(workspace_id), uuid_bytes(record_id), limit),
        )

    def all(self, workspace_id: str, after: MinedEdge | None = None, limit: int = 1_000) -> list[MinedEdge]:
        """At most `limit` edges of a partition in the order of source, kind, target, strictly after `after`."""
        workspace = bytes.fromhex(workspace_id)
        last = (
            (b"", "", b"") if after is None else (uuid_bytes(after.source_id), after.kind, uuid_bytes(after.target_id))
        )
        return self._read(
            "SELECT source, kind, target, weight FROM edge WHERE workspace = ? AND (source, kind, target) > (?, ?, ?)"
            " ORDER BY source, kind, target LIMIT ?",
            (workspace, *last, limit),
        )

    def count(self, workspace_id: str) -> int:
        """How many edges a partition has."""
        query = "SELECT count(*) FROM edge WHERE workspace = ?"
        return int(self._rows(query, (bytes.fromhex(workspace_id),))[0][0])

    def change(self, workspace_id: str, changes: Sequence[tuple[MinedEdge, MinedEdge | None]]) -> None:
        """Puts one edge in the place of another that is still there, or nothing in its place; all of them at once."""
        workspace = bytes.fromhex(workspace_id)
        with self._writing() as database:
            for old, new in changes:
                gone = database.execute(
                    "DELETE FROM edge WHERE workspace = ? AND source = ? AND kind = ? AND target = ?",
                    (workspace, uuid_bytes(old.source_id), old.kind, uuid_bytes(old.target_id)),
                ).rowcount
                if new is not None and gone:
                    database.execute(
                        "INSERT OR IGNORE INTO edge VALUES (?, ?, ?, ?, ?)",
                        (workspace, uuid_bytes(new.source_id), new.kind, uuid_bytes(new.target_id), new.weight),
                    )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Exclusive use of the database: everything in the block happens together, or nothing of it."""
        with self._using:
            file = self._file
            try:
                file.connection.execute("BEGIN IMMEDIATE")
                try:
                    yield file.connection
                except BaseException:
                    file.connection.execute("ROLLBACK")
                    raise
                self._commit(file)
            except (sqlite3.Error, OSError) as error:
                raise MinedEdgesUnavailable("the mined edges can't be changed") from error

    def _commit(self, file: SealedDatabase) -> None:
        """After an error the file is let go of, so that whoever comes next opens it anew."""
        execute = file.connection.execute
        try:
            [(number,)] = execute("UPDATE change SET number = number + 1 RETURNING number").fetchall()
            execute("COMMIT")
            file.tell(number)
            file.fold_if_grown()
        except BaseException:
            self._let_go()
            raise

    def _read(self, query: str, values: tuple[object, ...]) -> list[MinedEdge]:
        return list(_edges(self._rows(query, values)))

    def _rows(self, query: str, values: tuple[object, ...]) -> list[Any]:
        with self._using:
            try:
                return self._database.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise MinedEdgesUnavailable("the mined edges can't be read") from error

    def _staged_run(self, workspace: bytes, run: MiningRun) -> int | None:
        """The number of an unfinished run that has pages already."""
        found = self._database.execute(
            "SELECT number FROM staged_run WHERE (workspace, id, date) = (?, ?, ?)",
            (workspace, run.run_id, run.run_date),
        ).fetchone()
        return None if found is None else int(found[0])

    def _stage(self, workspace: bytes, run: MiningRun) -> int:
        """The number of a run that begins."""
        execute = self._database.execute
        known = execute("SELECT number FROM staged_run WHERE workspace = ? ORDER BY number", (workspace,)).fetchall()
        for (number,) in known[: max(0, len(known) - STAGED_RUNS_MAX + 1)]:
            self._forget(number)
        made = execute("INSERT INTO staged_run VALUES (NULL, ?, ?, ?)", (workspace, run.run_id, run.run_date)).lastrowid
        assert made is not None
        return made

    def _finished_by(self, workspace: bytes, page: bytes | None) -> int | None:
        """How many edges the run had that this very page finished last; None where it did not."""
        found = self._database.execute(
            "SELECT edges FROM last_page WHERE (workspace, digest) = (?, ?)", (workspace, page)
        ).fetchone()
        return None if found is None else int(found[0])

    def _remember(self, workspace: bytes, page: bytes | None, edges: int) -> None:
        """Which page finished a run of several pages: of one page nothing need be known, it can be taken in again."""
        self._database.execute("DELETE FROM last_page WHERE workspace = ?", (workspace,))
        if page is not None:
            self._database.execute("INSERT INTO last_page VALUES (?, ?, ?)", (workspace, page, edges))

    def _counted(self, number: int) -> int:
        [(count,)] = self._database.execute("SELECT count(*) FROM staged WHERE run = ?", (number,)).fetchall()
        if count > DERIVED_EDGES_MAX:
            raise _TooManyEdges
        return int(count)

    def _finish(self, workspace: bytes, run: MiningRun, number: int) -> None:
        execute = self._database.execute
        execute("DELETE FROM edge WHERE workspace = ?", (workspace,))
        execute(
            "INSERT INTO edge SELECT ?, source, kind, target, weight FROM staged WHERE run = ?", (workspace, number)
        )
        execute("INSERT OR REPLACE INTO run VALUES (?, ?, ?)", (workspace, run.run_id, run.run_date))
        self._forget(number)

    def _forget(self, number: int) -> None:
        self._database.execute("DELETE FROM staged WHERE run = ?", (number,))
        self._database.execute("DELETE FROM staged_run WHERE number = ?", (number,))


def _version(path: Path | None) -> _Version | None:
    """By what a file is known to have changed; None where there is none."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_ino, found.st_mtime_ns, found.st_size)


def _opened(path: Path | None) -> SealedDatabase:
    """Raises sqlite3.Error and OSError; a sqlite3.DatabaseError for what is in the file."""
    file = SealedDatabase(path, "synchronous = FULL")
    try:
        _prepare(file)
    except BaseException:
        with suppress(sqlite3.Error, OSError):  # why it is refused matters more
            file.close()
        raise
    return file


def _prepare(file: SealedDatabase) -> None:
    execute = file.connection.execute
    [(version,)] = execute("PRAGMA user_version").fetchall()
    if version == 0:
        file.connection.executescript(_SCHEMA)
        file.fold()
    elif version != VERSION:
        raise sqlite3.DatabaseError("another version")
    elif execute("SELECT number FROM change").fetchone() < (file.changes,):
        raise sqlite3.DatabaseError("changes are lost")


class _TooManyEdges(Exception):
    """A run is over its bound; what its page has added is taken back."""


def _page_digest(run: MiningRun, edges: Sequence[MinedEdge]) -> bytes:
    """Which page of which run this is."""
    return blake2b(repr((run.run_id, run.run_date, [tuple(edge) for edge in edges])).encode(), digest_size=32).digest()


def _edges(found: Sequence[tuple[bytes, str, bytes, float]]) -> Iterator[MinedEdge]:
    for source, kind, target, weight in found:
        known = next((name for name in REGISTRY if name == kind), None)
        if known is not None:
            yield MinedEdge(uuid_text(source), known, uuid_text(target), weight)
