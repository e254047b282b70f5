"""Failpoints: every name is a place that a store really comes by, in the order of the names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crash_tests.failpoints.torn import tear
from relatum.ledger import Ledger
from relatum.store import failpoints
from relatum.store.backup.restore import restore
from tests.backup.scene import back_up
from tests.support.builders import ADA, PARTITION, create


@pytest.fixture
def reached() -> Iterator[list[str]]:
    places: list[str] = []
    failpoints.arm(places.append)
    yield places
    failpoints.arm(None)


def live(ledger: Ledger) -> None:
    with ledger:
        ledger.submit(ledger.command(PARTITION, ADA, "a key", create("kept")))


def test_a_store_comes_by_every_place_in_order_from_its_making_to_its_closing(
    tmp_path: Path, reached: list[str]
) -> None:
    live(Ledger.open(tmp_path / "store", create=True))
    others = ("examine.", "repair.", "image.", "restore.")
    assert [name for name in failpoints.NAMES if not name.startswith(others)] == reached


def test_a_store_whose_log_is_torn_comes_by_the_repair(tmp_path: Path, reached: list[str]) -> None:
    live(Ledger.open(tmp_path / "store", create=True))
    tear(tmp_path / "store")
    reached.clear()
    Ledger.open(tmp_path / "store").close()
    opening = [name for name in failpoints.NAMES if name.startswith(("examine.", "open.", "repair."))]
    assert [*opening, "close.drained", "close.closed"] == reached


def test_a_backup_and_its_restoring_come_by_their_places(tmp_path: Path, reached: list[str]) -> None:
    live(Ledger.open(tmp_path / "store", create=True))
    back_up(tmp_path / "store", tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")
    copying = [name for name in failpoints.NAMES if name.startswith(("image.", "restore."))]
    assert copying == [name for name in reached if name in copying]


def test_what_a_hook_raises_goes_on_from_the_place(tmp_path: Path) -> None:
    class Crash(Exception):
        pass

    def crash(name: failpoints.Name) -> None:
        if name == "open.engine":
            raise Crash

    failpoints.arm(crash)
    try:
        with pytest.raises(Crash):
            Ledger.open(tmp_path / "store", create=True)
    finally:
        failpoints.arm(None)
    Ledger.open(tmp_path / "store", create=True).close()


def test_an_unarmed_place_does_nothing() -> None:
    failpoints.reach("commit.synced")
