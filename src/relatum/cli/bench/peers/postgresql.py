"""PostgreSQL, with a connection for each client and all rows of a transaction in one statement.

Two round trips a transaction: the first begins it, locks the partitions' tips and reads what the commands ask about;
the second writes every row by one statement and commits. Waiting for the tip keeps the commands of a partition in
order; the reads come after it, in statements of their own, so that they see what the holder before committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import psycopg

from relatum.cli.bench.peers.cluster import Cluster
from relatum.cli.bench.peers.seed import Seed, Tip
from relatum.cli.bench.peers.shared_command import Asked, End, Ground, HeaderKey, Known, Working, decide_all, understand
from relatum.core.ids import uuid_bytes
from relatum.store.rows import Completeness, unpack_completeness

SCHEMA: Final = """
CREATE TABLE tip (place int PRIMARY KEY, sequence bigint NOT NULL, event_digest bytea NOT NULL,
  committed_at bigint NOT NULL, journal_id text NOT NULL, journal_sequence bigint NOT NULL,
  prefix_digest bytea NOT NULL) WITH (fillfactor = 20);
CREATE TABLE record (place int, id bytea, revision bigint NOT NULL, type text NOT NULL, sound boolean NOT NULL,
  event_time bigint, valid_until bigint, body bytea NOT NULL, PRIMARY KEY (place, id));
CREATE TABLE header (place int, record bytea, revision bigint, body bytea NOT NULL,
  PRIMARY KEY (place, record, revision)) WITH (fillfactor = 50);
CREATE TABLE relation (place int, id bytea, revision bigint NOT NULL, sequence bigint NOT NULL, digest bytea NOT NULL,
  body bytea NOT NULL, PRIMARY KEY (place, id));
CREATE TABLE relation_revision (place int, id bytea, revision bigint, sequence bigint NOT NULL, digest bytea NOT NULL,
  body bytea NOT NULL, PRIMARY KEY (place, id, revision));
CREATE TABLE outgoing (place int, record bytea, revision bigint, relation bytea, other bytea NOT NULL,
  other_revision bigint NOT NULL, kind text NOT NULL, PRIMARY KEY (place, record, revision, relation));
CREATE TABLE incoming (LIKE outgoing INCLUDING ALL);
CREATE TABLE dependent (place int, record bytea, use smallint, relation bytea, revision bigint NOT NULL,
  PRIMARY KEY (place, record, use, relation));
CREATE TABLE event (place int, sequence bigint, body bytea NOT NULL, PRIMARY KEY (place, sequence));
CREATE TABLE journal (place int, sequence bigint, body bytea NOT NULL, PRIMARY KEY (place, sequence));
CREATE TABLE receipt (place int, key bytea, sequence bigint NOT NULL, command_digest bytea NOT NULL,
  PRIMARY KEY (place, key));
"""

# A subquery that ends in OFFSET 0 is looked up by key for each row before it, whatever the planner thinks of tables
# that were empty when it made the plan.
_TIPS: Final = """
SELECT place, sequence, event_digest, committed_at, journal_id, journal_sequence, prefix_digest
FROM tip WHERE place = ANY(%(places)b::int[]) ORDER BY place FOR UPDATE
"""
_KNOWN: Final = """
SELECT asked.place, asked.key, r.command_digest,
  (SELECT e.body FROM event e WHERE e.place = asked.place AND e.sequence = r.sequence)
FROM unnest(%(places)b::int[], %(keys)b::bytea[]) AS asked (place, key)
CROSS JOIN LATERAL (
  SELECT sequence, command_digest FROM receipt WHERE place = asked.place AND key = asked.key OFFSET 0) r
"""
_ENDS: Final = """
SELECT r.place, r.id, r.revision, r.type, r.sound, r.event_time, r.valid_until, h.body
FROM unnest(%(places)b::int[], %(ids)b::bytea[]) AS asked (place, id)
JOIN record r ON r.place = asked.place AND r.id = asked.id
JOIN header h ON h.place = r.place AND h.record = r.id AND h.revision = r.revision
"""
_WRITE: Final = """
WITH new AS MATERIALIZED (
  SELECT * FROM unnest(
    %(place)b::int[], %(sequence)b::bigint[], %(relation_id)b::bytea[], %(digest)b::bytea[], %(relation)b::bytea[],
    %(kind)b::text[], %(source)b::bytea[], %(source_revision)b::bigint[], %(target)b::bytea[],
    %(target_revision)b::bigint[], %(event)b::bytea[], %(journal_sequence)b::bigint[], %(entry)b::bytea[],
    %(key)b::bytea[], %(command_digest)b::bytea[])
  AS new (place, sequence, relation, digest, body, kind, source, source_revision, target, target_revision, event,
    journal_sequence, entry, key, command_digest)),
current AS (INSERT INTO relation SELECT place, relation, 1, sequence, digest, body FROM new),
revision AS (INSERT INTO relation_revision SELECT place, relation, 1, sequence, digest, body FROM new),
forward AS (INSERT INTO outgoing
  SELECT place, source, source_revision, relation, target, target_revision, kind FROM new),
backward AS (INSERT INTO incoming
  SELECT place, target, target_revision, relation, source, source_revision, kind FROM new),
uses AS (INSERT INTO dependent
  SELECT place, source, 2, relation, source_revision FROM new UNION ALL
  SELECT place, target, 3, relation, target_revision FROM new UNION ALL
  SELECT place, record, 4, relation, revision FROM unnest(%(use_place)b::int[], %(use_record)b::bytea[],
    %(use_relation)b::bytea[], %(use_revision)b::bigint[]) AS use (place, record, relation, revision)),
happened AS (INSERT INTO event SELECT place, sequence, event FROM new),
journaled AS (INSERT INTO journal SELECT place, journal_sequence, entry FROM new),
answered AS (INSERT INTO receipt SELECT place, key, sequence, command_digest FROM new),
counted AS (UPDATE header SET body = moved.body
  FROM unnest(%(header_place)b::int[], %(header_record)b::bytea[], %(header_revision)b::bigint[],
    %(header_body)b::bytea[]) AS moved (place, record, revision, body)
  WHERE header.place = moved.place AND header.record = moved.record AND header.revision = moved.revision)
UPDATE tip SET sequence = moved.sequence, event_digest = moved.event_digest, committed_at = moved.committed_at,
  journal_id = moved.journal_id, journal_sequence = moved.journal_sequence, prefix_digest = moved.prefix_digest
FROM unnest(%(tip_place)b::int[], %(tip_sequence)b::bigint[], %(tip_digest)b::bytea[], %(tip_at)b::bigint[],
    %(tip_journal)b::text[], %(tip_journal_sequence)b::bigint[], %(tip_prefix)b::bytea[])
  AS moved (place, sequence, event_digest, committed_at, journal_id, journal_sequence, prefix_digest)
WHERE tip.place = moved.place
"""
TWO_HOP: Final = """
WITH near AS (
  SELECT o.relation, o.other, o.other_revision FROM record root
  JOIN outgoing o ON o.place = 0 AND o.record = root.id AND o.revision = root.revision
  JOIN record r ON r.place = 0 AND r.id = o.other AND r.revision = o.other_revision AND r.sound
  WHERE root.place = 0 AND root.id = %b)
SELECT relation, other FROM near UNION
SELECT o.relation, o.other FROM near n
CROSS JOIN LATERAL (
  SELECT relation, other, other_revision FROM outgoing
  WHERE place = 0 AND record = n.other AND revision = n.other_revision OFFSET 0) o
JOIN record r ON r.place = 0 AND r.id = o.other AND r.revision = o.other_revision AND r.sound
"""


class Base:
    """A cluster with the tables, loaded."""

    def start(self, directory: Path) -> None:
        """Makes and starts a cluster, and makes the tables."""
        self._cluster = Cluster(directory)
        try:
            with self._connect() as connection:
                connection.execute(SCHEMA, prepare=False)
        except BaseException:
            self._cluster.stop()
            raise

    def load(self, seed: Seed) -> None:
        """One transaction, and statistics of it."""
        self._ground = Ground(seed)
        empty = Completeness().pack()
        with self._connect() as connection, connection.cursor() as cursor:
            with connection.transaction():
                cursor.executemany(
                    "INSERT INTO tip VALUES (%s, %s, %b, %s, %s, %s, %b)",
                    [(n, *tip) for n, tip in enumerate(seed.tips)],
                )
                cursor.executemany(
                    "INSERT INTO record VALUES (%s, %b, %s, %s, true, %s, %s, %b)",
                    [(one.place, uuid_bytes(one.record_id), *one[2:]) for one in seed.records],
                )
                cursor.executemany(
                    "INSERT INTO header VALUES (%s, %b, %s, %b)",
                    [(one.place, uuid_bytes(one.record_id), one.revision, empty) for one in seed.records],
                )
            cursor.execute("VACUUM ANALYZE", prepare=False)

    def stop(self) -> None:
        """Stops the cluster."""
        self._cluster.stop()

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._cluster.conninfo, autocommit=True, prepare_threshold=0)


class Peer(Base):
    """PostgreSQL, all rows in one statement."""

    name = "PostgreSQL, one statement"

    def client(self) -> Client:
        """A connection."""
        return Client(self._connect(), self._ground)


class Client:
    """One client."""

    def __init__(self, connection: psycopg.Connection[Any], ground: Ground) -> None:
        self._connection = connection
        self._ground = ground

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """One transaction in two round trips."""
        asked = understand(commands, self._ground)
        try:
            facts = self._begin([one for one in asked if isinstance(one, Asked)])
            answers, working = decide_all(asked, facts, self._ground)
            self._end(working)
        except BaseException:
            self._connection.rollback()
            raise
        return answers

    def _begin(self, asked: Sequence[Asked]) -> Facts:
        places = [one.place.number for one in asked]
        ends = {(one.place.number, uuid_bytes(ref.record_id)) for one in asked for ref in one.refs}
        with self._connection.pipeline(), self._connection.cursor(binary=True) as cursor:
            tips, known, records = (self._connection.cursor(binary=True) for _ in range(3))
            cursor.execute("BEGIN")
            tips.execute(_TIPS, {"places": places})
            known.execute(_KNOWN, {"places": places, "keys": [one.receipt_key for one in asked]})
            records.execute(
                _ENDS, {"places": [place for place, _ in ends], "ids": [record_id for _, record_id in ends]}
            )
            return Facts(tips.fetchall(), known.fetchall(), records.fetchall())

    def _end(self, working: Working) -> None:
        with self._connection.pipeline(), self._connection.cursor(binary=True) as cursor:
            if working.accepted:
                cursor.execute(_WRITE, _columns(working))
            cursor.execute("COMMIT")

    def two_hop(self, record_id: str) -> int:
        """One statement."""
        with self._connection.cursor(binary=True) as cursor:
            return len(cursor.execute(TWO_HOP, (uuid_bytes(record_id),)).fetchall())

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


class Facts:
    """What was read at the beginning of a transaction."""

    def __init__(self, tips: list[Any], known: list[Any], records: list[Any]) -> None:
        self._tips = {place: Tip(*rest) for place, *rest in tips}
        self._known = {(place, key): Known(*rest) for place, key, *rest in known}
        self._ends = {(place, record_id): End(*rest) for place, record_id, *rest, _ in records}
        self._headers = {(row[0], row[1], row[2]): row[-1] for row in records}

    def known(self, place: int, receipt_key: bytes) -> Known | None:
        """What a key leads to."""
        return self._known.get((place, receipt_key))

    def end(self, place: int, record_id: bytes) -> End | None:
        """A record."""
        return self._ends.get((place, record_id))

    def header(self, key: HeaderKey) -> Completeness:
        """The header of a record."""
        return unpack_completeness(self._headers[key])

    def tip(self, place: int) -> Tip:
        """How far a partition has come."""
        return self._tips[place]


def _columns(working: Working) -> dict[str, list[Any]]:
    """What is to be written, column by column."""
    new, uses = working.accepted, [(a, one) for a in working.accepted for one in a.evidence]
    headers, tips = working.headers, working.tips
    return {
        "place": [a.place for a in new],
        "sequence": [a.sequence for a in new],
        "relation_id": [a.relation_id for a in new],
        "digest": [a.relation_digest for a in new],
        "relation": [a.relation for a in new],
        "kind": [a.kind for a in new],
        "source": [a.source[0] for a in new],
        "source_revision": [a.source[1] for a in new],
        "target": [a.target[0] for a in new],
        "target_revision": [a.target[1] for a in new],
        "event": [a.event for a in new],
        "journal_sequence": [a.journal_sequence for a in new],
        "entry": [a.entry for a in new],
        "key": [a.receipt_key for a in new],
        "command_digest": [a.command_digest for a in new],
        "use_place": [a.place for a, _ in uses],
        "use_record": [one[0] for _, one in uses],
        "use_relation": [a.relation_id for a, _ in uses],
        "use_revision": [one[1] for _, one in uses],
        "header_place": [key[0] for key in headers],
        "header_record": [key[1] for key in headers],
        "header_revision": [key[2] for key in headers],
        "header_body": [header.pack() for header in headers.values()],
        "tip_place": list(tips),
        "tip_sequence": [tip.sequence for tip in tips.values()],
        "tip_digest": [tip.event_digest for tip in tips.values()],
        "tip_at": [tip.committed_at_millis for tip in tips.values()],
        "tip_journal": [tip.journal_id for tip in tips.values()],
        "tip_journal_sequence": [tip.journal_sequence for tip in tips.values()],
        "tip_prefix": [tip.prefix_digest for tip in tips.values()],
    }
