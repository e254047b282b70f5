"""The instants at which a record or a relation may begin or cease to count. None is ever removed."""

from __future__ import annotations

from relatum.core.records import Facts
from relatum.core.relations import RelationInput
from relatum.store.instants import Bound, Timed
from relatum.store.projection.staged_partition import Staging


def stage_expiry(staging: Staging, record_id: str, facts: Facts) -> None:
    """A content that expires has an instant."""
    _stage(staging, facts.valid_until_millis, Timed.RECORD, record_id, Bound.VALID_UNTIL)


def stage_interval(staging: Staging, relation_id: str, given: RelationInput) -> None:
    """A new relation has one for each bound of its interval."""
    _stage(staging, given.valid_from_millis, Timed.RELATION, relation_id, Bound.VALID_FROM)
    _stage(staging, given.valid_until_millis, Timed.RELATION, relation_id, Bound.VALID_UNTIL)


def _stage(staging: Staging, at_millis: int | None, timed: Timed, object_id: str, bound: Bound) -> None:
    if at_millis is not None:
        staging.put(staging.keys.instant(at_millis, timed, object_id), bytes([bound]))
