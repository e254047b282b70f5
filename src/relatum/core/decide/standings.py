"""Decisions on archive, unarchive, pin and unpin (views.md, standing)."""

from __future__ import annotations

from relatum import limits
from relatum.core.commands import ArchiveRecord, PinRecord, StandingOperation, UnarchiveRecord, UnpinRecord
from relatum.core.decide.verdicts import can_return
from relatum.core.standings import Standing, StandingCommandAction
from relatum.core.state import PartitionState
from relatum.errors import Refusal, invalid, stale

_ACTIONS: dict[type[StandingOperation], StandingCommandAction] = {
    ArchiveRecord: "archived",
    UnarchiveRecord: "unarchived",
    PinRecord: "pinned",
    UnpinRecord: "unpinned",
}


def standing_change(state: PartitionState, operation: StandingOperation) -> StandingCommandAction | Refusal:
    """What a command does to the standing of a retained record, or why it can't be."""
    action = _ACTIONS[type(operation)]
    return _refusal(state, operation.record_id, action, state.standing(operation.record_id)) or action


def _refusal(
    state: PartitionState, record_id: str, action: StandingCommandAction, standing: Standing
) -> Refusal | None:
    match action:
        case "archived":
            return invalid("the record is archived already") if standing.archived else None
        case "unarchived":
            if not standing.archived:
                return invalid("the record is not archived")
            if standing.superseded_by is None and not can_return(state, record_id):
                return stale("the record's topic slot is held by another")
            return None
        case "pinned":
            if standing.pinned_at_millis is not None:
                return invalid("the record is pinned already")
            return invalid("20 records are pinned already") if state.pins() >= limits.PINS_MAX else None
        case "unpinned":
            return invalid("the record is not pinned") if standing.pinned_at_millis is None else None
