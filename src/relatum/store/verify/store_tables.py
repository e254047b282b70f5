"""The tables of the store itself: each row lists something that must be there.

What lives here: one check for each table, row by row. That everything which must be listed is listed, is seen where the
partitions are verified. A new table of the store gets its check here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from relatum.core.ids import company_partition, uuid_text
from relatum.core.streams import RECORDS
from relatum.errors import StorageInconsistency
from relatum.store import keys, rows
from relatum.store.database import FORMAT_VERSION
from relatum.store.keys import StoreTable
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from relatum.store.verify.audit import Audit
from relatum.store.verify.scan import END, Rows

Check = Callable[[Reader, bytes, bytes], bool]
"""Whether a row, given by key and body, is as it should be. Raises StorageInconsistency where that can't be told."""


def _format(_view: Reader, key: bytes, body: bytes) -> bool:
    return key == keys.FORMAT and rows.FORMAT.decode(body).version == FORMAT_VERSION


def _position(_view: Reader, key: bytes, body: bytes) -> bool:
    return key == keys.POSITION and rows.POSITION.encode(rows.POSITION.decode(body)) == body


def _company(view: Reader, key: bytes, body: bytes) -> bool:
    company_id = rows.unpack_text(body)
    company = PartitionReader(view, company_partition(company_id))
    return key == keys.company(company_id) and company.body(company.keys.partition) is not None


def _credential_company(view: Reader, key: bytes, body: bytes) -> bool:
    company = PartitionReader(view, company_partition(rows.unpack_credential_place(body).company_id))
    return company.credential(uuid_text(key[-16:])) is not None


def _workspace(view: Reader, key: bytes, body: bytes) -> bool:
    partition = rows.PARTITION.decode(body)
    workspace = PartitionReader(view, partition)
    own = keys.workspace(partition.company_id, workspace.workspace_id)
    tip = workspace.head().streams.get(RECORDS)
    return key == own and rows.PARTITION.encode(partition) == body and tip is not None and tip.sequence > 0


CHECKS: Final[dict[StoreTable, Check]] = {
    StoreTable.FORMAT: _format,
    StoreTable.POSITION: _position,
    StoreTable.COMPANY: _company,
    StoreTable.CREDENTIAL_COMPANY: _credential_company,
    StoreTable.WORKSPACE: _workspace,
}


def read_listed(audit: Audit, check: Check, view: Reader, start: bytes, room: int) -> bytes:
    """Checks at most `room` rows of a table from `start` on; where the next slice begins, `END` at the end."""
    found = Rows(audit, view, start)
    while not found.ended and found.passed < room:
        try:
            if not check(view, found.key, found.body):
                audit.find(f"the row {found.key.hex()} lists what is not there")
        except StorageInconsistency as error:
            audit.find(f"the row {found.key.hex()}: {error}")
        found.next()
    found.close(found.rest)
    return END if found.ended else found.rest
