"""What the exceptions of `relatum.client` mean for a command: its status and what is told.

Imported once something has failed, since it needs the client.
"""

from __future__ import annotations

from relatum import client
from relatum.cli.client.profiles import names
from relatum.cli.client.statuses import Ended, Status

MAKE_A_PROFILE = (
    "relatum profile set NAME --url http://127.0.0.1:7474 --project PROJECT --agent AGENT --secret-stdin < secret.txt"
)


def told(error: Exception) -> Ended | None:
    """The end that an exception of the client means; None for any other exception."""
    match error:
        case client.ConfigurationError():
            return Ended("configuration", _with_advice(str(error)), Status.WRONG)
        case client.OutcomeUnknown():
            return Ended(
                "outcome_unknown",
                f"the outcome is unknown: {error}",
                Status.UNREACHED,
                key=error.idempotency_key,
            )
        case client.NotReached():
            return Ended("not_reached", str(error), Status.UNREACHED)
        case client.UnexpectedAnswer():
            return Ended("unexpected_answer", str(error), Status.WRONG)
        case client.RequestRefused():
            return Ended(
                error.code,
                error.message,
                _status_of(error),
                status=error.status,
                details=_details(error),
            )
        case client.RelatumError():
            return Ended("client", str(error), Status.WRONG)
        case _:
            return None


def _with_advice(message: str) -> str:
    """What is wrong with the settings; to whoever has none yet, how to make a profile."""
    if not message.startswith("no secret") or names():
        return message
    return f"{message}\nmake a profile first:\n    {MAKE_A_PROFILE}"


def _status_of(error: client.RequestRefused) -> Status:
    if isinstance(error, client.Unauthorized | client.Forbidden):
        return Status.FORBIDDEN
    return Status.UNREACHED if error.status >= 500 else Status.REFUSED


def _details(error: client.RequestRefused) -> object:
    return error.diagnostics if isinstance(error, client.HistoryDiverged) else None
