"""The same commands over HTTP: 64 connections, a command a request, every store in a server process of its own.

The product is asked twice: by `relatum serve` with all that the contract wants of a request, as `relatum`; and behind
the peers' bare route, as `relatum-bare`. A peer is asked in each form that it has; the better one in this run is also
told under the peer's own name, so that what the product is held against is its best.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import msgspec

from relatum.cli.bench import processes
from relatum.cli.bench.load.generator import Generator
from relatum.cli.bench.peers import available
from relatum.cli.bench.peers.commands import Commands
from relatum.cli.bench.peers.seed import COMPANY, Seed, plant, scope
from relatum.cli.bench.peers.served import PATH
from relatum.cli.bench.processes import Served, serving
from relatum.cli.bench.samples import Samples, Setting
from relatum.core.access import CredentialSpec
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential

CONNECTIONS: Final = 64
PARTITIONS: Final = 16
RECORDS: Final = 256

_FORMS: Final = {
    "sqlite": ("pool", "committer"),
    "lmdb": ("pool", "committer"),
    "postgresql": ("pool", "committer"),
}
"""How each can be put behind a server; see `relatum.cli.bench.peers.served`."""
COMMANDS: Final = (600, 8_000)
"""Requests of one measurement at small and at full scale, besides those before it that warm up."""


class Server(NamedTuple):
    """A store that is served: where, which records it has, and who may ask."""

    served: Served
    seed: Seed
    token: str


def measure(samples: Samples, setting: Setting) -> None:
    """Adds the series of this page."""
    with _all_served(setting) as servers, Generator() as generator:
        count = setting.sized(*COMMANDS)
        warm = count // 4
        for number in setting.each_round("peers over HTTP"):
            for name, server in servers.items():
                requests = _requests(server, f"{name}-{number}-", warm + count)
                generator.run(server.served.address, requests[:warm], CONNECTIONS)
                outcome = generator.run(server.served.address, requests[warm:], CONNECTIONS)
                _add(samples, name, outcome.rate, outcome.latency_millis(99), outcome.processor_share)
    for key, forms in _FORMS.items():
        measured = [f"{key}-{form}" for form in forms if f"{key}-{form}" in servers]
        if measured:
            _tell_the_best(samples, key, measured)


def _tell_the_best(samples: Samples, key: str, forms: Sequence[str]) -> None:
    def series(form: str, what: str) -> Sequence[float]:
        return samples.of(f"peers/http/{form}/{CONNECTIONS}/{what}")

    best = max(forms, key=lambda form: median(series(form, "rate")))
    for told in zip(*(series(best, what) for what in ("rate", "p99", "load")), strict=True):
        _add(samples, key, *told)


def _add(samples: Samples, name: str, rate: float, p99_millis: float, load: float) -> None:
    own, ours = f"peers/http/{name}/{CONNECTIONS}", f"peers/http/relatum/{CONNECTIONS}"
    samples.add(f"{own}/rate", "commands/s", rate, floor="" if own == ours else f"{ours}/rate")
    samples.add(f"{own}/p99", "ms", p99_millis, floor="" if own == ours else f"{ours}/p99")
    samples.add(f"{own}/load", "processors", load)


@contextmanager
def _all_served(setting: Setting) -> Iterator[dict[str, Server]]:
    ledger = setting.directory("http-relatum")
    seed, token = planted(ledger)
    with ExitStack() as stack:
        servers = {"relatum": Server(stack.enter_context(serving(ledger)), seed, token)}
        bare = setting.directory("http-bare")
        bare_seed, _ = planted(bare)
        servers["relatum-bare"] = stack.enter_context(serving_peer(setting, "relatum", "bare", bare, bare_seed))
        for key in available().peers:
            for form in _FORMS.get(key, ()):
                directory = setting.directory(f"http-{key}-{form}")
                directory.mkdir(mode=0o755)
                setting.progress(f"peers over HTTP: starting {key}, {form}")
                servers[f"{key}-{form}"] = stack.enter_context(serving_peer(setting, key, form, directory, seed))
        yield servers


@contextmanager
def serving_peer(setting: Setting, key: str, form: str, directory: Path, seed: Seed) -> Iterator[Server]:
    """A peer's server, ready."""
    file = setting.scratch / f"{key}-{form}.seed"
    file.write_bytes(msgspec.msgpack.encode(seed))
    with processes.started("relatum.cli.bench.peers.served", key, form, str(directory), str(file)) as served:
        yield Server(served, seed, "nobody")


def planted(directory: Path) -> tuple[Seed, str]:
    """A new ledger with records, closed again, and the token of the author of all commands."""
    with Ledger.open(directory, create=True) as ledger:
        issued = asyncio.run(_issued(ledger))
        return plant(ledger, partitions=PARTITIONS, records=RECORDS, author=issued.credential.author), issued.secret


async def _issued(ledger: Ledger) -> IssuedCredential:
    administrator = ledger.bootstrap(COMPANY, "root")
    assert isinstance(administrator, IssuedCredential)
    spec = CredentialSpec(
        subject_id="worker", capabilities=("memory_read", "memory_write"), grants=tuple(map(scope, range(PARTITIONS)))
    )
    issued = await ledger.issue_credential(administrator.credential, spec)
    assert isinstance(issued, IssuedCredential)
    return issued


def _requests(server: Server, tag: str, count: int) -> list[bytes]:
    streams = [Commands(server.seed, place, tag=tag) for place in range(PARTITIONS)]
    return [_post(server.token, streams[number % PARTITIONS].next()) for number in range(count)]


def _post(token: str, body: bytes) -> bytes:
    return (
        b"POST %b HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %b\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
    ) % (PATH.encode(), token.encode(), len(body), body)
