"""What the command routes of all families share: from a body to submissions, from outcomes to answers."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from relatum.core.answers.access import Capability
from relatum.core.answers.commands import ItemError
from relatum.core.commands import (
    ArchiveRecord,
    AssertRelation,
    CreateRecord,
    DeleteRecord,
    DeriveRecord,
    MarkStale,
    PinRecord,
    RestoreRelation,
    RetireRelation,
    ReviewRecord,
    ReviewRelation,
    ReviseRecord,
    SaveRecord,
    UnarchiveRecord,
    UnpinRecord,
)
from relatum.core.ids import Partition
from relatum.core.receipts import Receipt
from relatum.errors import Failure, Refusal, invalid
from relatum.http import errors
from relatum.http.server_state import Call, Scoped, partition_of
from relatum.ledger.ledger import MemoryOperation
from relatum.ledger.writer.submission import MemorySubmission
from relatum.limits import COMMAND_BATCH_MAX

RECORD_NEEDS: dict[type[Struct], tuple[Capability, ...]] = {
    CreateRecord: ("memory_write",),
    ReviseRecord: ("memory_write",),
    DeleteRecord: ("memory_write",),
    DeriveRecord: ("memory_read", "memory_write"),
    ReviewRecord: ("memory_read", "memory_review"),
    SaveRecord: ("memory_read", "memory_write"),
    ArchiveRecord: ("memory_write",),
    UnarchiveRecord: ("memory_write",),
    PinRecord: ("memory_write",),
    UnpinRecord: ("memory_write",),
    MarkStale: ("memory_write",),
}
RELATION_NEEDS: dict[type[Struct], tuple[Capability, ...]] = {
    AssertRelation: ("memory_read", "memory_write"),
    RetireRelation: ("memory_read", "memory_write"),
    RestoreRelation: ("memory_read", "memory_write"),
    ReviewRelation: ("memory_read", "memory_review"),
}


class Item(Protocol):
    """One command: a key and an operation."""

    @property
    def idempotency_key(self) -> str:
        """The client's name for it."""
        ...

    @property
    def operation(self) -> MemoryOperation:
        """What it does."""
        ...


async def submit(call: Call[Scoped], item: Item) -> Receipt | Refusal:
    """The outcome of one command; raises the failure that leaves it unknown."""
    [outcome] = await call.ledger.submit_async([_submission(call, partition_of(call), item)])
    if isinstance(outcome, Failure):
        raise outcome
    return outcome


async def submit_batch(call: Call[Scoped], items: tuple[Item, ...]) -> list[Receipt | ItemError] | Refusal:
    """The outcomes of 1 to 256 commands in order; a failure of one is that item's error."""
    if not 1 <= len(items) <= COMMAND_BATCH_MAX:
        return invalid("a batch holds 1 to 256 commands")
    partition = partition_of(call)
    outcomes = await call.ledger.submit_async([_submission(call, partition, item) for item in items])
    return list(map(_item, outcomes))


def _submission(call: Call[Scoped], partition: Partition, item: Item) -> MemorySubmission:
    return call.ledger.command(partition, call.credential.author, item.idempotency_key, item.operation)


def _item(outcome: Receipt | Refusal | Failure) -> Receipt | ItemError:
    if isinstance(outcome, Failure):
        outcome = errors.told(outcome)
    if isinstance(outcome, Refusal):
        return ItemError(code=outcome.code, message=outcome.message, status=outcome.status)
    return outcome
