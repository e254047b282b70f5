"""Decisions on link commands (views.md, curated links)."""

from __future__ import annotations

from typing import NamedTuple

from relatum import limits
from relatum.core import digests, text
from relatum.core.decide.event_envelope import Asked, linked
from relatum.core.events import LinkEvent
from relatum.core.ids import Author
from relatum.core.links import Link, LinkOperation, LinkReceipt, StoredLink
from relatum.core.state import Links, PartitionState
from relatum.errors import Refusal, invalid, missing, stale


class LinkDecision(NamedTuple):
    """An accepted link command: its event, the pair's link before it, and the one it leaves."""

    event: LinkEvent
    before: StoredLink | None
    after: StoredLink | None


def broken_rule(operation: LinkOperation, idempotency_key: str) -> str | None:
    """The first static rule that a command breaks, in words; None for a sound command."""
    if not text.is_idempotency_key(idempotency_key):
        return "the idempotency key must be 1 to 256 bytes, not blank, without control characters"
    return "source and target must be different records" if operation.source_id == operation.target_id else None


def decide(state: PartitionState, operation: LinkOperation, asked: Asked) -> LinkDecision | Refusal:
    """Accepts or refuses a command whose key is new. Static rules, unknown ends, unfit ends, then the number."""
    problem = broken_rule(operation, asked.idempotency_key)
    if problem is not None:
        return invalid(problem)
    before = state.link_between(operation.source_id, operation.target_id)
    refused = _refusal(state, operation, before)
    if refused is not None:
        return refused
    return _accept(state, operation, before, asked)


def _refusal(state: PartitionState, operation: LinkOperation, before: StoredLink | None) -> Refusal | None:
    ends = operation.source_id, operation.target_id
    if not isinstance(operation, Link):
        known = all(state.record(end) is not None for end in ends)
        return None if before is not None else (stale("the records are not linked") if known else missing())
    for name, end in zip(("source", "target"), ends, strict=True):
        version = state.record(end)
        if version is None:
            return missing(f"the {name} does not exist")
        if version.meta.state == "deleted" or state.standing(end).archived:
            return stale(f"the {name} is deleted or archived: only active records can be linked")
    if before is None and any(state.links(end) >= limits.LINKS_MAX for end in ends):
        return invalid("a record has at most 16 links")
    return None


def replayed(state: Links, event: LinkEvent) -> LinkDecision:
    """The decision that an event records, from the state before it."""
    operation = event.operation
    before = state.link_between(operation.source_id, operation.target_id)
    return LinkDecision(event, before, _after(operation, event.committed_at_millis, event.author))


def _after(operation: LinkOperation, at_millis: int, author: Author) -> StoredLink | None:
    if not isinstance(operation, Link):
        return None
    return StoredLink(
        source_id=operation.source_id,
        target_id=operation.target_id,
        kind=operation.kind,
        linked_at_millis=at_millis,
        author=author,
    )


def _accept(state: PartitionState, operation: LinkOperation, before: StoredLink | None, asked: Asked) -> LinkDecision:
    stamp, head = asked.stamp, state.head()
    after = _after(operation, stamp.at_millis, stamp.author)
    said = after or before
    assert said is not None, "what is not linked can't be unlinked"
    receipt = LinkReceipt(
        contract_version=1,
        idempotency_key=asked.idempotency_key,
        source_id=said.source_id,
        target_id=said.target_id,
        kind=said.kind,
        action="unlinked" if after is None else "linked",
        author=stamp.author,
        committed_at_millis=stamp.at_millis,
        command_digest=asked.command_digest,
        receipt_digest="",
        commit_sequence=head.sequence + 1,
    )
    event = LinkEvent(
        operation=operation,
        receipt=digests.sealed_receipt(state.workspace_id, receipt),
        **linked(head, state.partition, stamp),
    )
    return LinkDecision(event, before, after)
