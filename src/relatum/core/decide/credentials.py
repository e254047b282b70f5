"""Decisions on credentials (access.md). Secrets never come here: only their verifiers do."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from relatum.core import transitions
from relatum.core.access import StoredCredential
from relatum.core.decide.chain import linked
from relatum.core.events import (
    CredentialAuthorityChanged,
    CredentialEvent,
    CredentialIssued,
    CredentialOperation,
    CredentialRevoked,
    CredentialRotated,
    Stamp,
)
from relatum.core.state import PartitionState
from relatum.errors import Refusal, invalid, refusal, stale


class CredentialDecision(NamedTuple):
    """An accepted change of a credential: its event and the credential it leaves."""

    event: CredentialEvent
    after: StoredCredential


def decide(state: PartitionState, operation: CredentialOperation, stamp: Stamp) -> CredentialDecision | Refusal:
    """Accepts or refuses a change in the company's own partition."""
    refused: Refusal | None
    before: StoredCredential | None = None
    if isinstance(operation, CredentialIssued):
        refused = _issuable(operation, stamp.at_millis)
    else:
        before = state.credential(operation.credential_id)
        if before is None or before.credential.revoked_at_millis is not None:
            return refusal("forbidden", "the credential is unknown or revoked")
        if before.credential.revision != operation.expected_revision:
            return stale("the credential is at another revision")
        refused = _changeable(before, operation)
    if refused is not None:
        return refused
    head = state.head()
    after = transitions.credential_after(before, operation, state.partition.company_id, stamp.at_millis, stamp.author)
    return CredentialDecision(CredentialEvent(operation=operation, **linked(head, state.partition, stamp)), after)


def _issuable(operation: CredentialIssued, now_millis: int) -> Refusal | None:
    problem = operation.spec.problem()
    if problem is not None:
        return invalid(problem)
    expiry = operation.spec.expires_at_millis
    return invalid("the expiry must lie in the future") if expiry is not None and expiry <= now_millis else None


def _changeable(
    before: StoredCredential, operation: CredentialRotated | CredentialRevoked | CredentialAuthorityChanged
) -> Refusal | None:
    match operation:
        case CredentialRotated() | CredentialRevoked():
            return None
        case CredentialAuthorityChanged(authority=authority):
            problem = authority.problem()
            if problem is not None:
                return invalid(problem)
            if authority.scope_policy and before.credential.holds("credential_admin"):
                return invalid("a scope policy excludes credential_admin")
            return None
        case _:
            assert_never(operation)
