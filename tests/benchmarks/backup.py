"""What a backup costs those who are served meanwhile: how long the event loop stands still, how much is still written.

    python -m tests.benchmarks.backup [--megabytes 200] [--clients 32] [--rounds 5] [--seconds 2]

A store of `--megabytes` is made. Then clients write on an event loop as fast as they are answered, and a heartbeat on
the same loop notes how late it is: in turn with nothing beside it, with one image of the store after another taken and
sent by the operator's endpoint, and with one compaction after another. Prints the longest delay of each round and the
commands a second, and the ratios to the rounds with nothing beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from io import StringIO
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import uvloop
from starlette.types import ASGIApp, Message

from relatum.core.commands import CreateRecord
from relatum.core.records import RecordInput
from relatum.entropy import SystemEntropy
from relatum.http.operator import Operating, OperatorToken
from relatum.http.server import THREAD_SWITCH_SECONDS, services_of
from relatum.http.settings import Settings
from relatum.ledger import Ledger
from relatum.limits import MIB
from relatum.store.backup.operator_paths import COMPACT_PATH, IMAGE_PATH
from relatum.telemetry import Log
from tests.support import builders
from tests.support.builders import ADA, PARTITION

CONTENT_BYTES = 40_000
GROUP = 100
HEARTBEAT_SECONDS = 0.001
TOKEN = "x" * 32

_NUMBERS = count(1)


class Round(NamedTuple):
    """What clients met for a while: the longest delay of the loop, commands a second, and what was done beside them."""

    delay_millis: float
    commands: float
    done_beside: int


def main() -> None:
    """Makes the store and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    with tempfile.TemporaryDirectory() as directory, Ledger.open(Path(directory) / "ledger", create=True) as ledger:
        fill(ledger, given.megabytes * MIB)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(compare(ledger, Path(directory), given.clients, given.rounds, given.seconds))


def fill(ledger: Ledger, size: int) -> None:
    """Records that can't be compressed."""
    entropy = SystemEntropy()
    for _ in range(size // (CONTENT_BYTES * GROUP)):
        contents = [entropy.draw(CONTENT_BYTES // 2).hex() for _ in range(GROUP)]
        ledger.submit_all(
            [
                ledger.command(
                    PARTITION, ADA, f"key-{next(_NUMBERS)}", CreateRecord(record=RecordInput(content=content))
                )
                for content in contents
            ]
        )


async def compare(ledger: Ledger, directory: Path, clients: int, rounds: int, seconds: float) -> None:
    """Each kind of round in turn."""
    services = services_of(ledger, Settings(directory=directory), Log(StringIO(), ledger.clock.millis))
    endpoints = Operating(OperatorToken(TOKEN), services).endpoints()
    beside: dict[str, Callable[[], Awaitable[None]]] = {
        "nothing": nothing,
        "backups": lambda: call(endpoints[IMAGE_PATH]),
        "compactions": lambda: call(endpoints[COMPACT_PATH]),
    }
    found: dict[str, list[Round]] = {name: [] for name in beside}
    for _ in range(rounds):
        for name, work in beside.items():
            found[name].append(await measured(ledger, clients, seconds, work))
    services.close()
    show(found)


async def nothing() -> None:
    """Beside clients alone."""
    await asyncio.sleep(0.05)


async def call(endpoint: ASGIApp) -> None:
    """One request of the operator, whose answer is taken as it comes."""
    gone = asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        assert message.get("status", 200) == 200, message
        await asyncio.sleep(0)

    await endpoint({"headers": [(b"authorization", b"Bearer " + TOKEN.encode())]}, receive, send)


async def measured(ledger: Ledger, clients: int, seconds: float, work: Callable[[], Awaitable[None]]) -> Round:
    """One round."""
    ends = perf_counter() + seconds
    heart = asyncio.create_task(heartbeat(ends))
    writers = [asyncio.create_task(client(ledger, ends)) for _ in range(clients)]
    done = 0
    while perf_counter() < ends:
        await work()
        done += 1
    commands = sum(await asyncio.gather(*writers))
    return Round(1_000 * await heart, commands / seconds, done)


async def heartbeat(ends: float) -> float:
    """The longest delay of a sleep, in seconds."""
    longest = 0.0
    while (before := perf_counter()) < ends:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        longest = max(longest, perf_counter() - before - HEARTBEAT_SECONDS)
    return longest


async def client(ledger: Ledger, ends: float) -> int:
    """How many commands it was answered."""
    answered = 0
    while perf_counter() < ends:
        key = f"key-{next(_NUMBERS)}"
        await ledger.submit_async([ledger.command(PARTITION, ADA, key, builders.create(f"record {answered}"))])
        answered += 1
    return answered


def show(found: dict[str, list[Round]]) -> None:
    """A line for each kind of round."""
    alone = found["nothing"]
    print(f"{'beside clients':16} {'longest delays, ms':34} {'ratio':>6} {'commands/s':>11} {'ratio':>6} {'done':>5}")  # noqa: T201
    for name, each in found.items():
        delays = " ".join(f"{one.delay_millis:.1f}" for one in each)
        delay = median(one.delay_millis for one in each) / median(one.delay_millis for one in alone)
        commands = median(one.commands for one in each)
        share = commands / median(one.commands for one in alone)
        done = 0 if name == "nothing" else sum(one.done_beside for one in each)
        print(f"{name:16} {delays:34} {delay:6.1f} {commands:11.0f} {share:6.2f} {done:5}")  # noqa: T201


if __name__ == "__main__":
    main()
