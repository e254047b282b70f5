"""`python -m crash_tests.load`: many clients asserting single relations at once, and how many syncs that costs.

Prints one line: answers, errors, commands and syncs by the server's own count, and the time an answer took. Exits 1 if
any request failed.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from random import Random
from time import perf_counter

import msgspec
from msgspec import Struct

from crash_tests.command_requests import results_in, send_batch
from crash_tests.company import ADMINISTRATOR, COMPANY, SHARED, issue
from crash_tests.history import Account, Command, Desk, Json
from crash_tests.server import Server, initialise
from crash_tests.violation import Violation, require
from crash_tests.wire import ANSWER_SECONDS_MAX, Connection

RECORDS = 200
PATH = "/api/v1/memory/relations/commands"


class Counts(Struct, frozen=True):
    """What the server has counted so far."""

    commands: int
    syncs: int


class Report(Struct, frozen=True, kw_only=True):
    """What a load came to."""

    clients: int
    seconds: float
    answers: int
    errors: int
    commands: int
    syncs: int
    p50_millis: float
    p99_millis: float

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.clients} clients for {self.seconds:.1f} s: {self.answers} answers, {self.errors} errors, "
            f"{self.answers / self.seconds:.0f} a second, p50 {self.p50_millis:.1f} ms, p99 {self.p99_millis:.1f} ms; "
            f"the server counted {self.commands} commands and {self.syncs} syncs"
        )


def run_load(directory: Path, clients: int, seconds: float, slots: int) -> Report:
    """Serve a new store in `directory` and load it."""
    log = directory / "server.log"
    admin = initialise(directory / "store", log, COMPANY, ADMINISTRATOR)
    with Server(directory / "store", log, "--slots", str(slots)) as server:
        server.wait_until_ready()
        account = issue(server.port, admin["secret"], "extractor")
        refs = make_records(server.port, Desk(account, SHARED))
        before = counts(server.port)
        started = perf_counter()
        outcomes = asyncio.run(_load(server.port, account, refs, clients, seconds))
        lasted = perf_counter() - started
        after = counts(server.port)
    millis = sorted(1000 * taken for taken, _ in outcomes)
    require(bool(millis), "no request was answered")
    return Report(
        clients=clients,
        seconds=lasted,
        answers=len(outcomes),
        errors=sum(status != 200 for _, status in outcomes),
        commands=after.commands - before.commands,
        syncs=after.syncs - before.syncs,
        p50_millis=millis[len(millis) // 2],
        p99_millis=millis[len(millis) * 99 // 100],
    )


def make_records(port: int, desk: Desk) -> list[Json]:
    """Some records to relate, at their first revision."""
    create: Json = {"type": "create", "record": {"content": "something to relate"}}
    commands = [Command(desk, "record", f"record {number}", create) for number in range(RECORDS)]
    connection = Connection(port, desk.account.secret)
    results = results_in(send_batch(connection, commands))
    connection.close()
    receipts = [msgspec.json.decode(result.receipt) for result in results]
    return [{"record_id": receipt["record_id"], "revision": 1} for receipt in receipts]


def counts(port: int) -> Counts:
    """From `/metrics`."""
    connection = Connection(port, "")
    lines = connection.get("/metrics").body.decode().splitlines()
    connection.close()
    samples = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]

    def total(name: str) -> int:
        return int(sum(float(value) for sample, value in samples if sample.partition("{")[0] == name))

    return Counts(commands=total("relatum_commands_total"), syncs=total("relatum_syncs_total"))


async def _load(port: int, account: Account, refs: list[Json], clients: int, seconds: float) -> list[tuple[float, int]]:
    """The seconds and the status of each answer."""
    ends = perf_counter() + seconds
    work = (_client(port, Desk(account, SHARED), refs, number, ends) for number in range(clients))
    return [outcome for outcomes in await asyncio.gather(*work) for outcome in outcomes]


async def _client(port: int, desk: Desk, refs: list[Json], number: int, ends: float) -> list[tuple[float, int]]:
    random = Random(number)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    outcomes: list[tuple[float, int]] = []
    while (started := perf_counter()) < ends:
        body = _assertion(desk, random.sample(refs, 2), f"{number}/{len(outcomes)}")
        writer.write(
            f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {desk.account.secret}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            status = await _status(reader)
        outcomes.append((perf_counter() - started, status))
    writer.close()
    return outcomes


async def _status(reader: asyncio.StreamReader) -> int:
    """The status of the next answer, read to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12])


def _assertion(desk: Desk, ends: list[Json], key: str) -> bytes:
    provenance = {"origin": "tool_observation", "method": "reading", "method_revision": "1", "evidence_ref": "log 9"}
    relation = {"source": ends[0], "target": ends[1], "kind": "supports", "provenance": provenance}
    return desk.body(idempotency_key=key, operation={"type": "assert", "relation": relation})


def parser() -> ArgumentParser:
    """The command line."""
    made = ArgumentParser(prog="python -m crash_tests.load", description=__doc__)
    made.add_argument("--clients", type=int, default=64, help="clients at once (default %(default)s)")
    made.add_argument("--seconds", type=float, default=10.0, help="for how long (default %(default)s)")
    made.add_argument("--slots", type=int, default=64, help="the server's slots (default %(default)s)")
    return made


def main(arguments: Namespace) -> int:
    """The exit status."""
    with tempfile.TemporaryDirectory(prefix="relatum-load-") as directory:
        try:
            report = run_load(Path(directory), arguments.clients, arguments.seconds, arguments.slots)
        except Violation as violation:
            print(f"VIOLATION: {violation}", file=sys.stderr)
            return 1
    print(report)
    return 1 if report.errors else 0


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
