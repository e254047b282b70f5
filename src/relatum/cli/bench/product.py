"""The ledger without HTTP: commands come in as JSON, receipts go out as JSON, in one process."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from relatum.cli.bench.dataset import Assertions
from relatum.cli.bench.load.generator import MeasurementFailed
from relatum.cli.bench.store_fixture import RECORDS, Stage
from relatum.core.receipts import Receipt, RelationReceipt
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger


class LedgerClient:
    """A client in the same process; any number may share one ledger."""

    def __init__(self, ledger: Ledger, stage: Stage) -> None:
        self._ledger = ledger
        self._stage = stage

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """The receipts of commands, each the JSON of an item of `relations/commands/batch`; all are durable by then."""
        stage, ledger = self._stage, self._ledger
        outcomes = ledger.submit_all([stage.submission(ledger, command) for command in commands])
        return [msgspec.json.encode(receipt_of(outcome)) for outcome in outcomes]

    def in_turns_with(self, loop: AbstractEventLoop) -> AbstractContextManager[None]:
        """Within it the writer shares the thread of the loop, as it does in the server."""
        return self._ledger.in_turns_with(loop)

    async def commit_async(self, commands: Sequence[bytes]) -> list[bytes]:
        """The same on an event loop, which is how the server calls the ledger."""
        stage, ledger = self._stage, self._ledger
        outcomes = await ledger.submit_async([stage.submission(ledger, command) for command in commands])
        return [msgspec.json.encode(receipt_of(outcome)) for outcome in outcomes]


class LedgerInProcess:
    """A ledger on a store with records."""

    def __init__(self, records: int = RECORDS) -> None:
        self._records = records
        self._ledger: Ledger | None = None
        self._stage: Stage | None = None

    def start(self, directory: Path) -> None:
        """Makes the store in `directory`, which does not exist, and opens it."""
        self._stage = Stage.make(directory, self._records)
        self._ledger = Ledger.open(directory)

    def client(self) -> LedgerClient:
        """One more client."""
        assert self._ledger is not None and self._stage is not None, "started"
        return LedgerClient(self._ledger, self._stage)

    def assertions(self, keys: str = "bench") -> Assertions:
        """Commands that it will accept."""
        assert self._stage is not None, "started"
        return self._stage.assertions(keys)

    def stop(self) -> None:
        """Closes the ledger."""
        assert self._ledger is not None, "started"
        self._ledger.close()


def receipt_of(outcome: Receipt | Refusal | Failure) -> RelationReceipt:
    """The receipt of a command that must have been accepted."""
    if not isinstance(outcome, RelationReceipt):
        raise MeasurementFailed("the ledger did not accept a command of the benchmark")
    return outcome
