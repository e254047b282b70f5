"""Routes that need no credential: health, readiness, metrics, the document and its page (transport.md)."""

from __future__ import annotations

from typing import Final

from relatum import __version__
from relatum.core.answers.public import Health, NotReady, Ready
from relatum.http.responses import ALWAYS, JSON, RETRY_AFTER, Response, encoded, text, with_headers
from relatum.http.routes import PublicRoute
from relatum.http.server_state import Services
from relatum.limits import CONTRACT_VERSION
from relatum.telemetry import METRICS_CONTENT_TYPE

_HEALTH: Final = encoded(Health(contract_version=CONTRACT_VERSION, status="healthy", version=__version__))
_READY: Final = encoded(Ready(contract_version=CONTRACT_VERSION, status="ready"))


def health(_services: Services) -> Response:
    """200 while the process serves."""
    return Response(200, _HEALTH)


def ready(services: Services) -> Response:
    """200 when commands are accepted, else 503 with the reason."""
    readiness = services.readiness()
    if readiness == "ready":
        return Response(200, _READY)
    reason = encoded(NotReady(contract_version=CONTRACT_VERSION, status=readiness))
    return with_headers(Response(503, reason), RETRY_AFTER)


def document(services: Services) -> Response:
    """The OpenAPI document."""
    return Response(200, services.pages.document)


def reference(services: Services) -> Response:
    """The document for people. It needs nothing but itself: no script, no font, no image from anywhere."""
    policy = (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; form-action 'none'")
    return text(200, services.pages.reference, b"text/html; charset=utf-8", policy)


def home(_services: Services) -> Response:
    """To the reference page."""
    return Response(307, b"", (*ALWAYS, (b"location", b"/docs")))


def metrics(services: Services) -> Response:
    """Every metric as Prometheus text."""
    return text(200, services.metrics.render(), METRICS_CONTENT_TYPE.encode())


ROUTES: Final = (
    PublicRoute(
        path="/health",
        tag="public",
        summary="Whether the process serves",
        answers={200: Health},
        respond=health,
    ),
    PublicRoute(
        path="/ready",
        tag="public",
        summary="Whether commands are accepted",
        answers={200: Ready, 503: NotReady},
        respond=ready,
    ),
    PublicRoute(
        path="/openapi.json",
        tag="public",
        summary="This document",
        answers={200: JSON.decode()},
        respond=document,
    ),
    PublicRoute(
        path="/docs",
        tag="public",
        summary="This document for people",
        answers={200: "text/html"},
        respond=reference,
    ),
    PublicRoute(
        path="/",
        tag="public",
        summary="To the reference page",
        answers={307: None},
        respond=home,
    ),
)

METRICS_ROUTE: Final = PublicRoute(
    path="/metrics",
    tag="public",
    summary="Metrics of the server, here or on a listener of their own",
    answers={200: "text/plain"},
    respond=metrics,
)
