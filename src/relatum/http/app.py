"""The ASGI application: from a table of routes to whatever answers a path and a method.

Always holds: an unknown path is 404 and a wrong method 405, before anything else is looked at, in the envelope of every
other error. A path without a parameter is found by one look-up, however many routes there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Iterable, Mapping
from typing import Final

from starlette.routing import Route as PatternRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from relatum.errors import Refusal
from relatum.http import errors
from relatum.http.endpoint import NO_ROOM, Endpoint
from relatum.http.problems import negotiated
from relatum.http.request_id import identified
from relatum.http.responses import Header, write
from relatum.http.routes import AnyRoute, PublicRoute
from relatum.http.server_state import Services

_NO_ROUTE: Final = "(none)"
"""Stands for the route in metrics where there is none: a path that a client made up is no label."""


def application(routes: Iterable[AnyRoute], services: Services, beside: Mapping[str, ASGIApp] | None = None) -> ASGIApp:
    """What serves `routes`, and `beside` them what the document does not describe: endpoints by path that take POST."""
    methods: dict[str, dict[str, ASGIApp]] = defaultdict(dict)
    for route in routes:
        methods[route.path] |= _endpoints(route, services)
    for path, endpoint in (beside or {}).items():
        methods[path]["POST"] = endpoint
    paths = {path: _Methods(endpoints, services) for path, endpoints in methods.items()}
    exact = {path: endpoint for path, endpoint in paths.items() if "{" not in path}
    patterns = [PatternRoute(path, endpoint) for path, endpoint in paths.items() if "{" in path]
    no_route = _Refusing(errors.NOT_FOUND, services)
    others = Router(patterns, redirect_slashes=False, default=no_route)

    def serve(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if _hides_a_slash(scope.get("raw_path", b"")):
            return no_route(scope, receive, send)
        return exact.get(scope["path"], others)(scope, receive, send)

    return serve


def _hides_a_slash(raw_path: bytes) -> bool:
    """Whether a segment of a path as it was sent has a `/` in it, which would look like two once it is decoded."""
    return b"%2f" in raw_path.lower()


def while_busy(app: ASGIApp) -> ASGIApp:
    """What serves when there is no room for more work: all but public routes and the operator's find no free slot."""

    def serve(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return app({**scope, "extensions": {**scope.get("extensions", {}), NO_ROOM: {}}}, receive, send)

    return serve


def _endpoints(route: AnyRoute, services: Services) -> Mapping[str, ASGIApp]:
    if isinstance(route, PublicRoute):
        endpoint: ASGIApp = _Public(route, services)
        return {"GET": endpoint, "HEAD": endpoint}
    endpoint = Endpoint(route, services)
    return {"GET": endpoint, "HEAD": endpoint} if route.method == "GET" else {"POST": endpoint}


class _Methods:
    """One path: an endpoint for each method it takes."""

    def __init__(self, endpoints: Mapping[str, ASGIApp], services: Services) -> None:
        self._endpoints = endpoints
        allow = (b"allow", ", ".join(sorted(endpoints)).encode())
        self._refusing = _Refusing(errors.METHOD_NOT_ALLOWED, services, allow)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return self._endpoints.get(scope["method"], self._refusing)(scope, receive, send)


class _Public:
    def __init__(self, route: PublicRoute, services: Services) -> None:
        self._route = route
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = self._route.respond(self._services)
        except Exception as error:  # noqa: BLE001 - as for every other route
            self._services.log.failure(
                "a request failed inside the server", error, route=self._route.path, **identified(scope)
            )
            response = errors.refused(errors.INTERNAL)
        await write(scope, send, negotiated(scope, response))
        self._services.metrics.requests(self._route.path, str(response.status)).inc()


class _Refusing:
    """Answers every request with the same refusal."""

    def __init__(self, refusal: Refusal, services: Services, *headers: Header) -> None:
        self._response = errors.refused(refusal, *headers)
        self._counter = services.metrics.requests(_NO_ROUTE, str(refusal.status))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await write(scope, send, negotiated(scope, self._response))
        self._counter.inc()
