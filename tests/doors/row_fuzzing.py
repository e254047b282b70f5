"""Stored rows of any bytes, opened in every way in which the program opens rows of their tables."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import Final

from msgspec import msgpack

from relatum.clock import ManualClock
from relatum.core import digests
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, StoreTable, Table, partition_prefix
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from tests.doors.mutating import MSGPACK_TOKENS, Mutator
from tests.doors.openings import PARTITION_OPENINGS, STORE_OPENINGS, VERSION_HEAD_BYTES, Replaced, decoders_of
from tests.doors.values import replaced
from tests.graphs.counted import Counted
from tests.integrity.scene import Rows, ledger_on
from tests.support.builders import START_MILLIS
from tests.support.history import every_kind_of_event, many_events
from tests.support.stores import partitions_of, published_rows

AnyTable = Table | StoreTable
TABLES: Final[list[AnyTable]] = [*Table, *StoreTable]
VERSIONS = {
    Table.RECORD: digests.record_digest,
    Table.RECORD_REVISION: digests.record_digest,
    Table.RELATION: digests.relation_digest,
    Table.RELATION_REVISION: digests.relation_digest,
}
"""Tables whose rows hold a digest of what follows it."""
VOUCHED = frozenset(
    {
        *(Table.STANDING, Table.REPLACED, Table.CANDIDATE, Table.CANDIDATE_END, Table.VERDICT, Table.VERDICT_END),
        *(Table.WORDS, Table.LINK, Table.SUSPICION, Table.PROMOTED),
    }
)
"""Tables whose bodies begin with the digest of their rest."""
BODY_DIGEST_BYTES: Final = 16
SEQUENCE_BYTES: Final = 8
SHAPES_MAX: Final = 6


@cache
def every_row() -> Rows:
    """A row of every table, of a history that has every kind of event."""
    clock = ManualClock(START_MILLIS)
    with ledger_on({}, clock, Counted()) as ledger:
        every_kind_of_event(ledger, clock)
        many_events(ledger)
        return published_rows(ledger)


@cache
def readers() -> dict[bytes, PartitionReader]:
    """A reader of each partition, by the prefix of its keys."""
    found = every_row()
    store = MemoryStore(found)
    made_of = [PartitionReader(store, partition) for partition in partitions_of(found)]
    return {partition_prefix(reader.workspace_id): reader for reader in made_of}


def keys_of(table: AnyTable) -> list[bytes]:
    stored = isinstance(table, StoreTable)
    return [key for key in every_row() if key.startswith(STORE_PREFIX) is stored and key[PREFIX_BYTES] == table]


def open_as(table: AnyTable, key: bytes, row: bytes) -> object:
    """What the program makes of a row under a key, all other rows being as they were written."""
    rest = key[PREFIX_BYTES + 1 :]
    if isinstance(table, StoreTable):
        return STORE_OPENINGS[table](Replaced(MemoryStore(every_row()), key, row), rest)
    whole = readers()[key[:PREFIX_BYTES]]
    return PARTITION_OPENINGS[table](PartitionReader(Replaced(whole.reader, key, row), whole.partition), rest)


def digested(table: AnyTable, body: bytes) -> bytes:
    """A body whose own digest is right too."""
    if isinstance(table, Table) and table in VOUCHED:
        rest = body[BODY_DIGEST_BYTES:]
        return digests.body_digest(rest) + rest
    if not isinstance(table, Table) or table not in VERSIONS:
        return body
    canonical = body[VERSION_HEAD_BYTES:]
    return body[:SEQUENCE_BYTES] + VERSIONS[table](canonical) + canonical


def head_bytes(table: AnyTable) -> int:
    """How many bytes of a body come before its MessagePack."""
    if not isinstance(table, Table):
        return 0
    return VERSION_HEAD_BYTES if table in VERSIONS else BODY_DIGEST_BYTES if table in VOUCHED else 0


def outcome(table: AnyTable, key: bytes, row: bytes) -> str:
    try:
        open_as(table, key, row)
    except StorageInconsistency:
        return "inconsistent"
    return "a value"


def name_of(table: AnyTable) -> str:
    return f"{type(table).__name__}-{table.name}".lower()


def fuzz_rows(table: AnyTable, cases: int, seed: int) -> None:
    """Bytes in the place of a row: none of them is taken for one."""
    found = keys_of(table)
    mutator = Mutator([every_row()[key] for key in found], MSGPACK_TOKENS, "rows", name_of(table), seed)
    for number, row in enumerate(mutator.cases(cases)):
        key = found[number % len(found)]
        if row != every_row()[key]:
            assert "inconsistent" == outcome(table, key, row)


def fuzz_bodies(table: AnyTable, cases: int, seed: int) -> None:
    """Bytes under a sound checksum, and where a row holds a digest, under a sound digest too."""
    found = keys_of(table)
    bodies = [rows.unseal(key, every_row()[key]) for key in found]
    mutator = Mutator(bodies, MSGPACK_TOKENS, "bodies", name_of(table), seed)
    for number, body in enumerate(mutator.cases(cases)):
        key = found[number % len(found)]
        try_body(table, key, body)


def try_body(table: AnyTable, key: bytes, body: bytes) -> None:
    """Decodes a body, and opens it as the row of a key."""
    for decoder in decoders_of(table):
        with suppress(StorageInconsistency):
            decoder.decode(digested(table, body)[decoder.behind :])
    outcome(table, key, rows.seal(key, body))
    outcome(table, key, rows.seal(key, digested(table, body)))


def try_values(table: AnyTable) -> int:
    """How many bodies there were in which one value is another; each is sound MessagePack under sound checksums."""
    tried = 0
    for key in _one_of_each_shape(keys_of(table)):
        body = rows.unseal(key, every_row()[key])
        head = body[: head_bytes(table)]
        for value in replaced(msgpack.decode(body[len(head) :])):
            try_body(table, key, head + msgpack.encode(value))
            tried += 1
    return tried


def _one_of_each_shape(keys: list[bytes]) -> list[bytes]:
    """The keys of rows of which no two have the same members."""
    found: dict[str, bytes] = {}
    for key in keys:
        body = rows.unseal(key, every_row()[key])
        found.setdefault("".join(re.findall(r"[a-z_]{4,}", body.decode("ascii", "ignore"))), key)
    return list(found.values())[:SHAPES_MAX]
