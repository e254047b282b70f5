"""The rows of one record: current row, revisions, payloads, headers, and the index entries that headers count."""

from __future__ import annotations

from typing import NamedTuple

from relatum.core import digests
from relatum.core.ids import uuid_text
from relatum.core.records import Payload, Proof, RecordMeta
from relatum.store import rows
from relatum.store.instants import Timed
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader
from relatum.store.verify.fact_revisions import check_content_said, said_of
from relatum.store.verify.merge_scan import Site
from relatum.store.verify.scan import Rows
from relatum.store.verify.versions import check_current, revision_of


def check_record(site: Site, own: bytes) -> None:
    """Revisions from 1 without a gap, the last one current; each with its payload unless deleted.

    A content has a header, which a review, bringing none, has not.
    """
    current, revisions, payloads, headers, *counted = site.tables
    found = current.take(own)
    number, newest, meta = 0, None, None
    contents = _Contents([], [])
    content: Payload | None = None
    expiries: set[int] = set()
    while revisions.rest.startswith(own):
        end, newest = revisions.rest, revisions.body
        number = revision_of(site, Table.RECORD_REVISION, own, number + 1, end)
        version = rows.unpack_version(newest)
        meta, before = rows.RECORD.decode(version.canonical), content
        content = _check_payload(site, end, payloads, meta, contents, content)
        if meta.state == "deleted":
            _check_header(site, end, headers, counted)
        elif meta.payload_revision == meta.revision:
            _check_header(site, end, headers, counted)
            _imply_expiry(site, version.sequence, meta, expiries)
            if content is not None:
                check_content_said(site, meta.record_id, version.sequence, before, content)
        revisions.next()
    check_current(site, Table.RECORD, own, found, newest)
    if meta is not None:
        _check_contents(site, contents, meta)
        if content is not None and meta.state != "deleted":
            _check_listed(site, own, content)


def _imply_expiry(site: Site, sequence: int, meta: RecordMeta, expiries: set[int]) -> None:
    """The instant at which a content expires; one that an earlier content had too is there since."""
    at_millis = meta.facts.valid_until_millis
    if at_millis is not None and at_millis not in expiries:
        expiries.add(at_millis)
        key = site.reader.keys.instant(at_millis, Timed.RECORD, meta.record_id)
        site.audits[Table.INSTANT].imply(sequence, key, b"\2")


class _Contents(NamedTuple):
    """The revisions that brought an erasable row, told by the ends of their keys: with it and without it."""

    there: list[bytes]
    missing: list[bytes]


def _check_header(site: Site, end: bytes, headers: Rows, tables: list[Rows]) -> None:
    """The header of a content counts and sums what lies there: entries of both directions, and what depends on it."""
    counted = rows.Completeness(*(part for table in tables for part in _counted(table, end)))
    header = headers.take(end)
    if header is None:
        site.find(Table.HEADER, f"the header of {end.hex()} is missing")
    elif header != counted.pack():
        site.find(Table.HEADER, f"the header of {end.hex()} does not count or sum what lies there")


def _counted(entries: Rows, end: bytes) -> tuple[int, int]:
    entries.reject_before(end)
    count = total = 0
    while entries.rest.startswith(end):
        total += entries.number
        count += 1
        entries.next()
    return count, total % digests.ACCUMULATOR_MODULUS


def _check_payload(
    site: Site, end: bytes, payloads: Rows, meta: RecordMeta, contents: _Contents, content: Payload | None
) -> Payload | None:
    """The erasable row of a revision that brought one, against what is kept of it; the content from then on."""
    proof = _proof(meta)
    if proof is None:
        return content
    body = payloads.take(end)
    if body is None:
        contents.missing.append(end)
        return None
    contents.there.append(end)
    if digests.stored_payload_digest(body) != proof.digest or len(body) != proof.length:
        site.find(Table.PAYLOAD, f"the payload of {end.hex()} does not match the digest that its record keeps")
        return None
    payload = rows.PAYLOAD.decode(body).payload
    return content if payload is None else payload


def _proof(meta: RecordMeta) -> Proof | None:
    """What is kept of the erasable row that a revision brought; None if it brought none."""
    if meta.payload_revision == meta.revision:
        return meta.payload
    return meta.review.evidence if meta.review and meta.review.revision == meta.revision else None


def _check_contents(site: Site, contents: _Contents, newest: RecordMeta) -> None:
    """Of a deleted record everything erasable is gone, of any other nothing is."""
    if newest.state == "deleted":
        for end in contents.there:
            site.find(Table.PAYLOAD, f"the payload of {end.hex()} is left of a record that was deleted")
    else:
        for end in contents.missing:
            site.find(Table.PAYLOAD, f"the payload of {end.hex()} is missing")


def _check_listed(site: Site, own: bytes, content: Payload) -> None:
    """The slot that a record asks for is held by it, and it is listed under its fact and its source."""
    reader, record_id = site.reader, uuid_text(own)
    topic = wanted_topic(reader, record_id, content)
    if topic is not None and reader.body(reader.keys.topic(topic)) != own:
        site.find(Table.TOPIC, f"the slot of the record {record_id} is not held by it")
    fact = content.fact_key
    if fact is not None and reader.body(reader.keys.fact(fact, record_id)) != said_of(content):
        site.find(Table.FACT, f"the record {record_id} is not listed with what it says of its fact")
    origin = content.provenance
    if origin is not None and reader.body(reader.keys.source(origin.source_id, record_id)) is None:
        site.find(Table.SOURCE, f"the record {record_id} is not listed under its source")


def wanted_topic(reader: PartitionReader, record_id: str, content: Payload) -> str | None:
    """The topic slot that a record asks for: that of its content, while it is current."""
    if content.topic_key is None or reader.standing(record_id).state != "current":
        return None
    return content.topic_key
