"""Rates and waits of clients that commit as fast as they are answered."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from statistics import median
from threading import Barrier, Thread
from time import perf_counter, process_time
from typing import NamedTuple

from relatum.cli.bench.peers.commands import Commands
from relatum.cli.bench.peers.peer import Client, Peer
from relatum.cli.bench.peers.seed import Seed

WARM_UP_SHARE = 0.2
WARM_UP_CALLS = 2


class Rate(NamedTuple):
    """Commands a second; how long a call took that only one in a hundred exceeded; what a command cost of a processor.

    The processor time is that of this process: a server's own is not in it. It is the figure that a busy machine
    disturbs least.
    """

    per_second: float
    p99_millis: float
    processor_micros: float


def commit_rate(peer: Peer, seed: Seed, *, clients: int, group: int, seconds: float, places: int) -> Rate:
    """`clients` threads, each with transactions of `group` commands in one of the first `places` partitions."""
    crew = _Crew(clients, seconds)
    waits: list[list[float]] = [[] for _ in range(clients)]

    def run(number: int) -> None:
        client = peer.client()
        try:
            commands = Commands(seed, number % places)
            warm_at = perf_counter() + seconds * WARM_UP_SHARE
            _commit_until(warm_at, WARM_UP_CALLS, client, commands, group, [])
            _commit_until(crew.begin(), 1, client, commands, group, waits[number])
        finally:
            client.close()

    lasted, processor_seconds = crew.work(run)
    every = sorted(wait for own in waits for wait in own)
    committed = len(every) * group
    return Rate(
        per_second=committed / lasted,
        p99_millis=every[min(len(every) - 1, len(every) * 99 // 100)] * 1e3,
        processor_micros=processor_seconds / committed * 1e6,
    )


def two_hop_micros(peer: Peer, seed: Seed, *, seconds: float) -> float:
    """The median time of one neighbourhood, in microseconds."""
    client, waits = peer.client(), list[float]()
    try:
        ends = perf_counter() + seconds
        while not waits or perf_counter() < ends:
            began = perf_counter()
            client.two_hop(seed.root)
            waits.append(perf_counter() - began)
    finally:
        client.close()
    return median(waits) * 1e6


def _commit_until(
    ends: float, calls_min: int, client: Client, commands: Commands, group: int, waits: list[float]
) -> None:
    while len(waits) < calls_min or perf_counter() < ends:
        bodies = commands.take(group)
        began = perf_counter()
        client.commit(bodies)
        waits.append(perf_counter() - began)


class _Crew:
    """Threads that begin together; a fault of one ends them all."""

    def __init__(self, size: int, seconds: float) -> None:
        self._size = size
        self._seconds = seconds
        self._began = self._processor_began = 0.0
        self._all_warm = Barrier(size, self._start_the_clock)
        self._faults: list[BaseException] = []

    def begin(self) -> float:
        """Waits until everybody is warm; the end of the measurement."""
        self._all_warm.wait()
        return self._began + self._seconds

    def work(self, run: Callable[[int], None]) -> tuple[float, float]:
        """Runs it in as many threads, with their number.

        Seconds from their common begin to the last one's end, and seconds of a processor that this process took.
        """
        threads = [Thread(target=self._guarded, args=(run, number)) for number in range(self._size)]
        gc.collect()
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self._send_home(threads)
            raise
        if self._faults:
            raise self._faults[0]
        return perf_counter() - self._began, process_time() - self._processor_began

    def _send_home(self, threads: Sequence[Thread]) -> None:
        """Whoever interrupts the work stops the store next, which nobody may be using then."""
        self._all_warm.abort()
        for thread in threads:
            if thread.ident is not None:
                thread.join()

    def _start_the_clock(self) -> None:
        self._began, self._processor_began = perf_counter(), process_time()

    def _guarded(self, run: Callable[[int], None], number: int) -> None:
        try:
            run(number)
        except BaseException as fault:  # noqa: BLE001 - told by the thread that waits
            self._faults.append(fault)
            self._all_warm.abort()
