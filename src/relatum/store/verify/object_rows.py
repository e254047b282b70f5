"""What the rows of one object must look like beside each other.

What lives here: a check for each group of tables, and `GROUPS`, all of them. What is compared here needs no events: a
current row with its newest revision, a header with the entries that it counts, a payload with the digest that its
record keeps. That revisions, entries and pointers are those that the events made is for the sums to tell.

A new table of a partition belongs to a group here, or to the walk (`history.py`).
"""

from __future__ import annotations

from typing import Final

from relatum.core import digests
from relatum.core.ids import uuid_text
from relatum.core.records import Payload
from relatum.store import keys, rows
from relatum.store.keys import Table
from relatum.store.verify.expected_rows import JUDGMENT_TABLES
from relatum.store.verify.fact_revisions import check_fact_revision, said_of
from relatum.store.verify.merge_scan import Group, Site
from relatum.store.verify.records import check_record, wanted_topic
from relatum.store.verify.scan import SEQUENCE_BYTES
from relatum.store.verify.verdict_texts import check_words
from relatum.store.verify.versions import check_versions
from relatum.store.view import store_body

UUID_BYTES: Final = 16
DIGEST_HEAD_BYTES: Final = 16


def _relation(site: Site, own: bytes) -> None:
    check_versions(site, own, Table.RELATION, Table.RELATION_REVISION)


def _checkpoint(site: Site, own: bytes) -> None:
    check_versions(site, own, Table.CHECKPOINT, Table.CHECKPOINT_REVISION)


def _receipt(site: Site, own: bytes) -> None:
    """The pointer of a key and its witness name the same event."""
    pointers, witnesses = site.tables
    pointer, witness = pointers.take(own), witnesses.take(own)
    if pointer is None:
        site.find(Table.RECEIPT, f"the receipt of the key {own.hex()} is missing")
    elif witness is None:
        site.find(Table.RECEIPT_WITNESS, f"the witness of the key {own.hex()} is missing")
    elif rows.unpack_receipt(pointer).sequence != rows.unpack_u64(witness):
        site.find(Table.RECEIPT_WITNESS, f"the witness of the key {own.hex()} names another event")


def _summed(site: Site, own: bytes) -> None:
    """Which are the right rows, the sum tells."""
    (table,) = site.tables
    table.skip(own)


def _topic(site: Site, own: bytes) -> None:
    """A slot is held by a record that is there and current, and asks for it."""
    (topics,) = site.tables
    holder = topics.take(own)
    record_id = None if holder is None else rows.unpack_uuid(holder)
    payload = None if record_id is None else _content(site, record_id)
    topic = None if payload is None or record_id is None else wanted_topic(site.reader, record_id, payload)
    if topic is None or digests.topic_key(topic) != own:
        site.find(Table.TOPIC, f"the slot {own.hex()} is held by a record that does not ask for it")


def _fact(site: Site, own: bytes) -> None:
    """A record is listed under a fact that its content names, with the digest of what it says."""
    (facts,) = site.tables
    said = facts.take(own)
    payload = _content(site, uuid_text(own[DIGEST_HEAD_BYTES:]))
    fact = None if payload is None else payload.fact_key
    if payload is None or fact is None or (digests.fact_key(fact), said_of(payload)) != (own[:DIGEST_HEAD_BYTES], said):
        site.find(Table.FACT, f"the row {own.hex()} lists a record that does not say this of the fact")


def _source(site: Site, own: bytes) -> None:
    """A record is listed under the source that its content names."""
    (sources,) = site.tables
    body = sources.take(own)
    payload = _content(site, uuid_text(own[DIGEST_HEAD_BYTES:]))
    origin = None if payload is None else payload.provenance
    if body != b"" or origin is None or digests.source_key(origin.source_id) != own[:DIGEST_HEAD_BYTES]:
        site.find(Table.SOURCE, f"the row {own.hex()} lists a record that does not come from the source")


def _content(site: Site, record_id: str) -> Payload | None:
    """The content of a record; None where it was erased, or there is no record."""
    version = site.reader.record(record_id)
    return None if version is None or version.meta.state == "deleted" else site.reader.payload(version.meta)


def _credential(site: Site, own: bytes) -> None:
    """A credential is found by its id alone, through the store's own table."""
    (credentials,) = site.tables
    body = credentials.take(own)
    place = store_body(site.reader.reader, keys.credential_company(uuid_text(own)))
    company_id = site.reader.partition.company_id
    if body is not None and place != rows.CredentialPlace(digests.credential_digest(body), company_id).pack():
        site.find(Table.CREDENTIAL, f"the company of the credential {uuid_text(own)} can't be found by its id")


RECORD_TABLES: Final = (
    Table.RECORD,
    Table.RECORD_REVISION,
    Table.PAYLOAD,
    Table.HEADER,
    Table.DEPENDENT,
    Table.OUTGOING,
    Table.INCOMING,
)
_SUMMED_BESIDES: Final = (Table.LEAF, Table.TILE, Table.STANDING_REVISION, *JUDGMENT_TABLES)
GROUPS: Final = (
    Group((Table.INSTANT,), 0, _summed),  # before the records, which imply some of them as they are read
    Group(RECORD_TABLES, UUID_BYTES, check_record),
    Group((Table.RELATION, Table.RELATION_REVISION), UUID_BYTES, _relation),
    Group((Table.RECEIPT, Table.RECEIPT_WITNESS), DIGEST_HEAD_BYTES, _receipt),
    Group((Table.TOPIC,), DIGEST_HEAD_BYTES, _topic),
    Group((Table.CREDENTIAL,), UUID_BYTES, _credential),
    Group((Table.CHECKPOINT, Table.CHECKPOINT_REVISION), 1 + DIGEST_HEAD_BYTES, _checkpoint),
    Group((Table.FACT,), DIGEST_HEAD_BYTES + UUID_BYTES, _fact),
    Group((Table.SOURCE,), DIGEST_HEAD_BYTES + UUID_BYTES, _source),
    Group((Table.WORDS,), SEQUENCE_BYTES, check_words),
    Group((Table.FACT_REVISION,), DIGEST_HEAD_BYTES + UUID_BYTES + SEQUENCE_BYTES, check_fact_revision),
    *(Group((table,), 0, _summed) for table in _SUMMED_BESIDES),
)
