"""What a tool can't do, and what to do about it: the one table of hints (mcp.md, errors).

Always holds: a message names places, never what was sent there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

RETRYABLE: Final = frozenset(
    {"retrieval_busy", "write_busy", "storage_unavailable", "log_suspended", "position_not_reached", "unreachable"}
)
"""Codes after which the same call may succeed later, as it stands."""

_AGAIN: Final = "Wait a moment, then make the same call again."
_CURRENT: Final = "Read it again (memory_get_batch or relation_get) and use what is current."
_UNKNOWN_OUTCOME: Final = "It may have been done. Make the same call again with this idempotency_key: it is done once."
_FOUND_AGAIN: Final = "Find it with memory_search and copy its id exactly; what was erased or rejected is not served."
_OPERATOR: Final = "Tell the person who runs the relatum server; nothing you send will mend this."

HINTS: Final[Mapping[str, str]] = {
    "invalid_request": "Change the arguments as the message says.",
    "unsupported_contract_version": "This tool and the server are too far apart in version; " + _OPERATOR,
    "unauthorized": "The credential is unknown, revoked or expired: ask the user for another in RELATUM_CLIENT_SECRET.",
    "forbidden": "The credential does not grant this here: ask the user for the capability or the scope.",
    "not_found": "The server has no such route; it may be older than this tool. " + _OPERATOR,
    "record_not_found": _FOUND_AGAIN,
    "review_not_found": _FOUND_AGAIN,
    "checkpoint_not_found": "There is no such checkpoint yet.",
    "candidate_not_found": "Copy the judgmentId exactly, from memory_context or the answer of memory_save.",
    "method_not_allowed": "The address is not that of a relatum server. " + _OPERATOR,
    "revision_conflict": "It changed meanwhile or is no longer in the state for this. " + _CURRENT,
    "idempotency_conflict": "The idempotency_key was used for another call: leave it out, or choose a new one.",
    "journal_history_conflict": "The server's history is another one now: begin again without `after`.",
    "checkpoint_regression": "The checkpoint is further on already.",
    "plan_conflict": "The plan is out of date: make a new one.",
    "review_policy": "A policy wants a review by somebody else first.",
    "record_held": "The record is held and can't be changed until the hold is lifted.",
    "storage_inconsistency": _OPERATOR,
    "internal_error": _OPERATOR,
    "retrieval_busy": _AGAIN,
    "write_busy": _AGAIN,
    "storage_unavailable": "The server takes no writes, or can't read its store, until it is started again. "
    + _OPERATOR,
    "log_suspended": _AGAIN,
    "position_not_reached": _AGAIN,
    "outcome_unknown": _UNKNOWN_OUTCOME,
    "unreachable": "The relatum server does not answer at its address; nothing was done. Is it running?",
}
"""What to do after each code of the contract, and after the two that only a client can tell."""

NO_SCOPE: Final = (
    "no scope was given, and the credential has none or more than one; name one: --project and --agent, "
    "RELATUM_CLIENT_PROJECT and RELATUM_CLIENT_AGENT, a profile, or ?project=…&agent=… at /mcp"
)


class ToolRefused(Exception):
    """A tool can't do what was asked; told as a result with `isError`, never as an error of the protocol."""

    def __init__(self, code: str, message: str, *, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.idempotency_key = idempotency_key

    def answer(self) -> dict[str, Any]:
        """The members of the result."""
        told: dict[str, Any] = {
            "ok": False,
            "code": self.code,
            "message": self.message,
            "retryable": self.code in RETRYABLE or self.code == "outcome_unknown",
        }
        if self.idempotency_key is not None:
            told["idempotency_key"] = self.idempotency_key
        hint = HINTS.get(self.code)
        return told if hint is None else {**told, "hint": hint}


def invalid(message: str) -> ToolRefused:
    """Wrong arguments."""
    return ToolRefused("invalid_request", message)
