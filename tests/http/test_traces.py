"""Traces (client.md, conventions at the HTTP edge): what spans there are, what they say, and what is never said."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from relatum.clock import ManualClock
from relatum.errors import Refusal
from relatum.http.app import application
from relatum.http.otel import Tracing
from relatum.http.route_table import ROUTES
from relatum.http.server_state import Pages, Services
from relatum.http.trace_context import traced
from relatum.ledger import Ledger
from relatum.telemetry import Log
from tests.http.client import Api, Caller, Json, issue, scope
from tests.http.serving import Server, initialise
from tests.support.builders import START_MILLIS
from tests.support.polling import until

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
COMMANDS, READ = "/api/v1/memory/records/commands", "/api/v1/memory/records/read"
CONTENT, KEY = "what nobody else may see", "key-of-a-client"
TAGGED = {"http.request.method", "http.route", "http.response.status_code", "error.type"}


class Traced:
    """A ledger served in process, and the spans that come of it."""

    def __init__(self, ledger: Ledger) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        tracing = Tracing(provider)
        self.lines = io.StringIO()
        log = Log(self.lines, lambda: START_MILLIS)
        self.services = Services(ledger, log, Pages(b"{}", b""), slots_max=8, read_threads=1, tracing=tracing)
        self.scope = scope()
        admin = ledger.bootstrap("acme", "ada")
        assert not isinstance(admin, Refusal)
        self.secret = admin.secret
        spec = {
            "subject_id": "a-worker-of-acme",
            "capabilities": ["memory_read", "memory_write"],
            "grants": [self.scope],
        }
        [issued] = self.ask(("/api/v1/credentials", {"spec": spec}))
        self.secret = issued.json()["secret"]
        self.exporter.clear()
        ledger.trace_writes(tracing)

    def ask(self, *requests: tuple[str, Json], headers: dict[str, str] | None = None) -> list[httpx.Response]:
        """All at once."""

        async def run() -> list[httpx.Response]:
            transport = httpx.ASGITransport(application(ROUTES, self.services))
            own = {"authorization": f"Bearer {self.secret}", **(headers or {})}
            async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=own) as client:
                bodies = ((path, {"contract_version": 1, **body}) for path, body in requests)
                return list(await asyncio.gather(*(client.post(path, json=body) for path, body in bodies)))

        return asyncio.run(run())

    def create(self, *keys: str) -> list[httpx.Response]:
        operation = {"type": "create", "record": {"content": CONTENT}}
        bodies = [{"scope": self.scope, "idempotency_key": key, "operation": operation} for key in keys]
        return self.ask(*((COMMANDS, body) for body in bodies), headers={"traceparent": TRACEPARENT})

    def spans(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]


@pytest.fixture
def served() -> Iterator[Traced]:
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        made = Traced(ledger)
        yield made
        made.services.close()


def ids(span: ReadableSpan) -> tuple[int, int]:
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


def test_a_command_is_a_request_that_waits_and_a_group_that_links_to_it(served: Traced) -> None:
    assert [200, 200] == [answer.status_code for answer in served.create(f"{KEY}-1", f"{KEY}-2")]
    until(lambda: sum(len(span.links) for span in served.spans("relatum.commit")) == 2, "a span of the commit")
    requests, queues, commits = (served.spans(name) for name in (f"POST {COMMANDS}", "relatum.queue", "relatum.commit"))
    assert {TRACE} == {f"{ids(span)[0]:032x}" for span in requests}
    assert {PARENT} == {f"{span.parent.span_id:016x}" for span in requests if span.parent}
    assert {ids(span)[1] for span in requests} == {span.parent.span_id for span in queues if span.parent}
    linked = {(link.context.trace_id, link.context.span_id) for span in commits for link in span.links}
    assert {ids(span) for span in queues} == linked
    assert {200} == {(span.attributes or {})["http.response.status_code"] for span in requests}


@pytest.mark.parametrize("path", [READ, "/api/v1/memory/records/query"], ids=["on the event loop", "in a thread"])
def test_a_read_is_a_request_with_a_view(served: Traced, path: str) -> None:
    receipt = served.create(KEY)[0].json()["receipt"]
    wanted = {"record_id": receipt["record_id"]} if path == READ else {"filter": {}}
    [answer] = served.ask((path, {"scope": served.scope, **wanted}))
    assert 200 == answer.status_code
    [request], [view] = served.spans(f"POST {path}"), served.spans("relatum.view")
    assert view.parent is not None
    assert ids(request) == (view.parent.trace_id, view.parent.span_id)


def test_a_refusal_is_told_by_its_code(served: Traced) -> None:
    served.ask((READ, {"scope": served.scope, "record_id": "no id"}))
    [request] = served.spans(f"POST {READ}")
    told = {"http.response.status_code": 400, "error.type": "invalid_request"}
    assert {"http.request.method": "POST", "http.route": READ, **told} == dict(request.attributes or {})


def test_no_span_says_what_only_a_client_may_know(served: Traced) -> None:
    receipt = served.create(KEY)[0].json()["receipt"]
    served.ask((READ, {"scope": served.scope, "record_id": receipt["record_id"]}))
    until(lambda: bool(served.spans("relatum.commit")), "a span of the commit")
    spans = served.exporter.get_finished_spans()
    assert TAGGED >= {name for span in spans for name in span.attributes or {}}
    said = "".join(span.to_json() for span in spans)
    secrets = (CONTENT, KEY, receipt["record_id"], served.secret, served.scope["project_id"], "a-worker-of-acme")
    assert [] == [one for one in secrets if one in said]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (TRACEPARENT, TRACE),
        (f"01-{TRACE}-{PARENT}-01-more", TRACE),
        (f"00-{TRACE}-{PARENT}-01-more", None),
        (f"ff-{TRACE}-{PARENT}-01", None),
        (f"00-{'0' * 32}-{PARENT}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE.upper()}-{PARENT}-01", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_a_log_line_has_the_trace_of_a_sound_header_alone(header: str, expected: str | None) -> None:
    found = traced({"type": "http", "headers": [(b"traceparent", header.encode())]})
    assert ({} if expected is None else {"trace_id": expected}) == found
    twice = traced({"type": "http", "headers": [(b"traceparent", TRACEPARENT.encode())] * 2})
    assert {} == twice


def test_a_failed_request_is_logged_with_its_trace(served: Traced, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("relatum.ledger.reads.records.read", broken)
    absent = {"scope": served.scope, "record_id": "ffffffff-ffff-4fff-8fff-ffffffffffff"}
    [answer] = served.ask((READ, absent), headers={"traceparent": TRACEPARENT})
    assert 500 == answer.status_code
    [line] = map(json.loads, served.lines.getvalue().splitlines())
    assert (TRACE, READ) == (line["trace_id"], line["route"])


def test_nothing_is_imported_where_it_is_off() -> None:
    program = "import sys, relatum.http.server, relatum.cli.serve; print([n for n in sys.modules if 'opentel' in n])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "[]" == found.stdout.strip()


def test_a_server_sends_its_spans_to_a_collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[str] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                received.extend(span.name for scoped in resource.scope_spans for span in scoped.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        Thread(target=collector.serve_forever, daemon=True).start()
        monkeypatch.setenv("RELATUM_TELEMETRY", "otlp")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        secret = initialise(tmp_path / "store")
        with Server(tmp_path / "store") as server, Api(server.url) as api:
            caller = issue(Caller(api, secret))
            caller.create()
            assert 0 == server.stop()
        collector.shutdown()
    assert {f"POST {COMMANDS}", "relatum.queue", "relatum.commit"} <= set(received)
