"""The rows of a curated link: the same under both its ends."""

from __future__ import annotations

from relatum.core.links import StoredLink
from relatum.store import rows
from relatum.store.projection.staged_partition import Staging


def put_link(staging: Staging, link: StoredLink) -> None:
    """Stages a link, in the place of the one that the pair had."""
    body, k = rows.LINK.encode(link), staging.keys
    staging.put(k.link(link.source_id, link.target_id), body)
    staging.put(k.link(link.target_id, link.source_id), body)


def remove_link(staging: Staging, link: StoredLink) -> None:
    """Stages the end of a link."""
    k = staging.keys
    staging.delete(k.link(link.source_id, link.target_id))
    staging.delete(k.link(link.target_id, link.source_id))


def remove_links(staging: Staging, record_id: str) -> None:
    """A deleted record has no links."""
    for _, link in staging.links_of(record_id):
        remove_link(staging, link)
