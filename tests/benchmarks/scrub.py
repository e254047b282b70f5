"""What the scrub costs those who are served meanwhile: how long the event loop stands still, how much is still written.

    python -m tests.benchmarks.scrub [--relations 20000] [--records 2000] [--clients 32] [--rounds 5] [--seconds 4]
                                     [--step-rows N ...]

A store is made. Then clients write on an event loop as fast as they are answered, and a heartbeat on the same loop
notes how late it is: in turn with nothing beside it, and with a scrub that goes as fast as its rests let it, once for
each size of its steps. Of a delay no more counts than this process has computed meanwhile: what other programs on the
machine took is none of the scrub's doing. Prints the longest delay of each round, the commands a second of the clock
and of processor time, the ratios of medians to those with nothing beside them, and the rows that were scrubbed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import uvloop

from relatum.http.server import THREAD_SWITCH_SECONDS
from relatum.ledger import Ledger
from relatum.store.verify.scrub import Pace, Scrub
from relatum.telemetry import Log
from tests.benchmarks.backup import HEARTBEAT_SECONDS, client
from tests.benchmarks.verify import build
from tests.support.measures import measured


class Round(NamedTuple):
    """What clients met for a while, and how many rows were scrubbed beside them."""

    delay_millis: float
    per_second: float
    per_processor_second: float
    scrubbed: int


def main() -> None:
    """Makes the store and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relations", type=int, default=20_000)
    parser.add_argument("--records", type=int, default=2_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--step-rows", type=int, nargs="*", default=[Pace(0.0).step_rows])
    given = parser.parse_args()
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "ledger"
        build(directory, given.records, given.relations)
        with Ledger.open(directory) as ledger, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            for step_rows, found in compare(ledger, runner, given).items():
                show(step_rows, found)


def compare(ledger: Ledger, runner: asyncio.Runner, given: argparse.Namespace) -> dict[int, list[tuple[Round, Round]]]:
    """By the rows of a step: rounds without a scrub, and with one."""
    found: dict[int, list[tuple[Round, Round]]] = {rows: [] for rows in given.step_rows}
    for _ in range(given.rounds):
        for rows, rounds in found.items():
            alone = runner.run(served(ledger, given.clients, given.seconds))
            with scrubbing(ledger, Pace(0.0, step_rows=rows)):
                rounds.append((alone, runner.run(served(ledger, given.clients, given.seconds))))
    assert 0 == measured(ledger, "relatum_scrub_findings_total")
    return found


@contextmanager
def scrubbing(ledger: Ledger, pace: Pace) -> Iterator[None]:
    """A scrub goes on while the block runs."""
    scrub = Scrub(ledger.view, ledger.metrics, Log(StringIO(), ledger.clock.millis), ledger.clock, pace)
    scrub.start()
    try:
        yield
    finally:
        scrub.stop()


async def served(ledger: Ledger, clients: int, seconds: float) -> Round:
    """One round."""
    scrubbed, computed, started = measured(ledger, "relatum_scrub_rows_total"), process_time(), perf_counter()
    ends = started + seconds
    heart = asyncio.create_task(longest_delay(ends))
    commands = sum(await asyncio.gather(*(client(ledger, ends) for _ in range(clients))))
    computed = process_time() - computed
    elapsed = perf_counter() - started
    scrubbed = measured(ledger, "relatum_scrub_rows_total") - scrubbed
    return Round(1_000 * await heart, commands / elapsed, commands / computed, scrubbed)


async def longest_delay(ends: float) -> float:
    """Of a sleep, in seconds, as far as this process kept it waiting."""
    longest = 0.0
    while (before := perf_counter()) < ends:
        computed = process_time()
        await asyncio.sleep(HEARTBEAT_SECONDS)
        late = min(perf_counter() - before - HEARTBEAT_SECONDS, process_time() - computed)
        longest = max(longest, late)
    return longest


def show(step_rows: int, found: Sequence[tuple[Round, Round]]) -> None:
    """A few lines."""
    print(f"steps of {step_rows} rows")  # noqa: T201
    for name, rounds in zip(("alone", "scrubbed"), zip(*found, strict=True), strict=True):
        delays = " ".join(f"{one.delay_millis:.1f}" for one in rounds)
        rates = [median(one[place] for one in rounds) for place in (0, 1, 2)]
        ratios = [rate / median(alone[place] for alone, _ in found) for place, rate in enumerate(rates)]
        print(  # noqa: T201
            f"    {name:9} longest delays {delays} ms, {ratios[0]:.2f} times; {rates[1]:.0f} commands/s, "
            f"{ratios[1]:.2f} times; {rates[2]:.0f} per processor second, {ratios[2]:.2f} times; "
            f"{sum(one.scrubbed for one in rounds)} rows scrubbed"
        )


if __name__ == "__main__":
    main()
