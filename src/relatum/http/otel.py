"""Traces to OpenTelemetry (client.md, conventions at the HTTP edge). Imported only where the setting asks for it.

    POST <route template>     one a request, a child of what its `traceparent` says
      relatum.view            what is read, over one view
      relatum.queue           from handing a command to the writer until a group takes it
    relatum.commit            one a group, with a link to each of its requests

Always holds: no id, key, scope, payload or secret is in any attribute. Metrics stay Prometheus'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import Scope

from relatum import __version__
from relatum.http.responses import Response
from relatum.http.trace_context import traceparent
from relatum.http.tracing import Answered

_PARENTS: Final = TraceContextTextMapPropagator()


class Tracing:
    """The spans of one server; what they are given to, `provider` says. Any thread may use it."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("relatum", __version__)

    @contextmanager
    def request(self, scope: Scope, method: str, route: str) -> Iterator[Answered]:
        """One request; what is given tells how it was answered."""
        parent = traceparent(scope)
        context = None if parent is None else _PARENTS.extract({"traceparent": parent})
        attributes = {"http.request.method": method, "http.route": route}
        with self._tracer.start_as_current_span(
            f"{method} {route}", context, SpanKind.SERVER, attributes, record_exception=False
        ) as span:
            yield lambda response: _answered(span, response)

    def view(self) -> AbstractContextManager[object]:
        """What the current request reads."""
        return self._tracer.start_as_current_span("relatum.view", record_exception=False)

    def queued(self) -> Span:
        """A command of the current request waits for the writer."""
        return self._tracer.start_span("relatum.queue")

    @contextmanager
    def committing(self, queued: Sequence[object]) -> Iterator[None]:
        """A group has taken those that waited, and is committed."""
        waited = [span for span in queued if isinstance(span, Span)]
        for span in waited:
            span.end()
        links = [Link(span.get_span_context()) for span in waited]
        with self._tracer.start_as_current_span("relatum.commit", links=links, record_exception=False):
            yield

    def close(self) -> None:
        """What was traced is sent, as far as that is possible in a moment."""
        self._provider.shutdown()


def otlp() -> Tracing:
    """Spans that are sent by OTLP over HTTP, as the `OTEL_*` names of the environment say."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "relatum", "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)


def _answered(span: Span, response: Response) -> None:
    span.set_attribute("http.response.status_code", response.status)
    if response.refusal is not None:
        span.set_attribute("error.type", response.refusal.code)
        if response.status >= 500:
            span.set_status(Status(StatusCode.ERROR))
