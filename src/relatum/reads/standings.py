"""A record's standing as answered beside it (views.md, standing of a record)."""

from __future__ import annotations

from relatum.core.standings import StandingView
from relatum.store.partition import PartitionReader


def standing_view(partition: PartitionReader, record_id: str) -> StandingView:
    """The standing of a retained record, with what it has superseded in the order of creation."""
    standing = partition.standing(record_id)
    return StandingView(
        state=standing.state,
        pinned=standing.pinned_at_millis is not None,
        superseded_by=None if standing.superseded_by is None else standing.superseded_by.record_id,
        replaces=tuple(replaced for replaced, _ in partition.replaces(record_id)),
    )
