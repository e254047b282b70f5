"""The part of the benchmarks that asks other stores to do the same: all of them and the product in turn, in one run.

`peers/STORE/CLIENTS/rate` is commands a second with single commands, `…/p99` the wait for one, `…/processor` what one
took of a processor in this process. CLIENTS may be `one-partition` too, which is 16 clients in one partition instead of
in 16, and `group`, one client with 64 commands a transaction. `two-hop` is the time of a neighbourhood of 49 relations.
`peers/http/STORE/64/rate` is told by `relatum.cli.bench.peers.over_http`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from relatum.cli.bench.isolation import undisturbed
from relatum.cli.bench.peers import available, over_http, product
from relatum.cli.bench.peers.peer import Peer
from relatum.cli.bench.peers.rates import commit_rate, two_hop_micros
from relatum.cli.bench.peers.seed import TREE_RELATIONS, Seed
from relatum.cli.bench.samples import Samples, Scale, Series, Setting

PARTITIONS: Final = 16
"""Clients are spread over so many: a store that locks a partition's tip until the disk has it gets its chance."""
RECORDS: Final = 256
OURS: Final = "relatum"
SECONDS: Final[dict[Scale, float]] = {"tiny": 0.05, "small": 0.25, "full": 1.5}
"""Of one measurement."""
TWO_HOP_SECONDS: Final = 0.1


class Load(NamedTuple):
    """How commands are given."""

    name: str
    clients: int
    group: int = 1
    places: int = PARTITIONS


LOADS: Final = (
    Load("1", 1),
    Load("16", 16),
    Load("64", 64),
    Load("one-partition", 16, places=1),
    Load("group", 1, group=64),
)


def measure(setting: Setting) -> Iterator[Series]:
    """The product and its peers in alternation, in process and over HTTP."""
    samples = Samples()
    with _all_started(setting) as (seed, stores):
        for _ in setting.each_round("peers"):
            _one_round(samples, seed, stores, SECONDS[setting.scale])
    over_http.measure(samples, setting)
    yield from samples.series()


def _one_round(samples: Samples, seed: Seed, stores: dict[str, Peer], seconds: float) -> None:
    """One load after another, of each store in turn: what is compared lies close together in time."""
    for load in LOADS:
        for key, store in stores.items():
            rate = commit_rate(store, seed, clients=load.clients, group=load.group, places=load.places, seconds=seconds)
            _add(samples, key, f"{load.name}/rate", "commands/s", rate.per_second)
            _add(samples, key, f"{load.name}/p99", "ms", rate.p99_millis)
            _add(samples, key, f"{load.name}/processor", "µs/command", rate.processor_micros)
    for key, store in stores.items():
        if not key.startswith("rocksdb"):  # rows alone are no graph
            _add(samples, key, "two-hop/p50", "µs", two_hop_micros(store, seed, seconds=TWO_HOP_SECONDS))


def _add(samples: Samples, key: str, what: str, unit: str, value: float) -> None:
    """One sample; a peer's is compared with the product's."""
    samples.add(f"peers/{key}/{what}", unit, value, floor="" if key == OURS else f"peers/{OURS}/{what}")


@contextmanager
def _all_started(setting: Setting) -> Iterator[tuple[Seed, dict[str, Peer]]]:
    found = available()
    for key, reason in found.missing.items():
        setting.progress(f"peers: without {key}: {reason}")
    setting.scratch.chmod(0o711)  # a server that may not run as root has to pass
    with ExitStack() as stack:
        ours = product.Peer()
        _start(stack, ours, setting.directory(OURS))
        seed = ours.plant(partitions=PARTITIONS, records=RECORDS)
        stores: dict[str, Peer] = {OURS: ours}
        for key, make in found.peers.items():
            setting.progress(f"peers: starting {key}")
            stores[key] = make()
            _start(stack, stores[key], setting.directory(key))
        for key, store in stores.items():
            store.load(seed)
            _grow_the_tree(key, store, seed)
        yield seed, stores


def _start(stack: ExitStack, store: Peer, directory: Path) -> None:
    directory.mkdir(mode=0o755)
    with undisturbed():
        store.start(directory)
        stack.callback(store.stop)


def _grow_the_tree(key: str, store: Peer, seed: Seed) -> None:
    client = store.client()
    try:
        client.commit(seed.tree)
        assert key.startswith("rocksdb") or client.two_hop(seed.root) == TREE_RELATIONS
    finally:
        client.close()
