"""PostgreSQL as an object mapper would use it: a statement and a round trip for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import psycopg

from relatum.cli.bench.peers.postgresql import TWO_HOP, Base
from relatum.cli.bench.peers.seed import Tip
from relatum.cli.bench.peers.shared_command import (
    Accepted,
    Asked,
    End,
    Ground,
    HeaderKey,
    Known,
    Working,
    decide_all,
    understand,
)
from relatum.core.ids import uuid_bytes
from relatum.store.rows import Completeness, unpack_completeness

_TIP: Final = """
SELECT sequence, event_digest, committed_at, journal_id, journal_sequence, prefix_digest FROM tip
WHERE place = %s FOR UPDATE
"""
_KNOWN: Final = """
SELECT r.command_digest, (SELECT e.body FROM event e WHERE e.place = r.place AND e.sequence = r.sequence)
FROM receipt r WHERE r.place = %s AND r.key = %b
"""
_END: Final = "SELECT revision, type, sound, event_time, valid_until FROM record WHERE place = %s AND id = %b"
_HEADER: Final = "SELECT body FROM header WHERE place = %s AND record = %b AND revision = %s"
_MOVE: Final = """
UPDATE tip SET sequence = %s, event_digest = %b, committed_at = %s, journal_id = %s, journal_sequence = %s,
  prefix_digest = %b WHERE place = %s
"""


class Peer(Base):
    """PostgreSQL, a statement per row."""

    name = "PostgreSQL, statement per row"

    def client(self) -> Client:
        """A connection."""
        return Client(self._connect(), self._ground)


class Client:
    """One client."""

    def __init__(self, connection: psycopg.Connection[Any], ground: Ground) -> None:
        self._connection = connection
        self._cursor = connection.cursor(binary=True)
        self._ground = ground

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """One transaction."""
        asked = understand(commands, self._ground)
        facts = _Facts(self._cursor)
        try:
            self._cursor.execute("BEGIN")
            facts.lock({one.place.number for one in asked if isinstance(one, Asked)})
            answers, working = decide_all(asked, facts, self._ground)
            _write(self._cursor, working)
            self._cursor.execute("COMMIT")
        except BaseException:
            self._connection.rollback()
            raise
        return answers

    def two_hop(self, record_id: str) -> int:
        """One statement."""
        return len(self._cursor.execute(TWO_HOP, (uuid_bytes(record_id),)).fetchall())

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


class _Facts:
    def __init__(self, cursor: psycopg.Cursor[Any]) -> None:
        self._cursor = cursor
        self._tips: dict[int, Tip] = {}

    def lock(self, places: set[int]) -> None:
        """Waits for the partitions, in one order, and keeps their tips."""
        for place in sorted(places):
            self._tips[place] = Tip(*self._one(_TIP, place))

    def known(self, place: int, receipt_key: bytes) -> Known | None:
        row = self._one(_KNOWN, place, receipt_key)
        return None if row is None else Known(*row)

    def end(self, place: int, record_id: bytes) -> End | None:
        row = self._one(_END, place, record_id)
        return None if row is None else End(*row)

    def header(self, key: HeaderKey) -> Completeness:
        return unpack_completeness(self._one(_HEADER, *key)[0])

    def tip(self, place: int) -> Tip:
        return self._tips[place]

    def _one(self, statement: str, *values: object) -> Any:
        return self._cursor.execute(statement, values).fetchone()


def _write(cursor: psycopg.Cursor[Any], working: Working) -> None:
    for accepted in working.accepted:
        _insert(cursor.execute, accepted)
    for key, header in working.headers.items():
        cursor.execute(
            "UPDATE header SET body = %b WHERE place = %s AND record = %b AND revision = %s", (header.pack(), *key)
        )
    for place, tip in working.tips.items():
        cursor.execute(_MOVE, (*tip, place))


def _insert(execute: Any, a: Accepted) -> None:
    version = (a.place, a.relation_id, a.sequence, a.relation_digest, a.relation)
    execute("INSERT INTO relation VALUES (%s, %b, 1, %s, %b, %b)", version)
    execute("INSERT INTO relation_revision VALUES (%s, %b, 1, %s, %b, %b)", version)
    entry = "VALUES (%s, %b, %s, %b, %b, %s, %s)"
    execute(f"INSERT INTO outgoing {entry}", (a.place, *a.source, a.relation_id, *a.target, a.kind))
    execute(f"INSERT INTO incoming {entry}", (a.place, *a.target, a.relation_id, *a.source, a.kind))
    for use, (record, revision) in ((2, a.source), (3, a.target), *((4, one) for one in a.evidence)):
        execute("INSERT INTO dependent VALUES (%s, %b, %s, %b, %s)", (a.place, record, use, a.relation_id, revision))
    execute("INSERT INTO event VALUES (%s, %s, %b)", (a.place, a.sequence, a.event))
    execute("INSERT INTO journal VALUES (%s, %s, %b)", (a.place, a.journal_sequence, a.entry))
    execute("INSERT INTO receipt VALUES (%s, %b, %s, %b)", (a.place, a.receipt_key, a.sequence, a.command_digest))
