"""SQLite: one file, write-ahead log, synchronous FULL, one writer connection that clients take in turn.

Every table lies in the tree of its primary key (WITHOUT ROWID): rows are small or come in the order of their keys.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Final

from relatum.cli.bench.peers.seed import Seed, Tip
from relatum.cli.bench.peers.shared_command import Asked, End, Ground, HeaderKey, Known, Working, decide_all, understand
from relatum.core.ids import uuid_bytes
from relatum.errors import Refusal
from relatum.store.rows import Completeness, unpack_completeness

_SCHEMA: Final = """
CREATE TABLE tip (place INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, event_digest BLOB NOT NULL,
  committed_at INTEGER NOT NULL, journal_id TEXT NOT NULL, journal_sequence INTEGER NOT NULL,
  prefix_digest BLOB NOT NULL);
CREATE TABLE record (place INTEGER, id BLOB, revision INTEGER NOT NULL, type TEXT NOT NULL, sound INTEGER NOT NULL,
  event_time INTEGER, valid_until INTEGER, body BLOB NOT NULL, PRIMARY KEY (place, id)) WITHOUT ROWID;
CREATE TABLE header (place INTEGER, record BLOB, revision INTEGER, body BLOB NOT NULL,
  PRIMARY KEY (place, record, revision)) WITHOUT ROWID;
CREATE TABLE relation (place INTEGER, id BLOB, revision INTEGER NOT NULL, sequence INTEGER NOT NULL,
  digest BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (place, id)) WITHOUT ROWID;
CREATE TABLE relation_revision (place INTEGER, id BLOB, revision INTEGER, sequence INTEGER NOT NULL,
  digest BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (place, id, revision)) WITHOUT ROWID;
CREATE TABLE outgoing (place INTEGER, record BLOB, revision INTEGER, relation BLOB, other BLOB NOT NULL,
  other_revision INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (place, record, revision, relation)) WITHOUT ROWID;
CREATE TABLE incoming (place INTEGER, record BLOB, revision INTEGER, relation BLOB, other BLOB NOT NULL,
  other_revision INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (place, record, revision, relation)) WITHOUT ROWID;
CREATE TABLE dependent (place INTEGER, record BLOB, use INTEGER, relation BLOB, revision INTEGER NOT NULL,
  PRIMARY KEY (place, record, use, relation)) WITHOUT ROWID;
CREATE TABLE event (place INTEGER, sequence INTEGER, body BLOB NOT NULL, PRIMARY KEY (place, sequence)) WITHOUT ROWID;
CREATE TABLE journal (place INTEGER, sequence INTEGER, body BLOB NOT NULL,
  PRIMARY KEY (place, sequence)) WITHOUT ROWID;
CREATE TABLE receipt (place INTEGER, key BLOB, sequence INTEGER NOT NULL, command_digest BLOB NOT NULL,
  PRIMARY KEY (place, key)) WITHOUT ROWID;
"""

_KNOWN: Final = """
SELECT r.command_digest, e.body FROM receipt r JOIN event e ON e.place = r.place AND e.sequence = r.sequence
WHERE r.place = ? AND r.key = ?
"""
_END: Final = "SELECT revision, type, sound, event_time, valid_until FROM record WHERE place = ? AND id = ?"
_HEADER: Final = "SELECT body FROM header WHERE place = ? AND record = ? AND revision = ?"
_TIP: Final = """
SELECT sequence, event_digest, committed_at, journal_id, journal_sequence, prefix_digest FROM tip WHERE place = ?
"""
_TWO_HOP: Final = """
WITH near AS (
  SELECT o.relation, o.other, o.other_revision FROM record root
  JOIN outgoing o ON o.place = 0 AND o.record = root.id AND o.revision = root.revision
  JOIN record r ON r.place = 0 AND r.id = o.other AND r.revision = o.other_revision AND r.sound
  WHERE root.place = 0 AND root.id = ?)
SELECT relation, other FROM near UNION
SELECT o.relation, o.other FROM near n
JOIN outgoing o ON o.place = 0 AND o.record = n.other AND o.revision = n.other_revision
JOIN record r ON r.place = 0 AND r.id = o.other AND r.revision = o.other_revision AND r.sound
"""

SOURCE, TARGET, EVIDENCE = 2, 3, 4
"""How a relation uses a record, in the table of dependents."""

CACHE_KIB: Final = 65_536
CHECKPOINT_PAGES: Final = 8_192
"""The log grows to 32 MiB before its pages are copied home."""


class Peer:
    """SQLite."""

    name = "SQLite"

    def start(self, directory: Path) -> None:
        """Makes the file and its tables."""
        self._path = directory / "ledger.sqlite"
        self._writer = self._connect()
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.executescript(_SCHEMA)
        self._turn = Lock()

    def load(self, seed: Seed) -> None:
        """One transaction."""
        self._ground = Ground(seed)
        writer = self._writer
        writer.execute("BEGIN")
        writer.executemany(
            "INSERT INTO tip VALUES (?, ?, ?, ?, ?, ?, ?)", [(n, *tip) for n, tip in enumerate(seed.tips)]
        )
        writer.executemany(
            "INSERT INTO record VALUES (?, ?, ?, ?, 1, ?, ?, ?)",
            [(one.place, uuid_bytes(one.record_id), *one[2:]) for one in seed.records],
        )
        empty = Completeness().pack()
        writer.executemany(
            "INSERT INTO header VALUES (?, ?, ?, ?)",
            [(one.place, uuid_bytes(one.record_id), one.revision, empty) for one in seed.records],
        )
        writer.execute("COMMIT")

    def client(self) -> Client:
        """The writer's connection in turn with the others, and a connection of its own to read."""
        return Client(self._writer, self._turn, self._connect(), self._ground)

    def stop(self) -> None:
        """Closes the file."""
        self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, cached_statements=64)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        return connection


class Client:
    """One client."""

    def __init__(self, writer: sqlite3.Connection, turn: Lock, reader: sqlite3.Connection, ground: Ground) -> None:
        self._writer = writer
        self._turn = turn
        self._reader = reader
        self._ground = ground

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """One transaction."""
        asked = understand(commands, self._ground)
        with self._turn:
            return self._commit(asked)

    def _commit(self, asked: Sequence[Asked | Refusal]) -> list[bytes]:
        writer = self._writer
        writer.execute("BEGIN IMMEDIATE")
        try:
            answers, working = decide_all(asked, _Facts(writer), self._ground)
            _write(writer, working)
            writer.execute("COMMIT")
        except BaseException:
            writer.execute("ROLLBACK")
            raise
        return answers

    def two_hop(self, record_id: str) -> int:
        """One statement."""
        return len(self._reader.execute(_TWO_HOP, (uuid_bytes(record_id),)).fetchall())

    def close(self) -> None:
        """Closes the reader's connection."""
        self._reader.close()


class _Facts:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def known(self, place: int, receipt_key: bytes) -> Known | None:
        row = self._execute(_KNOWN, (place, receipt_key)).fetchone()
        return None if row is None else Known(*row)

    def end(self, place: int, record_id: bytes) -> End | None:
        row = self._execute(_END, (place, record_id)).fetchone()
        return None if row is None else End(*row)

    def header(self, key: HeaderKey) -> Completeness:
        return unpack_completeness(self._execute(_HEADER, key).fetchone()[0])

    def tip(self, place: int) -> Tip:
        return Tip(*self._execute(_TIP, (place,)).fetchone())


def _write(writer: sqlite3.Connection, working: Working) -> None:
    many = writer.executemany
    new = working.accepted
    many(
        "INSERT INTO relation VALUES (?, ?, 1, ?, ?, ?)",
        [(a.place, a.relation_id, a.sequence, a.relation_digest, a.relation) for a in new],
    )
    many(
        "INSERT INTO relation_revision VALUES (?, ?, 1, ?, ?, ?)",
        [(a.place, a.relation_id, a.sequence, a.relation_digest, a.relation) for a in new],
    )
    many(
        "INSERT INTO outgoing VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(a.place, *a.source, a.relation_id, *a.target, a.kind) for a in new],
    )
    many(
        "INSERT INTO incoming VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(a.place, *a.target, a.relation_id, *a.source, a.kind) for a in new],
    )
    many(
        "INSERT INTO dependent VALUES (?, ?, ?, ?, ?)",
        [
            (a.place, record, use, a.relation_id, revision)
            for a in new
            for use, (record, revision) in (
                (SOURCE, a.source),
                (TARGET, a.target),
                *((EVIDENCE, one) for one in a.evidence),
            )
        ],
    )
    many("INSERT INTO event VALUES (?, ?, ?)", [(a.place, a.sequence, a.event) for a in new])
    many("INSERT INTO journal VALUES (?, ?, ?)", [(a.place, a.journal_sequence, a.entry) for a in new])
    many(
        "INSERT INTO receipt VALUES (?, ?, ?, ?)", [(a.place, a.receipt_key, a.sequence, a.command_digest) for a in new]
    )
    many(
        "UPDATE header SET body = ? WHERE place = ? AND record = ? AND revision = ?",
        [(header.pack(), *key) for key, header in working.headers.items()],
    )
    many(
        "UPDATE tip SET sequence = ?, event_digest = ?, committed_at = ?, journal_id = ?, journal_sequence = ?, "
        "prefix_digest = ? WHERE place = ?",
        [(*tip, place) for place, tip in working.tips.items()],
    )
