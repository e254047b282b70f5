"""Group commit: what gathers while the disk is busy shares the next sync, and nobody is answered before it returned."""

from __future__ import annotations

import asyncio

from relatum.clock import ManualClock
from relatum.core.receipts import RecordReceipt
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.desk import Desk
from tests.support.measures import measured
from tests.support.polling import WAIT_SECONDS
from tests.support.stores import TrialStore, database_on, published_rows
from tests.support.threads import at_once

THREADS = 32


def test_commands_that_gather_during_a_sync_share_the_next_one(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> list[int]:
        disk.hold()
        first = asyncio.create_task(ledger.submit_async([desk.command(builders.create())]))
        await asyncio.to_thread(disk.wait_for_sync)
        gathered = [asyncio.create_task(ledger.submit_async([desk.command(builders.create())])) for _ in range(20)]
        await asyncio.sleep(0)  # each task runs to where it waits for its answer
        disk.release()
        answers = await asyncio.wait_for(asyncio.gather(first, *gathered), WAIT_SECONDS)
        return [one.commit_sequence for (one,) in answers if isinstance(one, RecordReceipt)]

    assert list(range(1, 22)) == asyncio.run(scenario())
    assert 21 == measured(ledger, "relatum_commands_total", family="record", action="created")
    assert 2 == measured(ledger, "relatum_syncs_total") == measured(ledger, "relatum_groups_total")


def test_nobody_sees_or_is_told_what_is_not_yet_durable(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    before = published_rows(ledger)

    async def scenario() -> None:
        disk.hold()
        waiting = asyncio.create_task(ledger.submit_async([desk.command(builders.create())]))
        await asyncio.to_thread(disk.wait_for_sync)
        assert before == published_rows(ledger)
        assert not waiting.done()
        disk.release()
        await asyncio.wait_for(waiting, WAIT_SECONDS)

    asyncio.run(scenario())
    assert before != published_rows(ledger)


def test_a_replay_is_answered_while_the_disk_is_held_up(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    first = desk.accept(builders.create(), "k")

    async def scenario() -> None:
        disk.hold()
        waiting = asyncio.create_task(ledger.submit_async([desk.command(builders.create("new"))]))
        await asyncio.to_thread(disk.wait_for_sync)
        assert first == ledger.submit(desk.command(builders.create(), "k"))
        assert [first] == await ledger.submit_async([desk.command(builders.create(), "k")])
        assert 409 == desk.refuse(builders.create("other"), "k")[0]
        assert not waiting.done()
        disk.release()
        await asyncio.wait_for(waiting, WAIT_SECONDS)

    asyncio.run(scenario())


def test_a_command_and_its_replay_in_one_group_are_answered_alike(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        disk.hold()
        first = asyncio.create_task(ledger.submit_async([desk.command(builders.create())]))
        await asyncio.to_thread(disk.wait_for_sync)
        same = [asyncio.create_task(ledger.submit_async([desk.command(builders.create("x"), "k")])) for _ in range(5)]
        await asyncio.sleep(0)
        disk.release()
        answers = await asyncio.wait_for(asyncio.gather(*same), WAIT_SECONDS)
        assert [answers[0]] * 5 == answers
        await first

    asyncio.run(scenario())
    assert 2 == measured(ledger, "relatum_commands_total")
    assert 4 == measured(ledger, "relatum_replays_total")


def test_a_group_takes_no_more_tickets_than_its_bound_allows(clock: ManualClock) -> None:
    disk = TrialStore()
    with Ledger(database_on(disk), clock=clock, group_commands_max=4) as ledger:
        desk = Desk(ledger)

        async def scenario() -> None:
            disk.hold()
            tasks = [asyncio.create_task(ledger.submit_async([desk.command(builders.create())]))]
            await asyncio.to_thread(disk.wait_for_sync)
            tasks += [asyncio.create_task(ledger.submit_async([desk.command(builders.create())])) for _ in range(9)]
            await asyncio.sleep(0)
            disk.release()
            await asyncio.wait_for(asyncio.gather(*tasks), WAIT_SECONDS)

        asyncio.run(scenario())
        assert 1 + 3 == measured(ledger, "relatum_groups_total")


def test_threads_that_write_at_once_make_a_history_without_gaps(ledger: Ledger) -> None:
    desks = [Desk(ledger) for _ in range(THREADS)]
    receipts = at_once([lambda desk=desk: [desk.accept(builders.create()) for _ in range(8)] for desk in desks])  # type: ignore[misc]  # a default binds the desk
    sequences = [receipt.commit_sequence for answers in receipts for receipt in answers]
    assert list(range(1, 8 * THREADS + 1)) == sorted(sequences)
    assert [sorted(each) for each in _by_thread(receipts)] == _by_thread(receipts)
    assert measured(ledger, "relatum_syncs_total") <= 8 * THREADS


def _by_thread(receipts: list[list[RecordReceipt]]) -> list[list[int]]:
    return [[receipt.commit_sequence for receipt in answers] for answers in receipts]
