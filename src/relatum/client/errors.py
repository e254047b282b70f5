"""What can go wrong for a caller, as a tree of exceptions, and the one table from codes to classes.

No message, attribute or text of these has a secret in it. All of them can be pickled.
"""

from __future__ import annotations

from typing import Any, Final

from relatum.core.answers.feeds import Diagnostics


class RelatumError(Exception):
    """Whatever this client raises of its own."""


class ConfigurationError(RelatumError):
    """An argument, a variable of the environment or a profile is wrong or missing."""


class ClientClosed(RelatumError):
    """The client was closed before or during the call."""

    def __init__(self, message: str = "the client is closed") -> None:
        super().__init__(message)


class NotReached(RelatumError):
    """The request was never sent in time: nothing of it can have been taken."""


class _Detailed(RelatumError):
    """An exception with attributes, which survive a pickle."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), self.args, self.__dict__)


def _revived(kind: type[RelatumError], args: tuple[Any, ...], attributes: dict[str, Any]) -> RelatumError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class OutcomeUnknown(_Detailed):
    """The request was sent and not answered: it may have been taken, and may not.

    With `idempotency_key` the same call can be repeated safely, from any process, for ever; `Memory.recover` asks what
    became of it. Both are None for requests that carry no key. Of a batch, `outcomes` are those known so far, in order,
    and `unsettled` the keys of the rest.
    """

    def __init__(self, message: str, idempotency_key: str | None = None, family: str | None = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key
        self.family = family
        self.outcomes: tuple[Any, ...] = ()
        self.unsettled: tuple[str, ...] = ()


class UnexpectedAnswer(_Detailed):
    """What answered does not speak this contract; `beginning` is at most 200 bytes of it."""

    def __init__(self, status: int, media_type: str, beginning: bytes) -> None:
        super().__init__(f"an answer of status {status} and type {media_type or 'unknown'} is none of this contract")
        self.status = status
        self.media_type = media_type
        self.beginning = beginning[:200]


class RequestRefused(_Detailed):
    """The service said no. `route` is the template of the path; `message` is for people."""

    def __init__(self, status: int, code: str, message: str, route: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.route = route


class InvalidRequest(RequestRefused):
    """400 `invalid_request`."""


class TooLarge(RequestRefused):
    """413: the body is larger than the route takes."""


class UnsupportedContractVersion(RequestRefused):
    """400 `unsupported_contract_version`."""


class Unauthorized(RequestRefused):
    """401: no credential, an unknown, revoked or expired one."""


class Forbidden(RequestRefused):
    """403: the credential lacks a capability or the scope."""


class RouteNotFound(RequestRefused):
    """404 `not_found`: no such route; an older server, or another service."""


class MethodNotAllowed(RequestRefused):
    """405."""


class NotFound(RequestRefused):
    """404: no such thing, or none that the caller may see."""


class RecordNotFound(NotFound):
    """404 `record_not_found`, for relations, receipts and workspaces too."""


class ReviewNotFound(NotFound):
    """404 `review_not_found`."""


class CheckpointNotFound(NotFound):
    """404 `checkpoint_not_found`."""


class CandidateNotFound(NotFound):
    """404 `candidate_not_found`."""


class Conflict(RequestRefused):
    """409: the state is another one than the request supposes."""


class RevisionConflict(Conflict):
    """409 `revision_conflict`."""


class CheckpointTaken(RevisionConflict):
    """Another follower has moved the checkpoint under the same consumer id."""


class IdempotencyConflict(Conflict):
    """409 `idempotency_conflict`: another command was accepted under this key."""


class HistoryDiverged(Conflict):
    """409 `journal_history_conflict`: a cursor lies on another history. A follower adds `diagnostics`."""

    def __init__(self, status: int, code: str, message: str, route: str) -> None:
        super().__init__(status, code, message, route)
        self.diagnostics: Diagnostics | None = None


class CheckpointRegression(Conflict):
    """409 `checkpoint_regression`: a checkpoint only moves forward."""


class ServerFailed(RequestRefused):
    """500."""


class StorageInconsistency(ServerFailed):
    """500 `storage_inconsistency`: the store contradicts itself there."""


class InternalError(ServerFailed):
    """500 `internal_error`."""


class Unavailable(RequestRefused):
    """503, until the deadline."""


class RetrievalBusy(Unavailable):
    """503 `retrieval_busy`: no free slot."""


class WriteBusy(Unavailable):
    """503 `write_busy`: the command queue is full."""


class StorageUnavailable(Unavailable):
    """503 `storage_unavailable`: writes are refused until a restart."""


BY_CODE: Final[dict[str, type[RequestRefused]]] = {
    "invalid_request": InvalidRequest,
    "unsupported_contract_version": UnsupportedContractVersion,
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "not_found": RouteNotFound,
    "record_not_found": RecordNotFound,
    "review_not_found": ReviewNotFound,
    "checkpoint_not_found": CheckpointNotFound,
    "candidate_not_found": CandidateNotFound,
    "method_not_allowed": MethodNotAllowed,
    "revision_conflict": RevisionConflict,
    "idempotency_conflict": IdempotencyConflict,
    "journal_history_conflict": HistoryDiverged,
    "checkpoint_regression": CheckpointRegression,
    "storage_inconsistency": StorageInconsistency,
    "internal_error": InternalError,
    "retrieval_busy": RetrievalBusy,
    "write_busy": WriteBusy,
    "storage_unavailable": StorageUnavailable,
}
_BY_STATUS: Final[dict[int, type[RequestRefused]]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    409: Conflict,
    413: TooLarge,
    500: ServerFailed,
    503: Unavailable,
}


def refused(status: int, code: str, message: str, route: str) -> RequestRefused:
    """The exception of a refusal; of an unknown code that of its status."""
    kind = TooLarge if status == 413 else BY_CODE.get(code) or _BY_STATUS.get(status) or RequestRefused
    return kind(status, code, message, route)
