"""What a save costs as its partition grows: detection, commit, and the index kept in step.

    python -m tests.benchmarks.saves [--sizes 1000 10000 100000] [--saves 300] [--words 60]

One store for each size, with so many records in one partition, whose contents are words of real titles, as often as
they come in these. Then saves are sent to the stores in turn, so that their medians mean something on a busy machine
too; beside each median stands its ratio to that of the smallest partition, which has to stay flat.
"""

from __future__ import annotations

import argparse
import json
import random  # noqa: TID251 - the same contents in every run
import tempfile
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import NamedTuple

from relatum.core.commands import RecordOperation, SaveRecord
from relatum.core.receipts import RecordReceipt
from relatum.ledger import Ledger
from relatum.ledger.writer.submission import MemorySubmission
from tests.corpora.mapping import FOLDER
from tests.support import builders
from tests.support.builders import ADA, PARTITION

GROUP = 512
SEED = 5
_NUMBERS = count(1)


class Cost(NamedTuple):
    """Seconds of the parts of one save."""

    detection: float
    commit: float
    indexing: float

    @property
    def whole(self) -> float:
        return sum(self)


class Contents:
    """Contents of so many words, drawn from the titles of RFCs."""

    def __init__(self, words: int) -> None:
        with (FOLDER / "rfc-index-2020" / "records.jsonl").open(encoding="utf-8") as lines:
            self._known = [word for line in lines for word in json.loads(line)["title"].split()]
        self._words = words
        self._dice = random.Random(SEED)

    def next(self) -> str:
        return " ".join(self._dice.choices(self._known, k=self._words))


def main() -> None:
    """Builds the stores and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--saves", type=int, default=300)
    parser.add_argument("--words", type=int, default=60)
    given = parser.parse_args()
    contents = Contents(given.words)
    with tempfile.TemporaryDirectory(prefix="relatum-saves-") as directory, ExitStack() as open_ledgers:
        ledgers = {}
        for size in given.sizes:
            ledger = open_ledgers.enter_context(Ledger.open(Path(directory) / str(size), create=True))
            fill(ledger, contents, size)
            ledgers[size] = ledger
        measure(ledgers, contents, given.saves)


def fill(ledger: Ledger, contents: Contents, size: int) -> None:
    """Puts so many records into a partition and indexes them."""
    started = perf_counter()
    for at in range(0, size, GROUP):
        group = [builders.create(contents.next()) for _ in range(min(GROUP, size - at))]
        outcomes = ledger.submit_all([_command(ledger, one) for one in group])
        assert all(isinstance(one, RecordReceipt) for one in outcomes)
    written = perf_counter()
    with ledger.view() as view:
        view.search(view.partition(PARTITION), "anything")  # indexes everything
    indexed = perf_counter()
    show(
        f"{size:7} records: written in {written - started:.1f} s,"
        f" indexed in {indexed - written:.1f} s, {(indexed - written) / size * 1e6:.0f} µs each"
    )


def measure(ledgers: dict[int, Ledger], contents: Contents, saves: int) -> None:
    """Saves in turn; their medians."""
    costs: dict[int, list[Cost]] = {size: [] for size in ledgers}
    for _ in range(saves):
        content = contents.next()
        for size, ledger in ledgers.items():
            costs[size].append(save(ledger, content))
    smallest = median(cost.whole for cost in costs[min(costs)])
    show(f"\n{saves} saves in turn, milliseconds (median):")
    show("records   detection   commit   indexing    whole   95 in 100   to the smallest")
    for size, found in costs.items():
        parts = [median(part) * 1e3 for part in zip(*found, strict=True)]
        whole = [cost.whole for cost in found]
        slow = quantiles(whole, n=20)[-1] * 1e3
        detection, commit, indexing = parts
        show(
            f"{size:7} {detection:11.2f} {commit:8.2f} {indexing:10.2f} {median(whole) * 1e3:8.2f}"
            f" {slow:11.2f} {median(whole) / smallest:17.2f}"
        )


def save(ledger: Ledger, content: str) -> Cost:
    """One save, by the steps of `Ledger.submit`."""
    started = perf_counter()
    indexing, command = ledger._indexing, _command(ledger, SaveRecord(record=builders.record(content)))
    commands = indexing.compared([command])
    detected = perf_counter()
    [receipt] = ledger.restore(commands)  # the writer alone
    committed = perf_counter()
    indexing.keep_in_step(commands)
    assert isinstance(receipt, RecordReceipt), receipt
    return Cost(detected - started, committed - detected, perf_counter() - committed)


def _command(ledger: Ledger, operation: RecordOperation) -> MemorySubmission:
    return ledger.command(PARTITION, ADA, f"key-{next(_NUMBERS)}", operation)


def show(line: str) -> None:
    """Tells whoever runs this."""
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
