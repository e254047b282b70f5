"""Events are the truth: every row follows from them, and shipped as bytes they make the same rows elsewhere."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from relatum.clock import ManualClock
from relatum.core.candidates import CandidateChange
from relatum.core.commands import RelationOperation
from relatum.core.cursors import CheckpointCommand
from relatum.core.events import CredentialOperation, Event, JudgmentEvent, StoredRecordOperation
from relatum.core.ids import Partition
from relatum.core.links import LinkOperation
from relatum.core.stored_judgments import StoredJudgment
from relatum.errors import StorageInconsistency
from relatum.ledger import Ledger
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from relatum.store.projection import Staging
from relatum.store.projection.rebuild import apply_event
from relatum.store.staged_rows import Bodies
from tests.support import builders
from tests.support.desk import Desk
from tests.support.history import every_kind_of_event
from tests.support.steps import reached
from tests.support.stores import (
    TrialStore,
    database_on,
    derived_rows,
    partitions_of,
    published_rows,
    rebuilt_rows,
    rows_of,
)


@pytest.fixture
def found(ledger: Ledger, clock: ManualClock) -> dict[bytes, bytes]:
    """All rows of a ledger that was given every kind of command."""
    every_kind_of_event(ledger, clock)
    return published_rows(ledger)


def events_of(found: dict[bytes, bytes], partition: Partition) -> list[Event]:
    reader = PartitionReader(MemoryStore(found), partition)
    events = [reader.event(sequence) for sequence in range(1, reader.head().sequence + 1)]
    return [event for event in events if event is not None]


def test_the_history_has_every_kind_of_event(found: dict[bytes, bytes]) -> None:
    events = [event for partition in partitions_of(found) for event in events_of(found, partition)]
    kinds: set[Any] = {type(event) for event in events}
    kinds |= {type(event.operation) for event in events if hasattr(event, "operation")}
    kinds |= {type(event.command.operation) for event in events if hasattr(event, "command")}
    kinds |= {type(one) for event in events if event.consequences for one in event.consequences.candidates}
    assert {*get_args(LinkOperation), *get_args(StoredJudgment), *get_args(CandidateChange)} <= kinds
    operations = CheckpointCommand.__annotations__["operation"].split(" | ")
    assert {*get_args(Event), *get_args(StoredRecordOperation), *get_args(RelationOperation)} <= kinds
    assert set(get_args(CredentialOperation)) <= kinds
    assert set(operations) <= {kind.__name__ for kind in kinds}


def test_the_history_has_rows_in_every_table(found: dict[bytes, bytes]) -> None:
    partitions = {key[PREFIX_BYTES] for key in found if any(key[:PREFIX_BYTES])}
    assert set(Table) - {Table.TILE} == partitions, "a tile comes with the 256th event of a partition"


def test_every_row_follows_from_the_events(found: dict[bytes, bytes]) -> None:
    assert derived_rows(found) == rebuilt_rows(found)


class Follower:
    """A store that takes one event after another, as bytes, each in a commit of its own."""

    def __init__(self) -> None:
        self.store = MemoryStore()

    def apply(self, partition: Partition, event: bytes, payload: bytes | None) -> None:
        overlay = Bodies(self.store)
        decoded = rows.EVENT.decode(event)
        codec: Any = rows.WORDS if isinstance(decoded, JudgmentEvent) else rows.PAYLOAD
        brought = None if payload is None else codec.decode(payload)
        apply_event(Staging(overlay, partition), decoded, brought)
        self.store.write(overlay.rows())
        self.store.sync()


def shipped(reader: PartitionReader, sequence: int) -> tuple[bytes, bytes | None]:
    """An event and the erasable row it brought, if that still exists, as they would travel."""
    event = reader.event(sequence)
    assert event is not None
    if isinstance(event, JudgmentEvent):
        return rows.EVENT.encode(event), reader.body(reader.keys.words(sequence))
    revision = getattr(event.receipt, "revision", None) if hasattr(event, "receipt") else None
    record_id = getattr(event, "record_id", None)
    payload = reader.body(reader.keys.payload(record_id, revision)) if record_id and revision else None
    return rows.EVENT.encode(event), payload


def test_events_shipped_as_bytes_make_the_same_rows_in_another_store(found: dict[bytes, bytes]) -> None:
    follower = Follower()
    for partition in partitions_of(found):
        reader = PartitionReader(MemoryStore(found), partition)
        for sequence in range(1, reader.head().sequence + 1):
            follower.apply(partition, *shipped(reader, sequence))
    assert derived_rows(found) == rows_of(follower.store)


def test_a_follower_that_keeps_up_erases_what_is_deleted_and_is_equal_after_every_event(
    ledger: Ledger, desk: Desk
) -> None:
    follower = Follower()

    def caught_up() -> None:
        with ledger.view() as view:
            reader = view.partition(desk.partition)
            follower.apply(desk.partition, *shipped(reader, reader.head().sequence))
        assert derived_rows(published_rows(ledger)) == rows_of(follower.store)

    at = desk.create("gone", topic_key="ghosts")
    caught_up()
    at = desk.review(at)
    caught_up()
    at = desk.revise(at, "gone", topic_key="shadows")
    caught_up()
    desk.delete(at)
    caught_up()
    desk.create("the next holder", topic_key="shadows")
    caught_up()


def test_an_event_survives_its_bytes(found: dict[bytes, bytes]) -> None:
    for partition in partitions_of(found):
        for event in events_of(found, partition):
            assert event == rows.EVENT.decode(rows.EVENT.encode(event))


def without(found: dict[bytes, bytes], key: bytes) -> dict[bytes, bytes]:
    return {name: row for name, row in found.items() if name != key}


def altered(found: dict[bytes, bytes], key: bytes, body: bytes) -> dict[bytes, bytes]:
    return found | {key: rows.seal(key, body)}


def test_a_missing_swapped_or_altered_event_is_noticed(ledger: Ledger, desk: Desk) -> None:
    one, two = reached(desk.accept(builders.create("one"), "key-of-one")), desk.create("two")
    desk.revise(one)
    desk.relate(two, desk.create("three"))
    found = published_rows(ledger)
    reader = PartitionReader(MemoryStore(found), desk.partition)
    first, second = (reader.keys.event(sequence) for sequence in (1, 2))
    bodies = [reader.body(key) for key in (first, second)]
    assert all(bodies)
    damages = [
        without(found, second),
        altered(found, first, bodies[1] or b""),
        altered(found, first, (bodies[0] or b"").replace(b"created", b"derived")),
        altered(found, first, (bodies[0] or b"").replace(b"key-of-one", b"key-of-two")),
        without(found, reader.keys.event(reader.head().sequence)),
    ]
    for damaged in damages:
        with pytest.raises(StorageInconsistency):
            rebuilt_rows(damaged)


def test_a_ledger_on_rebuilt_rows_goes_on_where_the_first_one_stopped(
    found: dict[bytes, bytes], clock: ManualClock
) -> None:
    own = {key: row for key, row in found.items() if key not in derived_rows(found)}
    with Ledger(database_on(TrialStore(rebuilt_rows(found) | own)), clock=clock) as again:
        desk = Desk(again)
        desk.retire(desk.relate(desk.create(), desk.create()))
        rebuilt = published_rows(again)
    assert derived_rows(rebuilt) == rebuilt_rows(rebuilt)
