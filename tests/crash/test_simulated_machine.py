"""What a simulated case stands on: its loop, which runs things in any order, and its disk, which loses things."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import permutations

import pytest

from crash_tests.random_draws import seeded
from crash_tests.simulation.disk import Disk
from crash_tests.simulation.loop import SimulatedLoop


def new_loop(seed: int = 1) -> SimulatedLoop:
    return SimulatedLoop(seeded(seed))  # type: ignore[abstract]  # nobody calls the rest


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.close()


def order_of(seed: int) -> tuple[int, ...]:
    loop = new_loop(seed)
    told: list[int] = []
    for number in range(3):
        loop.call_soon(told.append, number)
    while loop.step():
        pass
    return tuple(told)


def test_the_dice_choose_who_runs_next() -> None:
    assert set(permutations(range(3))) == {order_of(seed) for seed in range(60)}
    assert [order_of(seed) for seed in range(9)] == [order_of(seed) for seed in range(9)]


def test_time_passes_only_when_nobody_can_run_and_jumps_to_the_next_timer() -> None:
    loop, told = new_loop(), []
    loop.call_later(2.5, lambda: told.append(loop.time()))
    loop.call_later(1.0, lambda: told.append(loop.time()))
    loop.call_soon(lambda: told.append(loop.time()))
    assert loop.step_now()
    assert not loop.step_now()
    while loop.step():
        pass
    assert [0.0, 1.0, 2.5] == told


def test_a_timer_that_was_cancelled_never_runs() -> None:
    loop = new_loop()
    told: list[str] = []
    loop.call_later(1.0, told.append, "late").cancel()
    assert not loop.step()
    assert [] == told


def test_others_run_in_the_midst_of_a_step() -> None:
    loop, told = new_loop(), []

    def write() -> None:
        told.append("written")
        loop.step()
        told.append("synced")

    loop.call_soon(write)
    loop.step()
    loop.call_soon(write)
    loop.call_later(1.0, told.append, "read")
    loop.step()
    assert ["written", "synced", "written", "read", "synced"] == told


def test_tasks_sleep_and_wait_for_each_other() -> None:
    loop, told = new_loop(), []

    async def wait_for(seconds: float, patience: float | None) -> None:
        task = loop.create_task(asyncio.sleep(seconds, f"slept {seconds}"))
        done, _ = await asyncio.wait((task,), timeout=patience)
        told.append(task.result() if done else f"gave up after {loop.time()}")

    with loop.running():
        loop.create_task(wait_for(3.0, None))
        loop.create_task(wait_for(2.0, 1.0))
        while loop.step():
            pass
    assert ["gave up after 1.0", "slept 3.0"] == told


def test_what_a_callback_raises_ends_the_step() -> None:
    loop = new_loop()
    loop.call_soon(int, "none")
    with pytest.raises(ValueError, match="invalid literal"):
        loop.step()


def test_a_killed_process_loses_nothing_that_was_written(disk: Disk) -> None:
    disk.append({b"a": b"1", b"b": b"1"})
    disk.append({b"b": None})
    disk.kill()
    assert {b"a": b"1"} == disk.rows() == disk.durable


def test_a_power_cut_keeps_what_was_synced_and_some_whole_batches_behind_it(disk: Disk) -> None:
    disk.append({b"synced": b""})
    disk.sync()
    left = set()
    for seed in range(40):
        disk.append({b"1": b"", b"one": b""})
        disk.append({b"2": b""})
        disk.cut_power(seeded(seed))
        left.add(frozenset(disk.durable))
        disk.append(dict.fromkeys((b"1", b"one", b"2")))
        disk.sync()
    synced, first, second = {b"synced"}, {b"1", b"one"}, {b"2"}
    assert {frozenset(synced), frozenset(synced | first), frozenset(synced | first | second)} == left


def test_after_a_sync_that_failed_for_good_nothing_more_is_kept(disk: Disk) -> None:
    disk.append({b"a": b""})
    disk.lose_unsynced()
    disk.sync()
    disk.append({b"b": b""})
    disk.sync()
    disk.kill()
    assert {} == disk.durable
    disk.append({b"c": b""})
    disk.sync()
    assert {b"c": b""} == disk.durable


def test_the_last_batch_can_be_taken_back_once(disk: Disk) -> None:
    disk.append({b"a": b"1", b"b": b"1"})
    disk.sync()
    disk.append({b"a": None, b"b": b"2", b"c": b"2"})
    disk.sync()
    assert disk.forget_last()
    assert {b"a": b"1", b"b": b"1"} == disk.durable
    assert not disk.forget_last()
