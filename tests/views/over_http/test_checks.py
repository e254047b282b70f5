"""Every route of views and mined edges: who may call it, and the order of checks, on a server without a free slot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.http.route_table import ROUTES
from relatum.limits import BATCH_BODY_BYTES_MAX
from tests.http.client import ABSENT, NO_RECORD, RECORDS
from tests.http.order_of_checks import (
    People,
    Row,
    check_capabilities,
    check_faults,
    check_greatest_body,
    people_without_slots,
)
from tests.views.over_http.calling import CONTEXT, EDGES, GRAPH, LINKS, RUN

READ, WRITE, MINE = "memory_read", "memory_write", "memory_mine"
KEY = {"idempotency_key": "key"}
OTHER = ABSENT.replace("f", "e")
ENDS = {"source_id": ABSENT, "target_id": OTHER}
PROPOSAL = {**ENDS, "kind": "supports", "confidence": 1}


ROWS = [
    Row(LINKS, (READ, WRITE), {**KEY, "operation": {"type": "link", "kind": "related", **ENDS}}, NO_RECORD),
    Row(f"{RECORDS}/status", (READ,), {"record_ids": [ABSENT]}),
    Row(f"{RECORDS}/validate", (READ,), {"source_id": "source"}),
    Row(f"{GRAPH}/health", (READ,), {}, slot=True),
    Row(f"{GRAPH}/overview", (READ,), {"limit": 200}, slot=True),
    Row(CONTEXT, (READ,), {"prompt": "tide", "budget_characters": 6000, "shown": [ABSENT]}, slot=True),
    Row(
        f"{EDGES}/derived/replace",
        (READ, MINE),
        {"run": RUN, "edges": [], "finish": True},
        body_bytes_max=BATCH_BODY_BYTES_MAX,
    ),
    Row(f"{EDGES}/derived/drop", (READ, MINE), {}),
    Row(f"{EDGES}/promote", (READ, WRITE, MINE), {**KEY, "run": RUN, "proposals": [PROPOSAL]}),
    Row(f"{EDGES}/dangling", (READ,), {"limit": 5}),
    Row(f"{EDGES}/repair", (WRITE,), {"limit": 5}),
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


def test_every_route_of_views_stands_in_the_table() -> None:
    assert {row.path for row in ROWS} == {route.path for route in ROUTES if route.tag in ("views", "derived")}
