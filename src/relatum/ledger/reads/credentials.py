"""Credentials: whose a secret is, and the list of a company's (access.md, credentials)."""

from __future__ import annotations

from typing import Final

from relatum import limits
from relatum.core import digests
from relatum.core.access import Credential
from relatum.core.canonical import encode
from relatum.core.secret import credential_id_of
from relatum.core.wire import Closed, Uuid
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

_NOBODYS_VERIFIER: Final = bytes(32)


class CredentialPage(Closed, frozen=True, kw_only=True):
    """Credentials ascending by id. `next_after` is the last of them where more follow."""

    credentials: tuple[Credential, ...]
    next_after: Uuid | None


def authenticate(view: LedgerView, secret: str) -> Credential | None:
    """The credential that `secret` belongs to, if it is neither revoked nor expired at the view's instant.

    A secret of nobody is compared too, so that how long it takes tells nothing of who there is.
    """
    credential_id = credential_id_of(secret)
    stored = None if credential_id is None else view.credential(credential_id)
    expected = _NOBODYS_VERIFIER if stored is None else stored.verifier
    if not digests.same(expected, digests.secret_verifier(secret)) or stored is None:
        return None
    return stored.credential if stored.credential.usable(view.now_millis) else None


def page(partition: PartitionReader, limit: int | None = None, after: str | None = None) -> CredentialPage:
    """At most `limit` (1 to 100, default 25) credentials of the company whose partition this is, after `after`.

    Fewer where their histories are so long that more would pass the bound on bytes.
    """
    entries_max = limit or limits.CREDENTIALS_PAGE_DEFAULT
    found: list[Credential] = []
    room = limits.CREDENTIALS_PAGE_BYTES_MAX
    for stored in partition.credentials(after):
        room -= len(encode(stored))
        if len(found) == entries_max or (found and room < 0):
            return CredentialPage(credentials=tuple(found), next_after=found[-1].id)
        found.append(stored.credential)
    return CredentialPage(credentials=tuple(found), next_after=None)
