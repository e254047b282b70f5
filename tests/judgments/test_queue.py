"""The queue of candidates: submitted pairs, the sweep, and undo, with the clock moving past every age."""

from __future__ import annotations

from relatum.clock import ManualClock
from relatum.core.candidates import Orphaned, Resumed
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.core.stored_judgments import PairsSubmitted, SweepRun
from relatum.ledger.reads import judgments
from relatum.limits import DAY_MILLIS, RESURFACING_MILLIS_DEFAULT, SWEEP_DEADLINE_MILLIS_DEFAULT, SWEEP_MAX
from tests.judgments.test_verdicts import event, refusal
from tests.support import builders
from tests.support.builders import SCOPE
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk


def offered(judging: JudgingDesk, **members: object) -> tuple[list[str], int]:
    """The candidates that the queue offers, and how many it has."""
    wanted = JudgmentsQuery(contract_version=1, scope=SCOPE, **members)  # type: ignore[arg-type]
    with judging.ledger.view() as view:
        page = judgments.query(
            view.partition(judging.partition),
            view.now_millis,
            wanted,
            RESURFACING_MILLIS_DEFAULT,
            SWEEP_DEADLINE_MILLIS_DEFAULT,
        )
    return [one.candidate_id for one in page.candidates], page.total


def run_of(swept: JudgmentEvent) -> tuple[str, list[Orphaned]]:
    assert isinstance(swept.operation, SweepRun)
    assert swept.consequences is not None
    return swept.operation.run_id, [one for one in swept.consequences.candidates if isinstance(one, Orphaned)]


def test_a_pair_has_one_pending_candidate_whoever_submits_it_and_in_whichever_order(judging: JudgingDesk) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    given = event(judging.submit((first, second), (second, first), (first, second)))
    assert isinstance(given.operation, PairsSubmitted)
    assert 1 == len(set(given.operation.candidate_ids))
    again = event(judging.submit((second, first)))
    assert isinstance(again.operation, PairsSubmitted)
    assert set(given.operation.candidate_ids) == set(again.operation.candidate_ids)
    judging.judge(given.operation.candidate_ids[0], "related")
    fresh = event(judging.submit((first, second)))
    assert isinstance(fresh.operation, PairsSubmitted)
    assert given.operation.candidate_ids[0] != fresh.operation.candidate_ids[0]


def test_pairs_that_cannot_be_judged_are_refused_and_nothing_of_the_command_is_kept(
    desk: Desk, judging: JudgingDesk
) -> None:
    first, second, person = judging.save("nine"), judging.save("ten"), desk.create("a person", type="person")
    unknown = Ref(record_id=builders.unknown_id(), revision=1)
    assert (404, "record_not_found") == refusal(judging.submit((first, second), (first, unknown)))
    assert (400, "invalid_request") == refusal(judging.submit((first, person)))
    assert (400, "invalid_request") == refusal(judging.submit((first, first)))
    assert [] == judging.pending()


def test_the_queue_offers_from_the_resurfacing_age_to_the_deadline(judging: JudgingDesk, clock: ManualClock) -> None:
    first = judging.save("nine")
    second = judging.save("ten", like=(first,))
    candidate = judging.pending_between(first, second)
    assert ([], 0) == offered(judging)
    assert ([candidate], 1) == offered(judging, min_age_millis=0)
    clock.advance(RESURFACING_MILLIS_DEFAULT - 1)
    assert ([], 0) == offered(judging)
    clock.advance(1)
    assert ([candidate], 1) == offered(judging)
    assert ([], 1) == offered(judging, limit=0)
    clock.advance(SWEEP_DEADLINE_MILLIS_DEFAULT - RESURFACING_MILLIS_DEFAULT)
    assert ([candidate], 1) == offered(judging)
    clock.advance(1)
    assert ([], 0) == offered(judging)


def test_the_queue_leaves_out_pairs_with_an_end_that_is_not_fit_and_takes_them_back(
    desk: Desk, judging: JudgingDesk, clock: ManualClock
) -> None:
    first, third = judging.save("nine"), judging.save("noon")
    second = judging.save("ten", like=(first,))
    other = judging.save("eleven", like=(third,))
    clock.advance(DAY_MILLIS)
    assert 2 == offered(judging)[1]
    judging.archive(second)
    assert 1 == offered(judging)[1]
    judging.unarchive(second)
    assert 2 == offered(judging)[1]
    desk.delete(other)
    assert ([judging.pending_between(first, second)], 1) == offered(judging)


def test_the_sweep_orphans_what_is_strictly_older_than_the_deadline(judging: JudgingDesk, clock: ManualClock) -> None:
    first = judging.save("nine")
    second = judging.save("ten", like=(first,))
    candidate = judging.pending_between(first, second)
    clock.advance(SWEEP_DEADLINE_MILLIS_DEFAULT)
    assert [] == run_of(event(judging.sweep()))[1]
    clock.advance(1)
    _, orphaned = run_of(event(judging.sweep()))
    assert [candidate] == [one.candidate_id for one in orphaned]
    kept = judging.candidate(candidate)
    assert ("orphaned", "sweep", judging.author) == (kept.status, kept.marker, kept.marked_by)
    assert [] == run_of(event(judging.sweep()))[1]
    closed = judging.judge(candidate, "related")
    assert closed.receipt is None


def test_a_run_orphans_at_most_fifty_the_oldest_first(judging: JudgingDesk, clock: ManualClock) -> None:
    hub = judging.save("the hub")
    for number in range(SWEEP_MAX + 5):
        clock.advance(1)
        judging.save(f"spoke {number}", like=(hub,))
    ids = [one.candidate_id for one in judging.pending()]
    clock.advance(SWEEP_DEADLINE_MILLIS_DEFAULT + 100)
    assert ids[:SWEEP_MAX] == [one.candidate_id for one in run_of(event(judging.sweep()))[1]]
    assert ids[SWEEP_MAX:] == [one.candidate_id for one in run_of(event(judging.sweep()))[1]]


def test_undo_takes_back_an_operation_or_the_rest_of_a_run_once(judging: JudgingDesk, clock: ManualClock) -> None:
    hub = judging.save("the hub")
    for number in range(3):
        judging.save(f"spoke {number}", like=(hub,))
    clock.advance(20 * DAY_MILLIS)
    run_id, orphaned = run_of(event(judging.sweep()))
    one = event(judging.undo(operation_id=orphaned[0].operation_id))
    assert one.consequences is not None
    assert [orphaned[0].candidate_id] == [
        change.candidate_id for change in one.consequences.candidates if isinstance(change, Resumed)
    ]
    assert (409, "revision_conflict") == refusal(judging.undo(operation_id=orphaned[0].operation_id))
    rest = event(judging.undo(run_id=run_id))
    assert rest.consequences is not None
    assert 2 == len(rest.consequences.candidates)
    assert (409, "revision_conflict") == refusal(judging.undo(run_id=run_id))
    assert 3 == len(judging.pending())
    clock.advance(SWEEP_DEADLINE_MILLIS_DEFAULT)
    assert [] == run_of(event(judging.sweep()))[1], "the deadline is counted from the undo"
    clock.advance(1)
    assert 3 == len(run_of(event(judging.sweep()))[1])


def test_an_unknown_run_and_one_of_another_partition_are_one_and_the_same(
    judging: JudgingDesk, clock: ManualClock
) -> None:
    assert (404, "candidate_not_found") == refusal(judging.undo(run_id=builders.unknown_id()))
    hub = judging.save("the hub")
    judging.save("a spoke", like=(hub,))
    clock.advance(20 * DAY_MILLIS)
    run_id, _ = run_of(event(judging.sweep()))
    stranger = JudgingDesk(judging.ledger, builders.PRIVATE)
    assert (404, "candidate_not_found") == refusal(stranger.undo(run_id=run_id))
    assert (400, "invalid_request") == refusal(judging.undo())
    assert (400, "invalid_request") == refusal(judging.undo(run_id=run_id, operation_id=run_id))


def test_the_timer_sweeps_every_partition_and_shows_no_author(judging: JudgingDesk, clock: ManualClock) -> None:
    desks = [judging, JudgingDesk(judging.ledger, builders.PRIVATE)]
    for one in desks:
        first = one.save("nine")
        one.save("ten", like=(first,))
    candidates = [(one, one.pending()[0].candidate_id) for one in desks]
    assert 0 == judging.ledger.judgments.sweep_due()
    clock.advance(20 * DAY_MILLIS)
    assert 2 == judging.ledger.judgments.sweep_due()
    for one, candidate in candidates:
        kept = one.candidate(candidate)
        assert ("orphaned", "sweep", None) == (kept.status, kept.marker, kept.marked_by)


def test_the_timer_ends_between_two_partitions_once_it_is_not_wanted_any_more(
    judging: JudgingDesk, clock: ManualClock
) -> None:
    for one in (judging, JudgingDesk(judging.ledger, builders.PRIVATE)):
        first = one.save("nine")
        one.save("ten", like=(first,))
    clock.advance(20 * DAY_MILLIS)
    partitions = 2
    for asked in range(partitions):
        assert 0 == judging.ledger.judgments.sweep_due(iter([True] * asked + [False] * 2).__next__)
    answers = iter([True] * partitions + [True, False])
    assert 1 == judging.ledger.judgments.sweep_due(answers.__next__)
    assert 1 == judging.ledger.judgments.sweep_due()
