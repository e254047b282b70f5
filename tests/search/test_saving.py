"""Saves by the ledger's own doors: compared with what is there before, indexed after, never on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from threading import get_ident
from typing import Any

import pytest

from relatum.core import digests
from relatum.core.commands import DeleteRecord, SaveRecord
from relatum.core.decide.saves import Detected
from relatum.core.receipts import RecordReceipt
from relatum.ledger import Ledger
from relatum.ledger.search.index import SearchIndex
from relatum.ledger.writer.submission import MemorySubmission
from tests.support.builders import PARTITION, record
from tests.support.desk import Desk

TIDE = "the tide turned at noon"
LATER = "the tide turned at noon, and the ferry left"

Submitting = Callable[[Ledger, Sequence[MemorySubmission]], Sequence[Any]]


def one_after_another(ledger: Ledger, submissions: Sequence[MemorySubmission]) -> Sequence[Any]:
    return [ledger.submit(one) for one in submissions]


def on_a_loop(ledger: Ledger, submissions: Sequence[MemorySubmission]) -> Sequence[Any]:
    return asyncio.run(ledger.submit_async(submissions))


EVERY_WAY = pytest.mark.parametrize("submitting", [one_after_another, Ledger.submit_all, on_a_loop])


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger.in_memory() as opened:
        yield opened


@pytest.fixture
def worked_in(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What the index was made to do, and in which thread."""
    seen: list[tuple[str, int]] = []

    def noted(name: str) -> None:
        work = getattr(SearchIndex, name)

        def noting(*given: Any, **named: Any) -> Any:
            seen.append((name, get_ident()))
            return work(*given, **named)

        monkeypatch.setattr(SearchIndex, name, noting)

    noted("detect")
    noted("catch_up")
    return seen


def save(content: str) -> SaveRecord:
    return SaveRecord(record=record(content))


def pairs(ledger: Ledger) -> list[tuple[str, str]]:
    with ledger.view() as view:
        found = view.partition(PARTITION).candidates("pending")
        return [(one.source.record_id, one.target.record_id) for one in found]


@EVERY_WAY
def test_a_save_is_compared_with_what_came_before_it_in_its_batch_too(ledger: Ledger, submitting: Submitting) -> None:
    desk = Desk(ledger)
    first, _, second = submitting(ledger, [desk.command(one) for one in (save(TIDE), save("noise"), save(LATER))])
    assert isinstance(first, RecordReceipt)
    assert isinstance(second, RecordReceipt)
    [pair] = pairs(ledger)
    assert {first.record_id, second.record_id} == set(pair)


@EVERY_WAY
def test_a_save_that_is_sent_again_is_not_compared_again(
    ledger: Ledger, submitting: Submitting, worked_in: list[tuple[str, int]]
) -> None:
    command = Desk(ledger).command(save(TIDE))
    assert submitting(ledger, [command]) == submitting(ledger, [command])
    assert 1 == [name for name, _ in worked_in].count("detect")


@EVERY_WAY
def test_a_save_that_says_what_was_found_is_not_compared(
    ledger: Ledger, submitting: Submitting, worked_in: list[tuple[str, int]]
) -> None:
    desk = Desk(ledger)
    ledger.submit(desk.command(save(TIDE)))
    told = desk.command(save(LATER))._replace(detected=Detected())  # type: ignore[call-arg] # it is of a record
    worked_in.clear()
    submitting(ledger, [told])
    assert ["catch_up"] == [name for name, _ in worked_in]
    assert [] == pairs(ledger)


def test_an_event_loop_leaves_the_index_to_other_threads(ledger: Ledger, worked_in: list[tuple[str, int]]) -> None:
    desk = Desk(ledger)
    [saved] = on_a_loop(ledger, [desk.command(save(TIDE))])
    gone = DeleteRecord(record_id=saved.record_id, expected_revision=saved.revision)
    on_a_loop(ledger, [desk.command(gone), desk.command(save(LATER))])
    assert ["detect", "catch_up", "detect", "catch_up"] == [name for name, _ in worked_in]
    assert get_ident() not in {where for _, where in worked_in}


def test_a_save_that_outlives_the_thread_of_the_index_is_answered(ledger: Ledger) -> None:
    desk = Desk(ledger)
    on_a_loop(ledger, [desk.command(save(TIDE))])
    ledger._indexing.close()
    [saved] = on_a_loop(ledger, [desk.command(save(LATER))])
    assert isinstance(saved, RecordReceipt)


@EVERY_WAY
def test_what_was_deleted_is_out_of_the_index_before_it_is_answered(ledger: Ledger, submitting: Submitting) -> None:
    desk = Desk(ledger)
    [saved] = submitting(ledger, [desk.command(save(TIDE))])
    assert 1 == indexed(ledger)
    submitting(ledger, [desk.command(DeleteRecord(record_id=saved.record_id, expected_revision=saved.revision))])
    assert 0 == indexed(ledger)


def indexed(ledger: Ledger) -> int:
    """How many records the index holds as it lies there, without being asked and brought up to anything."""
    keeper = ledger._index._keeper
    assert keeper is not None
    known = keeper.tables.partition(bytes.fromhex(digests.workspace_id(PARTITION)))
    assert known is not None
    return keeper.tables.totals(known[0])[0]
