"""Decisions on credentials: what is accepted, in which order refusals stand, and what history remembers (access.md)."""

from __future__ import annotations

from typing import Any

import pytest

from relatum.core import digests
from relatum.core.access import Authority, CredentialSpec, StoredCredential
from relatum.core.decide.credentials import CredentialDecision, decide
from relatum.core.events import (
    CredentialAuthorityChanged,
    CredentialIssued,
    CredentialOperation,
    CredentialRevoked,
    CredentialRotated,
)
from relatum.core.ids import company_partition
from relatum.errors import Refusal
from relatum.store.projection import project
from tests.core.test_access import GRANT, policy, spec
from tests.core.world import World
from tests.support.builders import ADA, START_MILLIS, unknown_id

WORKER, ADMIN, GONE = unknown_id(1), unknown_id(2), unknown_id(3)
VERIFIER = digests.secret_verifier("a secret")


def issued(credential_id: str, given: CredentialSpec, **members: Any) -> CredentialIssued:
    return CredentialIssued(credential_id=credential_id, spec=given, verifier=VERIFIER, **members)


def rotated(credential_id: str, revision: int) -> CredentialRotated:
    return CredentialRotated(credential_id=credential_id, expected_revision=revision, verifier=bytes(32))


def revoked(credential_id: str, revision: int) -> CredentialRevoked:
    return CredentialRevoked(credential_id=credential_id, expected_revision=revision)


def granted(credential_id: str, revision: int, **members: Any) -> CredentialAuthorityChanged:
    authority = Authority(**{"grants": (GRANT,)} | members)
    return CredentialAuthorityChanged(credential_id=credential_id, expected_revision=revision, authority=authority)


class Office(World):
    """The company's own partition with a worker, an administrator, and a revoked credential."""

    def __init__(self) -> None:
        super().__init__(company_partition("acme"))
        self.change(issued(ADMIN, spec(capabilities=("credential_admin",), grants=()), bootstrapped=True))
        self.change(issued(WORKER, spec()))
        self.change(issued(GONE, spec()))
        self.change(revoked(GONE, 1))

    def ask(self, operation: CredentialOperation) -> CredentialDecision | Refusal:
        return decide(self.state, operation, self.stamp())

    def change(self, operation: CredentialOperation) -> StoredCredential:
        decision = self.ask(operation)
        assert isinstance(decision, CredentialDecision), decision
        project(self.state, decision)
        return decision.after


REFUSED: list[tuple[str, CredentialOperation, int, str]] = [
    ("a broken specification", issued(unknown_id(9), spec(capabilities=())), 400, "invalid_request"),
    ("expired at once", issued(unknown_id(9), spec(expires_at_millis=START_MILLIS)), 400, "invalid_request"),
    ("rotating an unknown one", rotated(unknown_id(9), 1), 403, "forbidden"),
    ("rotating a revoked one", rotated(GONE, 2), 403, "forbidden"),
    ("revoked before stale", rotated(GONE, 1), 403, "forbidden"),
    ("revoking twice", revoked(GONE, 2), 403, "forbidden"),
    ("stale rotation", rotated(WORKER, 2), 409, "revision_conflict"),
    ("revision 0", revoked(WORKER, 0), 409, "revision_conflict"),
    ("broken authority before stale", granted(WORKER, 2, grants=(GRANT, GRANT)), 400, "invalid_request"),
    ("broken authority", granted(WORKER, 1, grants=(GRANT, GRANT)), 400, "invalid_request"),
    ("a policy beside grants", granted(WORKER, 1, scope_policy=policy()), 400, "invalid_request"),
    ("a policy for an administrator", granted(ADMIN, 1, grants=(), scope_policy=policy()), 400, "invalid_request"),
]


@pytest.mark.parametrize(("operation", "status", "code"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED])
def test_a_change_is_refused_by_its_first_fault(operation: CredentialOperation, status: int, code: str) -> None:
    refused = Office().ask(operation)
    assert isinstance(refused, Refusal)
    assert (status, code) == (refused.status, refused.code)


def test_an_expiry_one_millisecond_ahead_is_in_the_future() -> None:
    Office().change(issued(unknown_id(9), spec(expires_at_millis=START_MILLIS + 1)))


def test_history_has_one_entry_a_revision_and_says_who_did_what_and_when() -> None:
    office = Office()
    office.now_millis += 1
    office.change(rotated(WORKER, 1))
    office.now_millis += 1
    office.change(granted(WORKER, 2, grants=()))
    office.now_millis += 1
    after = office.change(revoked(WORKER, 3)).credential
    assert [1, 2, 3, 4] == [event.revision for event in after.history]
    assert ["issued", "rotated", "scope_authority_changed", "revoked"] == [event.action for event in after.history]
    assert [START_MILLIS + late for late in range(4)] == [event.at_millis for event in after.history]
    assert {ADA.credential_id} == {event.actor_id for event in after.history}
    assert 4 == after.revision
    assert START_MILLIS + 3 == after.revoked_at_millis


def test_an_operators_credential_shows_as_bootstrapped() -> None:
    stored = Office().state.credential(ADMIN)
    assert stored is not None
    assert ["bootstrapped"] == [event.action for event in stored.credential.history]


def test_rotation_changes_the_verifier_and_nothing_that_the_credential_may() -> None:
    office = Office()
    before = office.state.credential(WORKER)
    assert before is not None
    after = office.change(rotated(WORKER, 1))
    assert VERIFIER == before.verifier != after.verifier
    assert before.credential.spec == after.credential.spec


def test_a_change_of_authority_keeps_the_secret_and_tells_both_authorities() -> None:
    office = Office()
    after = office.change(granted(WORKER, 1, grants=(), scope_policy=policy()))
    assert VERIFIER == after.verifier
    assert Authority(grants=(), scope_policy=policy()) == after.credential.spec.authority
    told = after.credential.history[-1]
    assert (Authority(grants=(GRANT,)), after.credential.spec.authority) == (told.previous, told.current)


def test_taking_a_policy_away_leaves_none() -> None:
    office = Office()
    office.change(granted(WORKER, 1, grants=(), scope_policy=policy()))
    after = office.change(granted(WORKER, 2))
    assert Authority(grants=(GRANT,)) == after.credential.spec.authority


def test_a_refused_change_leaves_no_event() -> None:
    office = Office()
    before = office.state.head()
    office.ask(rotated(WORKER, 7))
    assert before == office.state.head()
