"""Whole tables of judgments, each in one bounded scan, and held against the tables that tell the same.

What always holds: whoever was given all of a table was given what the others say as well, or was told
StorageInconsistency; `complete` says whether it was all.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from relatum.core.standings import Standing
from relatum.errors import StorageInconsistency
from relatum.store.partition import PartitionReader


class ScannedStandings(NamedTuple):
    """The standings that were ever changed, by record, those of the newest records first."""

    found: dict[str, Standing]
    complete: bool


def standings(partition: PartitionReader, limit: int) -> ScannedStandings:
    """At most `limit` standings; all of them agree with the lists of what is pinned and of what was superseded."""
    rows = partition.standings()
    found = dict(islice(rows, limit))
    if next(rows, None) is not None:
        return ScannedStandings(found, complete=False)
    pinned = {one for one, standing in found.items() if standing.pinned_at_millis is not None}
    superseded = {(by.record_id, one) for one, standing in found.items() if (by := standing.superseded_by) is not None}
    if pinned != set(partition.pinned()) or superseded != set(partition.supersessions()):
        raise StorageInconsistency("the standings do not match the lists of pins and of what was superseded")
    return ScannedStandings(found, complete=True)


class Waiting(NamedTuple):
    """How many pending candidates there are of those that were asked for, and since when the first of them waits."""

    number: int
    since_millis: int | None
    complete: bool


def waiting(partition: PartitionReader, is_wanted: Callable[[str], bool], limit: int) -> Waiting:
    """Looks at `limit` pending candidates at most; counts those of which both ends are wanted."""
    pairs, ages = partition.pending_pairs(), partition.pending_ages()
    paired = {candidate_id: (one, other) for one, other, candidate_id in islice(pairs, limit)}
    since = [(millis, candidate_id) for millis, candidate_id in islice(ages, limit)]
    complete = next(pairs, None) is None and next(ages, None) is None
    if complete and paired.keys() != {candidate_id for _, candidate_id in since}:
        raise StorageInconsistency("the list of pending candidates does not match that of their pairs")
    wanted = {candidate_id for candidate_id, ends in paired.items() if all(map(is_wanted, ends))}
    first = next((millis for millis, candidate_id in since if candidate_id in wanted), None)
    return Waiting(len(wanted), first, complete)
