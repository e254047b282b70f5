"""Credentials of the caller's company: issue, list, read, rotate, revoke, change of authority (access.md, credentials).

Always holds: an unknown credential and one of another company are one and the same 403.
"""

from __future__ import annotations

from typing import Final

from relatum.core.access import (
    AuthorityChange,
    Credential,
    CredentialChange,
    CredentialIssue,
)
from relatum.core.answers.access import CredentialAnswer, CredentialsAnswer, IssuedAnswer
from relatum.core.ids import company_partition
from relatum.core.queries import CredentialsQuery
from relatum.errors import Refusal
from relatum.http import errors
from relatum.http.routes import Route, reading, scanning
from relatum.http.server_state import Call, Nothing
from relatum.ledger.company import IssuedCredential
from relatum.ledger.reads import credentials
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


async def issue(call: Call[CredentialIssue]) -> IssuedAnswer | Refusal:
    """A new credential."""
    return _issued(await call.ledger.issue_credential(call.credential, call.body.spec))


async def rotate(call: Call[CredentialChange]) -> IssuedAnswer | Refusal:
    """A new secret for a credential."""
    revision = call.body.expected_revision
    return _issued(await call.ledger.rotate_credential(call.credential, call.path_id, revision))


async def revoke(call: Call[CredentialChange]) -> CredentialAnswer | Refusal:
    """The end of a credential."""
    revision = call.body.expected_revision
    return _changed(await call.ledger.revoke_credential(call.credential, call.path_id, revision))


async def change_authority(call: Call[AuthorityChange]) -> CredentialAnswer | Refusal:
    """Other scopes for a credential."""
    body = call.body
    return _changed(
        await call.ledger.change_scope_authority(call.credential, call.path_id, body.expected_revision, body.authority)
    )


def page(call: Call[CredentialsQuery], view: RequestView) -> CredentialsAnswer:
    """The company's credentials, page by page."""
    company = view.partition(company_partition(call.credential.company_id))
    found = credentials.page(company, call.body.limit, call.body.after)
    return CredentialsAnswer(
        contract_version=CONTRACT_VERSION, credentials=found.credentials, next_after=found.next_after
    )


def read(call: Call[Nothing], view: RequestView) -> CredentialAnswer | Refusal:
    """One credential of the company."""
    stored = view.partition(company_partition(call.credential.company_id)).credential(call.path_id)
    return errors.FORBIDDEN if stored is None else _answer(stored.credential)


def _issued(outcome: IssuedCredential | Refusal) -> IssuedAnswer | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return IssuedAnswer(contract_version=CONTRACT_VERSION, credential=outcome.credential, secret=outcome.secret)


def _changed(outcome: Credential | Refusal) -> CredentialAnswer | Refusal:
    return outcome if isinstance(outcome, Refusal) else _answer(outcome)


def _answer(credential: Credential) -> CredentialAnswer:
    return CredentialAnswer(contract_version=CONTRACT_VERSION, credential=credential)


ROUTES: Final = (
    Route(
        path="/api/v1/credentials",
        tag="access",
        summary="Issue a credential",
        access="admin",
        takes=CredentialIssue,
        answers=IssuedAnswer,
        handle=issue,
        status=201,
        writes=True,
        refuses=("invalid_request",),
    ),
    Route(
        method="GET",
        path="/api/v1/credentials",
        tag="access",
        summary="List the company's credentials",
        access="admin",
        takes=CredentialsQuery,
        answers=CredentialsAnswer,
        handle=scanning(page),
    ),
    Route(
        method="GET",
        path="/api/v1/credentials/{id}",
        tag="access",
        summary="Look at a credential",
        access="admin",
        takes=Nothing,
        answers=CredentialAnswer,
        handle=reading(read),
        refuses=("forbidden",),
    ),
    Route(
        path="/api/v1/credentials/{id}/rotate",
        tag="access",
        summary="Give a credential a new secret; the old one fails from the next request on",
        access="admin",
        takes=CredentialChange,
        answers=IssuedAnswer,
        handle=rotate,
        writes=True,
        refuses=("forbidden", "revision_conflict"),
    ),
    Route(
        path="/api/v1/credentials/{id}/revoke",
        tag="access",
        summary="End a credential for ever, from the next request on",
        access="admin",
        takes=CredentialChange,
        answers=CredentialAnswer,
        handle=revoke,
        writes=True,
        refuses=("forbidden", "revision_conflict"),
    ),
    Route(
        path="/api/v1/credentials/{id}/scope-authority",
        tag="access",
        summary="Replace the scopes of a credential, which keeps its secret",
        access="admin",
        takes=AuthorityChange,
        answers=CredentialAnswer,
        handle=change_authority,
        writes=True,
        refuses=("invalid_request", "forbidden", "revision_conflict"),
    ),
)
