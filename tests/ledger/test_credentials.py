"""Credentials through the ledger: who is let in, from which moment on, and what an operator may do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from relatum.clock import ManualClock
from relatum.core.access import Credential, CredentialSpec
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.ledger.reads import credentials
from tests.support.builders import SCOPE, START_MILLIS, unknown_id
from tests.support.stores import published_rows


def made(outcome: IssuedCredential | Refusal) -> IssuedCredential:
    assert isinstance(outcome, IssuedCredential), outcome
    return outcome


def spec(**members: Any) -> CredentialSpec:
    given: dict[str, Any] = {"subject_id": "ada", "capabilities": ("memory_read",), "grants": (SCOPE,)}
    return CredentialSpec(**given | members)


def issue(ledger: Ledger, admin: Credential, **members: Any) -> IssuedCredential:
    return made(asyncio.run(ledger.issue_credential(admin, spec(**members))))


def let_in(ledger: Ledger, secret: str) -> Credential | None:
    with ledger.view() as view:
        return credentials.authenticate(view, secret)


@pytest.fixture
def admin(ledger: Ledger) -> IssuedCredential:
    return made(ledger.bootstrap("acme", "root"))


def test_a_secret_lets_in_the_credential_that_it_was_issued_for(ledger: Ledger, admin: IssuedCredential) -> None:
    worker = issue(ledger, admin.credential)
    assert worker.credential == let_in(ledger, worker.secret)
    assert admin.credential == let_in(ledger, admin.secret)


def test_no_secret_lies_in_the_store(ledger: Ledger, admin: IssuedCredential) -> None:
    random_part = _random(admin).encode()
    assert [] == [key for key, row in published_rows(ledger).items() if random_part in key + row]


def test_another_secret_lets_nobody_in(ledger: Ledger, admin: IssuedCredential) -> None:
    worker = issue(ledger, admin.credential)
    crossed = worker.secret[: -len(_random(worker))] + _random(admin)
    unknown = f"rtm1_{unknown_id().replace('-', '')}_{_random(worker)}"
    for secret in (crossed, unknown, worker.secret[:-1], worker.secret.upper(), "", "rtm1_"):
        assert let_in(ledger, secret) is None


def _random(issued: IssuedCredential) -> str:
    return issued.secret.split("_", 2)[2]


def test_expiry_is_judged_at_the_instant_of_the_view(
    ledger: Ledger, admin: IssuedCredential, clock: ManualClock
) -> None:
    worker = issue(ledger, admin.credential, expires_at_millis=START_MILLIS + 10)
    clock.advance(9)
    assert let_in(ledger, worker.secret) is not None
    clock.advance(1)
    assert let_in(ledger, worker.secret) is None


def test_a_rotated_secret_fails_at_once_and_the_new_one_works(ledger: Ledger, admin: IssuedCredential) -> None:
    worker = issue(ledger, admin.credential)
    rotated = made(asyncio.run(ledger.rotate_credential(admin.credential, worker.credential.id, 1)))
    assert let_in(ledger, worker.secret) is None
    assert rotated.credential == let_in(ledger, rotated.secret)


def test_a_revoked_credential_fails_at_once_and_for_ever(ledger: Ledger, admin: IssuedCredential) -> None:
    worker = issue(ledger, admin.credential)
    revoked = asyncio.run(ledger.revoke_credential(admin.credential, worker.credential.id, 1))
    assert isinstance(revoked, Credential)
    assert let_in(ledger, worker.secret) is None
    again = asyncio.run(ledger.rotate_credential(admin.credential, worker.credential.id, 2))
    assert isinstance(again, Refusal)
    assert 403 == again.status


def test_a_company_is_bootstrapped_once_even_when_everybody_is_revoked(ledger: Ledger, admin: IssuedCredential) -> None:
    asyncio.run(ledger.revoke_credential(admin.credential, admin.credential.id, 1))
    second = ledger.bootstrap("acme", "root")
    assert isinstance(second, Refusal)
    assert 409 == second.status


@pytest.mark.parametrize("company_id", ["", " ", "a\nb", "c" * 257])
def test_a_company_has_an_identifier(ledger: Ledger, company_id: str) -> None:
    refused = ledger.bootstrap(company_id, "root")
    assert isinstance(refused, Refusal)
    assert 400 == refused.status
    made(ledger.bootstrap("c" * 256, "root"))


def test_an_operator_makes_another_administrator_where_the_last_is_lost(
    ledger: Ledger, admin: IssuedCredential
) -> None:
    asyncio.run(ledger.revoke_credential(admin.credential, admin.credential.id, 1))
    recovered = made(ledger.bootstrap("acme", "root", recover=True))
    assert ["bootstrapped"] == [event.action for event in recovered.credential.history]
    assert let_in(ledger, recovered.secret) is not None


def test_nobody_recovers_a_company_that_never_was(ledger: Ledger) -> None:
    refused = ledger.bootstrap("acme", "root", recover=True)
    assert isinstance(refused, Refusal)
    assert {} == {key: row for key, row in published_rows(ledger).items() if any(key[:16])}


def test_an_administrator_has_no_hold_on_another_company(ledger: Ledger, admin: IssuedCredential) -> None:
    stranger = made(ledger.bootstrap("umbrella", "root")).credential
    foreign = asyncio.run(ledger.revoke_credential(stranger, admin.credential.id, 1))
    unknown = asyncio.run(ledger.revoke_credential(stranger, unknown_id(), 1))
    assert isinstance(foreign, Refusal)
    assert foreign == unknown
    assert let_in(ledger, admin.secret) is not None


def test_credentials_survive_a_reopening(reopen: Callable[[], Ledger]) -> None:
    first = made(reopen().bootstrap("acme", "root"))
    assert first.credential == let_in(reopen(), first.secret)
