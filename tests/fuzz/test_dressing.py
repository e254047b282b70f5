"""What is done to a case before it is sent: known values in place of random ones, and faults left as they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.dice import Dice
from tests.fuzz.dressing import fenced
from tests.fuzz.known import Json, Known, family
from tests.fuzz.seeding import SCOPES
from tests.fuzz.splicing import Splicer
from tests.fuzz.world import Place

CHANGES = "/api/v1/memory/records/changes"
JUDGMENTS = "/api/v1/memory/judgments/batch"
RECORD, RELATION, RANDOM, OTHER = (f"0189dfa2-0000-7000-8000-0000000000{end}" for end in ("aa", "bb", "cc", "dd"))
SEEDS = range(40)


def cursor(sequence: int) -> Json:
    return {"version": 1, "stream": "s", "journal_id": RANDOM, "sequence": sequence, "prefix_digest": 64 * "0"}


@pytest.fixture
def place() -> Place:
    known = Known()
    page = {"changes": [{"cursor": cursor(3)}, {"cursor": cursor(5)}], "high_watermark": cursor(4)}
    receipt = {"record_id": RECORD, "revision": 2, "idempotency_key": "used", "receipt_digest": 64 * "1"}
    checkpoint = {"consumer_id": "indexer", "revision": 3, "checkpoint_digest": 64 * "2"}
    swept = {"run_id": OTHER, "operations": [{"operation_id": OTHER, "candidate_id": OTHER}]}
    known.learn(JUDGMENTS, {"receipt": {**receipt, "record_id": OTHER, "revision": 1}})
    for answer in (
        page,
        {"receipt": receipt},
        {"relation_id": RELATION, "revision": 1},
        {"checkpoint": checkpoint},
        swept,
    ):
        known.learn(CHANGES, answer)
    return Place(SCOPES[0], 64 * "3", known)


def spliced(place: Place, body: Json) -> list[Json]:
    """What becomes of a body with many dice."""
    return [Splicer(place, family(CHANGES), Dice(seed)).spliced(body) for seed in SEEDS]


@pytest.mark.parametrize(
    ("generated", "known"),
    [
        (
            {"scope": {"project_id": "p", "agent_id": "a", "visibility": "private"}},
            {"scope": SCOPES[0]},
        ),
        ({"source": {"record_id": RANDOM, "revision": 77}}, {"source": {"record_id": RECORD, "revision": 2}}),
        ({"relation_id": RANDOM, "expected_revision": 77}, {"relation_id": RELATION, "expected_revision": 1}),
        ({"record_ids": [RANDOM]}, {"record_ids": [RECORD]}),
        ({"endpoint": RANDOM}, {"endpoint": RECORD}),
        ({"after": cursor(99)}, {"after": cursor(5)}),
        ({"workspace_id": 64 * "f"}, {"workspace_id": 64 * "3"}),
        ({"family": "relation", "idempotency_key": "k"}, {"family": "record", "idempotency_key": "used"}),
        ({"family": "relation", "idempotency_key": "k"}, {"family": "judgment", "idempotency_key": "used"}),
        ({"candidate_id": RANDOM}, {"candidate_id": OTHER}),
        ({"source_id": RANDOM, "target_id": RANDOM[:-1] + "1"}, {"source_id": RECORD, "target_id": OTHER}),
        ({"source": RANDOM, "target": RANDOM[:-1] + "1"}, {"source": OTHER, "target": RECORD}),
        ({"run_id": RANDOM, "operation_id": RANDOM}, {"run_id": OTHER}),
        ({"run_id": RANDOM}, {"operation_id": OTHER}),
        ({"consumer_id": "c"}, {"consumer_id": "indexer"}),
        (
            {"consumer_id": "c", "expected_revision": 9, "expected_checkpoint_digest": None},
            {"consumer_id": "indexer", "expected_revision": 3, "expected_checkpoint_digest": 64 * "2"},
        ),
        ({"wait_millis": 29_999}, {"wait_millis": 19}),
        ({"limit": 7.0, "note": "a\x00b"}, {"limit": 7, "note": "ab"}),
    ],
)
def test_most_requests_are_about_what_there_is(place: Place, generated: Json, known: Json) -> None:
    before = repr(generated)
    assert known in spliced(place, generated)
    assert before == repr(generated)


@pytest.mark.parametrize(
    "faulty",
    [
        {"scope": {"project_id": "p", "visibility": "private"}},
        {"scope": "everything"},
        {"record_id": 7, "expected_revision": 1},
        {"record_id": RANDOM[:-1]},
        {"record_ids": [RANDOM, RANDOM]},
        {"record_ids": [RANDOM, "x"]},
        {"workspace_id": "F" * 64},
        {"operation": {}, "idempotency_key": ""},
        {"consumer_id": None},
        {"source_id": RANDOM, "target_id": RANDOM},
        {"source": RANDOM, "target": 7},
        {"run_id": 7},
        {"run_id": "RANDOM", "operation_id": RANDOM},
        {"run_id": RANDOM, "run_date": "2026-01-01"},
        {"candidate_id": 7},
        {"wait_millis": 30_001},
        {"wait_millis": "long"},
        {"title": "\x00"},
    ],
)
def test_what_was_generated_to_be_wrong_stays_wrong(place: Place, faulty: Json) -> None:
    assert [faulty] * len(SEEDS) == spliced(place, faulty)


@pytest.mark.parametrize("query", [{}, {"query": None}, {"query": {}}, {"query": {"through": None}}])
def test_a_stream_without_an_end_is_given_one(place: Place, query: Json) -> None:
    tip = place.known.newest_cursor(family(CHANGES))
    assert cursor(5) == tip
    assert {"query": {"through": tip}} == fenced(query, tip)


@pytest.mark.parametrize("query", [{"query": {"through": cursor(1)}}, {"query": "all"}, {"query": {"through": "end"}}])
def test_a_stream_with_an_end_or_without_sense_is_left_alone(query: Json) -> None:
    assert query == fenced(query, cursor(5))


def test_one_place_has_one_fall_of_the_dice_and_others_have_others() -> None:
    def throws(*place: object) -> list[Any]:
        dice = Dice(*place)
        return [dice.below(1_000), dice.often(50), dice.one_of("abcdef"), dice.shuffled("abcdef")]

    assert throws(1, "a") == throws(1, "a")
    assert throws(1, "a") != throws(1, "b") != throws(2, "b")
    assert sorted("abcdef") == sorted(throws(3)[-1])
