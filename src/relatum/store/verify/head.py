"""Where a partition ends at one moment: its head, and that nothing lies beyond it or beside its tables.

What lives here: `note_tip`, which looks at the few single rows of a partition, and at those of the store that list it.
The walk over the events, which comes later and may take long, must arrive at the head that was noted.
"""

from __future__ import annotations

from relatum.core.events import Head
from relatum.core.streams import RECORDS
from relatum.errors import StorageInconsistency
from relatum.store import keys, rows
from relatum.store.keys import Table, beyond
from relatum.store.partition import PartitionReader
from relatum.store.verify.audit import REST
from relatum.store.verify.expected_rows import UNKNOWN, Books
from relatum.store.verify.scan import END, Rows, behind
from relatum.store.view import store_body


def note_tip(books: Books, reader: PartitionReader) -> Head | None:
    """The head, once everything around it was looked at; None where it can't be read."""
    if _single(books, Table.PARTITION, reader) != rows.PARTITION.encode(books.partition):
        books.find("partition", "the row that names the partition is not as it should be")
    head = _head(books, reader)
    try:
        _check_uncovered(books, reader)
        if head is not None:
            _check_beyond(books, reader, head)
            _check_listed(books, reader, head)
    except StorageInconsistency as error:
        books.find(UNKNOWN, f"what lies beside the partition and its tables can't be read: {error}")
    return head


def _check_uncovered(books: Books, reader: PartitionReader) -> None:
    """Every row lies in a table."""
    for start, stop in books.uncovered():
        for key, _ in reader.reader.scan(start, stop):
            books.find(UNKNOWN, f"the row {key.hex()} lies in no table")


def _single(books: Books, table: Table, reader: PartitionReader) -> bytes | None:
    """The body of the only row that a table has."""
    found = Rows(books.tables[table], reader.reader, b"")
    body = found.take(b"")
    found.reject_all(b"")
    found.close(END)
    return body


def _head(books: Books, reader: PartitionReader) -> Head | None:
    body = _single(books, Table.HEAD, reader)
    if body is None:
        books.find("head", "the head is missing")
        return None
    try:
        head = rows.HEAD.decode(body)
    except StorageInconsistency as error:
        books.find("head", str(error))
        return None
    if rows.HEAD.encode(head) != body:
        books.find("head", "its bytes are not canonical")
    return head


def _check_beyond(books: Books, reader: PartitionReader, head: Head) -> None:
    """Nothing lies beyond the last event."""
    table = books.keys.table(Table.EVENT)
    for key, _ in reader.reader.scan(table + behind(head.sequence), beyond(table)):
        books.tables[Table.EVENT].find(f"the row {key[REST:].hex()} lies beyond the head")


def _check_listed(books: Books, reader: PartitionReader, head: Head) -> None:
    """The store lists a company from its first event on, and a workspace from its first record on."""
    own = books.partition
    if own.project_id is None:
        if store_body(reader.reader, keys.company(own.company_id)) != own.company_id.encode():
            books.find("company", "the company is not listed")
        return
    records = head.streams.get(RECORDS)
    expected = rows.PARTITION.encode(own) if records is not None and records.sequence > 0 else None
    if store_body(reader.reader, keys.workspace(own.company_id, books.workspace_id)) != expected:
        books.find("workspace", "the workspace is not listed as its first record would have it")
