"""The whole judgement on a store's rows."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from crash_tests.inspection.chains import check_receipts, check_revisions, events_of
from crash_tests.inspection.checkpoints import check_checkpoints
from crash_tests.inspection.claims import Claim, Claims
from crash_tests.inspection.counted import check_counted
from crash_tests.inspection.history import check_history
from crash_tests.inspection.indexes import check_indexes
from crash_tests.inspection.journals import check_journals
from crash_tests.inspection.judgments import check_judgments
from crash_tests.inspection.logs import check_log
from crash_tests.inspection.rederived import check_rederived
from crash_tests.inspection.soundness import check_soundness
from crash_tests.inspection.stored import Rows, StoredPartition, StoredRows
from crash_tests.violation import Violation, require
from relatum.core.events import Event
from relatum.errors import StorageInconsistency
from relatum.store.keys import Table


class Findings(Struct, kw_only=True):
    """How much was compared; a store with a fault has no findings, but a `Violation`."""

    partitions: int
    events: int
    acknowledged: int
    unresolved_present: int
    rows: int
    searched: int = 0
    """Answers of the search index, where a directory was inspected."""


def inspect(found: Rows, claims: Iterable[Claim]) -> Findings:
    """Judge every row of a store against the rest of it and against what clients were told.

    Raises `Violation` with the first thing that does not hold.
    """
    try:
        return _inspect(StoredRows(found), {claim.key: claim for claim in claims})
    except StorageInconsistency as error:
        raise Violation(f"relatum itself calls the stored rows inconsistent: {error}") from error


def _inspect(stored: StoredRows, claims: Claims) -> Findings:
    partitions = list(stored.partitions())
    unresolved = sum(not claim.settled for claim in claims.values())
    events: list[Event] = []
    acknowledged = 0
    for partition in partitions:
        own = events_of(partition)
        acknowledged += check_receipts(partition, own, claims)
        _check_partition(partition, own)
        events += own
    lost = [claim for claim in claims.values() if claim.settled]
    if lost:
        raise Violation(
            f"{len(lost)} acknowledged commands are not stored, the {lost[0].family} command "
            f"{lost[0].idempotency_key!r} of {lost[0].subject_id!r} among them"
        )
    _check_position(stored, events)
    return Findings(
        partitions=len(partitions),
        events=len(events),
        acknowledged=acknowledged,
        unresolved_present=unresolved - len(claims),
        rows=check_rederived(stored, partitions),
    )


def _check_partition(partition: StoredPartition, events: list[Event]) -> None:
    check_revisions(partition, Table.RECORD, Table.RECORD_REVISION)
    check_revisions(partition, Table.RELATION, Table.RELATION_REVISION)
    check_journals(partition, events)
    check_checkpoints(partition, events)
    check_indexes(partition)
    check_judgments(partition, events)
    check_counted(partition)
    check_log(partition, events)
    check_history(partition, events)
    check_soundness(partition)


def _check_position(stored: StoredRows, events: list[Event]) -> None:
    position = stored.position()
    latest = max((event.committed_at_millis for event in events), default=0)
    require(
        position.position == len(events), f"the store is at position {position.position} after {len(events)} events"
    )
    require(position.committed_at_millis == latest, "the store's last commit time is not that of its last event")
