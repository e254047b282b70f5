"""What a page refuses: unsound cursors first, then those that don't lie on the journal."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from relatum.core.streams import RECORDS, RELATIONS
from tests.feeds.following import Consumer, refused
from tests.support.builders import PRIVATE, unknown_id
from tests.support.desk import Desk

BAD_REQUEST = (400, "invalid_request")
OFF_THE_JOURNAL = (409, "journal_history_conflict")
ANOTHER_DIGEST = "0" * 64

UNSOUND: dict[str, dict[str, Any]] = {
    "another version": {"version": 2},
    "the other stream": {"stream": RELATIONS},
    "no stream": {"stream": "memory"},
    "a digest in upper case": {"prefix_digest": "A" * 64},
    "a digest too short": {"prefix_digest": "a" * 63},
}
ELSEWHERE: dict[str, dict[str, Any]] = {
    "another journal": {"journal_id": unknown_id()},
    "ahead of the tip": {"sequence": 4},
    "another history": {"prefix_digest": ANOTHER_DIGEST},
    "the digest of another sequence": {"sequence": 1},
}


@pytest.fixture
def records(desk: Desk, consumer: Consumer) -> Consumer:
    """A stream of three records."""
    for _ in range(3):
        desk.create()
    return consumer.of(RECORDS)


@pytest.mark.parametrize("changes", UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_cursor_is_a_bad_request_at_either_end(records: Consumer, changes: dict[str, Any]) -> None:
    cursor = replace(records.cursors()[2], **changes)
    assert BAD_REQUEST == refused(records.page(after=cursor))
    assert BAD_REQUEST == refused(records.page(through=cursor))


@pytest.mark.parametrize("changes", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_cursor_off_the_journal_is_a_conflict_at_either_end(records: Consumer, changes: dict[str, Any]) -> None:
    cursor = replace(records.cursors()[2], **changes)
    assert OFF_THE_JOURNAL == refused(records.page(after=cursor))
    assert OFF_THE_JOURNAL == refused(records.page(through=cursor))


def test_a_cursor_of_another_partition_is_a_conflict(desk: Desk, records: Consumer) -> None:
    private = Desk(desk.ledger, PRIVATE)
    private.create()
    assert OFF_THE_JOURNAL == refused(records.page(after=Consumer(private, RECORDS).tip()))


def test_after_beyond_through_is_a_bad_request_wherever_they_lie(records: Consumer) -> None:
    baseline, first, *_ = records.cursors()
    assert BAD_REQUEST == refused(records.page(after=first, through=baseline))
    strange = replace(first, sequence=9, prefix_digest=ANOTHER_DIGEST)
    assert BAD_REQUEST == refused(records.page(after=strange, through=first))


def test_two_cursors_of_one_sequence_and_different_histories_are_a_conflict(records: Consumer) -> None:
    first = records.cursors()[1]
    other = replace(first, prefix_digest=ANOTHER_DIGEST)
    assert OFF_THE_JOURNAL == refused(records.page(after=first, through=other))
    assert OFF_THE_JOURNAL == refused(records.page(after=other, through=first))


def test_an_inactive_stream_knows_no_cursor(desk: Desk, consumer: Consumer) -> None:
    desk.create()
    cursor = replace(consumer.of(RECORDS).tip(), stream=RELATIONS)
    assert OFF_THE_JOURNAL == refused(consumer.page(after=cursor))
    assert OFF_THE_JOURNAL == refused(consumer.page(through=cursor))
    assert BAD_REQUEST == refused(consumer.page(after=replace(cursor, version=2)))
