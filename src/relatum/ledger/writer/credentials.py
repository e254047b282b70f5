"""Credentials and secrets that are new: what is submitted, and the secret that is told once and never again.

Always holds: nothing but a verifier of a secret is ever submitted.
"""

from __future__ import annotations

from relatum.clock import Clock
from relatum.core import digests
from relatum.core.access import Credential, CredentialSpec
from relatum.core.events import CredentialIssued, CredentialRotated
from relatum.core.ids import Author, company_partition, uuid7
from relatum.core.secret import SECRET_BYTES, format_secret
from relatum.entropy import Entropy
from relatum.ledger.writer.submission import CredentialSubmission


def issuance(
    company_id: str, author: Author | None, spec: CredentialSpec, clock: Clock, entropy: Entropy, *, bootstrap: bool
) -> tuple[CredentialSubmission, str]:
    """A new credential and its secret; without an author it is its own, as an operator makes them.

    `bootstrap`: only where the company doesn't exist yet.
    """
    credential_id = uuid7(clock.millis(), entropy.draw(10))
    secret = format_secret(credential_id, entropy.draw(SECRET_BYTES))
    operation = CredentialIssued(
        credential_id=credential_id,
        spec=spec,
        verifier=digests.secret_verifier(secret),
        bootstrapped=author is None,
    )
    own = Author(credential_id=credential_id, subject_id=spec.subject_id)
    return CredentialSubmission(company_partition(company_id), author or own, operation, bootstrap), secret


def rotation(
    admin: Credential, credential_id: str, expected_revision: int, entropy: Entropy
) -> tuple[CredentialSubmission, str]:
    """A new secret for a credential."""
    secret = format_secret(credential_id, entropy.draw(SECRET_BYTES))
    operation = CredentialRotated(
        credential_id=credential_id, expected_revision=expected_revision, verifier=digests.secret_verifier(secret)
    )
    return CredentialSubmission(company_partition(admin.company_id), admin.author, operation), secret
