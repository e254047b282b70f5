"""What the ledger really writes: the batches of rows of some commands, byte for byte.

Here: a ledger on a store that remembers what it was given, so that the floor of the engine is measured with exactly
these rows and with no guess about their number or size.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from relatum.cli.bench.store_fixture import Stage
from relatum.ledger import Ledger
from relatum.store.database import Database
from relatum.store.memory import MemoryStore
from relatum.store.watermark import WatermarkFile

Batch = Mapping[bytes, bytes | None]


class Written(NamedTuple):
    """The batches that some commands came to, in groups of a fixed size."""

    group: int
    batches: list[Batch]

    @property
    def rows_per_command(self) -> float:
        """How many rows a command takes, its share of those of the group included."""
        return sum(map(len, self.batches)) / (self.group * len(self.batches))

    @property
    def bytes_per_command(self) -> float:
        """Their keys and values."""
        total = sum(len(key) + len(value or b"") for batch in self.batches for key, value in batch.items())
        return total / (self.group * len(self.batches))


class _Remembering(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.written: list[Batch] = []

    def write(self, rows: Batch) -> None:
        self.written.append(dict(rows))
        super().write(rows)


def written(groups: int, group: int, scratch: Path) -> Written:
    """What the ledger writes for so many groups of relation commands; its watermark lies in `scratch` meanwhile."""
    store = _Remembering()
    with TemporaryDirectory(dir=scratch) as name:
        mark = Path(name) / "watermark"
        database = Database.on(store, lambda _: WatermarkFile.open(mark, create=True), create=True)
        with Ledger(database, group_commands_max=group) as ledger:
            stage = Stage.on(ledger, mark)
            assertions = stage.assertions()
            del store.written[:]
            for _ in range(groups):
                ledger.submit_all([stage.submission(ledger, command) for command in assertions.take(group)])
    assert groups == len(store.written), "one batch for each group"
    return Written(group, store.written)
