"""Diagnosis: an answer for whatever a consumer has kept, and for whatever became of the journal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from relatum.core.streams import RECORDS, RELATIONS
from tests.feeds.damage import implant_checkpoint
from tests.feeds.following import CONSUMER, Consumer, advance, answered, reconcile, refused
from tests.support.desk import Desk

ANOTHER_DIGEST = "0" * 64
OFF_THE_JOURNAL = (409, "journal_history_conflict")
BAD_REQUEST = (400, "invalid_request")


@pytest.fixture
def records(desk: Desk, consumer: Consumer) -> Consumer:
    """A stream of three records."""
    for _ in range(3):
        desk.create()
    return consumer.of(RECORDS)


def test_an_inactive_stream_has_nothing_to_compare(consumer: Consumer) -> None:
    found = answered(consumer.diagnose())
    assert (CONSUMER, False, None, None) == (found.consumer_id, found.active, found.baseline, found.high_watermark)
    assert ("missing", None, None) == (found.checkpoint_status, found.checkpoint, found.pending_positions)
    assert ("not_provided", None) == (found.witness_status, found.checkpoint_relative_to_witness)


def test_a_witness_of_an_inactive_stream_is_of_another_history(records: Consumer) -> None:
    cursor = replace(records.tip(), stream=RELATIONS)
    assert "history_incompatible" == answered(records.of(RELATIONS).diagnose(cursor)).witness_status


def test_a_consumer_without_a_checkpoint_is_told_where_the_stream_stands(records: Consumer) -> None:
    cursors = records.cursors()
    found = answered(records.diagnose(cursors[1]))
    assert (True, cursors[0], cursors[-1]) == (found.active, found.baseline, found.high_watermark)
    assert ("missing", "compatible", None) == (
        found.checkpoint_status,
        found.witness_status,
        found.checkpoint_relative_to_witness,
    )


def test_pending_positions_count_what_was_not_acknowledged(desk: Desk, records: Consumer) -> None:
    saved = records.advance(records.cursors()[1])
    found = answered(records.diagnose())
    assert (saved, "compatible", 2) == (found.checkpoint, found.checkpoint_status, found.pending_positions)
    desk.create()
    assert 3 == answered(records.diagnose()).pending_positions
    records.advance(records.tip(), saved)
    assert 0 == answered(records.diagnose()).pending_positions


@pytest.mark.parametrize(("sequence", "relative"), [(0, "after"), (1, "equal"), (2, "before"), (3, "before")])
def test_the_checkpoint_lies_before_at_or_after_the_witness(records: Consumer, sequence: int, relative: str) -> None:
    cursors = records.cursors()
    records.advance(cursors[1])
    assert relative == answered(records.diagnose(cursors[sequence])).checkpoint_relative_to_witness


@pytest.mark.parametrize("changes", [{"prefix_digest": ANOTHER_DIGEST}, {"sequence": 9}])
def test_a_witness_off_the_journal_is_told_so(records: Consumer, changes: dict[str, object]) -> None:
    records.advance(records.tip())
    found = answered(records.diagnose(replace(records.tip(), **changes)))
    assert ("compatible", "history_incompatible", None) == (
        found.checkpoint_status,
        found.witness_status,
        found.checkpoint_relative_to_witness,
    )


def test_an_unsound_witness_or_consumer_is_a_bad_request(records: Consumer) -> None:
    assert BAD_REQUEST == refused(records.diagnose(replace(records.tip(), version=2)))
    assert BAD_REQUEST == refused(records.diagnose(consumer_id=""))


def test_a_checkpoint_off_the_journal_is_diagnosed_refused_and_reconciled(desk: Desk, records: Consumer) -> None:
    saved = implant_checkpoint(desk, RECORDS, replace(records.tip(), prefix_digest=ANOTHER_DIGEST))
    found = answered(records.diagnose(records.tip()))
    assert (saved, "history_incompatible", None) == (found.checkpoint, found.checkpoint_status, found.pending_positions)
    assert ("compatible", None) == (found.witness_status, found.checkpoint_relative_to_witness)
    assert OFF_THE_JOURNAL == refused(records.checkpoint())
    assert saved == answered(records.revision(1)).checkpoint, "revisions are answered whatever the history"
    assert OFF_THE_JOURNAL == refused(records.submit(advance(records.tip(), saved)))
    assert 2 == answered(records.submit(reconcile(records.tip(), saved))).checkpoint.revision
    assert "compatible" == answered(records.diagnose()).checkpoint_status
