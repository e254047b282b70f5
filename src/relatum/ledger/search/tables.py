"""The tables of the index, in SQLite: which words a record has, and in how many records of its partition a word is.

The postings are those of an FTS5 table whose text is a record's words, each with the number of its partition before
it: so words of different partitions are different, and no statistics are shared. How many records have a word is
counted apart, since FTS5 would have to read the whole list to say so. Signs lie among the words; the length of a record
counts words alone.

Not thread-safe; whoever uses it holds a lock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from relatum.core.context_records import Outline
from relatum.ledger.search.tokenizer import SIGN
from relatum.store.sealed_sqlite import SealedDatabase

VERSION = 4

_SCHEMA = f"""
CREATE TABLE partition (
    number INTEGER PRIMARY KEY, workspace BLOB NOT NULL UNIQUE, journal TEXT NOT NULL, sequence INTEGER NOT NULL,
    digest BLOB NOT NULL, records INTEGER NOT NULL, length INTEGER NOT NULL
);
CREATE TABLE record (
    number INTEGER PRIMARY KEY, partition INTEGER NOT NULL, id BLOB NOT NULL, length INTEGER NOT NULL,
    created INTEGER NOT NULL, category TEXT, until INTEGER, rejected INTEGER NOT NULL, UNIQUE (partition, id)
);
CREATE TABLE word (
    partition INTEGER NOT NULL, word TEXT NOT NULL, records INTEGER NOT NULL, PRIMARY KEY (partition, word)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE postings USING fts5 (words, tokenize = 'ascii');
CREATE VIRTUAL TABLE posting USING fts5vocab (postings, instance);
PRAGMA user_version = {VERSION};
"""


class Mark(NamedTuple):
    """How far a partition is indexed: a position of its record stream."""

    journal_id: str
    sequence: int
    digest: bytes


Posting = tuple[bytes, int, int]
"""A word in a record: the record's id, how often the word comes in it, and how many words the record has.

A plain tuple, as the database gives it: a save reads up to 2,000 of them.
"""


class OtherVersion(sqlite3.DatabaseError):
    """The file is an index that another version of relatum has made."""


class Tables:
    """An open index. Raises sqlite3.Error or OSError where the file can't be used, or is not as it was left."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        # Whole after a power cut; what is missing then is indexed again.
        self._file = SealedDatabase(path, "synchronous = NORMAL", "secure_delete = ON")
        try:
            self._prepare()
        except BaseException:
            self._file.close()
            raise

    def _prepare(self) -> None:
        [(version,)] = self._database.execute("PRAGMA user_version").fetchall()
        if version == VERSION:
            return
        if version or self._database.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
            raise OtherVersion("an index of another version")
        self._database.executescript(_SCHEMA)
        self._file.fold()

    @property
    def _database(self) -> sqlite3.Connection:
        return self._file.connection

    def close(self) -> None:
        """Seals the file and lets go of it."""
        self._file.close()

    def begin(self) -> None:
        """Everything up to `commit` happens together."""
        self._database.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Keeps what was done since `begin`."""
        self._database.execute("COMMIT")
        self._file.fold_if_grown()

    def rollback(self) -> None:
        """Forgets what was done since `begin`."""
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def purge(self) -> None:
        """Leaves in the file, and in the log beside it, nothing of what was removed.

        Rows are overwritten as they are removed (`secure_delete`); what is left are words in full-text segments, which
        are merged into one without them, and pages in the log as they were before.
        """
        self._database.execute("INSERT INTO postings (postings) VALUES ('optimize')")
        self._file.fold()

    # Partitions

    def partition(self, workspace: bytes) -> tuple[int, Mark] | None:
        """The number of a partition, and how far it is indexed."""
        row = self._database.execute(
            "SELECT number, journal, sequence, digest FROM partition WHERE workspace = ?", (workspace,)
        ).fetchone()
        return None if row is None else (row[0], Mark(*row[1:]))

    def add_partition(self, workspace: bytes, mark: Mark) -> int:
        """A partition without records."""
        made = self._database.execute("INSERT INTO partition VALUES (NULL, ?, ?, ?, ?, 0, 0)", (workspace, *mark))
        assert made.lastrowid is not None
        return made.lastrowid

    def drop_partition(self, number: int) -> None:
        """Forgets a partition and all its records."""
        execute = self._database.execute
        execute("DELETE FROM postings WHERE rowid IN (SELECT number FROM record WHERE partition = ?)", (number,))
        execute("DELETE FROM record WHERE partition = ?", (number,))
        execute("DELETE FROM word WHERE partition = ?", (number,))
        execute("DELETE FROM partition WHERE number = ?", (number,))

    def move_mark(self, number: int, mark: Mark) -> None:
        """The partition is indexed as far as `mark`."""
        self._database.execute(
            "UPDATE partition SET journal = ?, sequence = ?, digest = ? WHERE number = ?", (*mark, number)
        )

    def totals(self, number: int) -> tuple[int, int]:
        """How many records a partition has, and how many words they have together."""
        row: tuple[int, int] = self._database.execute(
            "SELECT records, length FROM partition WHERE number = ?", (number,)
        ).fetchone()
        return row

    # Records

    def put_record(self, number: int, outline: Outline, words: Sequence[str]) -> None:
        """Indexes a record of a partition by its words and signs, in the place of what was known of it."""
        self.remove_record(number, outline.record_id)
        execute = self._database.execute
        record_id, *others = outline
        length = sum(not word.startswith(SIGN) for word in words)
        made = execute("INSERT INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", (number, record_id, length, *others))
        text = " ".join(f"{number:x}z{word}" for word in words)
        execute("INSERT INTO postings (rowid, words) VALUES (?, ?)", (made.lastrowid, text))
        self._database.executemany(
            "INSERT INTO word VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET records = records + 1",
            [(number, word) for word in sorted(set(words))],
        )
        execute("UPDATE partition SET records = records + 1, length = length + ? WHERE number = ?", (length, number))

    def remove_record(self, number: int, record_id: bytes) -> None:
        """Forgets a record, if it is known."""
        execute = self._database.execute
        row = execute(
            "SELECT number, length FROM record WHERE partition = ? AND id = ?", (number, record_id)
        ).fetchone()
        if row is None:
            return
        own, length = row
        words = self._words(number, own)
        execute("DELETE FROM postings WHERE rowid = ?", (own,))
        execute("DELETE FROM record WHERE number = ?", (own,))
        self._database.executemany(
            "UPDATE word SET records = records - 1 WHERE partition = ? AND word = ?", [(number, one) for one in words]
        )
        self._database.executemany(
            "DELETE FROM word WHERE partition = ? AND word = ? AND records = 0", [(number, one) for one in words]
        )
        execute("UPDATE partition SET records = records - 1, length = length - ? WHERE number = ?", (length, number))

    def outlines(self, number: int, limit: int) -> list[Outline]:
        """At most `limit` records of a partition, the newest first."""
        found = self._database.execute(
            "SELECT id, created, category, until, rejected FROM record WHERE partition = ? ORDER BY id DESC LIMIT ?",
            (number, limit),
        )
        return list(map(Outline._make, found.fetchall()))

    def words_of(self, number: int, record_id: bytes) -> set[str]:
        """The distinct words of a record, and no signs."""
        row = self._database.execute(
            "SELECT number FROM record WHERE partition = ? AND id = ?", (number, record_id)
        ).fetchone()
        words = set[str]() if row is None else self._words(number, row[0])
        return {word for word in words if not word.startswith(SIGN)}

    def _words(self, number: int, record_number: int) -> set[str]:
        [(text,)] = self._database.execute("SELECT words FROM postings WHERE rowid = ?", (record_number,)).fetchall()
        skip = len(f"{number:x}z")
        return {token[skip:] for token in text.split(" ") if token}

    # Words

    def records_with(self, number: int, words: Collection[str]) -> dict[str, int]:
        """In how many records of a partition each word is; words that are in none are left out."""
        marks = ", ".join("?" * len(words))
        return dict(
            self._database.execute(
                f"SELECT word, records FROM word WHERE partition = ? AND word IN ({marks})",  # noqa: S608 - question marks
                (number, *words),
            )
        )

    def postings(self, number: int, word: str, limit: int) -> list[Posting]:
        """The records of a partition that have a word, at most about `limit` of them."""
        return self._database.execute(
            "SELECT record.id, count(*), record.length FROM"
            " (SELECT doc FROM posting WHERE term = ? LIMIT ?) AS found JOIN record ON record.number = found.doc"
            " GROUP BY found.doc",
            (f"{number:x}z{word}", limit),
        ).fetchall()
