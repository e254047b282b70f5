"""Graphs of a hub: the time they take as the hub grows, and how they hold up the event loop.

    python -m tests.benchmarks.hub [--edges 100000] [--rounds 30] [--seconds 3]

Two hubs, one of 2,000 edges and one of `--edges`, are walked in turn at default limits: what is found is the same, so
the medians should be, too. Then a server's application runs on an event loop while clients take graphs of the large hub
as fast as they can, and a heartbeat on the same loop notes how late it is; beside it stand the heartbeats of an idle
loop and of one beside which as many threads as the server reads with do plain arithmetic. Each is measured several
times, in turn, with the interpreter's own interval between threads and with the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import count
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
import uvloop
from starlette.types import ASGIApp, Message

from relatum.company import IssuedCredential
from relatum.core.access import CredentialSpec
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Ref
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.errors import Refusal
from relatum.http.app import application
from relatum.http.server import THREAD_SWITCH_SECONDS, services_of
from relatum.http.table import ROUTES
from relatum.ledger import Ledger
from relatum.reads.graph_typed import typed_graph
from relatum.settings import Settings
from relatum.telemetry import Log
from tests.support import builders
from tests.support.builders import ADA, PARTITION, SCOPE

SMALL_EDGES = 2_000
LEAVES = 2_000
GROUP = 128
WALKERS = 4
HEARTBEAT_SECONDS = 0.001
INTERVALS = (0.005, THREAD_SWITCH_SECONDS)
"""Seconds after which a thread that computes lets another one run: the interpreter's default, and the server's."""

_NUMBERS = count(1)


class Hubs(NamedTuple):
    """A ledger with two hubs, and a client's token."""

    ledger: Ledger
    small: Ref
    large: Ref
    token: str


def main() -> None:
    """Builds the hubs and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, built(Path(directory), given.edges) as hubs:
        compare_walks(hubs, given.edges, given.rounds)
        for interval in INTERVALS:
            with switching_after(interval):
                compare_stalls(hubs, interval, given.seconds)
    show(f"greatest resident set: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


@contextmanager
def built(directory: Path, edges: int) -> Iterator[Hubs]:
    """The two hubs over the same leaves."""
    with Ledger.open(directory / "ledger", create=True) as ledger:
        started = perf_counter()
        small, large, *leaves = submitted(ledger, [builders.create(f"record {n}") for n in range(LEAVES + 2)])
        for hub, size in ((small, SMALL_EDGES), (large, edges)):
            submitted(ledger, [builders.assertion(hub, leaves[n % LEAVES]) for n in range(size)])
        show(f"built hubs of {SMALL_EDGES} and {edges} edges in {perf_counter() - started:.1f} s")
        yield Hubs(ledger, small, large, asyncio.run(issued(ledger)))


def submitted(ledger: Ledger, operations: Sequence[RecordOperation | RelationOperation]) -> list[Ref]:
    """What the commands came to: records, or nothing."""
    found = []
    for start in range(0, len(operations), GROUP):
        group = operations[start : start + GROUP]
        commands = [ledger.command(PARTITION, ADA, f"key-{next(_NUMBERS)}", operation) for operation in group]
        for receipt in ledger.submit_all(commands):
            assert isinstance(receipt, RecordReceipt | RelationReceipt), receipt
            if isinstance(receipt, RecordReceipt):
                found.append(Ref(record_id=receipt.record_id, revision=receipt.revision))
    return found


async def issued(ledger: Ledger) -> str:
    """The token of somebody who may read the partition."""
    administrator = ledger.bootstrap("acme", "root")
    assert isinstance(administrator, IssuedCredential)
    spec = CredentialSpec(subject_id=ADA.subject_id, capabilities=("memory_read",), grants=(SCOPE,))
    reader = await ledger.issue_credential(administrator.credential, spec)
    assert isinstance(reader, IssuedCredential)
    return reader.secret


# Walks


def compare_walks(hubs: Hubs, edges: int, rounds: int) -> None:
    """Medians of walks in turn."""
    times: dict[int, list[float]] = {SMALL_EDGES: [], edges: []}
    for _ in range(rounds):
        for size, hub in ((SMALL_EDGES, hubs.small), (edges, hubs.large)):
            times[size].append(walk(hubs.ledger, hub))
    small, large = median(times[SMALL_EDGES]), median(times[edges])
    show(f"walk at default limits: {small * 1e3:.2f} ms of {SMALL_EDGES} edges, {large * 1e3:.2f} ms of {edges}")
    show(f"    ratio {large / small:.2f}, medians of {rounds} in turn")


def walk(ledger: Ledger, hub: Ref) -> float:
    """Seconds of one walk."""
    with ledger.view() as view:
        partition = view.partition(PARTITION)
        started = perf_counter()
        graph = typed_graph(partition, view.now_millis, TypedGraphQuery(root_record_ids=(hub.record_id,)))
        seconds = perf_counter() - started
    assert not isinstance(graph, Refusal)
    assert (128, 1024) == (len(graph.nodes), graph.coverage.adjacency_entries_examined)
    return seconds


# Stalls


class Stalls(NamedTuple):
    """How late the heartbeat was, in seconds, and how many requests were answered meanwhile."""

    longest: float
    p99: float
    requests: int


def compare_stalls(hubs: Hubs, interval: float, seconds: float, rounds: int = 3) -> None:
    """Medians of rounds in turn: idle, arithmetic in threads, graphs."""
    found: dict[str, list[Stalls]] = {"idle": [], "arithmetic": [], "graphs": []}
    for _ in range(rounds):
        found["idle"].append(measured(hubs, seconds, walkers=0))
        with arithmetic(Settings(directory=Path()).read_threads):
            found["arithmetic"].append(measured(hubs, seconds, walkers=0))
        found["graphs"].append(measured(hubs, seconds, walkers=WALKERS))
    show(f"event loop, threads change after {interval * 1e3:g} ms; medians of {rounds} rounds of {seconds:g} s in turn")
    for name, rows in found.items():
        longest, p99 = median(row.longest for row in rows), median(row.p99 for row in rows)
        answered = median(row.requests for row in rows) / seconds
        show(f"    {name:12} longest stall {longest * 1e3:6.1f} ms, p99 {p99 * 1e3:5.1f} ms, {answered:4.0f} graphs/s")


def measured(hubs: Hubs, seconds: float, *, walkers: int) -> Stalls:
    """The heartbeat of a loop that serves `walkers` clients."""
    log = Log(StringIO(), hubs.ledger.clock.millis)
    services = services_of(hubs.ledger, Settings(directory=Path()), log)
    gc.collect()
    gc.freeze()  # as the server does: what stays is no garbage
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(beating(application(ROUTES, services), hubs, seconds, walkers))
    finally:
        services.close()


async def beating(app: ASGIApp, hubs: Hubs, seconds: float, walkers: int) -> Stalls:
    """Beats for some seconds beside the clients."""
    stop = asyncio.Event()
    clients = [asyncio.create_task(walking(app, hubs, stop)) for _ in range(walkers)]
    await asyncio.sleep(0.2)
    loop, late = asyncio.get_running_loop(), []
    ends = loop.time() + seconds
    while (begun := loop.time()) < ends:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        late.append(loop.time() - begun - HEARTBEAT_SECONDS)
    stop.set()
    requests = sum(await asyncio.gather(*clients))
    late.sort()
    return Stalls(late[-1], late[len(late) * 99 // 100], requests)


async def walking(app: ASGIApp, hubs: Hubs, stop: asyncio.Event) -> int:
    """One client, as fast as it can; how many graphs it got."""
    query = {"root_record_ids": [hubs.large.record_id]}
    body = msgspec.json.encode({"contract_version": 1, "scope": SCOPE, "query": query})
    answered = 0
    while not stop.is_set():
        await asked(app, hubs.token, body)
        answered += 1
    return answered


async def asked(app: ASGIApp, token: str, body: bytes) -> None:
    """One request, without a network."""
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/memory/graph/typed",
        "query_string": b"",
        "headers": [(b"authorization", b"Bearer " + token.encode()), (b"content-type", b"application/json")],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        assert message.get("status", 200) == 200

    await app(scope, receive, send)


@contextmanager
def arithmetic(threads: int) -> Iterator[None]:
    """Threads that compute and do nothing else."""
    done = Event()

    def compute() -> None:
        total = 0
        while not done.is_set():
            for number in range(1000):
                total += number

    running = [Thread(target=compute) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in running:
            thread.join()


@contextmanager
def switching_after(seconds: float) -> Iterator[None]:
    """Another interval between threads, for a while."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def show(line: str) -> None:
    """Tells whoever runs this."""
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
