"""Many at once over the wire: one candidate has one verdict, one pair one candidate, one slot one holder."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from tests.http.client import RECORDS, Caller, fresh
from tests.judgments import racing
from tests.judgments.over_http.calling import (
    JUDGMENTS,
    annotated,
    answered,
    batch,
    candidate,
    command,
    compare,
    queue,
    relations_of,
    save,
    standing,
    submit,
)
from tests.support.polling import WAIT_SECONDS

THREADS = 8
T = TypeVar("T")


def at_once(work: Callable[[int], T]) -> list[T]:
    """What eight threads that start together come to."""
    barrier = Barrier(THREADS)

    def one(number: int) -> T:
        barrier.wait(WAIT_SECONDS)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def test_eight_verdicts_on_one_candidate_make_one_relation(caller: Caller) -> None:
    verdicts = ["supersedes", "conflicts_with", "related", "compatible", "scoped"]
    for _ in range(5):
        first, second = caller.create("nine"), caller.create("ten")
        pending = candidate(caller, first, second)

        def judged(number: int, pending: str = pending) -> Any:
            return batch(caller, {"candidate_id": pending, "relation": verdicts[number % 5]})["results"][0]

        results = at_once(judged)
        [won] = [one for one in results if one["ok"]]
        assert ["revision_conflict"] * 7 == [one["code"] for one in results if not one["ok"]]
        [seen] = relations_of(caller, first)
        assert won["judgment"]["relation"] == seen["kind"]


def test_eight_repetitions_of_one_batch_are_one_batch(caller: Caller) -> None:
    hub = caller.create("the hub")
    ids = [one["candidate_id"] for one in submit(caller, *((caller.create(f"{at}"), hub) for at in range(10)))]
    judgments = [{"candidate_id": one, "relation": "related"} for one in (*ids, ids[0])]
    key = fresh("key")
    answers = at_once(lambda _: batch(caller, *judgments, key=key))
    assert answers[:1] * THREADS == answers
    assert [True] * 10 + [False] == [one["ok"] for one in answers[0]["results"]]
    assert 10 == len(relations_of(caller, hub, relations_limit=50))


def test_eight_submissions_of_one_pair_are_one_candidate(caller: Caller) -> None:
    one, other = caller.create("nine"), caller.create("ten")
    found = at_once(lambda number: submit(caller, (one, other) if number % 2 else (other, one))[0]["candidate_id"])
    assert 1 == len(set(found))
    assert 1 == queue(caller)["total"]


def test_eight_that_want_to_supersede_one_record_leave_it_one_superseder(caller: Caller) -> None:
    target = caller.create("nine")
    sources = [caller.create(f"ten {number}") for number in range(THREADS)]
    statuses = at_once(lambda number: compare(caller, sources[number], target, "supersedes").status_code)
    assert [200, *[409] * 7] == sorted(statuses)
    assert sources[statuses.index(200)]["record_id"] == standing(caller, target)["superseded_by"]
    assert 1 == len(relations_of(caller, target))


def test_eight_that_supersede_each_other_in_a_ring_make_no_cycle(caller: Caller) -> None:
    ring = [caller.create(f"member {number}") for number in range(THREADS)]
    at_once(lambda number: compare(caller, ring[number], ring[(number + 1) % THREADS], "supersedes"))
    by = {one["record"]["record_id"]: one["standing"]["superseded_by"] for one in annotated(caller, *ring)}
    assert None in by.values()
    for start in by:
        seen, at = set(), start
        while by[at] is not None:
            assert at not in seen
            seen.add(at)
            at = by[at]


def test_eight_saves_of_one_topic_leave_one_holder_and_a_chain(caller: Caller) -> None:
    def saved(number: int) -> str:
        record_id: str = save(caller, f"version {number}", topic_key="ferry")["receipt"]["record_id"]
        return record_id

    ids = at_once(saved)
    found = annotated(caller, *({"record_id": one} for one in ids))
    assert ["current"] + ["superseded"] * 7 == sorted(one["standing"]["state"] for one in found)
    assert 7 == len({one["standing"]["superseded_by"] for one in found} - {None})
    page = answered(caller.ask(f"{RECORDS}/query", filter={"topic_key": "ferry"}))["page"]
    assert 8 == len(page["records"])


def test_eight_saves_at_once_find_what_was_there_before(caller: Caller) -> None:
    save(caller, "the northern ferry leaves the old harbour")
    answers = at_once(lambda number: save(caller, f"the northern ferry leaves the new harbour {number}"))
    assert all(one["judgment_required"] for one in answers)


def test_confirmations_and_sweeps_at_once_are_answered(caller: Caller) -> None:
    record = caller.create()
    given = [{"record_id": record["record_id"], "outcome": "affirmed", "evidence_ref": "note/1"}]

    def work(number: int) -> int:
        if number % 2:
            return command(caller, f"{JUDGMENTS}/sweep").status_code
        return command(caller, f"{RECORDS}/confirm", confirmations=given).status_code

    assert [200] * THREADS == at_once(work)


def test_random_supersessions_of_eight_at_once_leave_no_cycle_and_one_superseder(admin: Caller) -> None:
    counted = racing.run(admin, runs=12, seed=3)
    assert 12 == counted["runs"]
    assert counted["records superseded"]
    assert counted["comparisons refused"]
