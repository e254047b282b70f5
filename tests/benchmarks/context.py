"""What a context block costs beside walks of the graph, on one partition.

    python -m tests.benchmarks.context [--records 10000] [--rounds 40] [--words 60]

One partition with so many records, each of words of real titles, half as many relations among them, curated links, pins
and categories. Then blocks and walks are taken in turn, so that their ratio means something on a busy machine too. The
walk is one at default limits from a record with many relations: 128 records looked up, 1,024 index entries at most.
"""

from __future__ import annotations

import argparse
import random  # noqa: TID251 - the same partition in every run
import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from relatum.core.commands import PinRecord
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Ref
from relatum.core.links import Link
from relatum.core.receipts import RecordReceipt
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.ledger import MemoryOperation
from relatum.ledger.reads.context import context
from relatum.ledger.reads.graph_typed import typed_graph
from tests.benchmarks.saves import GROUP, Contents, show
from tests.support import builders
from tests.support.builders import ADA, PARTITION

CATEGORIES = (None, None, None, None, "preference", "constraint", "project", "user")
HUB_RELATIONS = 200
SEED = 7
_NUMBERS = count(1)


def main() -> None:
    """Builds the partition and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--words", type=int, default=60)
    given = parser.parse_args()
    contents = Contents(given.words)
    with (
        tempfile.TemporaryDirectory(prefix="relatum-context-") as directory,
        Ledger.open(Path(directory) / "store", create=True) as ledger,
    ):
        refs = fill(ledger, contents, given.records)
        measure(ledger, contents, refs, given.rounds)


def fill(ledger: Ledger, contents: Contents, size: int) -> list[Ref]:
    """The records, the first of which is a hub, and what joins them."""
    dice = random.Random(SEED)
    creates = [builders.create(contents.next(), category=dice.choice(CATEGORIES)) for _ in range(size)]
    refs = [
        Ref(record_id=one.record_id, revision=1) for one in _submit(ledger, creates) if isinstance(one, RecordReceipt)
    ]
    ends = [dice.sample(refs, 2) for _ in range(size // 2)] + [[refs[0], one] for one in refs[1 : HUB_RELATIONS + 1]]
    _submit(ledger, [builders.assertion(one, other) for one, other in ends])
    pairs = [dice.sample(refs, 2) for _ in range(size // 20)]
    links = [Link(source_id=one.record_id, target_id=other.record_id, kind="related") for one, other in pairs]
    _submit(ledger, links)
    _submit(ledger, [PinRecord(record_id=one.record_id, expected_revision=1) for one in dice.sample(refs, 10)])
    with ledger.view() as view:
        view.search(view.partition(PARTITION), "anything")  # indexes everything
    return refs


def _submit(ledger: Ledger, operations: Sequence[MemoryOperation]) -> list[object]:
    found: list[object] = []
    for at in range(0, len(operations), GROUP):
        commands = [ledger.command(PARTITION, ADA, f"key-{next(_NUMBERS)}", one) for one in operations[at : at + GROUP]]
        group = ledger.submit_all(commands)
        assert not [one for one in group if isinstance(one, Refusal)], group
        found += group
    return found


def measure(ledger: Ledger, contents: Contents, refs: Sequence[Ref], rounds: int) -> None:
    """Blocks and walks in turn; their medians and the ratio."""
    walks: list[float] = []
    costs: dict[str, list[float]] = {"8 words": [], "60 words": [], "no known word": []}
    for _ in range(rounds):
        walks.append(_timed(lambda: walk(ledger, refs[0])))
        text = contents.next()
        prompts = {"8 words": " ".join(text.split()[:8]), "60 words": text, "no known word": "zyzzyva"}
        for name, prompt in prompts.items():
            costs[name].append(_timed(lambda prompt=prompt: block(ledger, prompt)))  # type: ignore[misc]
    one_walk = median(walks)
    show(f"{rounds} rounds, medians: a walk of the graph {one_walk * 1e3:.1f} ms")
    for name, found in costs.items():
        show(f"a block, prompt of {name}: {median(found) * 1e3:.1f} ms, {median(found) / one_walk:.1f} walks")


def walk(ledger: Ledger, root: Ref) -> None:
    """One typed graph at default limits."""
    with ledger.view() as view:
        found = typed_graph(
            view.partition(PARTITION), view.now_millis, TypedGraphQuery(root_record_ids=(root.record_id,))
        )
        assert not isinstance(found, Refusal)


def block(ledger: Ledger, prompt: str) -> None:
    """One context block, as the server makes it."""
    with ledger.view() as view:
        partition = view.partition(PARTITION)
        context(partition, view.now_millis, view.surroundings(partition, prompt))


def _timed(work: Callable[[], None]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


if __name__ == "__main__":
    main()
