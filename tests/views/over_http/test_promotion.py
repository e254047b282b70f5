"""Promotion over the wire: what a command answers, and what is left when it is given again (views.md, derived edges).

The table of cases stands in tests/views/test_promotions.py.
"""

from __future__ import annotations

import pytest

from tests.http.client import ABSENT, FORBIDDEN, INVALID, KEY_CONFLICT, RELATIONS, Caller, Json, issue, refusal
from tests.judgments.over_http.calling import answered
from tests.views.over_http.calling import EDGES, RUN, edge, graph, mine, mined, outcomes, promote, proposal

NOWHERE = {"record_id": ABSENT, "revision": 1}


def test_a_promoted_edge_is_a_relation_like_any_other(caller: Caller) -> None:
    answered(caller.ask(f"{RELATIONS}/changes/activate"))
    one, other = caller.create("one"), caller.create("other")
    mine(caller, edge(one, other, "leads_to", 0.9))
    [found] = promote(caller, proposal(one, other, "leads_to"))
    assert "promoted" == found["outcome"]
    read = answered(caller.ask(f"{RELATIONS}/read", relation_id=found["relation_id"]))["relation"]
    assert ("leads_to", one, other) == tuple(read["input"][name] for name in ("kind", "source", "target"))
    assert ("tool_observation", "promotion", "run:night") == tuple(
        read["input"]["provenance"][name] for name in ("origin", "method", "evidence_ref")
    )
    [told] = answered(caller.ask(f"{RELATIONS}/changes", query={"limit": 5}))["page"]["changes"]
    assert ("asserted", found["relation_id"]) == (told["change"]["kind"], told["change"]["relation_id"])
    assert [found["relation_id"]] == [each["relation_id"] for each in graph(caller, one)["edges"]]
    assert 1 == len(mined(caller, one)), "the mined edge stays where it is"


def test_a_promotion_given_again_answers_the_same_and_does_nothing(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    given = (proposal(one, other), proposal(one, NOWHERE), proposal(other, one, "none"))
    first = promote(caller, *given, key="the night")
    assert ["promoted", "unfit_ends", "nothing"] == outcomes(first)
    assert first == promote(caller, *given, key="the night")
    assert 1 == len(answered(caller.ask(f"{RELATIONS}/query", filter={}))["page"]["relations"])
    answer = caller.ask(f"{EDGES}/promote", idempotency_key="the night", run=RUN, proposals=[proposal(other, one)])
    assert KEY_CONFLICT == refusal(answer)


def test_counters_survive_dropping_the_mined_edges(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    mine(caller, edge(one, other, "contradicts"))
    assert ["awaits_second_date"] == outcomes(promote(caller, proposal(one, other, "contradicts"), day="2026-01-08"))
    answered(caller.ask(f"{EDGES}/derived/drop"))
    assert ["promoted"] == outcomes(promote(caller, proposal(other, one, "contradicts"), day="2026-01-09"))


@pytest.mark.parametrize("day", ["2026-1-1", "", "2026-02-30"])
def test_a_date_is_a_static_rule_after_authorization_and_replay(caller: Caller, admin: Caller, day: str) -> None:
    one, other = caller.create("one"), caller.create("other")
    promote(caller, proposal(one, other), key="used")
    body = {"run": {**RUN, "run_date": day}, "proposals": [proposal(one, other)]}
    reader = issue(admin, capabilities=["memory_read"], scope=caller.scope)
    assert FORBIDDEN == refusal(reader.ask(f"{EDGES}/promote", idempotency_key="key", **body))
    assert FORBIDDEN == refusal(reader.ask(f"{EDGES}/derived/replace", run=body["run"], edges=[], finish=True))
    assert KEY_CONFLICT == refusal(caller.ask(f"{EDGES}/promote", idempotency_key="used", **body))
    assert INVALID == refusal(caller.ask(f"{EDGES}/promote", idempotency_key="key", **body))
    assert INVALID == refusal(caller.ask(f"{EDGES}/derived/replace", run=body["run"], edges=[], finish=True))


BAD: list[Json] = [
    {"proposals": []},
    {"proposals": [proposal(NOWHERE, NOWHERE)]},
    {"proposals": [{**proposal(NOWHERE, NOWHERE), "target_id": ABSENT.replace("f", "e"), "kind": "supersedes"}]},
    {"proposals": [{**proposal(NOWHERE, NOWHERE), "target_id": ABSENT.replace("f", "e"), "confidence": 1.01}]},
    {"proposals": [{**proposal(NOWHERE, NOWHERE), "target_id": ABSENT.replace("f", "e"), "weight": 1}]},
    {"run": {"run_id": "night", "run_date": "2026-02-30"}},
    {"run": {"run_id": "", "run_date": "2026-02-28"}},
    {"idempotency_key": " "},
]


@pytest.mark.parametrize("members", BAD, ids=str)
def test_what_is_wrong_with_a_promotion(caller: Caller, members: Json) -> None:
    sound = {"idempotency_key": "key", "run": RUN, "proposals": [proposal(NOWHERE, caller.create())]}
    assert INVALID == refusal(caller.ask(f"{EDGES}/promote", **{**sound, **members}))
    assert 200 == caller.ask(f"{EDGES}/promote", **sound).status_code
