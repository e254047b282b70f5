"""The commands that administer a company: its first administrator, credentials issued, rotated, revoked, given scopes.

What lives here: the part of `Ledger` that makes secrets and tells them once. What must not: a secret that is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from relatum.clock import FloorClock
from relatum.core.access import Authority, Credential, CredentialSpec
from relatum.core.events import CredentialAuthorityChanged, CredentialOperation, CredentialRevoked
from relatum.core.ids import company_partition
from relatum.core.text import is_identifier
from relatum.entropy import Entropy
from relatum.errors import Refusal, invalid, refusal, stale
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.credentials import issuance, rotation
from relatum.ledger.writer.futures import decided, decided_async, only
from relatum.ledger.writer.submission import CredentialSubmission
from relatum.store.view import LedgerView


class IssuedCredential(NamedTuple):
    """A credential with its secret, which is told once and never again."""

    credential: Credential
    secret: str


class CompanyCommands(ABC):
    """Administers companies through a committer; any thread may use it."""

    _commit_clock: FloorClock
    _committer: Committer
    _entropy: Entropy

    @abstractmethod
    def view(self) -> LedgerView:
        """What is published, at this instant."""

    def bootstrap(
        self,
        company_id: str,
        subject_id: str,
        *,
        recover: bool = False,
        keep: Callable[[str], None] = lambda _secret: None,
    ) -> IssuedCredential | Refusal:
        """The first administrator of a company.

        With `recover`, one more for a company whose administrators are lost. `keep` is handed the secret before there
        is a credential that it fits; what it raises goes to the caller, and there will be none.
        """
        if not is_identifier(company_id):
            return invalid("the company is not an identifier")
        with self.view() as view:
            exists = view.company_exists(company_id)
        if recover and not exists:
            return refusal("not_found", "no such company; make it with: relatum init")
        if exists and not recover:
            return stale("the company exists already")
        spec = CredentialSpec(subject_id=subject_id, capabilities=("credential_admin",), grants=())
        submission, secret = issuance(company_id, None, spec, self._commit_clock, self._entropy, bootstrap=not recover)
        keep(secret)
        return _with_secret(only(decided(self._committer, [submission]), Credential), secret)

    async def issue_credential(self, admin: Credential, spec: CredentialSpec) -> IssuedCredential | Refusal:
        """A new credential of the administrator's company."""
        company_id, author = admin.company_id, admin.author
        submission, secret = issuance(company_id, author, spec, self._commit_clock, self._entropy, bootstrap=False)
        return _with_secret(only(await decided_async(self._committer, [submission]), Credential), secret)

    async def rotate_credential(
        self, admin: Credential, credential_id: str, expected_revision: int
    ) -> IssuedCredential | Refusal:
        """A new secret for a credential; the old one fails from now on."""
        submission, secret = rotation(admin, credential_id, expected_revision, self._entropy)
        return _with_secret(only(await decided_async(self._committer, [submission]), Credential), secret)

    async def revoke_credential(
        self, admin: Credential, credential_id: str, expected_revision: int
    ) -> Credential | Refusal:
        """Ends a credential for ever."""
        operation = CredentialRevoked(credential_id=credential_id, expected_revision=expected_revision)
        return await self._change(admin, operation)

    async def change_scope_authority(
        self, admin: Credential, credential_id: str, expected_revision: int, authority: Authority
    ) -> Credential | Refusal:
        """Other scopes for a credential, which keeps its secret."""
        operation = CredentialAuthorityChanged(
            credential_id=credential_id, expected_revision=expected_revision, authority=authority
        )
        return await self._change(admin, operation)

    async def _change(self, admin: Credential, operation: CredentialOperation) -> Credential | Refusal:
        submission = CredentialSubmission(company_partition(admin.company_id), admin.author, operation)
        return only(await decided_async(self._committer, [submission]), Credential)


def _with_secret(credential: Credential | Refusal, secret: str) -> IssuedCredential | Refusal:
    return credential if isinstance(credential, Refusal) else IssuedCredential(credential, secret)
