"""LMDB: one environment, one tree for all tables, synced at every commit, one write transaction at a time."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import lmdb
import msgspec

from relatum.cli.bench.peers.seed import Seed, Tip
from relatum.cli.bench.peers.shared_command import (
    Accepted,
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

MAP_BYTES: Final = 16 << 30
READERS_MAX: Final = 126

TIP, EVENT, RECORD, RELATION, REVISION, OUTGOING, INCOMING, HEADER, DEPENDENT, RECEIPT, JOURNAL = range(1, 12)
SOURCE, TARGET, EVIDENCE = b"\2", b"\3", b"\4"

_PLACE: Final = struct.Struct(">BH")
_U64: Final = struct.Struct(">Q")
_VERSION: Final = struct.Struct(">Q32s")
_RECEIPT: Final = struct.Struct(">Q32s")
_encode = msgspec.msgpack.Encoder().encode
_decode_tip = msgspec.msgpack.Decoder(Tip).decode
_decode_record = msgspec.msgpack.Decoder(tuple[End, bytes]).decode


class Peer:
    """LMDB."""

    name = "LMDB"

    def start(self, directory: Path) -> None:
        """Makes the environment."""
        self._environment = lmdb.open(
            str(directory), map_size=MAP_BYTES, sync=True, metasync=True, writemap=False, max_readers=READERS_MAX
        )

    def load(self, seed: Seed) -> None:
        """One transaction."""
        self._ground = Ground(seed)
        with self._environment.begin(write=True) as transaction:
            put = transaction.put
            for place, tip in enumerate(seed.tips):
                put(_PLACE.pack(TIP, place), _encode(tip))
            for one in seed.records:
                record_id = uuid_bytes(one.record_id)
                end = End(one.revision, one.type, True, one.event_time_millis, one.valid_until_millis)
                put(_PLACE.pack(RECORD, one.place) + record_id, _encode((end, one.body)))
                put(_header_key((one.place, record_id, one.revision)), Completeness().pack())

    def client(self) -> Client:
        """Transactions on the shared environment."""
        return Client(self._environment, self._ground)

    def stop(self) -> None:
        """Closes the environment."""
        self._environment.close()


class Client:
    """One client."""

    def __init__(self, environment: Any, ground: Ground) -> None:
        self._environment = environment
        self._ground = ground

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """One write transaction; the library lets one in at a time."""
        asked = understand(commands, self._ground)
        with self._environment.begin(write=True) as transaction:
            answers, working = decide_all(asked, _Facts(transaction), self._ground)
            _write(transaction.put, working)
        return answers

    def two_hop(self, record_id: str) -> int:
        """One read transaction: a range for each record, a look at each neighbour."""
        with self._environment.begin(buffers=False) as transaction:
            root = uuid_bytes(record_id)
            found: set[bytes] = set()
            cursor = transaction.cursor()
            for near in _neighbours(transaction, cursor, root, found):
                _neighbours(transaction, cursor, near, found)
            return len(found)

    def close(self) -> None:
        """Holds nothing."""


def _neighbours(transaction: Any, cursor: Any, record_id: bytes, found: set[bytes]) -> list[bytes]:
    """The records that the entries of a record at its revision lead to; adds their relations to `found`."""
    end = _Facts(transaction).end(0, record_id)
    if end is None:
        return []
    prefix = _PLACE.pack(OUTGOING, 0) + record_id + _U64.pack(end.revision)
    others = []
    more = cursor.set_range(prefix)
    while more:
        key, value = cursor.item()
        if not key.startswith(prefix):
            break
        other = value[:16]
        far = _Facts(transaction).end(0, other)
        if far is not None and far.sound and far.revision == _U64.unpack_from(value, 16)[0]:
            found.add(key[-16:])
            others.append(other)
        more = cursor.next()
    return others


class _Facts:
    def __init__(self, transaction: Any) -> None:
        self._get = transaction.get

    def known(self, place: int, receipt_key: bytes) -> Known | None:
        row = self._get(_PLACE.pack(RECEIPT, place) + receipt_key)
        if row is None:
            return None
        sequence, digest = _RECEIPT.unpack(row)
        return Known(digest, self._get(_PLACE.pack(EVENT, place) + _U64.pack(sequence)))

    def end(self, place: int, record_id: bytes) -> End | None:
        row = self._get(_PLACE.pack(RECORD, place) + record_id)
        return None if row is None else _decode_record(row)[0]

    def header(self, key: HeaderKey) -> Completeness:
        return unpack_completeness(self._get(_header_key(key)))

    def tip(self, place: int) -> Tip:
        return _decode_tip(self._get(_PLACE.pack(TIP, place)))


def _header_key(key: HeaderKey) -> bytes:
    place, record_id, revision = key
    return _PLACE.pack(HEADER, place) + record_id + _U64.pack(revision)


def _write(put: Any, working: Working) -> None:
    for accepted in working.accepted:
        for key, value in _rows(accepted):
            if not put(key, value, overwrite=False):
                raise ValueError("a row of a new relation exists already")
    for header_key, header in working.headers.items():
        put(_header_key(header_key), header.pack())
    for place, tip in working.tips.items():
        put(_PLACE.pack(TIP, place), _encode(tip))


def _rows(a: Accepted) -> list[tuple[bytes, bytes]]:
    own, place = a.relation_id, a.place
    version = _VERSION.pack(a.sequence, a.relation_digest) + a.relation
    (source, source_revision), (target, target_revision), kind = a.source, a.target, a.kind.encode()
    from_source, from_target = _U64.pack(source_revision), _U64.pack(target_revision)
    dependent = _PLACE.pack(DEPENDENT, place)
    return [
        (_PLACE.pack(RELATION, place) + own, version),
        (_PLACE.pack(REVISION, place) + own + _U64.pack(1), version),
        (_PLACE.pack(OUTGOING, place) + source + from_source + own, target + from_target + kind),
        (_PLACE.pack(INCOMING, place) + target + from_target + own, source + from_source + kind),
        (dependent + source + SOURCE + own, from_source),
        (dependent + target + TARGET + own, from_target),
        *((dependent + one + EVIDENCE + own, _U64.pack(revision)) for one, revision in a.evidence),
        (_PLACE.pack(EVENT, place) + _U64.pack(a.sequence), a.event),
        (_PLACE.pack(JOURNAL, place) + _U64.pack(a.journal_sequence), a.entry),
        (_PLACE.pack(RECEIPT, place) + a.receipt_key, _RECEIPT.pack(a.sequence, a.command_digest)),
    ]
