"""Long lists in requests of bounded size, two followers under one name, and spans of calls."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import msgspec
import pytest

from relatum.client import (
    Accepted,
    CheckpointTaken,
    Client,
    CreateRecord,
    EdgeInput,
    NotReached,
    OutcomeUnknown,
    RecordInput,
    Refused,
    Secret,
)
from relatum.client.packing import Batch, edge_pages, item_of
from relatum.core.ids import Scope
from relatum.limits import BATCH_BODY_BYTES_MAX, COMMAND_BATCH_MAX, DERIVED_PAGE_MAX
from tests.http.serving import Server

A_SECRET = "rtm1_" + "0" * 32 + "_" + "A" * 43
ENDS = ("01a22fb4-28d1-76d8-86b5-baf9ccb2b8c9", "01a22fb4-28d1-76d8-86b5-baf9ccb2b8ca")


def test_edges_go_out_in_pages_that_a_request_can_hold() -> None:
    edge = EdgeInput(source_id=ENDS[0], target_id=ENDS[1], kind="supports", weight=0.1234567890123)
    pages = list(edge_pages(edge for _ in range(12_000)))
    assert 12_000 == sum(len(page) for page, _ in pages)
    assert [False] * (len(pages) - 1) + [True] == [last for _, last in pages]
    for page, _ in pages:
        assert len(page) <= DERIVED_PAGE_MAX
        assert len(msgspec.json.encode(page)) < BATCH_BODY_BYTES_MAX
    assert [([], True)] == list(edge_pages([]))


@pytest.mark.parametrize("content", ["x", "x" * 20_000])
def test_a_request_takes_as_many_commands_as_fit(content: str) -> None:
    scope = Scope(project_id="p" * 256, agent_id="a", visibility="shared")
    batch, items = Batch(scope), []
    item = item_of("k" * 32, CreateRecord(record=RecordInput(content=content)))
    while batch.takes(item):
        batch.add(item)
        items.append(item)
    body = Batch.body(scope, items)
    assert len(body) <= BATCH_BODY_BYTES_MAX
    assert len(items) == COMMAND_BATCH_MAX or len(body) + len(item.content) >= BATCH_BODY_BYTES_MAX


def test_a_command_larger_than_a_request_is_refused_alone(server: Server, issue: Callable[[], Secret]) -> None:
    contents = ["first", "x" * 1_100_000, "last"]
    with Client(server.url, secret=issue()) as client:
        outcomes = client.scope().records.submit_many(
            CreateRecord(record=RecordInput(content=content)) for content in contents
        )
    assert [Accepted, Refused, Accepted] == [type(outcome) for outcome in outcomes]
    assert isinstance(outcomes[1], Refused)
    assert 413 == outcomes[1].status


def answering(request: httpx.Request) -> httpx.Response:
    """A server that takes one request of many commands, and is gone then."""
    commands = json.loads(request.content)["commands"]
    if len(commands) < COMMAND_BATCH_MAX:
        raise httpx.ConnectError("nobody listens")
    refused = {"code": "revision_conflict", "status": 409}
    results = [{"error": {**refused, "message": f"number {place}"}} for place in range(len(commands))]
    return httpx.Response(200, json={"contract_version": 1, "results": results})


def test_what_was_told_is_not_lost_when_a_later_request_is_not_even_sent() -> None:
    notes = [CreateRecord(record=RecordInput(content=f"note {number}")) for number in range(COMMAND_BATCH_MAX + 44)]
    keys = [f"key-{number % 200}" for number in range(len(notes))]  # some twice within one request
    with Client.over(httpx.MockTransport(answering), secret=A_SECRET, deadline=0.5) as client:
        with pytest.raises(OutcomeUnknown) as caught:
            client.scope("p", "a").records.submit_many(notes, keys=keys)
        with pytest.raises(NotReached):
            client.scope("p", "a").records.submit_many(notes[:3])
    told = [outcome.message for outcome in caught.value.outcomes if isinstance(outcome, Refused)]
    assert [f"number {place}" for place in range(COMMAND_BATCH_MAX)] == told, "each in its place, whatever its key"
    assert tuple(keys[COMMAND_BATCH_MAX:]) == caught.value.unsettled
    assert isinstance(caught.value.__cause__, NotReached)


def test_a_second_follower_of_one_name_is_noticed(server: Server, issue: Callable[[], Secret]) -> None:
    with Client(server.url, secret=issue()) as client:
        records = client.scope().records
        for number in range(2):
            records.create(f"note {number}")
        with records.follow("twice") as one, records.follow("twice") as other:
            next(one)
            next(other)
            one.commit()
            with pytest.raises(CheckpointTaken):
                other.commit()
        with records.follow("twice", through="tip", commit_every=1) as rest:
            assert 1 == len(list(rest))
        assert 2 == records.checkpoint("twice").cursor.sequence


def test_a_call_is_a_span_and_an_attempt_an_event(
    server: Server, issue: Callable[[], Secret], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason="the SDK of OpenTelemetry is not installed")
    from opentelemetry import trace as api
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), trace.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(api, "get_tracer", provider.get_tracer)  # a provider for all could be set but once
    secret = issue()
    with Client(server.url, secret=secret, tracing=True) as client:
        client.scope().records.create("a secret content")
    spans = exporter.get_finished_spans()
    names = [span.name for span in spans]
    assert ["GET /api/v1/identity", "POST /api/v1/memory/records/commands"] == names
    assert [200] == [(span.attributes or {})["http.response.status_code"] for span in spans[1:]]
    assert ["attempt"] == [event.name for event in spans[1].events]
    assert "a secret content" not in spans[1].to_json()
