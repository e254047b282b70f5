"""The rows of a candidate: itself, the list of its status, its pair while it is pending, and both its ends."""

from __future__ import annotations

from typing import assert_never

from relatum.core.candidates import (
    Candidate,
    CandidateChange,
    Judged,
    Opened,
    Orphaned,
    Resumed,
    candidate_after,
    opened,
)
from relatum.core.ids import Author
from relatum.errors import StorageInconsistency
from relatum.store import endpoint_rows, rows
from relatum.store.keys import Table
from relatum.store.projection.staged_partition import Staging


def stage_candidate(
    staging: Staging, change: CandidateChange, at_millis: int, author: Author | None, words_at: int | None
) -> None:
    """Stages a change of a candidate."""
    match change:
        case Opened():
            _put(staging, opened(change, at_millis))
        case Judged() | Orphaned() | Resumed():
            before = staging.candidate(change.candidate_id)
            if before is None:
                raise StorageInconsistency("a candidate is missing")
            _remove(staging, before)
            _put(staging, candidate_after(before, change, at_millis, author, words_at))
        case _:
            assert_never(change)


def erase_words(staging: Staging, record_id: str) -> None:
    """Erases what verdicts on a record have said."""
    for candidate_id, _ in list(staging.candidate_ends(record_id)):
        candidate = staging.candidate(candidate_id)
        if candidate is not None and candidate.words_at is not None:
            staging.delete(staging.keys.words(candidate.words_at))
    for direction in (Table.OUTGOING, Table.INCOMING):
        for relation_id, _ in list(staging.verdict_ends(record_id, direction)):
            verdict = staging.verdict(relation_id)
            if verdict is not None and verdict.words_at is not None:
                staging.delete(staging.keys.words(verdict.words_at))


def _put(staging: Staging, candidate: Candidate) -> None:
    k, own = staging.keys, candidate.candidate_id
    source, target = candidate.source.record_id, candidate.target.record_id
    pending = candidate.status == "pending"
    staging.put(k.candidate(own), rows.CANDIDATE.encode(candidate))
    staging.put(k.candidate_status(candidate.status, candidate.since_millis, own), b"")
    staging.put(k.candidate_end(source, own), endpoint_rows.CandidateEnd(pending, target).pack())
    staging.put(k.candidate_end(target, own), endpoint_rows.CandidateEnd(pending, source).pack())
    if pending:
        staging.put(k.candidate_pair(source, target), rows.pack_uuid(own))


def _remove(staging: Staging, candidate: Candidate) -> None:
    """What the next status puts elsewhere."""
    k = staging.keys
    staging.delete(k.candidate_status(candidate.status, candidate.since_millis, candidate.candidate_id))
    if candidate.status == "pending":
        staging.delete(k.candidate_pair(candidate.source.record_id, candidate.target.record_id))
