"""What a large partition costs the commands of another one: the longest wait of its saves, sent one after the other.

In process, in turn in each round: while nothing else goes on; while the first command of a process is given in a large
partition, whose rows have to be counted; and while somebody searches that partition, of which nothing is indexed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from time import perf_counter
from typing import Final

from msgspec.structs import replace

from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.store_fixture import SUBMITTED_TOGETHER, Stage
from relatum.core.commands import CreateRecord, SaveRecord
from relatum.core.ids import Partition
from relatum.core.records import RecordInput
from relatum.ledger import Ledger
from relatum.ledger.search.index import remove_index

ALONE_SAVES: Final = 20


def measure(setting: Setting) -> Iterator[Series]:
    """Milliseconds."""
    samples = Samples()
    number = setting.sized(20_000, 100_000)
    setting.progress(f"neighbours: loading {number:,} records")
    directory = setting.directory("neighbours")
    stage = Stage.make(directory, 1)
    other = replace(stage.partition, agent_id="neighbour")
    with Ledger.open(directory) as ledger:
        _load(ledger, stage, number)
    for one in setting.each_round("neighbours"):
        remove_index(directory)
        with Ledger.open(directory) as ledger:
            _round(samples, ledger, stage, other, f"{one}")
    yield from samples.series()


def _load(ledger: Ledger, stage: Stage, number: int) -> None:
    """Records with topics and facts: each has two rows that are counted."""
    for start in range(0, number, SUBMITTED_TOGETHER):
        made = range(start, min(number, start + SUBMITTED_TOGETHER))
        inputs = [RecordInput(content=f"record {n} of many", topic_key=f"t {n}", fact_key=f"f {n}") for n in made]
        ledger.submit_all(
            [
                ledger.command(stage.partition, stage.author, f"loaded-{n}", CreateRecord(record=record))
                for n, record in zip(made, inputs, strict=True)
            ]
        )


def _round(samples: Samples, ledger: Ledger, stage: Stage, other: Partition, key: str) -> None:
    numbers = count()

    def save() -> float:
        began = perf_counter()
        record = RecordInput(content="a ferry leaves at nine")
        key_of_save = f"neighbour-{key}-{next(numbers)}"
        ledger.submit(ledger.command(other, stage.author, key_of_save, SaveRecord(record=record, candidates_max=0)))
        return 1000 * (perf_counter() - began)

    def first_command() -> None:
        record = RecordInput(content="the first of this process")
        ledger.submit(ledger.command(stage.partition, stage.author, f"first-{key}", CreateRecord(record=record)))

    def first_search() -> None:
        with ledger.view() as view:
            view.searched(view.partition(stage.partition), "record 77")

    save()
    samples.add("neighbours/alone/longest", "ms", max(save() for _ in range(ALONE_SAVES)))
    for name, work in (("first-command", first_command), ("first-search", first_search)):
        own, longest = _beside(work, save)
        samples.add(f"neighbours/{name}/longest", "ms", longest, floor="neighbours/alone/longest")
        samples.add(f"neighbours/{name}/own", "ms", own)


def _beside(work: Callable[[], None], save: Callable[[], float]) -> tuple[float, float]:
    """How long some work took, and the longest wait of the saves that were sent meanwhile, of one at least."""
    over = Event()

    def saves() -> float:
        longest = save()
        while not over.is_set():
            longest = max(longest, save())
        return longest

    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(saves)
        began = perf_counter()
        try:
            work()
        finally:
            took = 1000 * (perf_counter() - began)
            over.set()
        return took, waiting.result()
