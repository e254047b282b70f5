"""Commands on records and links: which are refused, as far as judgments have to do with it, and what the others do."""

from __future__ import annotations

from collections.abc import Iterable

from crash_tests.judgment_model.expected_state import BAD, MISSING, STALE, Book, Claim, Pair, Sheet
from crash_tests.judgment_model.rules import close_pair
from relatum.core.commands import (
    ArchiveRecord,
    CreateRecord,
    DeleteRecord,
    DeriveRecord,
    MarkStale,
    PinRecord,
    RecordOperation,
    ReviewRecord,
    ReviseRecord,
    SaveRecord,
    UnarchiveRecord,
    UnpinRecord,
)
from relatum.core.ids import Author
from relatum.core.links import LinkOperation, Unlink
from relatum.core.records import RecordInput

LINKS_MAX = 16
STALE_MARKS_MAX = 16
ChangeOfRecord = ReviseRecord | DeleteRecord | ReviewRecord | ArchiveRecord | UnarchiveRecord | PinRecord | UnpinRecord


# Records


def record_trouble(book: Book, operation: RecordOperation) -> str | None:
    """Why a command on a record is refused, or None, as far as topics, standings and verdicts have to do with it."""
    match operation:
        case CreateRecord() | DeriveRecord():
            return STALE if book.holder(operation.record.topic_key) else None
        case SaveRecord(record=record):
            occupant = book.holder(record.topic_key)
            types = {record.type or "memory"} | ({occupant.type} if occupant else set())
            return STALE if occupant is not None and types != {"memory"} else None
        case MarkStale():
            return _mark_trouble(book, operation)
    assert isinstance(operation, ChangeOfRecord)
    sheet = book.sheets.get(operation.record_id)
    if sheet is None:
        return MISSING
    if sheet.revision != operation.expected_revision:
        return STALE
    return MISSING if sheet.deleted else _change_trouble(book, sheet, operation)


def _change_trouble(book: Book, sheet: Sheet, operation: ChangeOfRecord) -> str | None:
    match operation:
        case ReviseRecord(record=record):
            holder = book.holder(record.topic_key) if book.fit(sheet.id) else None
            return STALE if holder not in (None, sheet) else None
        case ArchiveRecord():
            return BAD if sheet.archived else None
        case UnarchiveRecord():
            comes_back = book.superseder(sheet.id) is None
            taken = comes_back and book.finds_its_slot_taken(sheet.id)
            return BAD if not sheet.archived else STALE if taken else None
        case PinRecord():
            return BAD if sheet.pinned or sum(one.pinned for one in book.sheets.values()) >= 20 else None
        case UnpinRecord():
            return None if sheet.pinned else BAD
        case _:
            return None


def _mark_trouble(book: Book, operation: MarkStale) -> str | None:
    ends = operation.record_id, operation.because.record_id
    if ends[0] == ends[1]:
        return BAD
    if not book.sheets.keys() >= {*ends} or any(book.sheets[end].deleted for end in ends):
        return MISSING
    if not book.sheets[ends[1]].holds(operation.because.revision):
        return STALE
    standing = {one for one in book.sheets[ends[0]].stale_since if not book.sheets[one].deleted}
    return BAD if len(standing | {ends[1]}) > STALE_MARKS_MAX else None


def change_record(book: Book, operation: RecordOperation, record_id: str, now: int) -> None:
    """Writes down a command on a record that was accepted; a save has more to it."""
    if isinstance(operation, CreateRecord | DeriveRecord | SaveRecord):
        book.sheets[record_id] = sheet_of(operation.record, record_id, now)
        return
    sheet = book.sheets[record_id]
    match operation:
        case ReviseRecord(record=record):
            sheet.type, sheet.content, sheet.title = record.type or "memory", record.content, record.title
            sheet.topic, sheet.category = record.topic_key, record.category
            sheet.revision, sheet.rejected = sheet.revision + 1, False
            sheet.content_revision = sheet.revision
        case DeleteRecord():
            sheet.content, sheet.title, sheet.topic, sheet.category = "", None, None, None
            sheet.revision, sheet.deleted, sheet.pinned = sheet.revision + 1, True, False
            sheet.content_revision = sheet.revision
            book.links = {pair: kind for pair, kind in book.links.items() if record_id not in pair}
        case ReviewRecord(disposition=disposition):
            sheet.revision, sheet.rejected = sheet.revision + 1, disposition == "rejected"
        case ArchiveRecord() | UnarchiveRecord():
            sheet.archived = isinstance(operation, ArchiveRecord)
        case PinRecord() | UnpinRecord():
            sheet.pinned = isinstance(operation, PinRecord)
        case MarkStale():
            sheet.stale_since.add(operation.because.record_id)
        case _:
            raise NotImplementedError


def sheet_of(record: RecordInput, record_id: str, now: int) -> Sheet:
    """A new record."""
    return Sheet(
        id=record_id,
        type=record.type or "memory",
        content=record.content,
        title=record.title,
        topic=record.topic_key,
        category=record.category,
        made=now,
    )


# Links


def link_trouble(book: Book, operation: LinkOperation) -> str | None:
    """Why a pair can't be linked, or its link not be taken away."""
    ends = operation.source_id, operation.target_id
    linked = frozenset(ends) in book.links
    if ends[0] == ends[1]:
        return BAD
    if isinstance(operation, Unlink):
        return None if linked else STALE if book.sheets.keys() >= {*ends} else MISSING
    if not book.sheets.keys() >= {*ends}:
        return MISSING
    if any(book.sheets[end].deleted or book.sheets[end].archived for end in ends):
        return STALE
    full = any(sum(end in pair for pair in book.links) >= LINKS_MAX for end in ends)
    return BAD if full and not linked else None


def change_link(book: Book, operation: LinkOperation) -> None:
    """Writes down an accepted command on links."""
    pair = frozenset((operation.source_id, operation.target_id))
    if isinstance(operation, Unlink):
        del book.links[pair]
    else:
        book.links[pair] = operation.kind


# What a save surfaces


def surfaced(book: Book, hits: Iterable[str], topic: str | None) -> list[str]:
    """Which records of those that were found are worth judging: fit, and not what the save replaces or is settled."""
    occupant = book.holder(topic)
    versions = [] if occupant is None else list(book.earlier_versions(occupant.id))
    return [
        name
        for name in dict.fromkeys(hits)
        if name in book.sheets
        and book.sheets[name].type == "memory"
        and book.fit(name)
        and book.eligible(name)
        and name not in versions
        and not any(book.no_conflict(one, name) for one in versions)
    ]


def take_slot(book: Book, sheet: Sheet, occupant: Sheet, pair: Pair, relation_id: str, author: Author) -> None:
    """A save has taken its topic slot from another record."""
    sheet.took_from = occupant.id
    made = Claim(relation_id, "supersedes", sheet.ref, occupant.ref, sheet.made, None, None, pair.id)
    book.claims[relation_id] = made
    close_pair(book, pair, relation_id, "supersedes", "agent_topic_key", author, sheet.made)
