"""A desk: one author at work in one partition of a ledger, with fresh idempotency keys and answers already checked."""

from __future__ import annotations

from itertools import count

from relatum.core.ids import Author, Partition
from relatum.core.receipts import Receipt
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.writer.submission import MemorySubmission
from relatum.store.view import LedgerView
from tests.support.builders import ADA, PARTITION
from tests.support.steps import Operation, Steps

_NUMBERS = count(1)


class Desk(Steps):
    """Gives commands to a ledger and returns what a test wants to go on with."""

    def __init__(self, ledger: Ledger, partition: Partition = PARTITION, author: Author = ADA) -> None:
        self.ledger = ledger
        self.partition = partition
        self.author = author

    def command(self, operation: Operation, key: str | None = None) -> MemorySubmission:
        """A command under `key`, or under a key that no desk has used yet."""
        return self.ledger.command(self.partition, self.author, key or f"key-{next(_NUMBERS)}", operation)

    def submit(self, operation: Operation, key: str | None = None) -> Receipt | Refusal:
        return self.ledger.submit(self.command(operation, key))

    def accept(self, operation: Operation, key: str | None = None) -> Receipt:
        """The receipt of a command that must be accepted."""
        outcome = self.submit(operation, key)
        assert not isinstance(outcome, Refusal), outcome
        return outcome

    def refuse(self, operation: Operation, key: str | None = None) -> tuple[int, str]:
        """Status and code of a command that must be refused."""
        outcome = self.submit(operation, key)
        assert isinstance(outcome, Refusal), outcome
        return outcome.status, outcome.code

    def view(self) -> LedgerView:
        return self.ledger.view()
