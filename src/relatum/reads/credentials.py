"""The list of a company's credentials (access.md, credentials)."""

from __future__ import annotations

from itertools import islice

from relatum import limits
from relatum.core.access import Credential
from relatum.core.wire import Closed, Uuid
from relatum.store.partition import PartitionReader


class CredentialPage(Closed, frozen=True, kw_only=True):
    """Credentials ascending by id. `next_after` is the last of them where more follow."""

    credentials: tuple[Credential, ...]
    next_after: Uuid | None


def page(partition: PartitionReader, limit: int | None = None, after: str | None = None) -> CredentialPage:
    """At most `limit` (1 to 100, default 25) credentials of the company whose partition this is, after `after`."""
    entries_max = limit or limits.CREDENTIALS_PAGE_DEFAULT
    found = [stored.credential for stored in islice(partition.credentials(after), entries_max + 1)]
    credentials = tuple(found[:entries_max])
    return CredentialPage(credentials=credentials, next_after=credentials[-1].id if len(found) > entries_max else None)
