"""RocksDB and nothing else: the rows of the product, byte for byte as many and as large, put and synced.

Nothing is decoded, looked up, checked or digested, and the answer says nothing: what is left is the engine, with the
product's settings and one caller. No store that does the work on this engine can be faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from relatum.cli.bench.peers.seed import Seed, command, plant
from relatum.core import digests
from relatum.entropy import SystemEntropy
from relatum.ledger import Ledger
from relatum.ledger.writer.group import Group
from relatum.store import keys
from relatum.store.database import Database
from relatum.store.keys import Table
from relatum.store.rocks import RocksStore

RECORDS: Final = 256
RECORD_BYTES: Final = 15
_ID_BYTES: Final = 16
_SCATTER: Final = 0x9E3779B97F4A7C15
_TABLE_AT: Final = keys.PREFIX_BYTES
_BY_SEQUENCE: Final = {Table.EVENT, Table.JOURNAL, Table.LEAF}
_BY_RELATION: Final = {Table.RELATION, Table.RELATION_REVISION}
_BY_RECORD: Final = {Table.OUTGOING, Table.INCOMING, Table.DEPENDENT}
_BY_KEY: Final = {Table.RECEIPT, Table.RECEIPT_WITNESS}

Rows = dict[bytes, bytes | None]


class Peer:
    """Raw RocksDB."""

    name = "RocksDB, rows only"

    def start(self, directory: Path) -> None:
        """Opens an empty store."""
        self.store = RocksStore.open(directory / "engine", create=True)

    def load(self, seed: Seed) -> None:
        """Learns which rows a command of the seed makes; holds no records."""
        self._rows = rows_of_one_command()
        self._numbers = count(1)

    def client(self) -> Client:
        """For the one thread that writes."""
        return Client(self.store, self._rows, self._numbers)

    def stop(self) -> None:
        """Closes the store."""
        self.store.close()


class Client:
    """One client."""

    def __init__(self, store: RocksStore, rows: Rows, numbers: count[int]) -> None:
        self.store = store
        self._rows = list(zip(makers(rows), rows.values(), strict=True))
        self._records = [digests.draw(b"record", str(number), RECORD_BYTES) for number in range(RECORDS)]
        self._numbers = numbers

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """One batch, one sync."""
        batch: Rows = {}
        for _ in commands:
            number = next(self._numbers)
            own, scattered = number.to_bytes(8, "big"), (number * _SCATTER % 2**64).to_bytes(8, "big")
            record = self._records[number * 7 % RECORDS]
            for make, value in self._rows:
                batch[make(own, scattered, record)] = value
        self.store.write(batch)
        self.store.sync()
        return [b""] * len(commands)

    def two_hop(self, record_id: str) -> int:
        """Refused."""
        raise NotImplementedError("rows alone are no graph")

    def close(self) -> None:
        """Holds nothing."""


def rows_of_one_command() -> Rows:
    """What the product writes for one command."""
    with Ledger(Database.in_memory()) as ledger:
        seed = plant(ledger, partitions=1, records=4)
        source, target, evidence, _ = seed.ends[0]
        body = command(seed.partitions[0].scope, "key-0123456789", source, target, [evidence])
        with ledger.view() as view:
            reader = view.partition(seed.partitions[0]).reader
            group = Group(reader, SystemEntropy(), view.now_millis)
            group.decide(ledger.command(seed.partitions[0], seed.author, body.idempotency_key, body.operation))
            assert 1 == group.accepted
            return dict(group.staged.rows())


Maker = Callable[[bytes, bytes, bytes], bytes]
"""A key from a command's number and the same scattered, 8 bytes each, and 15 bytes of a record's id."""


def makers(rows: Iterable[bytes]) -> list[Maker]:
    """What makes the keys of the same rows of other commands: spread over records as theirs are, new where theirs are.

    The records of one command are kept apart by the last byte of their ids.
    """
    ends: dict[bytes, bytes] = {}
    made = []
    for key in rows:
        record = key[_TABLE_AT + 1 :][:_ID_BYTES]
        by_record = key[_TABLE_AT] in _BY_RECORD or key[_TABLE_AT] == Table.HEADER
        made.append(_maker(key, ends.setdefault(record, bytes([len(ends)])) if by_record else b""))
    return made


def _maker(key: bytes, end: bytes) -> Maker:
    table, head, rest = key[_TABLE_AT], key[: _TABLE_AT + 1], key[_TABLE_AT + 1 :]
    if table in _BY_SEQUENCE:
        return lambda number, _scattered, _record: key[:-8] + number
    if table in _BY_RELATION:
        tail = rest[8:]
        return lambda number, _scattered, _record: head + number + tail
    if table in _BY_KEY:
        tail = rest[8:]
        return lambda _number, scattered, _record: head + scattered + tail
    if table in _BY_RECORD:
        middle, tail = end + rest[_ID_BYTES:-_ID_BYTES], rest[-8:]
        return lambda number, _scattered, record: head + record + middle + number + tail
    if table == Table.HEADER:
        tail = end + rest[_ID_BYTES:]
        return lambda _number, _scattered, record: head + record + tail
    return lambda _number, _scattered, _record: key
