"""docs/storage-format.md names every table, and its figures are those of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from zlib import crc32

import pytest
from blake3 import blake3
from msgspec import msgpack

from relatum.core.streams import Stream
from relatum.store.database import FORMAT_VERSION, WATERMARK_NAME
from relatum.store.keys import STREAM_BYTE, StoreTable, Table, Use
from relatum.store.rows import seal
from tests.docs.digest_vectors import COMPANY_ID, Exchange, Json
from tests.docs.test_digests_page import bare_assertion, pack
from tests.support.stores import rows_of

PAGE = (Path(__file__).parents[2] / "docs" / "storage-format.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """What stands below a heading, up to the next one."""
    return PAGE.split(f"\n{heading}\n")[1].split("\n#")[0]


@pytest.mark.parametrize(
    ("heading", "tables"), [("### Store-wide tables", StoreTable), ("### Tables of a partition", Table)]
)
def test_the_page_lists_every_table_under_its_byte(heading: str, tables: type[IntEnum]) -> None:
    listed = re.findall(r"^\| (\d+) \| ([A-Z_]+) \|", section(heading), re.MULTILINE)
    assert [(str(table.value), table.name) for table in tables] == listed


def test_the_page_names_streams_and_uses_as_they_are_stored() -> None:
    streams: dict[Stream, bytes] = {"typed_memory_relations": b"\1", "memory_records": b"\2"}
    assert streams == STREAM_BYTE
    assert "Streams: 1 is `typed_memory_relations`, 2 is `memory_records`." in PAGE
    assert [(1, "DERIVED"), (2, "SOURCE"), (3, "TARGET"), (4, "EVIDENCE")] == [(use.value, use.name) for use in Use]


def test_the_page_describes_the_format_that_is_written() -> None:
    assert f"format {FORMAT_VERSION}." in PAGE
    assert f"DIRECTORY/{WATERMARK_NAME} " in PAGE
    assert "row = format (1 byte, 01) · CRC-32 of key and body (4 bytes big endian) · body" in PAGE
    check_value_of_crc_32 = "cbf43926"  # of the text 123456789, as every description of the checksum gives it
    assert "01" + check_value_of_crc_32 + b"56789".hex() == seal(b"1234", b"56789").hex()


class Rows:
    """The rows of a ledger, found and opened as the page says."""

    def __init__(self, exchange: Exchange) -> None:
        with exchange.ledger.view() as view:
            reader = view.partition(exchange.partition)
            self._rows = rows_of(reader.reader)
            self._prefix = bytes.fromhex(reader.workspace_id)[:16]

    def body(self, table: int, rest: bytes = b"", *, of_store: bool = False) -> bytes:
        key = self.key(table, rest, of_store=of_store)
        row = self._rows[key]
        assert row[:5] == b"\1" + crc32(key + row[5:]).to_bytes(4, "big")
        return row[5:]

    def key(self, table: int, rest: bytes = b"", *, of_store: bool = False) -> bytes:
        return (bytes(16) if of_store else self._prefix) + bytes([table]) + rest


def hashed(label: str, data: bytes) -> bytes:
    return blake3(label.encode() + b"\0" + data).digest()


def u64(value: int) -> bytes:
    return value.to_bytes(8, "big")


def raw(uuid: str) -> bytes:
    return bytes.fromhex(uuid.replace("-", ""))


@pytest.fixture
def exchange() -> Iterator[Exchange]:
    found = Exchange()
    yield found
    found.close()


@pytest.fixture
def told(exchange: Exchange) -> list[Json]:
    """Receipts of two records and of a relation between them."""
    one, two = (
        exchange.record(f"r{at}", {"type": "create", "record": {"content": "c", "topic_key": f"topic {at}"}})
        for at in range(2)
    )
    return [one, two, exchange.relation("k", bare_assertion(one, two))]


def test_adjacency_entries_and_their_headers_are_as_described(exchange: Exchange, told: list[Json]) -> None:
    (one, two, relation), rows = told, Rows(exchange)
    source, target = raw(one["record_id"]) + u64(1), raw(two["record_id"]) + u64(1)
    outgoing, incoming = target + b"supports", source + b"supports"
    own_id = raw(relation["relation_id"])
    assert outgoing == rows.body(9, source + own_id)
    assert incoming == rows.body(10, target + own_id)
    sums = [
        hashed("relatum/1/adjacency", rows.key(9, source + own_id) + outgoing),
        hashed("relatum/1/adjacency", rows.key(10, target + own_id) + incoming),
    ]
    uses = [source + b"\2" + own_id, target + b"\3" + own_id]
    used = [u64(1) + hashed("relatum/1/dependent", rows.key(12, use)) for use in uses]
    assert used[0] + u64(1) + sums[0] + u64(0) + bytes(32) == rows.body(11, source)
    assert used[1] + u64(0) + bytes(32) + u64(1) + sums[1] == rows.body(11, target)
    assert [b"", b""] == [rows.body(12, use) for use in uses]


def test_versions_and_receipts_are_as_described(exchange: Exchange, told: list[Json]) -> None:
    relation, rows = told[2], Rows(exchange)
    own_id = raw(relation["relation_id"])
    version = rows.body(7, own_id)
    assert version == rows.body(8, own_id + u64(1))
    assert u64(3) + bytes.fromhex(relation["relation_digest"]) == version[:40]
    assert bytes.fromhex(relation["relation_digest"]) == hashed("relatum/1/relation", version[40:])
    name = hashed("relatum/1/receipt-key", pack(["relation", "ada", "k"]))[:16]
    assert u64(3) + bytes.fromhex(relation["command_digest"]) == rows.body(13, name)


def test_names_are_digested_as_described(exchange: Exchange, told: list[Json]) -> None:
    one, rows = told[0], Rows(exchange)
    assert raw(one["record_id"]) == rows.body(15, hashed("relatum/1/topic-key", b"topic 0")[:16])
    company = hashed("relatum/1/company", COMPANY_ID.encode())[:16]
    workspace = rows.body(5, company + bytes.fromhex(exchange.workspace_id()), of_store=True)
    assert rows.body(2) == workspace
    assert exchange.workspace_id() == hashed("relatum/1/partition", workspace).hex()


def test_events_are_chained_and_payloads_proved_as_described(exchange: Exchange, told: list[Json]) -> None:
    rows = Rows(exchange)
    bodies = [rows.body(3, u64(sequence)) for sequence in (1, 2, 3)]
    events = [msgpack.decode(body) for body in bodies]
    digests = [hashed("relatum/1/event", body) for body in bodies]
    assert [bytes(32), *digests[:2]] == [event["previous"] for event in events]
    assert digests[2] == msgpack.decode(rows.body(1))["event_digest"]
    payload = rows.body(6, raw(told[0]["record_id"]) + u64(1))
    proof = {"digest": hashed("relatum/1/payload", payload), "length": len(payload)}
    assert proof == events[0]["operation"]["payload"]
    history = bytes(32)
    for digest in digests:
        history = hashed("relatum/1/position", history + digest)
    assert history == msgpack.decode(rows.body(2, of_store=True))["digest"]
