"""What reads cost in process, without HTTP: single relations, replays, walks, a page of the feed.

    python -m tests.benchmarks.reads [--relations 12000] [--rounds 60]

Printed are microseconds of the thread's processor time, the least and the middle of all rounds. Every single read and
replay is of another relation, far from the one before; a walk is repeated, so it is a walk over what was walked before.
The store is opened again before it is read, so its rows lie in files. To compare two versions, run both in turn.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Final, NamedTuple

import msgspec

from relatum.cli.bench.dataset import assertion
from relatum.cli.bench.store_fixture import Stage, submitted
from relatum.core.feeds import Window
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Ref
from relatum.core.receipts import RelationReceipt
from relatum.core.streams import RELATIONS
from relatum.ledger import Ledger
from relatum.ledger.reads import changes, relations
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.limits import CHANGES_PAGE_MAX
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

AROUND: Final = 5
BEYOND: Final = 9
HUB: Final = 2_000
RECORDS: Final = 3_000
APART: Final = 7_919
"""A prime: how far one relation lies from the next that is read."""

Read = Callable[[LedgerView, PartitionReader], object]


class Made(NamedTuple):
    """A store at rest, its relations in the order in which they came, and where to walk from."""

    stage: Stage
    commands: list[bytes]
    relation_ids: list[str]
    middle: Ref
    hub: Ref


def main() -> None:
    """Makes a store and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relations", type=int, default=12_000)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        made = make(Path(directory) / "store", given.relations)
        with Ledger.open(made.stage.directory) as ledger:
            print(f"{'µs':24} {'least':>9} {'middle':>9}")  # noqa: T201
            for name, count, read in reads(made, ledger):
                found = [1e6 * seconds(made.stage, ledger, read, count) / count for _ in range(given.rounds)]
                print(f"{name:24} {min(found):9.1f} {median(found):9.1f}")  # noqa: T201


def make(directory: Path, count: int) -> Made:
    """A store with so many relations, a neighbourhood of 50 edges, and a hub."""
    stage = Stage.make(directory, RECORDS)
    encoded = list(map(msgspec.json.encode, stage.ends))
    around = range(2, 2 + AROUND)
    pairs = [(0, near) for near in around]
    pairs += [(near, 2 + near * BEYOND + far) for near in around for far in range(BEYOND)]
    pairs += [(1, RECORDS - 1 - leaf) for leaf in range(HUB)]
    others = Stage(*stage[:4], stage.ends[200:-HUB]).assertions("read").take(count)
    drawn = [assertion(b"walk-%d" % place, encoded[one], encoded[two]) for place, (one, two) in enumerate(pairs)]
    with Ledger.open(directory) as ledger:
        ledger.activate(stage.partition, stage.author, RELATIONS)
        receipts = submitted(ledger, [stage.submission(ledger, command) for command in others + drawn])
    ids = [receipt.relation_id for receipt in receipts if isinstance(receipt, RelationReceipt)]
    return Made(stage, others, ids[:count], stage.ends[0], stage.ends[1])


def reads(made: Made, ledger: Ledger) -> Iterator[tuple[str, int, Read]]:
    """Each read: its name, how often it is done in a round, and how."""
    places = cycle(place * APART % len(made.relation_ids) for place in range(len(made.relation_ids)))
    ids = map(made.relation_ids.__getitem__, places)
    replays = cycle([made.stage.submission(ledger, command) for command in islice(made.commands, 2_000)])
    yield "read", 80, lambda view, partition: relations.read(partition, view.now_millis, next(ids))
    yield "inspect", 80, lambda view, partition: relations.inspect(partition, view.now_millis, next(ids))
    yield "revision", 80, lambda _, partition: relations.revision(partition, next(ids), 1)
    yield "replay", 80, lambda *_: ledger.submit(next(replays))
    yield "two hops, 50 edges", 2, _walk(made.middle)
    yield "hub of 2,000", 1, _walk(made.hub)
    yield "page of 256 changes", 1, lambda _, partition: changes.page(partition, RELATIONS, Window(), CHANGES_PAGE_MAX)


def _walk(root: Ref) -> Read:
    query = TypedGraphQuery(root_record_ids=(root.record_id,))
    return lambda view, partition: typed_graph(partition, view.now_millis, query)


def seconds(stage: Stage, ledger: Ledger, read: Read, count: int) -> float:
    """Of the processor, for so many reads, each over a view of its own."""
    started = thread_time()
    for _ in range(count):
        with ledger.view() as view:
            read(view, view.partition(stage.partition))
    return thread_time() - started


if __name__ == "__main__":
    main()
