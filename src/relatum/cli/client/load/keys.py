"""The key of a line that brings none: a digest of its meaning, and how many equal lines stood before it."""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import Final, Self

from relatum.cli.client.load.forms import Operation
from relatum.core.digests import load_line_digest

_PREFIX: Final = "load:"


class Keys:
    """Makes keys; a context manager.

    How often each line has stood there is counted in a database of SQLite's own that spills from memory to a file
    without a name, so that a long load needs no more memory than a short one.
    """

    def __init__(self, run: str | None) -> None:
        self._run = run
        self._counts = sqlite3.connect("", isolation_level=None)
        self._counts.execute("PRAGMA journal_mode = OFF")
        self._counts.execute("PRAGMA cache_size = -8192")
        self._counts.execute("CREATE TABLE seen (line BLOB PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID")
        self._counts.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._counts.close()

    def of(self, operation: Operation) -> str:
        """The next key of a line with this meaning."""
        digest = load_line_digest(operation, self._run)
        ((count,),) = self._counts.execute(
            "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count", (digest,)
        ).fetchall()
        return f"{_PREFIX}{digest.hex()}:{count - 1}"
