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
from relatum.store import keys, rows
from relatum.store.keys import Table
from relatum.store.view import store_body
from relatum.verify.group import Group, Site
from relatum.verify.records import check_record
from relatum.verify.versions import check_versions

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


def _dependents(site: Site, own: bytes) -> None:
    """Everything that uses one record; which are the right ones, the sum tells."""
    (dependents,) = site.tables
    dependents.skip(own)


def _topic(site: Site, own: bytes) -> None:
    """A slot is held by a record that is there and asks for it."""
    (topics,) = site.tables
    holder = topics.take(own)
    version = None if holder is None else site.reader.record(rows.unpack_uuid(holder))
    payload = None if version is None or version.meta.state == "deleted" else site.reader.payload(version.meta)
    topic = None if payload is None else payload.topic_key
    if topic is None or digests.topic_key(topic) != own:
        site.find(Table.TOPIC, f"the slot {own.hex()} is held by a record that does not ask for it")


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
    Table.OUTGOING,
    Table.INCOMING,
)
GROUPS: Final = (
    Group(RECORD_TABLES, UUID_BYTES, check_record),
    Group((Table.RELATION, Table.RELATION_REVISION), UUID_BYTES, _relation),
    Group((Table.DEPENDENT,), UUID_BYTES, _dependents),
    Group((Table.RECEIPT, Table.RECEIPT_WITNESS), DIGEST_HEAD_BYTES, _receipt),
    Group((Table.TOPIC,), DIGEST_HEAD_BYTES, _topic),
    Group((Table.CREDENTIAL,), UUID_BYTES, _credential),
    Group((Table.CHECKPOINT, Table.CHECKPOINT_REVISION), 1 + DIGEST_HEAD_BYTES, _checkpoint),
)
