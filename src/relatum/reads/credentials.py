"""The list of a company's credentials (access.md, credentials)."""

from __future__ import annotations

from relatum import limits
from relatum.core.access import Credential
from relatum.core.canonical import encode
from relatum.core.wire import Closed, Uuid
from relatum.store.partition import PartitionReader


class CredentialPage(Closed, frozen=True, kw_only=True):
    """Credentials ascending by id. `next_after` is the last of them where more follow."""

    credentials: tuple[Credential, ...]
    next_after: Uuid | None


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
