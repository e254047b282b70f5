"""Credentials: which changes were asked for, which were acknowledged, and which the ledger has shown."""

from __future__ import annotations

from crash_tests.violation import Violation, require
from relatum.core.access import Credential
from relatum.core.events import CredentialEvent, CredentialIssued


class Badges:
    """All credentials of a company, by id; `revisions` as far as they were shown."""

    def __init__(self) -> None:
        self.revisions: dict[str, int] = {}
        self.asked: set[tuple[str, str, int]] = set()
        """Kinds of changes that somebody asked for: of which subject or credential, to which revision."""
        self._unseen: dict[tuple[str, int], Credential] = {}

    def accept(self, credential: Credential) -> None:
        """A change was acknowledged; this is the credential that it left."""
        if self.revisions.get(credential.id, 0) < credential.revision:
            self._unseen[credential.id, credential.revision] = credential

    def enter(self, event: CredentialEvent) -> None:
        """A change that a view shows."""
        operation = event.operation
        revision = self.revisions.get(operation.credential_id, 0) + 1
        kind = type(operation).__name__
        whose = operation.spec.subject_id if isinstance(operation, CredentialIssued) else operation.credential_id
        self.revisions[operation.credential_id] = revision
        require((kind, whose, revision) in self.asked, f"{kind} of {whose} happened, and nobody had asked for it")
        self._unseen.pop((operation.credential_id, revision), None)

    def require_all_seen(self) -> None:
        """Raises `Violation` if something was acknowledged that no view has shown."""
        for credential_id, revision in self._unseen:
            raise Violation(f"revision {revision} of credential {credential_id} was acknowledged and is not shown")
