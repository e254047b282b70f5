"""What an event says of one relation, and the receipt that answers it, whatever its family."""

from __future__ import annotations

from relatum.core.consequences import RelationPart
from relatum.core.events import CheckpointEvent, Event, FoundEvent, JudgmentEvent, LinkEvent, RecordEvent, RelationEvent
from relatum.core.links import LinkReceipt
from relatum.core.receipts import JudgmentReceipt, RecordReceipt, RelationReceipt

AnyMemoryReceipt = RecordReceipt | RelationReceipt | JudgmentReceipt | LinkReceipt


def receipt_of(event: Event) -> AnyMemoryReceipt | None:
    """The receipt that a memory command was answered with; None for other events and for a refused verdict."""
    match event:
        case RecordEvent() | RelationEvent() | FoundEvent() | LinkEvent():
            return event.receipt
        case JudgmentEvent():
            return event.receipt or event.judgment_receipt
        case _:
            return None


def relation_part(event: Event, relation_id: str) -> RelationPart | None:
    """What an event did to a relation, as the command's own or as a consequence; None where it did nothing."""
    if isinstance(event, RelationEvent):
        own = RelationPart(relation_id=event.relation_id, operation=event.operation, receipt=event.receipt)
        return own if event.relation_id == relation_id else None
    parts = event.consequences.relations if event.consequences else ()
    return next((part for part in parts if part.relation_id == relation_id), None)


def receipt_family(event: Event) -> str:
    """The name under which an event's idempotency key is looked up."""
    match event:
        case RecordEvent():
            return "record"
        case RelationEvent() | FoundEvent():
            return "relation"
        case CheckpointEvent():
            return "checkpoint"
        case LinkEvent():
            return "link"
        case JudgmentEvent():
            return judgment_family(getattr(event.operation, "index", None))
        case _:
            raise ValueError("the event has no idempotency key")


def judgment_family(item: int | None) -> str:
    """The name under which the key of a judgment command is looked up; each item of a batch has one of its own."""
    return "judgment" if item is None else f"judgment/{item}"
