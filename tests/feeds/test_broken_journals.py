"""A journal that contradicts itself is not read, not even in part, and not extended; its neighbours are untouched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from relatum.core.changes import RecordChange
from relatum.core.events import RecordEvent
from relatum.core.streams import RECORDS
from relatum.errors import JournalBroken, StorageInconsistency
from tests.feeds.damage import Damage
from tests.feeds.following import Consumer, advance, answered
from tests.support import builders
from tests.support.builders import PRIVATE
from tests.support.desk import Desk

TIP = 4
ANOTHER_NONCE = bytes(16)

AT_THE_TIP: dict[str, Callable[[Damage], None]] = {
    "the last entry is gone": lambda damage: damage.remove(TIP),
    "the last entry has flipped a bit": lambda damage: damage.spoil(TIP),
    "the last entry has another nonce": lambda damage: damage.alter(TIP, nonce=ANOTHER_NONCE),
    "the last entry tells another change": lambda damage: damage.alter(TIP, change=damage.entry(1).change),
    "the last entry is another one": lambda damage: damage.copy(1, TIP),
    "the entry before the last is gone": lambda damage: damage.remove(TIP - 1),
    "an entry lies right beyond the tip": lambda damage: damage.copy(1, TIP + 1),
    "an entry lies far beyond the tip": lambda damage: damage.copy(1, TIP + 1000),
    "the head lies behind": lambda damage: damage.move_head(TIP - 1),
    "the head lies ahead": lambda damage: damage.alter_head(sequence=TIP + 1),
    "the head has another digest": lambda damage: damage.alter_head(prefix_digest=bytes(32)),
    "the head has another journal": lambda damage: damage.alter_head(journal_id=builders.unknown_id()),
    "the head has forgotten the stream": lambda damage: damage.forget_stream(),
}


def _retold(damage: Damage) -> None:
    change = damage.entry(2).change
    assert isinstance(change, RecordChange)
    damage.alter(2, change=replace(change, kind="revised"))
    damage.relink(2)


def _renonced(damage: Damage) -> None:
    damage.alter(2, nonce=ANOTHER_NONCE)
    damage.relink(2)


def _without_revision(damage: Damage) -> None:
    change = damage.entry(2).change
    assert isinstance(change, RecordChange)
    damage.remove_revision(change.record_id, change.record_revision)


def _with_another_receipt(damage: Damage) -> None:
    event = damage.event(damage.entry(2).commit_sequence)
    assert isinstance(event, RecordEvent)
    damage.put_event(replace(event, receipt=replace(event.receipt, committed_at_millis=0)))


WITHIN: dict[str, Callable[[Damage], None]] = {
    "an entry is gone": lambda damage: damage.remove(2),
    "an entry has flipped a bit": lambda damage: damage.spoil(2),
    "an entry has another nonce": lambda damage: damage.alter(2, nonce=ANOTHER_NONCE),
    "an entry has another digest": lambda damage: damage.alter(2, prefix_digest=bytes(32)),
    "an entry points to another event": lambda damage: damage.alter(2, commit_sequence=1),
    "an entry is another one": lambda damage: damage.copy(1, 2),
    "a change was altered and the chain forged": _retold,
    "a nonce was altered and the chain forged": _renonced,
    "a revision is gone": _without_revision,
    "a receipt was altered": _with_another_receipt,
}


READS: dict[str, Callable[[Consumer], Any]] = {
    "a page": Consumer.page,
    "a checkpoint": Consumer.checkpoint,
    "a diagnosis": Consumer.diagnose,
    "the list of consumers": Consumer.listed,
}


@pytest.fixture
def records(desk: Desk, consumer: Consumer) -> Consumer:
    """A stream of four records."""
    for _ in range(TIP):
        desk.create()
    return consumer.of(RECORDS)


@pytest.fixture
def damage(desk: Desk, records: Consumer) -> Damage:
    return Damage(desk, RECORDS)


@pytest.mark.parametrize("happen", AT_THE_TIP.values(), ids=AT_THE_TIP)
def test_damage_at_the_tip_stops_commands_at_once(
    desk: Desk, records: Consumer, damage: Damage, happen: Callable[[Damage], None]
) -> None:
    tip = records.tip()
    happen(damage)
    with pytest.raises(JournalBroken):
        desk.submit(builders.create())
    with pytest.raises(StorageInconsistency):
        records.submit(advance(tip))
    with pytest.raises(StorageInconsistency):
        desk.ledger.activate(desk.partition, desk.author, RECORDS)


@pytest.mark.parametrize("happen", AT_THE_TIP.values(), ids=AT_THE_TIP)
def test_damage_at_the_tip_stops_every_read(
    records: Consumer, damage: Damage, happen: Callable[[Damage], None]
) -> None:
    records.advance(records.tip())
    happen(damage)
    reads: list[Callable[[], Any]] = [records.page, records.checkpoint, records.diagnose]
    for read in reads:
        with pytest.raises(JournalBroken):
            read()


@pytest.mark.parametrize("happen", WITHIN.values(), ids=WITHIN)
def test_damage_within_is_met_by_whoever_reads_across_it(
    records: Consumer, damage: Damage, happen: Callable[[Damage], None]
) -> None:
    cursors = records.cursors()
    happen(damage)
    for after in (None, cursors[0], cursors[1], cursors[2]):
        with pytest.raises(JournalBroken):
            records.page(after)
    with pytest.raises(JournalBroken):
        records.page(through=cursors[2], limit=1)
    with pytest.raises(JournalBroken):
        records.diagnose(witness=cursors[2])


@pytest.mark.parametrize("happen", WITHIN.values(), ids=WITHIN)
def test_damage_that_a_reader_met_stops_commands_of_that_stream_alone(
    desk: Desk, records: Consumer, damage: Damage, happen: Callable[[Damage], None]
) -> None:
    first, second = (desk.create() for _ in range(2))
    private = Desk(desk.ledger, PRIVATE)
    private.create()
    happen(damage)
    desk.create()  # nobody has noticed yet
    with pytest.raises(JournalBroken):
        records.page()
    with pytest.raises(JournalBroken):
        desk.submit(builders.create())
    claim = desk.relate(first, second)
    assert [claim.relation_id] == [
        delivery.change.relation_id  # type: ignore[union-attr]  # the relations' stream
        for delivery in Consumer(desk).deliveries()
    ]
    private.create()
    assert 2 == len(Consumer(private, RECORDS).deliveries())


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_whichever_read_meets_damage_stops_commands(
    desk: Desk, records: Consumer, damage: Damage, read: Callable[[Consumer], Any]
) -> None:
    records.advance(records.cursors()[2])
    damage.alter(2, nonce=ANOTHER_NONCE)
    desk.create()  # nobody has noticed yet
    with pytest.raises(JournalBroken):
        read(records)
    with pytest.raises(JournalBroken):
        desk.submit(builders.create())


def test_a_page_that_stays_clear_of_the_damage_is_answered(records: Consumer, damage: Damage) -> None:
    cursors = records.cursors()
    damage.alter(1, nonce=ANOTHER_NONCE)
    assert 2 == len(answered(records.page(after=cursors[2])).changes)
