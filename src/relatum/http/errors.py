"""From refusals and failures to the error envelope of the contract (transport.md, error envelope).

Always holds: messages are static texts, or a path of member names of the contract; a failure's own text never leaves.
"""

from __future__ import annotations

from typing import Final

from relatum.core.answers.errors import ErrorAnswer, ErrorDetail
from relatum.errors import (
    ClockAhead,
    Failure,
    MinedEdgesUnavailable,
    Refusal,
    SearchUnavailable,
    StorageFailure,
    StorageInconsistency,
    WriteBusy,
    WritesRefused,
    refusal,
)
from relatum.http.responses import RETRY_AFTER, Header, Response, encoded, with_headers
from relatum.limits import CONTRACT_VERSION

NOT_FOUND: Final = refusal("not_found", "no such route")
METHOD_NOT_ALLOWED: Final = refusal("method_not_allowed", "the route doesn't take this method")
UNAUTHORIZED: Final = refusal("unauthorized", "a valid bearer token is needed")
FORBIDDEN: Final = refusal("forbidden", "the credential does not grant this")
BUSY: Final = refusal("retrieval_busy", "no free slot; try again")
STOPPED: Final = refusal("storage_unavailable", "the server stopped before the answer was known")
INTERNAL: Final = refusal("internal_error", "an internal error; the outcome of a command is unknown")
UNSUPPORTED_VERSION: Final = refusal("unsupported_contract_version", "contract_version must be 1")
TOO_LARGE: Final = Refusal("invalid_request", "the body is larger than this route takes", 413)

_CHALLENGE: Final[Header] = (b"www-authenticate", b"Bearer")


def refused(refusal: Refusal, *more: Header) -> Response:
    """The response to a request that is refused."""
    detail = ErrorDetail(code=refusal.code, message=refusal.message)
    body = encoded(ErrorAnswer(contract_version=CONTRACT_VERSION, error=detail))
    response = Response(refusal.status, body, refusal=refusal)
    if refusal.status == 503:
        more = (RETRY_AFTER, *more)
    elif refusal.status == 401:
        more = (_CHALLENGE, *more)
    return with_headers(response, *more) if more else response


def told(failure: Failure) -> Refusal:
    """What a client is told of a failure."""
    match failure:
        case StorageInconsistency():
            return refusal("storage_inconsistency", "stored data contradict each other")
        case WriteBusy():
            return refusal("write_busy", "too many commands are waiting; try again")
        case ClockAhead():
            return refusal(
                "storage_unavailable",
                "the clock of the server is far ahead of its last commit; nothing is written until an operator sets it "
                "right or confirms it",
            )
        case WritesRefused():
            return refusal("storage_unavailable", "commands are refused until the server is started again")
        case MinedEdgesUnavailable():
            return refusal("storage_unavailable", "the mined edges can't be read or changed; the log says why")
        case SearchUnavailable():
            return refusal("storage_unavailable", "the search index can't be read or made; the log says why")
        case StorageFailure():
            return refusal("storage_unavailable", "the store can't be read")
        case _:
            return INTERNAL
