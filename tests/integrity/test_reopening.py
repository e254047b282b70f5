"""A damaged store, opened again and worked with: nothing is repaired in silence, and the full check finds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from relatum.clock import ManualClock
from relatum.core.events import Head
from relatum.core.receipts import RelationReceipt
from relatum.core.row_counts import Tally
from relatum.core.state import RelationVersion
from relatum.core.streams import RELATIONS
from relatum.errors import StorageInconsistency, StoreUnavailable
from relatum.ledger import Ledger
from relatum.store import rows
from relatum.store.database import ENGINE_NAME
from relatum.store.keys import PartitionKeys, Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from relatum.store.rocks import RocksStore
from tests.integrity.damage import MANNERS, Manner
from tests.support import builders
from tests.support.builders import ADA, PARTITION, START_MILLIS
from tests.support.desk import Desk
from tests.support.matrix import matrix
from tests.support.stores import derived_rows, published_rows, rebuilt_rows

KEY = "the-key"
Chosen = Callable[[PartitionKeys, RelationVersion], bytes]


def entry(direction: Table) -> Chosen:
    def chosen(keys: PartitionKeys, version: RelationVersion) -> bytes:
        given = version.relation.input
        end = given.source if direction is Table.OUTGOING else given.target
        return keys.adjacency_entry(direction, end.record_id, end.revision, version.relation.relation_id)

    return chosen


def of_source(row: Callable[[PartitionKeys, str], bytes]) -> Chosen:
    return lambda keys, version: row(keys, version.relation.input.source.record_id)


ROWS: dict[str, Chosen] = {
    "outgoing entry": entry(Table.OUTGOING),
    "incoming entry": entry(Table.INCOMING),
    "header": of_source(lambda keys, record_id: keys.header(record_id, 1)),
    "relation": lambda keys, version: keys.relation(version.relation.relation_id),
    "relation revision": lambda keys, version: keys.relation_revision(version.relation.relation_id, 1),
    "pointer": lambda keys, _: keys.receipt("relation", ADA.subject_id, KEY),
    "event": lambda keys, version: keys.event(version.sequence),
    "journal entry": lambda keys, _: keys.journal_entry(RELATIONS, 1),
    "record": of_source(lambda keys, record_id: keys.record(record_id)),
    "record revision": of_source(lambda keys, record_id: keys.record_revision(record_id, 1)),
    "payload": of_source(lambda keys, record_id: keys.payload(record_id, 1)),
    "head": lambda keys, _: keys.head,
}


def forged_head(change: Callable[[Head], Head]) -> Manner:
    """A head that says something else, under a checksum that knows of it."""
    return lambda key, row: rows.seal(key, rows.HEAD.encode(change(rows.HEAD.decode(rows.unseal(key, row)))))


def other_streams(head: Head) -> Head:
    journal = head.streams[RELATIONS]
    return replace(head, streams={**head.streams, RELATIONS: replace(journal, prefix_digest=bytes(32))})


HEADS: dict[str, Manner] = {
    "unreadable": lambda key, row: rows.seal(key, b"\0" + rows.unseal(key, row)),
    "other streams": forged_head(other_streams),
    "other tally": forged_head(lambda head: replace(head, counted=Tally(head.counted.rows, bytes(32)))),
    "other log": forged_head(lambda head: replace(head, log=bytes(len(head.log)))),
}
CARRIED_ON = {"header", "head"}
"""A command that does not meet the altered part writes such a row anew, with that part as it is."""


def opened(directory: Path) -> Ledger:
    return Ledger.open(directory, create=True, clock=ManualClock(START_MILLIS))


def prepared(directory: Path) -> str:
    """A relation and something after it; the relation's id."""
    with opened(directory) as ledger:
        desk = Desk(ledger)
        receipt = desk.accept(builders.assertion(desk.create(), desk.create()), key=KEY)
        desk.create("later")
    assert isinstance(receipt, RelationReceipt)
    return receipt.relation_id


def damage(directory: Path, chosen: Chosen, manner: str, relation_id: str) -> tuple[bytes, bytes | None]:
    """Damages one row in the engine; its key, and what is left of it."""
    store = RocksStore.open(directory / ENGINE_NAME, create=False)
    reader = PartitionReader(store, PARTITION)
    version = reader.relation(relation_id)
    assert version is not None
    key = chosen(reader.keys, version)
    row = store.get(key)
    assert row is not None
    left = (MANNERS | HEADS)[manner](key, row)
    assert left != row
    store.write({key: left})
    store.sync()
    store.close()
    return key, left


NOT_OPENED = [("head", "removed"), ("head", "torn"), ("head", "unreadable")]
"""What opening itself notices, and refuses."""
OPENED = [case for case in matrix(ROWS, MANNERS) if case.values[0] != "head"]
OPENED += [("head", "other streams"), ("head", "other tally"), ("head", "other log")]
"""What it does not look at. Of a head it reads all, and compares what it says of the last event."""


@pytest.mark.parametrize(("kind", "manner"), OPENED)
def test_opening_and_further_commands_repair_nothing(tmp_path: Path, kind: str, manner: str) -> None:
    directory = tmp_path / "ledger"
    relation_id = prepared(directory)
    key, left = damage(directory, ROWS[kind], manner, relation_id)
    for _ in range(2):
        with opened(directory) as ledger:
            desk = Desk(ledger)
            ledger.submit_all([desk.command(builders.retire(relation_id, 1)), desk.command(builders.create())])
            found = published_rows(ledger)
        assert not is_sound(found)
        assert kind in CARRIED_ON or left == found.get(key)


@pytest.mark.parametrize(("kind", "manner"), NOT_OPENED)
def test_a_store_whose_end_is_damaged_is_not_opened_and_left_as_it_is(tmp_path: Path, kind: str, manner: str) -> None:
    directory = tmp_path / "ledger"
    damage(directory, ROWS[kind], manner, prepared(directory))
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="is damaged"):
            opened(directory)
    assert before == {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def is_sound(found: dict[bytes, bytes]) -> bool:
    """The full check: whether the rows are those that the events lead to, and living records have their content."""
    reader = PartitionReader(MemoryStore(found), PARTITION)
    try:
        living = [version.meta for version in reader.records() if version.meta.state == "active"]
        return derived_rows(found) == rebuilt_rows(found) and all(map(reader.payload, living))
    except StorageInconsistency:
        return False
