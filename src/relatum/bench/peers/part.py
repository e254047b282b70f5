"""The part of the benchmarks that asks other stores to do the same: all of them and the product in turn, in one run.

`peers/STORE/CLIENTS/rate` is commands a second with single commands, and `…/p99` the wait for one; `one-partition` has
16 clients in one partition instead of in 16; `group` is one client with 64 commands a transaction; `two-hop` the time
of a neighbourhood of 49 relations. `peers/http/STORE/64/rate` is told by `relatum.bench.peers.overhttp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from relatum.bench.peers import available, overhttp, product
from relatum.bench.peers.measuring import commit_rate, two_hop_micros
from relatum.bench.peers.peer import Peer
from relatum.bench.peers.seed import TREE_RELATIONS, Seed
from relatum.bench.series import Samples, Series, Setting

PARTITIONS: Final = 16
"""Clients are spread over so many: a store that locks a partition's tip until the disk has it gets its chance."""
RECORDS: Final = 256
OURS: Final = "relatum"
SECONDS: Final = {"small": 0.4, "full": 1.5}
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
            for key, store in stores.items():
                _one_round(samples, key, store, seed, SECONDS[setting.scale])
    overhttp.measure(samples, setting)
    yield from samples.series()


def _one_round(samples: Samples, key: str, store: Peer, seed: Seed, seconds: float) -> None:
    for load in LOADS:
        rate = commit_rate(store, seed, clients=load.clients, group=load.group, places=load.places, seconds=seconds)
        own, ours = f"peers/{key}/{load.name}", f"peers/{OURS}/{load.name}"
        samples.add(f"{own}/rate", "commands/s", rate.per_second, floor=_other(own, ours, "rate"))
        samples.add(f"{own}/p99", "ms", rate.p99_millis, floor=_other(own, ours, "p99"))
    if not key.startswith("rocksdb"):  # rows alone are no graph
        micros = two_hop_micros(store, seed, seconds=TWO_HOP_SECONDS)
        own, ours = f"peers/{key}/two-hop", f"peers/{OURS}/two-hop"
        samples.add(f"{own}/p50", "µs", micros, floor=_other(own, ours, "p50"))


def _other(own: str, ours: str, what: str) -> str:
    """What a peer is compared with: the product."""
    return "" if own == ours else f"{ours}/{what}"


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
    store.start(directory)
    stack.callback(store.stop)


def _grow_the_tree(key: str, store: Peer, seed: Seed) -> None:
    client = store.client()
    try:
        client.commit(seed.tree)
        assert key.startswith("rocksdb") or client.two_hop(seed.root) == TREE_RELATIONS
    finally:
        client.close()
