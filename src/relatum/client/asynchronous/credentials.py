"""Credentials of the caller's company (access.md). What changes one carries no key, and goes out once."""

from __future__ import annotations

from typing import Final, TypeVar, Unpack

from relatum.client.asynchronous.pages import AsyncPages
from relatum.client.asynchronous.session import AsyncSession
from relatum.client.requests import VERSION, CallOptions, get, post
from relatum.client.results import Issued
from relatum.client.secret import Secret
from relatum.core.access import Authority, AuthorityChange, CredentialChange, CredentialIssue, CredentialSpec
from relatum.core.answers.access import Credential, CredentialAnswer, CredentialsAnswer, IssuedAnswer
from relatum.core.wire import canonical_uuid

_PATH: Final = "/api/v1/credentials"

T = TypeVar("T")


class AsyncCredentials:
    """Needs `credential_admin`. Another company's credential and one that is not there are Forbidden alike."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def issue(self, spec: CredentialSpec, **options: Unpack[CallOptions]) -> Issued:
        """A new credential and its secret. Raises OutcomeUnknown where an answer is lost: `list` tells then."""
        body = CredentialIssue(contract_version=VERSION, spec=spec)
        return _issued(await self._session.send(post(_PATH, body, IssuedAnswer, "once"), options))

    def list(self, *, limit: int | None = None, **options: Unpack[CallOptions]) -> AsyncPages[Credential]:
        """The company's credentials, by id."""

        async def fetch(after: str | None) -> CredentialsAnswer:
            request = get(_PATH, CredentialsAnswer, contract_version=VERSION, limit=limit, after=after)
            return await self._session.send(request, options)

        return AsyncPages(fetch, lambda page: page.credentials, lambda page: page.next_after)

    async def get(self, credential_id: str, **options: Unpack[CallOptions]) -> Credential:
        """One credential."""
        request = get(f"{_PATH}/{canonical_uuid(credential_id)}", CredentialAnswer, f"{_PATH}/{{id}}")
        return (await self._session.send(request, options)).credential

    async def rotate(self, credential_id: str, *, expected_revision: int, **options: Unpack[CallOptions]) -> Issued:
        """A new secret; the old one fails from the next request on. Raises RevisionConflict."""
        body = CredentialChange(contract_version=VERSION, expected_revision=expected_revision)
        return _issued(await self._change(credential_id, "rotate", body, IssuedAnswer, options))

    async def revoke(self, credential_id: str, *, expected_revision: int, **options: Unpack[CallOptions]) -> Credential:
        """End a credential for ever. Raises RevisionConflict."""
        body = CredentialChange(contract_version=VERSION, expected_revision=expected_revision)
        return (await self._change(credential_id, "revoke", body, CredentialAnswer, options)).credential

    async def set_authority(
        self, credential_id: str, *, expected_revision: int, authority: Authority, **options: Unpack[CallOptions]
    ) -> Credential:
        """Replace the scopes of a credential, which keeps its secret. Raises RevisionConflict."""
        body = AuthorityChange(contract_version=VERSION, expected_revision=expected_revision, authority=authority)
        return (await self._change(credential_id, "scope-authority", body, CredentialAnswer, options)).credential

    async def _change(self, credential_id: str, what: str, body: object, answers: type[T], options: CallOptions) -> T:
        path = f"{_PATH}/{canonical_uuid(credential_id)}/{what}"
        return await self._session.send(post(path, body, answers, "once", route=f"{_PATH}/{{id}}/{what}"), options)


def _issued(answer: IssuedAnswer) -> Issued:
    return Issued(answer.credential, Secret(answer.secret))
