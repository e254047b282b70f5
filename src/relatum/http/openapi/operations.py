"""One route as an operation of the document: who may call it, what it takes, and every status it can answer."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from relatum.core.answers.errors import ErrorAnswer, Problem
from relatum.errors import STATUS, Code
from relatum.http.openapi import examples
from relatum.http.openapi.descriptions import Schema
from relatum.http.problems import MEDIA_TYPE
from relatum.http.routes import PATH_ID, Needs, PublicRoute, Route
from relatum.http.server_state import Nothing

JSON: Final = "application/json"

_PREFIX: Final = "/api/v1/"
_HEADERS: Final = {
    307: {"Location": "Location"},
    401: {"WWW-Authenticate": "Challenge"},
    503: {"Retry-After": "RetryAfter"},
}
_LAST_EVENT_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "The id of the last event received: the stream goes on behind it.",
    "schema": {"type": "string"},
}
_EVERY: Final = {"Cache-Control": "NoStore", "X-Content-Type-Options": "NoSniff"}


class Operations:
    """Writes operations. `refs` and `schemas` describe the types of the routes.

    `shared` gathers the refusals that many routes have in common, for the document's components.
    """

    def __init__(self, refs: dict[type, Schema], schemas: dict[str, Schema]) -> None:
        self.shared: dict[str, dict[str, Any]] = {}
        self._refs = refs
        self._schemas = schemas

    def operation(self, route: Route[Any]) -> dict[str, Any]:
        """A route that needs a credential."""
        exchanges = examples.of(route.method, route.path)
        operation: dict[str, Any] = {
            "operationId": _operation_id(route.method, route.path),
            "tags": [route.tag],
            "summary": route.summary,
            "description": _description(route),
        }
        parameters = self._parameters(route)
        if parameters:
            operation["parameters"] = parameters
        if route.takes is not Nothing and route.method == "POST":
            content = _content(self._refs[route.takes], examples.requests(exchanges))
            operation["requestBody"] = {"required": True, "content": {JSON: content}}
        if isinstance(route.answers, str):  # a media type
            answer = {route.answers: {"schema": {"type": "string"}}}
        else:
            answer = {JSON: _content(self._refs[route.answers], examples.responses(exchanges, route.status))}
        responses = {str(route.status): _response(route.status, "Done.", answer)}
        for status, codes in sorted(codes_of(route).items()):
            responses[str(status)] = self._refusal(status, codes, examples.responses(exchanges, status))
        return operation | {"responses": responses}

    def public(self, route: PublicRoute) -> dict[str, Any]:
        """A route that needs none."""
        exchanges = examples.of("GET", route.path)
        responses = {}
        for status, kind in route.answers.items():
            content: dict[str, Any] | None = None
            if isinstance(kind, str):  # a media type
                content = {kind: {"schema": {"type": "object" if kind == JSON else "string"}}}
            elif kind is not None:
                content = {JSON: _content(self._refs[kind], examples.responses(exchanges, status))}
            responses[str(status)] = _response(status, "Done." if status < 300 else "See the body.", content)
        responses["500"] = self._refusal(500, ("internal_error",), {})
        return {
            "operationId": _operation_id("GET", route.path),
            "tags": [route.tag],
            "summary": route.summary,
            "security": [],
            "responses": responses,
        }

    def _refusal(self, status: int, codes: tuple[Code, ...], shown: dict[str, Any]) -> dict[str, Any]:
        """The response of an error: shared, unless there are examples of it for this route alone."""
        listed = ", ".join(f"`{code}`" for code in codes)
        permitted = {"error": {"properties": {"code": {"enum": list(codes)}}}}
        content = _content({**self._refs[ErrorAnswer], "properties": permitted}, shown)
        problem = _content({**self._refs[Problem], "properties": {"code": {"enum": list(codes)}}}, {})
        response = _response(status, listed, {JSON: content, MEDIA_TYPE: problem})
        if shown:
            return response
        name = ".".join((str(status), *codes))
        self.shared[name] = response
        return {"$ref": f"#/components/responses/{name}"}

    def _parameters(self, route: Route[Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        if _has_id(route):
            uuid = {"type": "string", "format": "uuid"}
            found.append({"name": PATH_ID, "in": "path", "required": True, "schema": uuid})
        if route.takes is not Nothing and route.method == "GET":
            schema = self._schemas[route.takes.__name__]
            required = schema.get("required", ())
            for name, member in schema["properties"].items():
                found.append({"name": name, "in": "query", "required": name in required, "schema": member})
        if isinstance(route.answers, str):
            found.append(_LAST_EVENT_ID)
        return found


def codes_of(route: Route[Any]) -> dict[int, tuple[Code, ...]]:
    """Every status that a route can refuse or fail with, and its codes."""
    codes: list[tuple[int, Code]] = [
        (401, "unauthorized"),
        (500, "storage_inconsistency"),
        (500, "internal_error"),
        (503, "storage_unavailable"),
        (503, "retrieval_busy"),
    ]
    if route.takes is not Nothing:
        codes += [(400, "invalid_request"), (400, "unsupported_contract_version")]
        codes += [(413, "invalid_request")] if route.method == "POST" else []
    if _has_id(route):
        codes.append((400, "invalid_request"))
    if route.access != "any":
        codes.append((403, "forbidden"))
    if route.writes:
        codes.append((503, "write_busy"))
    codes += [(STATUS[code], code) for code in route.refuses]
    grouped: dict[int, dict[Code, None]] = defaultdict(dict)
    for status, code in codes:
        grouped[status][code] = None
    return {status: tuple(found) for status, found in grouped.items()}


def _description(route: Route[Any]) -> str:
    access = route.access
    match access:
        case Needs(words=words):
            lines = [f"Needs a grant of the scope, and {words}."]
        case "admin":
            lines = ["Needs credential_admin."]
        case _:
            lines = ["Needs any valid credential."]
    if route.slot:
        lines.append("Takes an admission slot.")
    if route.takes is not Nothing and route.method == "POST":
        lines.append(f"A body of at most {route.body_bytes_max} bytes.")
    return " ".join(lines)


def _response(status: int, words: str, content: dict[str, Any] | None) -> dict[str, Any]:
    headers = _EVERY | _HEADERS.get(status, {})
    response: dict[str, Any] = {
        "description": words,
        "headers": {name: {"$ref": f"#/components/headers/{kind}"} for name, kind in headers.items()},
    }
    return response if content is None else response | {"content": content}


def _content(schema: Schema, shown: dict[str, Any]) -> dict[str, Any]:
    return {"schema": schema, "examples": shown} if shown else {"schema": schema}


def _has_id(route: Route[Any]) -> bool:
    return f"{{{PATH_ID}}}" in route.path


def _operation_id(method: str, path: str) -> str:
    words = path.removeprefix(_PREFIX).removeprefix("memory/").replace(f"{{{PATH_ID}}}/", "").replace("-", "_")
    words = words.replace(f"{{{PATH_ID}}}", "one").strip("/").replace("/", "_").replace(".json", "") or "home"
    return f"{method.lower()}_{words}"
