"""What records said of facts, event by event: each row against the contents that its event found and brought."""

from __future__ import annotations

from typing import Final

from relatum.core import digests
from relatum.core.events import RecordEvent
from relatum.core.ids import uuid_text
from relatum.core.records import Payload
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader
from relatum.store.verify.merge_scan import Site
from relatum.store.verify.scan import SEQUENCE_BYTES

_FACT_BYTES: Final = 16


def said_of(content: Payload) -> bytes:
    """What a record says of its fact."""
    origin = content.provenance
    return digests.said_digest(content.content, None if origin is None else origin.source_hash)


def check_fact_revision(site: Site, own: bytes) -> None:
    """A row says what the content of its event says of the fact, or nothing where only the content before it did."""
    (table,) = site.tables
    said = table.take(own)
    fact, record_id = own[:_FACT_BYTES], uuid_text(own[_FACT_BYTES:-SEQUENCE_BYTES])
    if said != _expected(site.reader, fact, record_id, int.from_bytes(own[-SEQUENCE_BYTES:], "big")):
        site.find(Table.FACT_REVISION, f"the row {own.hex()} does not say what its event left of the fact")


def _expected(reader: PartitionReader, fact: bytes, record_id: str, sequence: int) -> bytes | None:
    """What must lie under a key; None for nothing."""
    event = reader.event(sequence)
    if not isinstance(event, RecordEvent) or event.record_id != record_id or reader.is_erased(record_id):
        return None
    revision = event.receipt.revision
    brought = _content_at(reader, record_id, revision, sequence)
    if brought is None:
        return None
    if _speaks_of(brought, fact):
        return said_of(brought)
    before = _content_at(reader, record_id, revision - 1, None)
    return b"" if before is not None and _speaks_of(before, fact) else None


def _content_at(reader: PartitionReader, record_id: str, revision: int, sequence: int | None) -> Payload | None:
    """The content of a record at a revision, which the event of `sequence`, if one is given, must have brought."""
    version = reader.record_revision(record_id, revision) if revision else None
    if version is None:
        return None
    if sequence is not None and (version.sequence, version.meta.payload_revision) != (sequence, revision):
        return None
    return reader.payload(version.meta)


def _speaks_of(content: Payload, fact: bytes) -> bool:
    return content.fact_key is not None and digests.fact_key(content.fact_key) == fact


def check_content_said(site: Site, record_id: str, sequence: int, before: Payload | None, content: Payload) -> None:
    """What a content says of its fact is kept under its event, and that nothing is said any more of the one before."""
    expected = {}
    if before is not None and before.fact_key is not None:
        expected[before.fact_key] = b""
    if content.fact_key is not None:
        expected[content.fact_key] = said_of(content)
    for fact, said in expected.items():
        if site.reader.body(site.reader.keys.fact_revision(fact, record_id, sequence)) != said:
            site.find(Table.FACT_REVISION, f"what event {sequence} left of a fact of the record {record_id} is another")
