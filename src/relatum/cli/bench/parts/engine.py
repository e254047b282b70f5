"""The ledger without HTTP: commands as JSON go in, receipts as JSON come out, in this process.

Groups of 64 by one client, held against the bare engine with the same rows in groups of 64; then one command at a time
by 1, 16 and 64 clients, which share what syncs they can. Clients are threads, as a program would have them, and tasks
of an event loop, as the server has them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, process_time
from typing import Final

from relatum.cli.bench.dataset import Assertions
from relatum.cli.bench.floors.rows import Written, written
from relatum.cli.bench.floors.writes import raw_writes
from relatum.cli.bench.load.job import MICROS
from relatum.cli.bench.product import LedgerClient, LedgerInProcess
from relatum.cli.bench.samples import Samples, Series, Setting

GROUP: Final = 64
CLIENTS: Final = (1, 16, 64)


def measure(setting: Setting) -> Iterator[Series]:
    """Commands a second, processor time of a command."""
    setting.progress("engine: rows for the floors")
    groups = setting.sized(16, 100)
    floors = (written(groups * 16, 1, setting.scratch), written(groups, GROUP, setting.scratch))
    product = LedgerInProcess()
    product.start(setting.directory("engine"))
    try:
        samples, commands = Samples(), product.assertions()
        for _ in setting.each_round("engine"):
            _one_round(samples, floors, product, commands, setting)
    finally:
        product.stop()
    yield from samples.series()


def _one_round(
    samples: Samples, floors: Sequence[Written], product: LedgerInProcess, commands: Assertions, setting: Setting
) -> None:
    for floor in floors:
        pace = raw_writes(floor, setting.scratch)
        samples.add(f"engine/floor/write/{floor.group}/rate", "commands/s", pace.rate)
        samples.add(f"engine/floor/write/{floor.group}/cost", "cpu µs", pace.micros)
    count = setting.sized(1_024, 6_400)
    given, before = commands.take(count), process_time()
    rate = grouped_rate(product.client(), given, GROUP)
    cost = MICROS * (process_time() - before) / count
    samples.add(f"engine/grouped/{GROUP}/cost", "cpu µs", cost, floor=f"engine/floor/write/{GROUP}/cost")
    samples.add(f"engine/grouped/{GROUP}/rate", "commands/s", rate, floor=f"engine/floor/write/{GROUP}/rate")
    for clients in CLIENTS:
        given = commands.take(count if clients > 1 else count // 4)
        rate = clients_rate([product.client() for _ in range(clients)], given)
        samples.add(f"engine/threads/{clients}/rate", "commands/s", rate, floor="engine/floor/write/1/rate")
    for clients in CLIENTS:
        given = commands.take(count if clients > 1 else count // 4)
        rate = asyncio.run(_tasks_rate(product.client(), given, clients))
        samples.add(f"engine/tasks/{clients}/rate", "commands/s", rate, floor="engine/floor/write/1/rate")


def grouped_rate(client: LedgerClient, commands: Sequence[bytes], group: int) -> float:
    """Commands a second of one client that hands over `group` at a time."""
    started = perf_counter()
    for start in range(0, len(commands), group):
        client.commit(commands[start : start + group])
    return len(commands) / (perf_counter() - started)


def clients_rate(clients: Sequence[LedgerClient], commands: Sequence[bytes]) -> float:
    """Commands a second of clients in a thread each, every one with a share of the commands, one at a time."""
    shares = [commands[number :: len(clients)] for number in range(len(clients))]
    with ThreadPoolExecutor(len(clients)) as threads:
        started = perf_counter()
        list(threads.map(_commit_each, clients, shares))
        return len(commands) / (perf_counter() - started)


def _commit_each(client: LedgerClient, commands: Sequence[bytes]) -> None:
    for command in commands:
        client.commit([command])


async def _tasks_rate(client: LedgerClient, commands: Sequence[bytes], clients: int) -> float:
    async def commit_each(share: Sequence[bytes]) -> None:
        for command in share:
            await client.commit_async([command])

    with client.in_turns_with(asyncio.get_running_loop()):
        started = perf_counter()
        await asyncio.gather(*(commit_each(commands[number::clients]) for number in range(clients)))
        return len(commands) / (perf_counter() - started)
