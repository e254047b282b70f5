"""Whether a caller that was let in would be let in still: for answers that take their time (access.md, credentials)."""

from __future__ import annotations

from typing import Final

from relatum.core.access import Credential
from relatum.core.answers.access import Capability, CredentialAction
from relatum.core.ids import Scope
from relatum.errors import Refusal
from relatum.http import errors
from relatum.ledger.view import RequestView

_NEW_SECRET: Final[tuple[CredentialAction, ...]] = ("bootstrapped", "issued", "rotated")


def refusal_now(view: RequestView, was: Credential, scope: Scope, *needed: Capability) -> Refusal | None:
    """Why the caller that came as `was` has lost its authority as `view` shows it, or None.

    401 where the credential is revoked or expired or has a new secret by now, 403 where it lacks what is needed.
    """
    stored = view.credential(was.id)
    now = None if stored is None else stored.credential
    if now is None or not now.usable(view.now_millis) or _secret_revision(now) != _secret_revision(was):
        return errors.UNAUTHORIZED
    granted = now.holds(*needed) and now.spec.authority.covers(scope)
    return None if granted else errors.FORBIDDEN


def _secret_revision(credential: Credential) -> int:
    """The revision at which the credential got its present secret."""
    return next(event.revision for event in reversed(credential.history) if event.action in _NEW_SECRET)
