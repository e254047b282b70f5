"""Through a proxy that spoils four of ten requests every command is accepted exactly once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from relatum.client import Accepted, AsyncClient, Client, CreateRecord, RecordInput, Secret
from tests.client.weather import FAULTS, Weather
from tests.http.serving import Server


@pytest.fixture
def weather(server: Server) -> Iterator[Weather]:
    with Weather(server.port) as proxy:
        yield proxy


@pytest.mark.parametrize("count", [30, pytest.param(1_000, marks=pytest.mark.slow)])
def test_each_create_is_accepted_once(
    server: Server, weather: Weather, issue: Callable[[], Secret], count: int
) -> None:
    secret = issue()
    with Client(weather.url, secret=secret, timeout=0.25) as client, ThreadPoolExecutor(8) as threads:
        memory = client.scope()
        receipts = list(threads.map(lambda number: memory.records.create(f"thread {number}"), range(count)))

    async def creating() -> None:
        async with AsyncClient(weather.url, secret=secret, timeout=0.25) as client:
            memory, limit = client.scope(), anyio.CapacityLimiter(32)

            async def create(number: int) -> None:
                async with limit:
                    receipts.append(await memory.records.create(f"task {number}"))

            async with anyio.create_task_group() as tasks:
                for number in range(count):
                    tasks.start_soon(create, number)

    anyio.run(creating)
    with Client(server.url, secret=secret) as client:
        stored = [record.record_id for record in client.scope().records.list(limit=100, scan_limit=10_000)]
    assert 2 * count == len(stored) == len(set(stored))
    assert set(stored) == {receipt.record_id for receipt in receipts}
    assert 2 * count == len(receipts)
    assert all(weather.faults[fault] for fault in FAULTS)


@pytest.mark.parametrize("count", [1_500, pytest.param(5_000, marks=pytest.mark.slow)])
def test_batches_are_accepted_once_and_in_order(
    server: Server, weather: Weather, issue: Callable[[], Secret], count: int
) -> None:
    secret = issue()
    operations = (CreateRecord(record=RecordInput(content=f"note {number}")) for number in range(count))
    with Client(weather.url, secret=secret, timeout=5) as client:
        outcomes = client.scope().records.submit_many(operations)
    sequences = [outcome.receipt.commit_sequence for outcome in outcomes if isinstance(outcome, Accepted)]
    assert list(range(1, count + 1)) == sequences
    with Client(server.url, secret=secret) as client:
        stored = client.scope().records.list(limit=100, scan_limit=10_000, order="created_asc")
        contents = [record.input.content for record in stored if record.input is not None]
    assert sorted(f"note {number}" for number in range(count)) == sorted(contents)
