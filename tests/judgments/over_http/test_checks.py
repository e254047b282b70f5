"""Every route of judgments: who may call it, and the order of checks, on a server without a free slot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.http.route_table import ROUTES
from relatum.limits import BATCH_BODY_BYTES_MAX
from tests.http.client import ABSENT, RECORDS
from tests.http.order_of_checks import (
    People,
    Row,
    check_capabilities,
    check_faults,
    check_greatest_body,
    people_without_slots,
)
from tests.judgments.over_http.calling import JUDGMENTS, TOPIC_KEYS

READ, WRITE, REVIEW = "memory_read", "memory_write", "memory_review"
KEY = {"idempotency_key": "key"}
CONFIRMATION = {"record_id": ABSENT, "outcome": "affirmed", "evidence_ref": "note/1"}
JUDGMENT = {"candidate_id": ABSENT, "relation": "related"}
OTHER = ABSENT.replace("f", "e")


ROWS = [
    Row(f"{RECORDS}/commands", (READ, WRITE), {**KEY, "operation": {"type": "save", "record": {"content": "c"}}}),
    Row(
        f"{JUDGMENTS}/candidates",
        (READ, WRITE),
        {**KEY, "candidates": [{"source": ABSENT, "target": OTHER}]},
        (404, "record_not_found"),
    ),
    Row(
        f"{JUDGMENTS}/batch",
        (READ, WRITE),
        {"idempotency_key": "batch", "judgments": [JUDGMENT]},
        body_bytes_max=BATCH_BODY_BYTES_MAX,
    ),
    Row(
        f"{JUDGMENTS}/compare",
        (READ, WRITE),
        {**KEY, "source_id": ABSENT, "target_id": OTHER, "relation": "related", "confidence": 1},
        (404, "record_not_found"),
    ),
    Row(f"{JUDGMENTS}/query", (READ,), {"limit": 5}),
    Row(f"{JUDGMENTS}/sweep", (READ, REVIEW), {"idempotency_key": "sweep"}),
    Row(f"{JUDGMENTS}/undo", (READ, REVIEW), {**KEY, "run_id": ABSENT}, (404, "candidate_not_found")),
    Row(f"{RECORDS}/annotated", (READ,), {"record_ids": [ABSENT]}, slot=True),
    Row(f"{RECORDS}/search", (READ,), {"text": "tide"}, slot=True),
    Row(f"{RECORDS}/confirm", (READ, WRITE), {**KEY, "confirmations": [CONFIRMATION]}, (404, "record_not_found")),
    Row(f"{RECORDS}/needs-review", (READ,), {"limit": 5}),
    Row(TOPIC_KEYS, (READ,), {"title": "t", "content": "c"}),
]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    with people_without_slots(tmp_path_factory.mktemp("checked") / "store") as made:
        yield made


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_each_fault_alone_and_the_earlier_of_two_answer_as_the_contract_says(row: Row, people: People) -> None:
    check_faults(row, people)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_a_body_of_the_greatest_size_passes_and_the_slot_comes_after_authorization(row: Row, people: People) -> None:
    check_greatest_body(row, people)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_exactly_the_capabilities_of_the_contract_are_needed(row: Row, people: People) -> None:
    check_capabilities(row, people)


def test_every_route_of_judgments_stands_in_the_table() -> None:
    tagged = {route.path for route in ROUTES if route.tag == "judgments"}
    assert tagged == {row.path for row in ROWS} - {f"{RECORDS}/commands"}


def test_a_busy_server_still_takes_verdicts(people: People) -> None:
    first, second = people.sound.create("nine"), people.sound.create("ten")
    pair = {"source_id": first["record_id"], "target_id": second["record_id"]}
    body = {"idempotency_key": "busy", **pair, "relation": "related", "confidence": 1}
    assert 200 == people.sound.ask(f"{JUDGMENTS}/compare", **body).status_code
