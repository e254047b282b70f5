"""The bounded queue: a full one refuses at once, writes nothing, and takes commands again when it has drained."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from relatum.clock import ManualClock
from relatum.errors import WriteBusy
from relatum.ledger import Ledger
from relatum.limits import DAY_MILLIS
from relatum.writer.submission import MemorySubmission
from tests.support import builders
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.measures import measured
from tests.support.polling import WAIT_SECONDS
from tests.support.stores import TrialStore, database_on

QUEUE = 3


@pytest.fixture
def ledger(clock: ManualClock, disk: TrialStore) -> Iterator[Ledger]:
    with Ledger(database_on(disk), clock=clock, queue_commands_max=QUEUE) as opened:
        yield opened
        disk.release()


def commands(desk: Desk, number: int) -> list[MemorySubmission]:
    return [desk.command(builders.create()) for _ in range(number)]


async def held_up(disk: TrialStore, ledger: Ledger, desk: Desk) -> list[asyncio.Task[object]]:
    """One command at the disk, and as many behind it as the queue takes."""
    disk.hold()
    tasks: list[asyncio.Task[object]] = [asyncio.create_task(ledger.submit_async(commands(desk, 1)))]
    await asyncio.to_thread(disk.wait_for_sync)
    tasks += [asyncio.create_task(ledger.submit_async(commands(desk, 1))) for _ in range(QUEUE)]
    await asyncio.sleep(0)
    return tasks


def test_a_full_queue_refuses_and_what_it_held_is_still_answered(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        tasks = await held_up(disk, ledger, desk)
        assert QUEUE == measured(ledger, "relatum_write_queue")
        with pytest.raises(WriteBusy):
            await ledger.submit_async(commands(desk, 1))
        disk.release()
        await asyncio.wait_for(asyncio.gather(*tasks), WAIT_SECONDS)

    asyncio.run(scenario())
    assert QUEUE + 1 == measured(ledger, "relatum_commands_total")
    desk.create()
    with desk.view() as view:
        assert QUEUE + 2 == view.partition(desk.partition).head().sequence


def test_a_batch_that_does_not_fit_is_refused_whole(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        disk.hold()
        tasks = [asyncio.create_task(ledger.submit_async(commands(desk, 1)))]
        await asyncio.to_thread(disk.wait_for_sync)
        tasks.append(asyncio.create_task(ledger.submit_async(commands(desk, QUEUE - 1))))
        await asyncio.sleep(0)
        with pytest.raises(WriteBusy):
            await ledger.submit_async(commands(desk, 2))
        disk.release()
        await asyncio.wait_for(asyncio.gather(*tasks), WAIT_SECONDS)

    asyncio.run(scenario())
    assert 1 + QUEUE - 1 == measured(ledger, "relatum_commands_total")


def test_a_batch_larger_than_the_queue_is_taken_when_nobody_waits(ledger: Ledger, desk: Desk) -> None:
    assert 2 * QUEUE == len(ledger.submit_all(commands(desk, 2 * QUEUE)))
    assert 2 * QUEUE == measured(ledger, "relatum_commands_total")


def test_a_replay_needs_no_place_in_the_queue(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    first = desk.accept(builders.create(), "k")

    async def scenario() -> None:
        tasks = await held_up(disk, ledger, desk)
        assert [first] == await ledger.submit_async([desk.command(builders.create(), "k")])
        disk.release()
        await asyncio.wait_for(asyncio.gather(*tasks), WAIT_SECONDS)

    asyncio.run(scenario())


def test_the_sweep_goes_on_where_the_queue_has_no_room_for_a_partition(
    disk: TrialStore, ledger: Ledger, clock: ManualClock
) -> None:
    desks = [JudgingDesk(ledger, partition) for partition in (builders.PARTITION, builders.PRIVATE)]
    for one in desks:
        first = one.save("nine")
        one.save("ten", like=(first,))
    clock.advance(20 * DAY_MILLIS)

    async def scenario() -> None:
        tasks = await held_up(disk, ledger, Desk(ledger))
        assert 0 == await asyncio.to_thread(ledger.judgments.sweep_due)
        disk.release()
        await asyncio.wait_for(asyncio.gather(*tasks), WAIT_SECONDS)

    asyncio.run(scenario())
    assert 2 == ledger.judgments.sweep_due()
