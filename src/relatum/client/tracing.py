"""Spans of calls, where they are asked for: a span a call, an event an attempt, `traceparent` sent with each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from relatum.client.attempts import Got, Result
from relatum.client.errors import ConfigurationError
from relatum.client.requests import Request


class Span:
    """The span of one call; this one tells nobody."""

    headers: dict[str, str] = {}

    def attempt(self, number: int, result: Result) -> None:
        """An attempt and its outcome."""


class Tracing:
    """Makes a span of each call; this one makes none, and imports nothing."""

    @contextmanager
    def call(self, request: Request[Any]) -> Iterator[Span]:
        """The span of a call, for as long as it lasts."""
        yield _NONE


class _RecordedSpan(Span):
    def __init__(self, span: Any) -> None:
        from opentelemetry.propagate import inject

        self._span = span
        self.headers = {}
        inject(self.headers)

    def attempt(self, number: int, result: Result) -> None:
        status = result.status if isinstance(result, Got) else type(result).__name__
        self._span.add_event("attempt", {"attempt": number, "outcome": status})
        if isinstance(result, Got):
            self._span.set_attribute("http.response.status_code", result.status)


class OpenTelemetry(Tracing):
    """Spans by the API package of OpenTelemetry. No id, key, scope, payload or secret is in any attribute.

    Raises ConfigurationError where that package is not installed.
    """

    def __init__(self) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise ConfigurationError("tracing needs the package opentelemetry-api: relatum[otel]") from None
        self._tracer = trace.get_tracer("relatum.client")
        self._kind = trace.SpanKind.CLIENT

    @contextmanager
    def call(self, request: Request[Any]) -> Iterator[Span]:
        """The span of a call, for as long as it lasts."""
        attributes = {"http.request.method": request.method, "http.route": request.route}
        with self._tracer.start_as_current_span(
            f"{request.method} {request.route}",
            kind=self._kind,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield _RecordedSpan(span)
            except Exception as error:
                span.set_attribute("error.type", getattr(error, "code", type(error).__name__))
                raise


_NONE = Span()
