"""relatum: an event-sourced relation ledger on RocksDB, for the memory of AI agents.

What a program needs that keeps a ledger in process (docs/library.md): `Ledger`, the values that commands are made of,
receipts, refusals and failures. Reads are the functions of `relatum.ledger.reads`.

The names below are imported when they are first asked for, so that a program which wants one of them, or the command
line which wants none, does not wait for the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from relatum.clock import Clock, ManualClock
    from relatum.core.commands import (
        AssertRelation,
        CreateRecord,
        DeleteRecord,
        DeriveRecord,
        RestoreRelation,
        RetireRelation,
        ReviewRecord,
        ReviewRelation,
        ReviseRecord,
    )
    from relatum.core.ids import Author, Partition, Ref, Scope, memory_partition
    from relatum.core.receipts import RecordReceipt, RelationReceipt
    from relatum.core.records import Derivation, RecordInput, RecordProvenance
    from relatum.core.relations import Model, Provenance, RelationInput
    from relatum.errors import (
        Failure,
        Refusal,
        StorageFailure,
        StorageInconsistency,
        StoreUnavailable,
        WriteBusy,
        WritesRefused,
    )
    from relatum.ledger import Ledger

__version__ = "0.1.0"

__all__ = [
    "AssertRelation",
    "Author",
    "Clock",
    "CreateRecord",
    "DeleteRecord",
    "Derivation",
    "DeriveRecord",
    "Failure",
    "Ledger",
    "ManualClock",
    "Model",
    "Partition",
    "Provenance",
    "RecordInput",
    "RecordProvenance",
    "RecordReceipt",
    "Ref",
    "Refusal",
    "RelationInput",
    "RelationReceipt",
    "RestoreRelation",
    "RetireRelation",
    "ReviewRecord",
    "ReviewRelation",
    "ReviseRecord",
    "Scope",
    "StorageFailure",
    "StorageInconsistency",
    "StoreUnavailable",
    "WriteBusy",
    "WritesRefused",
    "memory_partition",
]

_HOMES: Final = (
    "relatum.clock",
    "relatum.errors",
    "relatum.core.commands",
    "relatum.core.ids",
    "relatum.core.receipts",
    "relatum.core.records",
    "relatum.core.relations",
    "relatum.ledger.ledger",
)


def __getattr__(name: str) -> object:
    """One of the names above, from the room where it lives."""
    if name in __all__:
        for home in map(import_module, _HOMES):
            if name in vars(home):
                return vars(home)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names above and the version."""
    return sorted([*__all__, "__version__"])
