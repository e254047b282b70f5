"""A restored copy that runs the same commands again is another history, and every route of the feeds says so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from relatum.clock import ManualClock
from relatum.core.answers.feeds import Change, Delivery
from relatum.core.streams import Cursor
from relatum.ledger import Ledger
from tests.feeds.following import CONSUMER, Consumer, advance, answered, reconcile, refused
from tests.support import builders
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk

OFF_THE_JOURNAL = (409, "journal_history_conflict")


class Restored:
    """A copy of a store that then lived on differently; `lost` was delivered by the store that was copied."""

    def __init__(self, consumer: Consumer, common: list[Cursor], lost: Delivery[Change]) -> None:
        self.consumer = consumer
        self.common = common
        self.lost = lost


def opened(directory: Path) -> Ledger:
    return Ledger.open(directory, create=True, clock=ManualClock(START_MILLIS))


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[Restored]:
    with opened(tmp_path / "original") as ledger:
        desk = Desk(ledger)
        claim = desk.relate(desk.create(), desk.create())
        consumer = Consumer(desk)
        consumer.advance(consumer.tip())
        common = consumer.cursors()
    shutil.copytree(tmp_path / "original", tmp_path / "copy")
    command = desk.command(builders.retire(claim.relation_id, 1))
    with opened(tmp_path / "original") as ledger:
        answered(ledger.submit(command))
        [_, lost] = Consumer(Desk(ledger)).deliveries()
    with opened(tmp_path / "copy") as ledger:
        answered(ledger.submit(command))
        yield Restored(Consumer(Desk(ledger)), common, lost)


def test_the_same_command_makes_the_same_change_and_another_cursor(restored: Restored) -> None:
    [_, kept] = restored.consumer.deliveries()
    assert restored.lost.change == kept.change, "nothing but the nonce tells the two histories apart"
    assert (restored.lost.cursor.journal_id, 2) == (kept.cursor.journal_id, kept.cursor.sequence)
    assert restored.lost.cursor.prefix_digest != kept.cursor.prefix_digest


def test_the_lost_cursor_is_refused_at_either_end_of_a_page(restored: Restored) -> None:
    assert OFF_THE_JOURNAL == refused(restored.consumer.page(after=restored.lost.cursor))
    assert OFF_THE_JOURNAL == refused(restored.consumer.page(through=restored.lost.cursor))


def test_the_lost_cursor_is_refused_as_a_checkpoint(restored: Restored) -> None:
    saved = answered(restored.consumer.checkpoint())
    assert OFF_THE_JOURNAL == refused(restored.consumer.submit(advance(restored.lost.cursor, saved)))
    assert OFF_THE_JOURNAL == refused(restored.consumer.submit(reconcile(restored.lost.cursor, saved)))


def test_a_diagnosis_tells_that_the_witness_is_of_another_history(restored: Restored) -> None:
    found = answered(restored.consumer.diagnose(restored.lost.cursor))
    assert ("history_incompatible", None) == (found.witness_status, found.checkpoint_relative_to_witness)
    assert ("compatible", 1) == (found.checkpoint_status, found.pending_positions)


def test_cursors_of_the_common_prefix_stay_valid(restored: Restored) -> None:
    consumer, common = restored.consumer, restored.common
    assert common == consumer.cursors()[:-1]
    assert [2, 1] == [len(answered(consumer.page(after=cursor)).changes) for cursor in common]
    assert all(answered(consumer.page(through=cursor)).complete for cursor in common)
    assert ["after", "equal"] == [answered(consumer.diagnose(one)).checkpoint_relative_to_witness for one in common]
    saved = answered(consumer.checkpoint(CONSUMER))
    assert 2 == consumer.advance(common[-1], saved).revision
