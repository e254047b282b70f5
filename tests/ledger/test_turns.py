"""The writer in turns with an event loop: it decides what it would decide alone, and the loop gets on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import get_ident

import pytest

from relatum.clock import ManualClock
from relatum.core.receipts import Receipt
from relatum.errors import Failure, Refusal, StorageFailure, WritesRefused
from relatum.ledger import Ledger
from relatum.ledger.writer import loop_executor
from relatum.ledger.writer.group import Group
from relatum.ledger.writer.submission import MemorySubmission, Outcome, RecordSubmission, Submission
from tests.support import builders
from tests.support.desk import Desk
from tests.support.measures import measured
from tests.support.polling import WAIT_SECONDS
from tests.support.steps import Operation
from tests.support.stores import TrialStore, assert_rebuilds, database_on, published_rows

MANY = 50

Outcomes = list[Receipt | Refusal | Failure]


def in_turns(ledger: Ledger, scenario: Callable[[], Awaitable[None]]) -> None:
    """Runs it on an event loop that the writer shares."""

    async def shared() -> None:
        with ledger.in_turns_with(asyncio.get_running_loop()):
            await asyncio.wait_for(scenario(), WAIT_SECONDS)

    asyncio.run(shared())


async def until(holds: Callable[[], bool]) -> None:
    """Looks again each time the loop comes round."""
    while not holds():  # noqa: ASYNC110 - the rounds are what is looked at
        await asyncio.sleep(0)


def creations(desk: Desk, number: int = MANY) -> list[MemorySubmission]:
    return [desk.command(builders.create()) for _ in range(number)]


def sequences(outcomes: Outcomes) -> list[int]:
    assert all(isinstance(one, Receipt) for one in outcomes)
    return [one.commit_sequence for one in outcomes if isinstance(one, Receipt)]


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """In which thread each command was decided."""
    noted: list[tuple[str, int]] = []
    decide = Group.decide

    def noting(group: Group, submission: Submission) -> Outcome:
        assert isinstance(submission, RecordSubmission)
        noted.append((type(submission.operation).__name__, get_ident()))
        return decide(group, submission)

    monkeypatch.setattr(Group, "decide", noting)
    return noted


@pytest.fixture
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one step each."""
    monkeypatch.setattr(loop_executor, "TURN_SECONDS", 0.0)


def test_brief_commands_are_decided_in_the_thread_of_the_loop_and_others_in_the_writers(
    ledger: Ledger, desk: Desk, threads: list[tuple[str, int]]
) -> None:
    one, two = desk.create(), desk.create()
    threads.clear()
    operations: list[Operation] = [
        builders.create(),
        builders.delete(one),
        builders.create(),
        builders.delete(two),
        builders.create(),
    ]

    async def scenario() -> None:
        commands = [desk.command(operation) for operation in operations]
        assert [3, 4, 5, 6, 7] == sequences(await ledger.submit_async(commands))
        assert [type(operation).__name__ for operation in operations] == [name for name, _ in threads]
        here = get_ident()
        assert [True, False, True, False, True] == [thread == here for _, thread in threads]

    in_turns(ledger, scenario)
    assert_rebuilds(ledger)


def test_the_first_command_of_a_partition_that_nobody_has_counted_is_the_writers(
    ledger: Ledger, desk: Desk, threads: list[tuple[str, int]]
) -> None:
    async def scenario() -> None:
        assert [1, 2, 3] == sequences(await ledger.submit_async(creations(desk, 3)))
        here = get_ident()
        assert [False, True, True] == [thread == here for _, thread in threads]

    in_turns(ledger, scenario)


def test_what_comes_to_the_loop_at_once_is_one_group(ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        waiting = [asyncio.create_task(ledger.submit_async([one])) for one in creations(desk)]
        answers = await asyncio.gather(*waiting)
        assert list(range(1, MANY + 1)) == [number for outcomes in answers for number in sequences(outcomes)]

    in_turns(ledger, scenario)
    assert 1 == measured(ledger, "relatum_groups_total") == measured(ledger, "relatum_syncs_total")


@pytest.mark.usefixtures("short_turns")
def test_the_loop_gets_on_between_any_two_commands_of_a_batch(
    ledger: Ledger, desk: Desk, threads: list[tuple[str, int]]
) -> None:
    async def scenario() -> None:
        waiting = asyncio.create_task(ledger.submit_async(creations(desk)))
        seen = set()

        def all_decided() -> bool:
            seen.add(len(threads))
            return waiting.done()

        await until(all_decided)
        assert set(range(1, MANY + 1)) <= seen
        await waiting

    in_turns(ledger, scenario)


def test_other_threads_may_submit_as_well(ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        answers = await asyncio.gather(
            *(asyncio.to_thread(ledger.submit_all, creations(desk, 5)) for _ in range(4)),
            *(ledger.submit_async(creations(desk, 5)) for _ in range(4)),
        )
        assert list(range(1, 41)) == sorted(number for outcomes in answers for number in sequences(outcomes))

    in_turns(ledger, scenario)
    assert_rebuilds(ledger)


@pytest.mark.usefixtures("short_turns")
def test_a_batch_that_is_half_decided_when_the_turns_end_is_decided_to_its_end(
    ledger: Ledger, desk: Desk, threads: list[tuple[str, int]]
) -> None:
    async def scenario() -> None:
        with ledger.in_turns_with(asyncio.get_running_loop()):
            waiting = asyncio.create_task(ledger.submit_async(creations(desk)))
            await until(lambda: len(threads) >= 2)
            assert len(threads) < MANY
        assert list(range(1, MANY + 1)) == sequences(await asyncio.wait_for(waiting, WAIT_SECONDS))
        assert [MANY + 1] == sequences(await asyncio.wait_for(ledger.submit_async(creations(desk, 1)), WAIT_SECONDS))
        assert get_ident() != threads[-1][1]

    asyncio.run(scenario())
    assert 2 == measured(ledger, "relatum_groups_total")


def test_waiting_for_a_command_in_the_thread_that_is_to_decide_it_is_refused(ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        for wait in (lambda: ledger.submit(desk.command(builders.create())), ledger.drain, ledger.close):
            with pytest.raises(RuntimeError, match="nothing may wait"):
                wait()
        assert "ready" == ledger.readiness()

    in_turns(ledger, scenario)
    assert 1 == desk.accept(builders.create()).commit_sequence


def test_a_loop_that_comes_and_goes_without_a_command_leaves_no_trace(ledger: Ledger, desk: Desk) -> None:
    async def nothing() -> None:
        pass

    for _ in range(3):
        in_turns(ledger, nothing)
    assert 0 == measured(ledger, "relatum_groups_total")
    assert 1 == desk.accept(builders.create()).commit_sequence


def test_a_store_that_cannot_be_read_in_a_turn_poisons_the_writer(
    ledger: Ledger, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(group: Group, submission: Submission) -> Outcome:
        raise StorageFailure("the disk can't be read")

    monkeypatch.setattr(Group, "decide", unreadable)

    async def scenario() -> None:
        waiting = [asyncio.create_task(ledger.submit_async([one])) for one in creations(desk, 3)]
        failures = await asyncio.gather(*waiting, return_exceptions=True)
        assert [WritesRefused] * 3 == [type(failure) for failure in failures]
        with pytest.raises(WritesRefused):
            await ledger.submit_async(creations(desk, 1))

    in_turns(ledger, scenario)
    assert "poisoned" == ledger.readiness()


def test_an_interrupt_in_a_turn_is_the_loops_and_poisons_the_writer(
    ledger: Ledger, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.create()  # which has the partition counted, so that the next one is brief

    def interrupted(group: Group, submission: Submission) -> Outcome:
        raise KeyboardInterrupt

    monkeypatch.setattr(Group, "decide", interrupted)
    waiting: list[asyncio.Task[Outcomes]] = []

    async def scenario() -> None:
        waiting.append(asyncio.create_task(ledger.submit_async(creations(desk, 2))))
        await waiting[0]

    with pytest.raises(KeyboardInterrupt):
        in_turns(ledger, scenario)
    with pytest.raises(WritesRefused):
        ledger.submit(desk.command(builders.create()))
    assert "poisoned" == ledger.readiness()


def test_a_failed_sync_leaves_a_group_and_those_behind_it_in_doubt(clock: ManualClock, disk: TrialStore) -> None:
    with Ledger(database_on(disk), clock=clock) as ledger:
        desk = Desk(ledger)
        before = published_rows(ledger)

        async def scenario() -> None:
            disk.hold()
            disk.fail()
            waiting = [asyncio.create_task(ledger.submit_async(creations(desk, 1)))]
            await asyncio.to_thread(disk.wait_for_sync)
            waiting += [asyncio.create_task(ledger.submit_async(creations(desk, 1))) for _ in range(3)]
            await asyncio.sleep(0)
            disk.release()
            failures = await asyncio.gather(*waiting, return_exceptions=True)
            assert [WritesRefused] * 4 == [type(failure) for failure in failures]

        in_turns(ledger, scenario)
        assert before == published_rows(ledger)


def test_a_ledger_can_be_drained_while_a_loop_is_shared(ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        waiting = asyncio.create_task(ledger.submit_async(creations(desk)))
        await asyncio.sleep(0)
        assert await asyncio.to_thread(ledger.drain, WAIT_SECONDS)
        assert list(range(1, MANY + 1)) == sequences(await waiting)

    in_turns(ledger, scenario)
