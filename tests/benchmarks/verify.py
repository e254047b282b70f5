"""What a verification costs beside a plain scan of the same store.

    python -m tests.benchmarks.verify [--relations 100000] [--records 5000] [--rounds 3] [--store DIRECTORY]

A store is built with that many relations between that many records, some of them revised, reviewed or retired; or one
that exists is taken. Then, in turn, every row is read and its checksum computed, and the store is verified, by one
process and by one for each processor. Printed are rows per second of the clock and of processor time, which says more
on a busy machine, and how many times as long as the scan a verification takes.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.ids import Ref
from relatum.core.receipts import Receipt, RecordReceipt, RelationReceipt
from relatum.ledger import Ledger
from relatum.store import rows
from relatum.store.rocks import reading
from relatum.store.verify.directory import verify_directory
from tests.fuzz.dice import Dice
from tests.support import builders
from tests.support.builders import ADA, PARTITION
from tests.support.stores import BEYOND_EVERYTHING

GROUP = 128

_NUMBERS = count(1)


class Cost(NamedTuple):
    """Of going over a store once."""

    rows: int
    seconds: float
    processor_seconds: float


def main() -> None:
    """Builds the store and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relations", type=int, default=100_000)
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    if given.store is not None:
        measure(given.store, given.rounds)
        return
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "store"
        started = perf_counter()
        build(directory, given.records, given.relations)
        show(f"built {given.relations} relations of {given.records} records in {perf_counter() - started:.0f} s")
        measure(directory, given.rounds)
    show(f"greatest resident set: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def build(directory: Path, records: int, relations: int) -> None:
    """One partition; a fifth of the records are revised, a twentieth of the relations reviewed and as many retired."""
    dice = Dice("relations")
    with Ledger.open(directory, create=True) as ledger:
        refs = [ref_of(one) for one in given(ledger, [builders.create(f"record {n}") for n in range(records)])]
        revised = [builders.revise(ref, "another text") for ref in refs[: records // 5]]
        refs[: len(revised)] = [ref_of(one) for one in given(ledger, revised)]
        made = given(ledger, [assertion(refs, dice) for _ in range(relations)])
        ids = [one.relation_id for one in made if isinstance(one, RelationReceipt)]
        given(ledger, [builders.judge(one, 1) for one in ids[: relations // 20]])
        given(ledger, [builders.retire(one, 1) for one in ids[-relations // 20 :]])


def assertion(refs: list[Ref], dice: Dice) -> RelationOperation:
    """A relation between any two records."""
    at = dice.below(len(refs))
    return builders.assertion(refs[at], refs[at - 1 - dice.below(len(refs) - 1)])


def given(ledger: Ledger, operations: Sequence[RecordOperation | RelationOperation]) -> list[Receipt]:
    """The receipts of commands, all of which must be accepted."""
    found: list[Receipt] = []
    for start in range(0, len(operations), GROUP):
        group = operations[start : start + GROUP]
        commands = [ledger.command(PARTITION, ADA, f"key-{next(_NUMBERS)}", operation) for operation in group]
        for receipt in ledger.submit_all(commands):
            assert isinstance(receipt, RecordReceipt | RelationReceipt), receipt
            found.append(receipt)
    return found


def ref_of(receipt: Receipt) -> Ref:
    """The record at the revision that a receipt speaks of."""
    assert isinstance(receipt, RecordReceipt)
    return Ref(record_id=receipt.record_id, revision=receipt.revision)


def measure(directory: Path, rounds: int) -> None:
    """All in turn; medians."""
    processors = len(os.sched_getaffinity(0))
    ways: dict[str, Callable[[], int]] = {
        "plain scan with checksums": lambda: scanned(directory),
        "verify, one process": lambda: verified(directory, 1),
        f"verify, {processors} helpers": lambda: verified(directory, processors),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            costs[name].append(cost_of(way))
    plain = next(iter(costs.values()))
    for name, found in costs.items():
        seconds, processor_seconds = medians(found)
        times = f"{seconds / medians(plain)[0]:4.1f} and {processor_seconds / medians(plain)[1]:4.1f} times the scan"
        rate, processor_rate = found[0].rows / seconds, found[0].rows / processor_seconds
        show(f"    {name:26} {rate:9,.0f} rows/s, {processor_rate:9,.0f} per processor second; {times}")
    show(f"    {plain[0].rows} rows; medians of {rounds} rounds in turn")


def medians(costs: Sequence[Cost]) -> tuple[float, float]:
    """Of the clock's seconds, and of the processors'."""
    return median(cost.seconds for cost in costs), median(cost.processor_seconds for cost in costs)


def cost_of(way: Callable[[], int]) -> Cost:
    """Of one of them."""
    started, processor_started = perf_counter(), processor_seconds()
    seen = way()
    return Cost(seen, perf_counter() - started, processor_seconds() - processor_started)


def processor_seconds() -> float:
    """Of this process and its helpers that have ended."""
    of_helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + of_helpers.ru_utime + of_helpers.ru_stime


def scanned(directory: Path) -> int:
    """Every row is read and its checksum computed; how many there are."""
    seen = 0
    with reading(directory / "engine") as view:
        for key, row in view.scan(b"", BEYOND_EVERYTHING):
            rows.unseal(key, row)
            seen += 1
    return seen


def verified(directory: Path, jobs: int) -> int:
    """The whole store is verified; how many rows there are."""
    report = verify_directory(directory, jobs=jobs)
    assert report.clean, report.findings
    return report.rows


def show(line: str) -> None:
    """Tells whoever runs this."""
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
