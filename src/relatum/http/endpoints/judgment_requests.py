"""What the judgment routes share: from a body to events (judgments.md)."""

from __future__ import annotations

from typing import Protocol

from relatum.core.events import JudgmentEvent
from relatum.core.ids import Scope
from relatum.core.judgments import JudgmentOperation
from relatum.errors import Failure, Refusal
from relatum.http.server_state import Call, partition_of


class Keyed(Protocol):
    """A judgment command: its members lie side by side with its key."""

    @property
    def contract_version(self) -> int:
        """The version of the contract that the client speaks."""
        ...

    @property
    def scope(self) -> Scope:
        """The part of the partition's identity that the client may name."""
        ...

    @property
    def idempotency_key(self) -> str:
        """The client's name for the command."""
        ...


async def judged(call: Call[Keyed], operation: JudgmentOperation) -> list[JudgmentEvent] | Refusal:
    """The event of each item of a command, in order; raises the failure that leaves one unknown."""
    ledger, author = call.ledger, call.credential.author
    outcomes = await ledger.judgments.submit_async(partition_of(call), author, call.body.idempotency_key, operation)
    if isinstance(outcomes, Refusal):
        return outcomes
    events: list[JudgmentEvent] = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            raise outcome
        events.append(outcome)
    return events


async def judged_alone(call: Call[Keyed], operation: JudgmentOperation) -> JudgmentEvent | Refusal:
    """The event of a command that is no batch."""
    events = await judged(call, operation)
    if isinstance(events, Refusal):
        return events
    [event] = events
    return event
