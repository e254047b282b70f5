"""Journals: activated once, extended by accepted commands alone, and never the same twice."""

from __future__ import annotations

from pathlib import Path

from relatum.core.streams import RECORDS, RELATIONS
from relatum.ledger import Ledger
from tests.feeds.following import Consumer, answered
from tests.support.builders import PARTITION
from tests.support.desk import Desk
from tests.support.threads import at_once


def test_the_first_command_of_a_stream_activates_that_stream_alone(desk: Desk, consumer: Consumer) -> None:
    desk.create()
    assert answered(consumer.of(RECORDS).page()).active
    assert not answered(consumer.page()).active


def test_activation_makes_a_baseline_that_later_commands_keep(desk: Desk, consumer: Consumer) -> None:
    ledger = desk.ledger
    ledger.activate(PARTITION, desk.author, RELATIONS)
    page = answered(consumer.page())
    assert (True, (), True) == (page.active, page.changes, page.complete)
    assert page.baseline == page.next_cursor == page.high_watermark
    desk.relate(desk.create(), desk.create())
    ledger.activate(PARTITION, desk.author, RELATIONS)
    assert page.baseline == answered(consumer.page()).baseline
    assert [page.baseline] == consumer.cursors()[:1]


def test_activations_at_the_same_time_agree_on_one_journal(desk: Desk) -> None:
    heads = at_once([lambda: desk.ledger.activate(PARTITION, desk.author, RELATIONS)] * 8)
    assert {0} == {head.sequence for head in heads}
    assert 1 == len({head.journal_id for head in heads})
    with desk.view() as view:
        assert 1 == view.partition(PARTITION).head().sequence


def test_a_journal_survives_a_reopening(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger", create=True) as ledger:
        desk = Desk(ledger)
        desk.create()
        before = Consumer(desk, RECORDS).cursors()
    with Ledger.open(tmp_path / "ledger") as ledger:
        desk = Desk(ledger)
        desk.create()
        assert before == Consumer(desk, RECORDS).cursors()[:-1]
