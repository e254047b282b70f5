"""Decisions on credentials (access.md). Secrets never come here: only their verifiers do."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from relatum import limits
from relatum.core import transitions
from relatum.core.access import StoredCredential
from relatum.core.canonical import encode
from relatum.core.decide.event_envelope import linked
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
    problem = _broken_rule(operation)
    if problem is not None:
        return invalid(problem)
    before: StoredCredential | None = None
    if isinstance(operation, CredentialIssued):
        expiry = operation.spec.expires_at_millis
        if expiry is not None and expiry <= stamp.now_millis:
            return invalid("the expiry must lie in the future")
    else:
        before = state.credential(operation.credential_id)
        refused = _unchangeable(before, operation)
        if refused is not None:
            return refused
    head = state.head()
    after = transitions.credential_after(before, operation, state.partition.company_id, stamp.at_millis, stamp.author)
    if not isinstance(operation, CredentialRevoked) and len(encode(after)) > limits.CREDENTIAL_BYTES_MAX:
        return invalid("the history of the credential is full; issue another one to its subject and revoke it")
    return CredentialDecision(CredentialEvent(operation=operation, **linked(head, state.partition, stamp)), after)


def _broken_rule(operation: CredentialOperation) -> str | None:
    """The first static rule that a change breaks, in words; None for a sound change."""
    match operation:
        case CredentialIssued(spec=spec):
            return spec.problem()
        case CredentialAuthorityChanged(authority=authority):
            return authority.problem()
        case CredentialRotated() | CredentialRevoked():
            return None
        case _:
            assert_never(operation)


def _unchangeable(
    before: StoredCredential | None, operation: CredentialRotated | CredentialRevoked | CredentialAuthorityChanged
) -> Refusal | None:
    if before is None or before.credential.revoked_at_millis is not None:
        return refusal("forbidden", "the credential is unknown or revoked")
    if before.credential.revision != operation.expected_revision:
        return stale("the credential is at another revision")
    policy = isinstance(operation, CredentialAuthorityChanged) and operation.authority.scope_policy
    if policy and before.credential.holds("credential_admin"):
        return invalid("a scope policy excludes credential_admin")
    return None
