"""A store that changes between the steps of its verification: no fault is made up, and none is missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

import pytest

from relatum.ledger import Ledger
from relatum.limits import U64_MAX
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, Table
from relatum.store.kv import Reader
from relatum.store.memory import MemoryStore
from relatum.store.verify.audit import Slices
from relatum.store.verify.findings import Findings
from relatum.store.verify.prefixes import TakeView
from relatum.store.verify.serial import SerialPartitions
from relatum.store.verify.store_check import StoreCheck
from relatum.store.verify.totals import Totals
from tests.fuzz.dice import Dice
from tests.support import builders
from tests.support.builders import partition
from tests.support.desk import Desk
from tests.support.history import many_events
from tests.support.matrix import every, first_of
from tests.support.stores import database_on, published_rows
from tests.verify.restless import Restless


def views_of(ledger: Ledger) -> TakeView:
    @contextmanager
    def take() -> Iterator[Reader]:
        with ledger.view() as view:
            yield view.reader

    return take


def verified(ledger: Ledger, step_rows: int, between: Callable[[], None]) -> Findings:
    """What a pass finds, between whose steps something is done."""
    findings, totals, take_view = Findings(), Totals(), views_of(ledger)
    partitions = SerialPartitions(take_view, findings, totals, step_rows=step_rows)
    for _ in StoreCheck(take_view, findings, totals, partitions, step_rows=step_rows).steps():
        between()
    return findings


def passes(seed: int) -> list[Findings]:
    """Three passes over a sound store, on which a client works between any two steps."""
    dice, found = Dice("passes", seed), []
    with Ledger.in_memory() as ledger:
        client = Restless(ledger, dice)
        client.give(dice.below(60))
        for _ in range(3):
            before = client.accepted
            step_rows = dice.one_of([10, 25, 60])
            found.append(verified(ledger, step_rows, lambda: client.give(dice.one_of([0, 0, 1, 2]))))
            assert client.accepted > before
    return found


@pytest.mark.parametrize("seed", first_of(range(20), quick=4))
def test_nothing_is_found_in_a_sound_store_whatever_is_written_between_two_steps(seed: int) -> None:
    assert [[], [], []] == [findings.named for findings in passes(seed)]


def test_without_knowing_what_each_slice_has_seen_faults_would_be_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slices, "events_at", lambda *_: U64_MAX)
    assert any(findings.named for seed in range(5) for findings in passes(seed))


EARLY = [table for table in Table if table is not Table.TILE]
"""The tables that have rows before a partition has 256 events."""


def test_tiles_of_a_log_that_grows_meanwhile_are_those_that_are_there() -> None:
    with Ledger.in_memory() as ledger:
        many_events(ledger)
        desk = Desk(ledger, partition(mission_id="many"))
        one, two = desk.create("three"), desk.create("four")

        def grow() -> None:
            for _ in range(40):
                desk.accept(builders.assertion(one, two, if_absent=True))

        assert [] == verified(ledger, 100, grow).named
        with ledger.view() as view:
            assert view.partition(desk.partition).head().sequence > 3 * 256


@cache
def rows_of_every_table() -> dict[bytes, bytes]:
    """The rows of a ledger on which a client has worked until each of these tables had some."""
    with Ledger.in_memory() as ledger:
        ledger.bootstrap("acme", "root")
        client = Restless(ledger, Dice("before"))
        for _ in range(20):
            client.give(100)
            found = published_rows(ledger)
            if {*EARLY} <= {key[PREFIX_BYTES] for key in found if not key.startswith(STORE_PREFIX)}:
                return found
    raise AssertionError("a table without rows")


LOST = [table for table in EARLY if table is not Table.PARTITION]


@pytest.mark.parametrize("table", every(10, LOST))
def test_a_row_that_was_lost_is_found_whatever_is_written_between_two_steps(table: Table) -> None:
    """What is written goes to other partitions, since the writer itself would meet many of these faults."""
    found = dict(rows_of_every_table())
    own = [key for key in found if key[PREFIX_BYTES] == table and not key.startswith(STORE_PREFIX)]
    # Not the last of its partition: an event that is missing there is a head that tells of too many.
    within = [key for key, following in pairwise(own) if key[:PREFIX_BYTES] == following[:PREFIX_BYTES]] or own
    del found[within[len(within) // 2]]
    with Ledger(database_on(MemoryStore(found))) as ledger:
        elsewhere = Restless(
            ledger, Dice("meanwhile"), partition(mission_id="elsewhere"), partition(mission_id="yonder")
        )
        findings = verified(ledger, 60, lambda: elsewhere.give(1))  # a step must read more than a command writes
        assert table.name.lower() in findings.by_family, findings.named
        assert elsewhere.accepted > 20
