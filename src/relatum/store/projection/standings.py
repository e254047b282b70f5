"""The rows of a standing: the state itself, pins, what replaces what, and the topic slot that goes with it."""

from __future__ import annotations

from msgspec.structs import replace

from relatum.core.events import StaleMarked
from relatum.core.ids import uuid_bytes
from relatum.core.records import Payload
from relatum.core.standings import (
    Confirmation,
    Standing,
    StandingChange,
    confirmed,
    marked_stale,
    standing_after,
)
from relatum.store import endpoint_rows, rows
from relatum.store.projection.staged_partition import Staging


def stage_standing(staging: Staging, change: StandingChange, at_millis: int, *, for_topic: bool = False) -> None:
    """Stages a change of standing."""
    record_id, k = change.record_id, staging.keys
    before = staging.standing(record_id)
    after = standing_after(before, change, at_millis)
    _stage(staging, record_id, before, after)
    match change.action:
        case "superseded":
            assert change.by is not None
            entry = k.replaced_entry(change.by.record_id, record_id)
            staging.put(entry, endpoint_rows.Replaced(change.by.relation_id, for_topic).pack())
        case "reinstated":
            assert before.superseded_by is not None
            staging.delete(k.replaced_entry(before.superseded_by.record_id, record_id))
        case "pinned":
            staging.put(k.pinned(record_id), b"")
        case "unpinned":
            staging.delete(k.pinned(record_id))
        case "archived" | "unarchived":
            pass
    if after.state == "current" != before.state:
        hold_topic(staging, record_id, staging.kept_payload(record_id))
    elif before.state == "current" != after.state:
        free_topic(staging, record_id, staging.kept_payload(record_id))


def stage_stale_mark(staging: Staging, said: StaleMarked) -> None:
    """Stages that a later record makes a record out of date."""
    before = staging.standing(said.record_id)
    _stage(staging, said.record_id, before, marked_stale(before, said.mark, said.lifted))


def stage_confirmation(staging: Staging, confirmation: Confirmation, at_millis: int) -> None:
    """Stages what somebody found a record to be."""
    before = staging.standing(confirmation.record_id)
    _stage(staging, confirmation.record_id, before, confirmed(before, confirmation.outcome, at_millis))


def unpin_deleted(staging: Staging, record_id: str) -> None:
    """A deleted record takes up no pin."""
    standing = staging.standing(record_id)
    if standing.pinned_at_millis is not None:
        _stage(staging, record_id, standing, replace(standing, pinned_at_millis=None))
        staging.delete(staging.keys.pinned(record_id))


def hold_topic(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """The record takes the slot that its content asks for, if any; None is a content that was erased."""
    if payload is not None and payload.topic_key is not None:
        staging.put(staging.keys.topic(payload.topic_key), uuid_bytes(record_id))


def free_topic(staging: Staging, record_id: str, payload: Payload | None) -> None:
    """The record gives up the slot that its content asks for, if it holds it."""
    if payload is not None and payload.topic_key is not None and staging.topic_holder(payload.topic_key) == record_id:
        staging.delete(staging.keys.topic(payload.topic_key))


def _stage(staging: Staging, record_id: str, before: Standing, standing: Standing) -> None:
    """The row of a standing, and of the event that left it so."""
    key, body = staging.keys.standing(record_id), rows.STANDING.encode(standing)
    if standing == Standing():
        staging.delete(key)
    else:
        staging.put(key, body)
    if standing != before:
        staging.put(staging.keys.standing_revision(record_id, staging.next_sequence), body)
