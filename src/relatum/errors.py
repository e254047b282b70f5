"""Refusals and failures.

A *refusal* is an expected "no": plain data with a code of the contract, returned, never raised across a room.
A *failure* is an exception: something broke, and the class says what a handler may do about it. `Refused` carries a
refusal out of a deep walk to the function that returns it.

Messages are static: no ids, no payload text, no secrets, nothing of another partition.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Code = Literal[
    "invalid_request",
    "unsupported_contract_version",
    "unauthorized",
    "forbidden",
    "not_found",
    "record_not_found",
    "review_not_found",
    "checkpoint_not_found",
    "candidate_not_found",
    "method_not_allowed",
    "revision_conflict",
    "idempotency_conflict",
    "journal_history_conflict",
    "checkpoint_regression",
    "storage_inconsistency",
    "internal_error",
    "retrieval_busy",
    "write_busy",
    "storage_unavailable",
]

STATUS: dict[Code, int] = {
    "invalid_request": 400,
    "unsupported_contract_version": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "record_not_found": 404,
    "review_not_found": 404,
    "checkpoint_not_found": 404,
    "candidate_not_found": 404,
    "method_not_allowed": 405,
    "revision_conflict": 409,
    "idempotency_conflict": 409,
    "journal_history_conflict": 409,
    "checkpoint_regression": 409,
    "storage_inconsistency": 500,
    "internal_error": 500,
    "retrieval_busy": 503,
    "write_busy": 503,
    "storage_unavailable": 503,
}


RETRYABLE: dict[Code, bool] = {code: status in (500, 503) for code, status in STATUS.items()}
"""Whether the identical request may be sent again: its outcome is unknown, or there was no room for it.

What any other code refuses is refused again.
"""


class Refusal(Struct, frozen=True):
    """An expected "no" (transport.md, error envelope). `status` follows from `code` except for 413."""

    code: Code
    message: str
    status: int


def refusal(code: Code, message: str) -> Refusal:
    """The refusal of `code` under its usual status."""
    return Refusal(code, message, STATUS[code])


def invalid(message: str) -> Refusal:
    """400 `invalid_request`."""
    return Refusal("invalid_request", message, 400)


def stale(message: str) -> Refusal:
    """409 `revision_conflict`."""
    return Refusal("revision_conflict", message, 409)


def missing(message: str = "no such record") -> Refusal:
    """404 `record_not_found`."""
    return Refusal("record_not_found", message, 404)


class Refused(Exception):
    """Carries a refusal out of a deep walk; the function that started the walk returns `refusal`."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class Failure(Exception):
    """Something broke. Subclasses group failures by what a handler does."""


class ProgramFailure(Failure):
    """The program itself is wrong somewhere, and a store or its disk is not to blame."""


class StorageInconsistency(Failure):
    """Stored bytes contradict each other: 500 `storage_inconsistency`, nothing partial is answered."""


class JournalBroken(StorageInconsistency):
    """A change stream contradicts itself or what it tells of: no further command may extend it."""

    def __init__(self, message: str, workspace_id: str, stream: str) -> None:
        super().__init__(message)
        self.workspace_id = workspace_id
        self.stream = stream


class StorageFailure(Failure):
    """The engine or the disk failed: the writer is poisoned, published state stays readable."""


class MinedEdgesUnavailable(StorageFailure):
    """The layer of mined edges can't be read or changed; the ledger itself is none the worse."""


class SearchUnavailable(StorageFailure):
    """The search index fails whatever is done; the ledger itself is none the worse."""


class StoreUnavailable(Failure):
    """A data directory can't be opened (missing, in use, other format, lost data). The message is for the operator."""


class WriteBusy(Failure):
    """The command queue is full: 503 `write_busy`, nothing was written."""


class WritesRefused(Failure):
    """Writes are refused until a restart, or the ledger is closing: 503 `storage_unavailable`, outcome unknown."""


class ClockAhead(WritesRefused):
    """The clock is too far ahead to be believed: 503 `storage_unavailable`, nothing was written.

    The message is for the operator, who sets it right or confirms it.
    """
