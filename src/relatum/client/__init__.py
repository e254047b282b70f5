"""The Python client of a ledger's server: `Client` for threads, `AsyncClient` for asyncio and trio (docs/client.md).

It speaks the wire of the contract and nothing else. Names that are exported here are public; the modules below are not.
Each is imported when it is first asked for: a program that takes one of the two clients does not wait for the other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from relatum.client.asynchronous.client import AsyncClient
    from relatum.client.asynchronous.follower import AsyncFollower
    from relatum.client.asynchronous.memory import AsyncMemory
    from relatum.client.asynchronous.pages import AsyncPages
    from relatum.client.blocking.client import Client
    from relatum.client.blocking.follower import Follower
    from relatum.client.blocking.memory import Memory
    from relatum.client.blocking.pages import Pages
    from relatum.client.errors import (
        CandidateNotFound,
        CheckpointNotFound,
        CheckpointRegression,
        CheckpointTaken,
        ClientClosed,
        ConfigurationError,
        Conflict,
        Forbidden,
        HistoryDiverged,
        IdempotencyConflict,
        InternalError,
        InvalidRequest,
        MethodNotAllowed,
        NotFound,
        NotReached,
        OutcomeUnknown,
        RecordNotFound,
        RelatumError,
        RequestRefused,
        RetrievalBusy,
        ReviewNotFound,
        RevisionConflict,
        RouteNotFound,
        ServerFailed,
        StorageInconsistency,
        StorageUnavailable,
        TooLarge,
        Unauthorized,
        Unavailable,
        UnexpectedAnswer,
        UnsupportedContractVersion,
        WriteBusy,
    )
    from relatum.client.results import Accepted, Issued, Refused, Saved, datetime_of, millis
    from relatum.client.secret import Secret
    from relatum.core.access import Authority, CredentialSpec, ScopePolicy, Selector
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
    from relatum.core.cursors import Advance, Reconcile
    from relatum.core.ids import Ref, Scope
    from relatum.core.judgments import ConfirmationInput, Judgment, Pair
    from relatum.core.promotions import MiningRun, Proposal
    from relatum.core.queries import RecordFilter
    from relatum.core.records import Derivation, RecordInput, RecordProvenance
    from relatum.core.relations import Model, Provenance, RelationInput
    from relatum.core.streams import Cursor
    from relatum.core.view_queries import CurrentSource, EdgeInput

__all__ = [
    "Accepted",
    "Advance",
    "ArchiveRecord",
    "AssertRelation",
    "AsyncClient",
    "AsyncFollower",
    "AsyncMemory",
    "AsyncPages",
    "Authority",
    "CandidateNotFound",
    "CheckpointNotFound",
    "CheckpointRegression",
    "CheckpointTaken",
    "Client",
    "ClientClosed",
    "ConfigurationError",
    "ConfirmationInput",
    "Conflict",
    "CreateRecord",
    "CredentialSpec",
    "CurrentSource",
    "Cursor",
    "DeleteRecord",
    "Derivation",
    "DeriveRecord",
    "EdgeInput",
    "Follower",
    "Forbidden",
    "HistoryDiverged",
    "IdempotencyConflict",
    "InternalError",
    "InvalidRequest",
    "Issued",
    "Judgment",
    "MarkStale",
    "Memory",
    "MethodNotAllowed",
    "MiningRun",
    "Model",
    "NotFound",
    "NotReached",
    "OutcomeUnknown",
    "Pages",
    "Pair",
    "PinRecord",
    "Proposal",
    "Provenance",
    "Reconcile",
    "RecordFilter",
    "RecordInput",
    "RecordNotFound",
    "RecordProvenance",
    "Ref",
    "Refused",
    "RelationInput",
    "RelatumError",
    "RequestRefused",
    "RestoreRelation",
    "RetireRelation",
    "RetrievalBusy",
    "ReviewNotFound",
    "ReviewRecord",
    "ReviewRelation",
    "ReviseRecord",
    "RevisionConflict",
    "RouteNotFound",
    "SaveRecord",
    "Saved",
    "Scope",
    "ScopePolicy",
    "Secret",
    "Selector",
    "ServerFailed",
    "StorageInconsistency",
    "StorageUnavailable",
    "TooLarge",
    "UnarchiveRecord",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "UnpinRecord",
    "UnsupportedContractVersion",
    "WriteBusy",
    "datetime_of",
    "millis",
]

_HOMES: Final = (
    "relatum.client.errors",
    "relatum.client.results",
    "relatum.client.secret",
    "relatum.core.access",
    "relatum.core.commands",
    "relatum.core.cursors",
    "relatum.core.ids",
    "relatum.core.judgments",
    "relatum.core.promotions",
    "relatum.core.queries",
    "relatum.core.records",
    "relatum.core.relations",
    "relatum.core.streams",
    "relatum.core.view_queries",
    "relatum.client.blocking.client",
    "relatum.client.blocking.follower",
    "relatum.client.blocking.memory",
    "relatum.client.blocking.pages",
    "relatum.client.asynchronous.client",
    "relatum.client.asynchronous.follower",
    "relatum.client.asynchronous.memory",
    "relatum.client.asynchronous.pages",
)


def __getattr__(name: str) -> object:
    """One of the names above, from the module where it lives."""
    if name in __all__:
        for home in _HOMES:
            found = vars(import_module(home))
            if name in found:
                globals()[name] = found[name]
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names above."""
    return list(__all__)
