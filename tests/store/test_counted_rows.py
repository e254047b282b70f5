"""Rows that nothing beside them witnesses are counted and summed in the head, so that one that is gone is missed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.clock import ManualClock
from relatum.core import digests
from relatum.core.row_counts import NOTHING, Tally, tally_of
from relatum.errors import StorageInconsistency
from relatum.ledger import Ledger
from relatum.ledger.writer.group import Group
from relatum.store import rows
from relatum.store.counts import Recounts, Uncounted
from relatum.store.keys import COUNTED, PREFIX_BYTES, Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from relatum.store.projection import Staging
from relatum.store.staged_rows import Bodies
from relatum.store.verify.directory import verify_rows
from tests.graphs.counted import Counted
from tests.integrity import judged_scene
from tests.integrity.judged_probes import Fresh
from tests.integrity.scene import ledger_on
from tests.support.builders import PARTITION, START_MILLIS
from tests.support.desk import Desk
from tests.support.stores import published_rows

Rows = dict[bytes, bytes]


@pytest.fixture(scope="module")
def judged() -> Rows:
    return judged_scene.made().rows


def reader(found: Rows) -> PartitionReader:
    return PartitionReader(MemoryStore(found), PARTITION)


def of_table(found: Rows, table: Table) -> list[bytes]:
    prefix = reader(found).keys.table(table)
    return sorted(key for key in found if key.startswith(prefix))


def without(found: Rows, key: bytes) -> Rows:
    return {other: row for other, row in found.items() if other != key}


def test_the_head_counts_and_sums_every_row_of_these_tables(judged: Rows) -> None:
    keys = reader(judged).keys
    own = [key for key in judged if key.startswith(keys.prefix) and key[PREFIX_BYTES] in COUNTED]
    assert {key[PREFIX_BYTES] for key in own} == COUNTED
    counted = reader(judged).head().counted
    total = sum(digests.row_number(key + rows.unseal(key, judged[key])) for key in own)
    assert (len(own), total % 2**256) == (counted.rows, int.from_bytes(counted.sum, "big"))
    assert counted == reader(judged).recounted()


def test_a_tally_depends_on_the_rows_and_not_on_the_way_to_them() -> None:
    moved = NOTHING.moved(b"one", None, b"1").moved(b"two", None, b"2").moved(b"one", b"1", b"3")
    assert tally_of([(b"two", b"2"), (b"one", b"3")]) == moved
    assert NOTHING is moved.moved(b"one", b"3", None).moved(b"two", b"2", None)
    assert NOTHING.moved(b"one", None, b"1") != NOTHING.moved(b"two", None, b"1")
    with pytest.raises(StorageInconsistency):
        NOTHING.moved(b"one", b"1", None)


def test_the_head_of_a_partition_that_has_no_such_rows_any_more_is_as_if_it_never_had_any() -> None:
    with Ledger.in_memory() as ledger:
        desk = Desk(ledger)
        record = desk.create(topic_key="ferry", fact_key="departure")
        assert 2 == reader(published_rows(ledger)).head().counted.rows
        desk.delete(record)
        found = published_rows(ledger)
    body = rows.unseal(reader(found).keys.head, found[reader(found).keys.head])
    assert NOTHING == reader(found).head().counted
    assert b"counted" not in body


def test_each_row_that_is_staged_is_counted_once_whatever_is_staged_beside_it() -> None:
    staging = Staging(Bodies(MemoryStore()), PARTITION, Recounts())
    key = staging.keys.pinned("00000000-0000-4000-8000-000000000001")
    staging.put(key, b"")
    once = staging.head().counted
    assert tally_of([(key, b"")]) == once
    staging.put(key, b"")
    assert once == staging.head().counted
    staging.delete(key)
    staging.delete(key)
    assert NOTHING == staging.head().counted
    assert staging.body(staging.keys.head) == rows.HEAD.encode(staging.head())


@pytest.fixture
def damaged(judged: Rows) -> Iterator[Ledger]:
    """A ledger that has lost the standing of a record."""
    left = without(judged, of_table(judged, Table.STANDING)[-1])
    with ledger_on(left, ManualClock(START_MILLIS), Counted(start=1_000_000)) as ledger:
        yield ledger


def test_commands_that_need_no_such_row_are_carried_out_and_what_is_missing_is_missed_for_ever(
    damaged: Ledger,
) -> None:
    desk = Desk(damaged)
    one, other = desk.create("new"), desk.create("newer")
    desk.relate(one, other)
    with pytest.raises(StorageInconsistency):
        Fresh(damaged).pin(one)
    with pytest.raises(StorageInconsistency):
        desk.create("new", topic_key="new topic")
    with damaged.view() as view, pytest.raises(StorageInconsistency):
        view.partition(PARTITION).standing(one.record_id)
    left = published_rows(damaged)
    assert reader(left).head().counted != reader(left).recounted()
    assert {"standing"} == {finding.family for finding in verify_rows(MemoryStore(left)).findings}


ONE = NOTHING.moved(b"key", None, b"body")


class _Counts:
    """What is there, and how often somebody counted it."""

    def __init__(self, found: Tally) -> None:
        self.times = 0
        self._found = found

    def __call__(self) -> Tally:
        self.times += 1
        return self._found


def told() -> Tally:
    return ONE


def test_a_partition_is_counted_once_while_it_is_remembered() -> None:
    recounts, sound, unsound = Recounts(remembered_max=2), _Counts(ONE), _Counts(NOTHING)
    for _ in range(3):
        recounts.require(b"sound", told, sound)
        with pytest.raises(StorageInconsistency):
            recounts.require(b"unsound", told, unsound)
    assert (1, 1) == (sound.times, unsound.times)
    recounts.require(b"another", told, _Counts(ONE))
    recounts.require(b"sound", told, sound)
    assert 2 == sound.times


def damaged_bytes() -> Tally:
    raise StorageInconsistency("damaged bytes")


def test_a_partition_whose_rows_can_not_be_read_is_not_counted_again() -> None:
    recounts = Recounts()
    for message in ("damaged bytes", "not those that are there"):
        with pytest.raises(StorageInconsistency, match=message):
            recounts.require(b"unreadable", told, damaged_bytes)


def test_a_head_that_can_not_be_read_says_nothing_about_the_rows() -> None:
    recounts, sound = Recounts(), _Counts(ONE)
    with pytest.raises(StorageInconsistency, match="damaged bytes"):
        recounts.require(b"prefix", damaged_bytes, sound)
    assert not recounts.knows(b"prefix")
    recounts.require(b"prefix", told, sound)


def test_who_may_not_wait_counts_nothing_and_is_told_so(judged: Rows) -> None:
    key = of_table(judged, Table.STANDING)[0]
    record_id = rows.unpack_uuid(key[-16:])
    with ledger_on(judged, ManualClock(START_MILLIS), Counted(start=1_000_000)) as ledger:
        with ledger.view(counting=False) as view, pytest.raises(Uncounted):
            view.partition(PARTITION).standing(record_id)
        with ledger.view() as view:
            counted = view.partition(PARTITION).standing(record_id)
        with ledger.view(counting=False) as view:
            assert counted == view.partition(PARTITION).standing(record_id)


def test_a_partition_is_counted_by_the_writer_before_its_commands_are_brief(judged: Rows) -> None:
    group = Group(MemoryStore(judged), Counted(start=1_000_000), START_MILLIS, recounts=Recounts())
    assert not group.has_counted(PARTITION)
    group.count(PARTITION)
    assert group.has_counted(PARTITION)


def test_the_writer_counts_a_partition_that_lacks_a_row_and_goes_on(judged: Rows) -> None:
    left = without(judged, of_table(judged, Table.STANDING)[0])
    group = Group(MemoryStore(left), Counted(start=1_000_000), START_MILLIS, recounts=Recounts())
    group.count(PARTITION)
    assert group.has_counted(PARTITION)


def test_a_row_without_a_body_whose_checksum_is_wrong_is_noticed_by_who_looks_for_another(judged: Rows) -> None:
    key = of_table(judged, Table.PINNED)[0]
    torn = {**judged, key: judged[key][:-1] + bytes([judged[key][-1] ^ 1])}
    checked = PartitionReader(MemoryStore(torn), PARTITION, Recounts())
    with pytest.raises(StorageInconsistency, match="checksum"):
        list(checked.all_facts())
    assert list(reader(torn).all_facts())
