"""A page of consumers looks into a bounded number of workspaces, however many there are without a consumer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.core.answers.company import ConsumerPage
from relatum.core.company import ConsumersQuery
from relatum.core.cursors import Advance, CheckpointCommand
from relatum.core.ids import Partition, Scope, memory_partition
from relatum.core.streams import RECORDS
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads import consumers
from relatum.store.journal import Journal
from tests.support.builders import ADA
from tests.support.desk import Desk

VISITED_MAX = 3


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setattr(consumers, "WORKSPACES_VISITED_MAX", VISITED_MAX)
    with Ledger.in_memory() as opened:
        yield opened


def partition(number: int) -> Partition:
    scope = Scope(project_id=f"project-{number}", agent_id="scout", visibility="shared")
    return memory_partition("acme", ADA.subject_id, scope)


def consuming(ledger: Ledger, at: Partition, consumer_id: str) -> None:
    with ledger.view() as view:
        journal = Journal.open(view.partition(at), RECORDS)
        assert journal is not None
        place = journal.high_watermark
    command = CheckpointCommand(
        contract_version=1,
        idempotency_key=f"save {consumer_id}",
        consumer_id=consumer_id,
        expected_revision=0,
        operation=Advance(cursor=place),
    )
    assert not isinstance(ledger.save_checkpoint(at, ADA, RECORDS, command), Refusal)


def page(ledger: Ledger, cursor: str | None, limit: int | None = None) -> ConsumerPage:
    with ledger.view() as view:
        found = consumers.page(view, "acme", ConsumersQuery(stream=RECORDS, limit=limit, cursor=cursor))
    assert not isinstance(found, Refusal), found
    return found


def test_pages_may_be_empty_and_following_them_meets_every_consumer_once(ledger: Ledger) -> None:
    places = [partition(number) for number in range(4 * VISITED_MAX)]
    for at in places:
        Desk(ledger, at).create()
    with ledger.view() as view:
        last = max(places, key=lambda at: view.partition(at).workspace_id)
    for consumer_id in ("first", "second"):
        consuming(ledger, last, consumer_id)
    pages = [page(ledger, None, limit=1)]
    while pages[-1].next_cursor is not None:
        pages.append(page(ledger, pages[-1].next_cursor, limit=1))
    assert [0, 0, 0, 1, 1] == [len(found.consumers) for found in pages]
    assert {"first", "second"} == {one.consumer_id for found in pages for one in found.consumers}


def test_as_many_workspaces_as_a_page_may_visit_are_one_page(ledger: Ledger) -> None:
    for number in range(VISITED_MAX):
        Desk(ledger, partition(number)).create()
    assert None is page(ledger, None).next_cursor
    Desk(ledger, partition(VISITED_MAX)).create()
    first = page(ledger, None)
    assert None is not first.next_cursor
    assert None is page(ledger, first.next_cursor).next_cursor
