"""Walks along relations: a chain, a neighbourhood of 50 edges, and hubs of 2,000 and of many more relations.

Walks are measured in this process, in turn, and the neighbourhood over HTTP too. What a walk of the larger hub finds is
the same as of the smaller one, so the times should be, too. Then four clients take graphs of the larger hub as fast as
they can, and the server tells for how long its event loop stood still; beside it stands what it told before anybody had
asked it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple

import msgspec

from relatum.cli.bench.dataset import assertion
from relatum.cli.bench.load.generator import MeasurementFailed
from relatum.cli.bench.load.job import MILLIS
from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import served_desk
from relatum.cli.bench.store_fixture import Stage, submitted
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Ref
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads.graph_typed import typed_graph

CHAIN_DEPTH: Final = 8
NEIGHBOURS: Final = 5
BEYOND: Final = 9
"""A neighbourhood of two hops: 5 edges, and 9 from each of the records they lead to."""
NEIGHBOURHOOD_EDGES: Final = NEIGHBOURS * (1 + BEYOND)
TIMES_LARGER: Final = 50
"""How many times as many relations the larger hub has, at full scale."""
OTHERS: Final = CHAIN_DEPTH + NEIGHBOURHOOD_EDGES + 4
"""Records that are no leaves of a hub: those of the other figures, and the hubs."""
RELATED_TOGETHER: Final = 16_384
"""Relations of a step: whoever watches is told after each."""
WALKERS: Final = 4


class Roots(NamedTuple):
    """The records from which is walked."""

    chain: Ref
    neighbourhood: Ref
    small_hub: Ref
    large_hub: Ref


def measure(setting: Setting) -> Iterator[Series]:
    """Times of walks; stalls."""
    small = setting.sized(2_000, 2_000)
    large = small * setting.sized(TIMES_LARGER // 5, TIMES_LARGER)
    setting.progress(f"graph: hubs of {small:,} and {large:,} relations")
    stage = Stage.make(setting.directory("graph"), small + OTHERS)
    roots = _relate(stage, small, large, setting)
    samples = Samples()
    samples.add("graph/hub/large/relations", "relations", large)
    with Ledger.open(stage.directory) as ledger:
        for _ in setting.each_round("graph, in process"):
            _walks(samples, stage, ledger, roots, setting.sized(10, 30))
    for _ in setting.each_round("graph, over HTTP"):
        _over_http(samples, stage, roots, setting)
    yield from samples.series()


# What is walked


def _relate(stage: Stage, small: int, large: int, setting: Setting) -> Roots:
    """Relates the records; each figure has records of its own."""
    ends = iter(stage.ends)
    leaves = [next(ends) for _ in range(small)]
    chain = [next(ends) for _ in range(CHAIN_DEPTH + 1)]
    middle, *around = (next(ends) for _ in range(1 + NEIGHBOURS))
    small_hub, large_hub = next(ends), next(ends)
    pairs = list(pairwise(chain))
    pairs += [(middle, neighbour) for neighbour in around]
    pairs += [(neighbour, next(ends)) for neighbour in around for _ in range(BEYOND)]
    pairs += [(small_hub, leaf) for leaf in leaves]
    pairs += [(large_hub, leaves[number % small]) for number in range(large)]
    with Ledger.open(stage.directory) as ledger:
        for start in range(0, len(pairs), RELATED_TOGETHER):
            _relate_pairs(stage, ledger, pairs[start : start + RELATED_TOGETHER], start)
            related = min(start + RELATED_TOGETHER, len(pairs))
            setting.progress(f"graph: {related:,} of {len(pairs):,} relations")
    return Roots(chain[0], middle, small_hub, large_hub)


def _relate_pairs(stage: Stage, ledger: Ledger, pairs: Sequence[tuple[Ref, Ref]], first: int) -> None:
    """Relations with keys of their own: those of the pairs in order are numbered from `first`."""
    commands = [
        stage.submission(ledger, assertion(b"graph-%d" % number, *map(msgspec.json.encode, pair)))
        for number, pair in enumerate(pairs, first)
    ]
    for receipt in submitted(ledger, commands):
        if isinstance(receipt, Refusal | Exception):
            raise MeasurementFailed("the ledger refused a relation of the benchmark")


# Times


def _walks(samples: Samples, stage: Stage, ledger: Ledger, roots: Roots, count: int) -> None:
    whole = TypedGraphQuery(root_record_ids=(roots.chain.record_id,), max_depth=CHAIN_DEPTH, direction="outgoing")
    queries = {
        "chain": (whole, CHAIN_DEPTH),
        "two-hop": (_default(roots.neighbourhood), NEIGHBOURHOOD_EDGES),
        "hub/small": (_default(roots.small_hub), None),
        "hub/large": (_default(roots.large_hub), None),
    }
    times: dict[str, list[float]] = {name: [] for name in queries}
    for _ in range(count):
        for name, (query, edges) in queries.items():
            times[name].append(_walk(stage, ledger, query, edges))
    for name, found in times.items():
        floor = "graph/hub/small/p50" if name == "hub/large" else ""
        samples.add(f"graph/{name}/p50", "ms", MILLIS * median(found), floor=floor)


def _default(root: Ref) -> TypedGraphQuery:
    return TypedGraphQuery(root_record_ids=(root.record_id,))


def _walk(stage: Stage, ledger: Ledger, query: TypedGraphQuery, edges: int | None) -> float:
    """Seconds of one walk, which must find as many edges as there are."""
    with closing(ledger.view()) as view:
        partition = view.partition(stage.partition)
        started = perf_counter()
        graph = typed_graph(partition, view.now_millis, query)
        seconds = perf_counter() - started
    if isinstance(graph, Refusal) or (edges is not None and edges != len(graph.edges)):
        raise MeasurementFailed("a walk did not find what there is")
    return seconds


# Over HTTP


def _over_http(samples: Samples, stage: Stage, roots: Roots, setting: Setting) -> None:
    with served_desk(stage) as made:
        samples.add("graph/idle/stall", "ms", made.served.idle_stall_millis())
        requests = _requests(stage, [roots.neighbourhood])
        outcome = made.load(requests, 1, count=setting.sized(50, 300))
        samples.add("graph/two-hop/http/p50", "ms", outcome.latency_millis(50))
        samples.add("graph/two-hop/http/p99", "ms", outcome.latency_millis(99))
        samples.add("graph/two-hop/http/load", "processors", outcome.processor_share)
        outcome = made.load(_requests(stage, [roots.large_hub]), WALKERS, count=setting.sized(40, 200))
        samples.add("graph/hub/http/rate", "requests/s", outcome.rate)
        samples.add("graph/hub/http/load", "processors", outcome.processor_share)
        samples.add("graph/hub/http/stall", "ms", made.served.stall_millis, floor="graph/idle/stall")


def _requests(stage: Stage, roots: Sequence[Ref]) -> list[bytes]:
    return [stage.ask("graph/typed", query={"root_record_ids": [root.record_id]}) for root in roots]
