"""How many marks of staleness a record has, and that lifted ones take no place (views.md, status)."""

from __future__ import annotations

import pytest

from relatum.clock import ManualClock
from relatum.core.ids import Ref
from relatum.core.receipts import RecordReceipt
from relatum.core.standings import StaleMark, Standing, marked_stale
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.limits import STALE_MARKS_MAX
from tests.support.builders import unknown_id
from tests.support.desk import Desk
from tests.support.stores import assert_rebuilds
from tests.support.tending import TendingDesk
from tests.views.asking import Asking


@pytest.fixture
def tending(ledger: Ledger) -> TendingDesk:
    return TendingDesk(ledger)


def marked_by(tending: TendingDesk, record: Ref) -> list[str]:
    return [mark.because.record_id for mark in tending.standing(record).stale_marks]


def test_a_mark_that_a_deletion_has_lifted_takes_no_place(tending: TendingDesk, desk: Desk, ledger: Ledger) -> None:
    record, kept = desk.create(), desk.create()
    assert isinstance(tending.mark_stale(record, kept), RecordReceipt)
    for _ in range(2 * STALE_MARKS_MAX):
        later = desk.create()
        assert isinstance(tending.mark_stale(record, later), RecordReceipt)
        desk.delete(later)
        assert 2 == len(marked_by(tending, record)), "neither does it fill the row"
    last = [desk.create() for _ in range(STALE_MARKS_MAX - 1)]
    for later in last:
        assert isinstance(tending.mark_stale(record, later), RecordReceipt)
    assert [kept.record_id, *(one.record_id for one in last)] == marked_by(tending, record)
    refused = tending.mark_stale(record, desk.create())
    assert isinstance(refused, Refusal)
    assert "invalid_request" == refused.code
    [found] = Asking(ledger).statuses(record).statuses
    assert found is not None
    assert ("stale", STALE_MARKS_MAX) == (found.status, len(found.reasons))
    assert_rebuilds(ledger)


def test_a_mark_takes_away_what_it_says_is_lifted_and_nothing_else(clock: ManualClock) -> None:
    one, other, new = (StaleMark(because=Ref(record_id=unknown_id(number), revision=1)) for number in range(3))
    before = Standing(stale_marks=(one, other), pinned_at_millis=clock.millis())
    assert (one, other, new) == marked_stale(before, new, ()).stale_marks
    after = marked_stale(before, new, [one.because.record_id])
    assert ((other, new), before.pinned_at_millis) == (after.stale_marks, after.pinned_at_millis)
