"""A record's standing as answered beside it (views.md, standing of a record)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from relatum.core.answers.standings import StandingView
from relatum.errors import StorageInconsistency
from relatum.limits import ANNOTATIONS_SCANNED_MAX
from relatum.store.endpoint_rows import VerdictEnd
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader


class Standings:
    """The standings of records of one partition, as answered; each against the list of pins, which is read once."""

    def __init__(self, partition: PartitionReader) -> None:
        self._partition = partition
        self._pinned: frozenset[str] | None = None

    def of(self, record_id: str) -> StandingView:
        """The standing of a retained record, with what it has superseded in the order of creation."""
        if self._pinned is None:
            self._pinned = frozenset(self._partition.pinned())
        standing = self._partition.standing(record_id)
        if (standing.pinned_at_millis is not None) != (record_id in self._pinned):
            raise StorageInconsistency("a standing does not match the list of pins")
        return StandingView(
            state=standing.state,
            pinned=standing.pinned_at_millis is not None,
            superseded_by=None if standing.superseded_by is None else standing.superseded_by.record_id,
            replaces=tuple(replaced for replaced, _ in self._partition.replaces(record_id)),
        )


def checked_standing(partition: PartitionReader, record_id: str) -> StandingView:
    """The standing of a retained record, against the verdicts that have led to it as well."""
    view = Standings(partition).of(record_id)
    for direction in (Table.OUTGOING, Table.INCOMING):
        ends = [end for _, end in islice(partition.verdict_ends(record_id, direction), ANNOTATIONS_SCANNED_MAX)]
        if len(ends) < ANNOTATIONS_SCANNED_MAX:
            check_supersessions(ends, view, outgoing=direction is Table.OUTGOING)
    return view


def check_supersessions(ends: Iterable[VerdictEnd], standing: StandingView, *, outgoing: bool) -> None:
    """All verdicts of which a record is the source, or the target, say of its standing what that says.

    Each verdict that supersedes, and counts, has superseded its target.
    """
    others = sorted(end.other_id for end in ends if end.indexed and end.kind == "supersedes")
    by = () if standing.superseded_by is None else (standing.superseded_by,)
    if others != sorted(standing.replaces if outgoing else by):
        raise StorageInconsistency("a standing does not match the verdicts on its record")
