"""The rows that the past and the time are told by: instants, and what standings and facts were since when."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relatum.core.standings import Standing
from relatum.ledger import Ledger
from relatum.store import keys, rows
from relatum.store.database import Database
from relatum.store.instants import Bound, Timed
from relatum.store.keys import Table, beyond
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from relatum.store.verify.directory import verify_rows
from tests.support import builders
from tests.support.builders import PARTITION, START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.stores import database_on, published_rows

FOR_EVER = START_MILLIS + 10**12


def read(ledger: Ledger, table: Table) -> dict[bytes, bytes]:
    """The bodies of a table, by the rest of their keys."""
    with ledger.view() as view:
        reader = view.partition(PARTITION)
        prefix = reader.keys.table(table)
        return {key[17:]: rows.unseal(key, row) for key, row in reader.reader.scan(prefix, beyond(prefix))}


def test_each_bound_of_records_and_relations_is_an_instant_in_the_order_of_time_and_stays(desk: Desk) -> None:
    one, two = desk.create("one", valid_until_millis=FOR_EVER), desk.create("two")
    again = desk.revise(one, "one again", valid_until_millis=FOR_EVER)
    relation = desk.relate(again, two, valid_from_millis=-5, valid_until_millis=FOR_EVER)
    desk.delete(desk.revise(again, "for ever"))
    own = PartitionReader(MemoryStore({}), PARTITION).keys
    expected = {
        own.instant(-5, Timed.RELATION, relation.relation_id)[17:]: bytes([Bound.VALID_FROM]),
        own.instant(FOR_EVER, Timed.RECORD, one.record_id)[17:]: bytes([Bound.VALID_UNTIL]),
        own.instant(FOR_EVER, Timed.RELATION, relation.relation_id)[17:]: bytes([Bound.VALID_UNTIL]),
    }
    assert list(expected.items()) == list(read(desk.ledger, Table.INSTANT).items())


def test_a_standing_is_kept_as_each_event_left_it(judging: JudgingDesk) -> None:
    one = judging.save("one")
    judging.pin(one)
    judging.unpin(one)
    found = read(judging.ledger, Table.STANDING_REVISION)
    kept = [(int.from_bytes(key[16:], "big"), rows.STANDING.decode(body)) for key, body in found.items()]
    assert [(2, True), (3, False)] == [(sequence, one.pinned_at_millis is not None) for sequence, one in kept]
    assert Standing() == kept[1][1]
    assert {} == read(judging.ledger, Table.STANDING)


def test_what_was_said_of_a_fact_is_kept_until_the_record_is_deleted(desk: Desk) -> None:
    one = desk.create("low water at six", fact_key="low water")
    other = desk.create("low water at seven", fact_key="low water")
    one = desk.revise(one, "at half past six", fact_key="low water")
    one = desk.revise(one, "noon", fact_key="noon")
    one = desk.revise(desk.review(one), "nothing")
    by_event = {(key[16:32], key[32:], key[:16]): body for key, body in read(desk.ledger, Table.FACT_REVISION).items()}
    assert 6 == len(by_event)
    assert 2 == sum(body == b"" for body in by_event.values())
    desk.delete(one)
    left = read(desk.ledger, Table.FACT_REVISION)
    assert {bytes.fromhex(other.record_id.replace("-", ""))} == {key[16:32] for key in left}
    assert verify_rows(MemoryStore(published_rows(desk.ledger))).clean


@pytest.fixture
def told() -> Callable[[int | None], Database]:
    """A database whose position has a floor."""

    def opened(floor_millis: int | None) -> Database:
        with Ledger.in_memory() as ledger:
            Desk(ledger).create("one")
            found = published_rows(ledger)
        position = rows.POSITION.decode(rows.unseal(keys.POSITION, found[keys.POSITION]))
        floored = rows.Position(
            position=position.position,
            committed_at_millis=position.committed_at_millis,
            digest=position.digest,
            floor_millis=None if floor_millis is None else position.committed_at_millis + floor_millis,
        )
        found[keys.POSITION] = rows.seal(keys.POSITION, rows.POSITION.encode(floored))
        return database_on(MemoryStore(found))

    return opened


def test_no_commit_comes_before_a_floor_that_somebody_was_told_of(told: Callable[[int | None], Database]) -> None:
    ahead = 10**7
    database = told(ahead)
    floor = database.position.floor
    with Ledger(database) as ledger:
        assert verify_rows(MemoryStore(published_rows(ledger))).clean
        receipt = Desk(ledger).accept(builders.create("later"))
        assert floor == receipt.committed_at_millis
        assert database.position.floor_millis is None


def test_a_floor_that_is_no_later_than_the_last_commit_is_damage(told: Callable[[int | None], Database]) -> None:
    for behind in (0, -1):
        with pytest.raises(ValueError, match="a floor that is none"):
            told(behind)
