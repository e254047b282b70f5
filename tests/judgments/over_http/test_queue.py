"""The queue over the wire: submitted pairs, what is offered, the sweep on demand, and undo (judgments.md)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.client import ABSENT, INVALID, KEY_CONFLICT, NO_RECORD, STALE, Caller, Json, fresh, issue, refusal
from tests.judgments.over_http.calling import (
    JUDGMENTS,
    NO_CANDIDATE,
    answered,
    candidate,
    change,
    command,
    compare,
    judge,
    queue,
    relations_of,
    submit,
)


def pairs(*ends: tuple[Any, Any], **members: Any) -> list[Json]:
    return [{"source": source, "target": target, **members} for source, target in ends]


# Submitted pairs


def test_a_submitted_pair_is_a_candidate(caller: Caller) -> None:
    source, target = caller.create("ten"), caller.create("nine")
    [found] = submit(caller, (source, target))
    assert (source, target, "pending") == (found["source"], found["target"], found["status"])
    assert {"channel": "submitted", "similarity": 0.5} == found["detection"]
    assert [found] == queue(caller)["candidates"]


def test_a_pair_has_one_pending_candidate_in_either_direction(caller: Caller) -> None:
    one, other = caller.create("nine"), caller.create("ten")
    ids = [found["candidate_id"] for found in submit(caller, (one, other), (other, one), (one, other))]
    assert 1 == len({*ids, candidate(caller, other, one)})
    judge(caller, ids[0], "related")
    assert ids[0] != candidate(caller, one, other), "a judged one is no longer in the way"


def test_a_replay_shows_the_same_candidates_as_they_are_now(caller: Caller) -> None:
    key, ends = fresh("key"), (caller.create("nine"), caller.create("ten"))
    [first] = submit(caller, ends, key=key)
    judge(caller, first["candidate_id"], "related")
    [again] = submit(caller, ends, key=key)
    assert (first["candidate_id"], "judged") == (again["candidate_id"], again["status"])
    assert KEY_CONFLICT == refusal(
        command(
            caller,
            f"{JUDGMENTS}/candidates",
            key,
            candidates=pairs((ends[1]["record_id"], ends[0]["record_id"]), similarity=0.5),
        )
    )


@pytest.mark.parametrize("number", [0, 21])
def test_one_to_twenty_pairs_are_submitted_at_once(number: int, caller: Caller) -> None:
    hub, *others = (caller.create(f"record {each}")["record_id"] for each in range(21))
    path = f"{JUDGMENTS}/candidates"
    assert INVALID == refusal(command(caller, path, candidates=pairs(*[(hub, others[0])] * number)))
    whole = answered(command(caller, path, candidates=pairs(*((hub, other) for other in others))))
    assert 20 == len(whole["candidates"])


@pytest.mark.parametrize("similarity", [-0.01, 1.01])
def test_a_similarity_lies_between_nothing_and_everything(similarity: float, caller: Caller) -> None:
    ends = (caller.create("nine")["record_id"], caller.create("ten")["record_id"])
    path = f"{JUDGMENTS}/candidates"
    assert INVALID == refusal(command(caller, path, candidates=pairs(ends, similarity=similarity)))
    for sound in (0, 1, None):
        [found] = answered(command(caller, path, candidates=pairs(ends, similarity=sound)))["candidates"]
        assert 0 == found["detection"]["similarity"], "the pair is known from the first time"


def test_one_pair_that_cannot_be_judged_refuses_them_all(caller: Caller) -> None:
    one, other = (caller.create(name)["record_id"] for name in ("nine", "ten"))
    person = caller.create("a person", type="person")["record_id"]
    gone = caller.create("gone")
    change(caller, "delete", gone)
    path = f"{JUDGMENTS}/candidates"
    assert INVALID == refusal(command(caller, path, candidates=pairs((one, other), (one, one))))
    assert INVALID == refusal(command(caller, path, candidates=pairs((one, other), (one, person))))
    for absent in (ABSENT, gone["record_id"]):
        assert NO_RECORD == refusal(command(caller, path, candidates=pairs((one, other), (one, absent))))
    assert 0 == queue(caller)["total"]


def test_a_foreign_record_is_like_one_that_does_not_exist(admin: Caller, caller: Caller) -> None:
    own, foreign = issue(admin).create("ten"), caller.create("nine")
    path = f"{JUDGMENTS}/candidates"
    answers = [
        command(caller, path, candidates=pairs((foreign["record_id"], absent))) for absent in (own["record_id"], ABSENT)
    ]
    assert NO_RECORD == refusal(answers[0])
    assert answers[0].content == answers[1].content


# The query


def test_the_queue_is_oldest_first_and_its_total_counts_beyond_the_limit(caller: Caller) -> None:
    hub = caller.create("the hub")
    ids = [candidate(caller, caller.create(f"spoke {number}"), hub) for number in range(7)]
    for limit, shown in ((None, 5), (0, 0), (3, 3), (50, 7)):
        answer = queue(caller, limit=limit)
        assert (ids[:shown], 7) == ([one["candidate_id"] for one in answer["candidates"]], answer["total"])


@pytest.mark.parametrize(
    "members", [{"limit": -1}, {"limit": 51}, {"min_age_millis": -1}, {"status": "closed"}], ids=str
)
def test_a_query_out_of_bounds_is_refused(members: Json, caller: Caller) -> None:
    assert INVALID == refusal(caller.ask(f"{JUDGMENTS}/query", **members))


def test_a_young_candidate_is_offered_only_to_those_who_ask_for_it(caller: Caller) -> None:
    candidate(caller)
    assert 0 == answered(caller.ask(f"{JUDGMENTS}/query"))["total"]
    assert 0 == queue(caller, min_age_millis=600_000)["total"]
    assert 1 == queue(caller, min_age_millis=0)["total"]


def test_the_status_chooses_the_candidates(caller: Caller) -> None:
    waiting, closed = candidate(caller), candidate(caller)
    judge(caller, closed, "related")
    assert [waiting] == [one["candidate_id"] for one in queue(caller, status="pending")["candidates"]]
    for ages in ({"min_age_millis": 0}, {}):
        judged = answered(caller.ask(f"{JUDGMENTS}/query", status="judged", **ages))
        assert [closed] == [one["candidate_id"] for one in judged["candidates"]]
    assert 0 == queue(caller, status="orphaned")["total"]


@pytest.mark.parametrize("how", ["archive", "delete", "supersede"])
def test_a_pair_with_an_end_that_is_not_fit_is_not_offered_nor_counted(how: str, caller: Caller) -> None:
    first, second, other = (caller.create(name) for name in ("nine", "ten", "noon"))
    candidate(caller, second, first)
    if how == "supersede":
        answered(compare(caller, other, first, "supersedes"))
    else:
        change(caller, how, first)
    assert (0, []) == (queue(caller)["total"], queue(caller)["candidates"])


# Sweep and undo


def test_a_sweep_on_demand_orphans_nothing_that_is_young(caller: Caller) -> None:
    candidate(caller)
    key = fresh("key")
    first = answered(command(caller, f"{JUDGMENTS}/sweep", key))
    assert {"contract_version", "run_id", "operations"} == first.keys()
    assert [] == first["operations"]
    assert first == answered(command(caller, f"{JUDGMENTS}/sweep", key))
    assert first["run_id"] != answered(command(caller, f"{JUDGMENTS}/sweep"))["run_id"]
    assert 1 == queue(caller)["total"]


def test_an_undo_names_a_run_or_an_operation(admin: Caller, caller: Caller) -> None:
    path = f"{JUDGMENTS}/undo"
    run_id = answered(command(caller, f"{JUDGMENTS}/sweep"))["run_id"]
    unknown = command(caller, path, run_id=ABSENT)
    assert NO_CANDIDATE == refusal(unknown)
    assert unknown.content == command(caller, path, operation_id=ABSENT).content
    assert STALE == refusal(command(caller, path, run_id=run_id)), "it orphaned nothing, so there is nothing to undo"
    assert unknown.content == command(issue(admin), path, run_id=run_id).content
    assert INVALID == refusal(command(caller, path))
    assert INVALID == refusal(command(caller, path, run_id=run_id, operation_id=run_id))
    assert INVALID == refusal(command(caller, path, run_id="the first"))


def test_pending_candidates_show_at_both_ends_until_they_are_judged(caller: Caller) -> None:
    source, target = caller.create("ten"), caller.create("nine")
    pending = candidate(caller, source, target)
    [seen] = relations_of(caller, source)
    assert {
        "kind": "pending_conflict",
        "direction": "outgoing",
        "target_id": target["record_id"],
        "preview": "nine",
        "candidate_id": pending,
        "status": "pending",
    } == seen
    [other] = relations_of(caller, target)
    assert {**seen, "direction": "incoming", "target_id": source["record_id"], "preview": "ten"} == other
    judge(caller, pending, "not_conflict")
    assert ([], []) == (relations_of(caller, source), relations_of(caller, target))
