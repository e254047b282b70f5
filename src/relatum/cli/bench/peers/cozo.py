"""CozoDB on its RocksDB engine, embedded: one script reads what commands ask about, one writes all their rows.

IMPORTANT: it does not sync its log when it commits, and has no setting for it; what it answered, a power cut can undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

from pycozo.client import Client as Database

from relatum.cli.bench.peers.seed import Seed, Tip
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

_SCHEMA: Final = """
tip {place: Int => sequence: Int, event_digest: Bytes, committed_at: Int, journal_id: String, journal_sequence: Int, \
prefix_digest: Bytes}
record {place: Int, id: Bytes => revision: Int, type: String, sound: Bool, event_time: Int?, valid_until: Int?, \
body: Bytes}
header {place: Int, record: Bytes, revision: Int => body: Bytes}
relation {place: Int, id: Bytes => revision: Int, sequence: Int, digest: Bytes, body: Bytes}
relation_revision {place: Int, id: Bytes, revision: Int => sequence: Int, digest: Bytes, body: Bytes}
outgoing {place: Int, record: Bytes, revision: Int, relation: Bytes => other: Bytes, other_revision: Int, kind: String}
incoming {place: Int, record: Bytes, revision: Int, relation: Bytes => other: Bytes, other_revision: Int, kind: String}
dependent {place: Int, record: Bytes, use: Int, relation: Bytes => revision: Int}
event {place: Int, sequence: Int => body: Bytes}
journal {place: Int, sequence: Int => body: Bytes}
receipt {place: Int, key: Bytes => sequence: Int, command_digest: Bytes}
"""
_KNOWN: Final = """
asked[place, key] <- $keys
?[place, key, digest, body] := asked[place, key], *receipt{place, key, sequence, command_digest: digest},
  *event{place, sequence, body}
"""
_ENDS: Final = """
asked[place, id] <- $ids
?[place, id, revision, type, sound, event_time, valid_until, header] := asked[place, id],
  *record{place, id, revision, type, sound, event_time, valid_until},
  *header{place, record: id, revision, body: header}
"""
_TIPS: Final = """
asked[place] <- $places
?[place, sequence, event_digest, committed_at, journal_id, journal_sequence, prefix_digest] := asked[place],
  *tip{place, sequence, event_digest, committed_at, journal_id, journal_sequence, prefix_digest}
"""
_TWO_HOP: Final = """
near[relation, other, revision] := *record{place: 0, id: $root, revision: at},
  *outgoing{place: 0, record: $root, revision: at, relation, other, other_revision: revision},
  *record{place: 0, id: other, revision, sound: true}
?[relation, other] := near[relation, other, _]
?[relation, other] := near[_, middle, at],
  *outgoing{place: 0, record: middle, revision: at, relation, other, other_revision: revision},
  *record{place: 0, id: other, revision, sound: true}
"""


def _put(operation: str, relation: str, keys: str, values: str) -> str:
    return f"{{?[{keys}, {values}] <- $rows_{relation} :{operation} {relation} {{{keys} => {values}}}}}"


_WRITE: Final = "\n".join(
    (
        _put("insert", "relation", "place, id", "revision, sequence, digest, body"),
        _put("insert", "relation_revision", "place, id, revision", "sequence, digest, body"),
        _put("insert", "outgoing", "place, record, revision, relation", "other, other_revision, kind"),
        _put("insert", "incoming", "place, record, revision, relation", "other, other_revision, kind"),
        _put("insert", "dependent", "place, record, use, relation", "revision"),
        _put("insert", "event", "place, sequence", "body"),
        _put("insert", "journal", "place, sequence", "body"),
        _put("insert", "receipt", "place, key", "sequence, command_digest"),
        _put("put", "header", "place, record, revision", "body"),
        _put(
            "put",
            "tip",
            "place",
            "sequence, event_digest, committed_at, journal_id, journal_sequence, prefix_digest",
        ),
    )
)
_RECORDS: Final = _put("insert", "record", "place, id", "revision, type, sound, event_time, valid_until, body")


class Peer:
    """CozoDB."""

    name = "CozoDB, not synced"

    def start(self, directory: Path) -> None:
        """Makes the database and its relations."""
        self._database = Database("rocksdb", str(directory / "ledger"), dataframe=False)
        for relation in _SCHEMA.strip().splitlines():
            self._database.run(f":create {relation}")
        self._turn = Lock()

    def load(self, seed: Seed) -> None:
        """One transaction for the records, one for the rest."""
        self._ground = Ground(seed)
        records = [
            [one.place, uuid_bytes(one.record_id), one.revision, one.type, True, *one[4:]] for one in seed.records
        ]
        self._database.run(_RECORDS, {"rows_record": records})
        empty = Completeness().pack()
        rows = {
            "rows_header": [[one.place, uuid_bytes(one.record_id), one.revision, empty] for one in seed.records],
            "rows_tip": [[place, *tip] for place, tip in enumerate(seed.tips)],
        }
        self._database.run("\n".join(_WRITE.splitlines()[-2:]), rows)

    def client(self) -> Client:
        """Clients take turns to write."""
        return Client(self._database, self._turn, self._ground)

    def stop(self) -> None:
        """Closes the database."""
        self._database.close()


class Client:
    """One client."""

    def __init__(self, database: Any, turn: Lock, ground: Ground) -> None:
        self._run = database.run
        self._turn = turn
        self._ground = ground

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """Reads, then one script that writes all or nothing, in turn with the other clients."""
        asked = understand(commands, self._ground)
        with self._turn:
            facts = self._facts([one for one in asked if isinstance(one, Asked)])
            answers, working = decide_all(asked, facts, self._ground)
            if working.accepted:
                self._run(_WRITE, _rows(working))
        return answers

    def _facts(self, asked: Sequence[Asked]) -> _Facts:
        ids = {(one.place.number, uuid_bytes(ref.record_id)) for one in asked for ref in one.refs}
        known = self._run(_KNOWN, {"keys": [[one.place.number, one.receipt_key] for one in asked]})
        ends = self._run(_ENDS, {"ids": [list(one) for one in ids]})
        tips = self._run(_TIPS, {"places": [[number] for number in {one.place.number for one in asked}]})
        return _Facts(tips["rows"], known["rows"], ends["rows"])

    def two_hop(self, record_id: str) -> int:
        """One query."""
        return len(self._run(_TWO_HOP, {"root": uuid_bytes(record_id)})["rows"])

    def close(self) -> None:
        """Holds nothing."""


class _Facts:
    def __init__(self, tips: list[Any], known: list[Any], records: list[Any]) -> None:
        self._tips = {place: Tip(*rest) for place, *rest in tips}
        self._known = {(place, key): Known(*rest) for place, key, *rest in known}
        self._ends = {(place, record_id): End(*rest) for place, record_id, *rest, _ in records}
        self._headers = {(row[0], row[1], row[2]): row[-1] for row in records}

    def known(self, place: int, receipt_key: bytes) -> Known | None:
        return self._known.get((place, receipt_key))

    def end(self, place: int, record_id: bytes) -> End | None:
        return self._ends.get((place, record_id))

    def header(self, key: HeaderKey) -> Completeness:
        return unpack_completeness(self._headers[key])

    def tip(self, place: int) -> Tip:
        return self._tips[place]


def _rows(working: Working) -> dict[str, list[list[object]]]:
    new = working.accepted
    return {
        "rows_relation": [[a.place, a.relation_id, 1, a.sequence, a.relation_digest, a.relation] for a in new],
        "rows_relation_revision": [[a.place, a.relation_id, 1, a.sequence, a.relation_digest, a.relation] for a in new],
        "rows_outgoing": [[a.place, *a.source, a.relation_id, *a.target, a.kind] for a in new],
        "rows_incoming": [[a.place, *a.target, a.relation_id, *a.source, a.kind] for a in new],
        "rows_dependent": [use for a in new for use in _uses(a)],
        "rows_event": [[a.place, a.sequence, a.event] for a in new],
        "rows_journal": [[a.place, a.journal_sequence, a.entry] for a in new],
        "rows_receipt": [[a.place, a.receipt_key, a.sequence, a.command_digest] for a in new],
        "rows_header": [[*key, header.pack()] for key, header in working.headers.items()],
        "rows_tip": [[place, *tip] for place, tip in working.tips.items()],
    }


def _uses(a: Accepted) -> list[list[object]]:
    used = ((2, a.source), (3, a.target), *((4, one) for one in a.evidence))
    return [[a.place, record, use, a.relation_id, revision] for use, (record, revision) in used]
