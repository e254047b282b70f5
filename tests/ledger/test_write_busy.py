"""The bounded queue: a full one refuses at once, writes nothing, and takes commands again when it has drained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import count

import pytest

from relatum.clock import ManualClock
from relatum.core.commands import SaveRecord
from relatum.core.receipts import Receipt
from relatum.errors import Failure, Refusal, StorageFailure, WriteBusy, WritesRefused
from relatum.ledger import Ledger
from relatum.ledger.writer.submission import MemorySubmission
from relatum.limits import DAY_MILLIS
from relatum.store.view import LedgerView
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


def full(disk: TrialStore, ledger: Ledger) -> None:
    """One command at the disk, and as many behind it as the queue takes; nobody waits for them."""
    desk = Desk(ledger)
    disk.hold()
    ledger._committer.submit(commands(desk, 1), lambda _: None)
    disk.wait_for_sync()
    ledger._committer.submit(commands(desk, QUEUE), lambda _: None)


def failing(disk: TrialStore, _: Ledger) -> None:
    disk.fail()


def before_save(number: int, happens: Callable[[], None], ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something happens before the save of that number, counted from 1, is handed to the writer."""
    compared, numbers = ledger._indexing.compared, count(1)

    def comparing(submissions: Sequence[MemorySubmission]) -> Sequence[MemorySubmission]:
        if next(numbers) == number:
            happens()
        return compared(submissions)

    monkeypatch.setattr(ledger._indexing, "compared", comparing)


def submitted(ledger: Ledger, batch: list[MemorySubmission], *, blocking: bool) -> list[Receipt | Refusal | Failure]:
    return ledger.submit_all(batch) if blocking else asyncio.run(ledger.submit_async(batch))


def saves(desk: Desk, *texts: str) -> list[MemorySubmission]:
    return [desk.command(SaveRecord(record=builders.record(text))) for text in texts]


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize(("happens", "failure"), [(full, WriteBusy), (failing, WritesRefused)])
def test_a_batch_of_which_some_saves_were_taken_tells_which(
    happens: Callable[[TrialStore, Ledger], None],
    failure: type[Failure],
    blocking: bool,
    disk: TrialStore,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(ledger)
    kept = desk.accept(builders.create(), "known")
    one, two, three = saves(desk, "one", "two", "three")
    batch = [one, two, desk.command(builders.create(), "known"), three]
    before_save(2, lambda: happens(disk, ledger), ledger, monkeypatch)
    first, *others = submitted(ledger, batch, blocking=blocking)
    assert [failure, type(kept), failure] == list(map(type, others))
    assert kept == others[1]
    disk.release()
    assert ledger.submit(one) == first
    if failure is WriteBusy:
        assert [first, kept] == ledger.submit_all(batch)[::2]


@pytest.mark.parametrize("blocking", [True, False])
def test_a_batch_of_which_no_save_was_taken_is_refused_whole(
    blocking: bool, disk: TrialStore, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_save(1, lambda: full(disk, ledger), ledger, monkeypatch)
    with pytest.raises(WriteBusy):
        submitted(ledger, saves(Desk(ledger), "one", "two"), blocking=blocking)


@pytest.mark.parametrize("blocking", [True, False])
def test_a_store_that_can_t_be_read_between_two_saves_costs_nobody_what_was_taken(
    blocking: bool, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = saves(Desk(ledger), "one", "two", "three")
    view, numbers = ledger._submitting._view, count(1)

    def failing_view() -> LedgerView:
        if next(numbers) in (2, 4):  # of the second save, and of the first one below
            raise StorageFailure("the disk can't be read")
        return view()

    monkeypatch.setattr(ledger._submitting, "_view", failing_view)
    first, *others = submitted(ledger, [one, two, three], blocking=blocking)
    assert [StorageFailure] * 2 == list(map(type, others))
    with pytest.raises(StorageFailure):
        submitted(ledger, [two], blocking=blocking)
    assert first == ledger.submit(one)
