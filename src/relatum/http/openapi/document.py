"""The document itself, from a table of routes: every path, every status a route can answer, every schema closed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from relatum import __version__
from relatum.errors import STATUS, Code
from relatum.http.errors import ErrorAnswer
from relatum.http.openapi import examples, vocabulary
from relatum.http.openapi.vocabulary import Schema
from relatum.http.routes import PATH_ID, AnyRoute, Needs, PublicRoute, Route
from relatum.http.schemas import REF
from relatum.http.services import Nothing

OPENAPI_VERSION: Final = "3.1.0"

_JSON: Final = "application/json"
_PREFIX: Final = "/api/v1/"
_SECURITY: Final = "secret"

_DESCRIPTION: Final = """\
A durable ledger of records and of typed relations between them.

A command carries an idempotency key: repeated, it is answered with the same receipt and does nothing again. After a \
500, a 503 or a broken connection the outcome of a command is unknown: repeat the identical command under the same key.

Objects refuse unknown members. An optional member may be left out or null, with the same meaning; `evidence_sources` \
alone refuses null. Integers of 64 bits survive a round trip. Programs branch on the status and the code of an error.\
"""
_TAGS: Final = {
    "records": "Memory records: what relations relate.",
    "relations": "Typed relations between records at exact revisions.",
    "receipts": "Receipts of accepted commands.",
    "access": "Credentials of a company.",
    "public": "Routes that need no credential.",
}
_HEADERS: Final = {
    "NoStore": {"description": "Nothing is to be cached.", "required": True, "schema": {"const": "no-store"}},
    "NoSniff": {"description": "The type is as declared.", "required": True, "schema": {"const": "nosniff"}},
    "RetryAfter": {"description": "Seconds to wait.", "required": True, "schema": {"const": "1"}},
    "Location": {"description": "Where to look.", "required": True, "schema": {"const": "/docs"}},
    "Challenge": {"description": "The scheme to use.", "required": True, "schema": {"const": "Bearer"}},
}


class Document(dict[str, Any]):
    """An OpenAPI document as plain data."""

    def as_json(self) -> bytes:
        """The document as it is served and committed."""
        return json.dumps(self, indent=2, ensure_ascii=False).encode() + b"\n"


def document(routes: Sequence[AnyRoute]) -> Document:
    """The document of `routes`."""
    refs, components = _schemas(routes)
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for route in routes:
        if isinstance(route, PublicRoute):
            paths[route.path]["get"] = _public_operation(route, refs)
        else:
            paths[route.path][route.method.lower()] = _operation(route, refs, components)
    return Document(
        openapi=OPENAPI_VERSION,
        info={
            "title": "relatum",
            "version": __version__,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        servers=[{"url": "/"}],
        tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        security=[{_SECURITY: []}],
        paths=dict(paths),
        components={
            "schemas": dict(sorted(components.items())),
            "headers": _HEADERS,
            "securitySchemes": {
                _SECURITY: {"type": "http", "scheme": "bearer", "description": "The secret of a credential."}
            },
        },
    )


def _schemas(routes: Iterable[AnyRoute]) -> tuple[dict[type, Schema], dict[str, Schema]]:
    """A reference for each type that a route takes or answers, and the schemas of all of them."""
    kinds: dict[type, None] = {ErrorAnswer: None}
    for route in routes:
        found = route.answers.values() if isinstance(route, PublicRoute) else (route.takes, route.answers)
        kinds |= {kind: None for kind in found if isinstance(kind, type) and issubclass(kind, Struct)}
    schemas, components = msgspec.json.schema_components(list(kinds), ref_template=REF)
    vocabulary.refine(components)
    return dict(zip(kinds, schemas, strict=True)), components


def _operation(route: Route[Any], refs: dict[type, Schema], components: dict[str, Schema]) -> dict[str, Any]:
    exchanges = examples.of(route.method, route.path)
    operation: dict[str, Any] = {
        "operationId": _operation_id(route.method, route.path),
        "tags": [route.tag],
        "summary": route.summary,
        "description": _description(route),
    }
    parameters = _parameters(route, components)
    if parameters:
        operation["parameters"] = parameters
    if route.takes is not Nothing and route.method == "POST":
        content = _content(refs[route.takes], examples.requests(exchanges))
        operation["requestBody"] = {"required": True, "content": {_JSON: content}}
    answer = _content(refs[route.answers], examples.responses(exchanges, route.status))
    responses = {route.status: _response(route.status, "Done.", {_JSON: answer})}
    for status, codes in sorted(codes_of(route).items()):
        error = _content(_error_schema(refs, codes), examples.responses(exchanges, status))
        responses[status] = _response(status, _listed(codes), {_JSON: error})
    operation["responses"] = {str(status): response for status, response in responses.items()}
    return operation


def _public_operation(route: PublicRoute, refs: dict[type, Schema]) -> dict[str, Any]:
    exchanges = examples.of("GET", route.path)
    responses = {}
    for status, kind in route.answers.items():
        content: dict[str, Any] | None = None
        if isinstance(kind, str):  # a media type
            content = {kind: {"schema": {"type": "object" if kind == _JSON else "string"}}}
        elif kind is not None:
            content = {_JSON: _content(refs[kind], examples.responses(exchanges, status))}
        responses[str(status)] = _response(status, "Done." if status < 300 else "See the body.", content)
    failed = {_JSON: _content(_error_schema(refs, ("internal_error",)), {})}
    responses["500"] = _response(500, _listed(("internal_error",)), failed)
    return {
        "operationId": _operation_id("GET", route.path),
        "tags": [route.tag],
        "summary": route.summary,
        "security": [],
        "responses": responses,
    }


def codes_of(route: Route[Any]) -> dict[int, tuple[Code, ...]]:
    """Every status that a route can refuse or fail with, and its codes."""
    codes: list[tuple[int, Code]] = [
        (401, "unauthorized"),
        (500, "storage_inconsistency"),
        (500, "internal_error"),
        (503, "storage_unavailable"),
    ]
    if route.takes is not Nothing:
        codes += [(400, "invalid_request"), (400, "unsupported_contract_version")]
        codes += [(413, "invalid_request")] if route.method == "POST" else []
    if _has_id(route):
        codes.append((400, "invalid_request"))
    if route.access != "any":
        codes.append((403, "forbidden"))
    if route.slot:
        codes.append((503, "retrieval_busy"))
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


def _parameters(route: Route[Any], components: dict[str, Schema]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if _has_id(route):
        found.append({"name": PATH_ID, "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}})
    if route.takes is not Nothing and route.method == "GET":
        schema = components[route.takes.__name__]
        for name, member in schema["properties"].items():
            required = name in schema.get("required", ())
            found.append({"name": name, "in": "query", "required": required, "schema": member})
    return found


def _response(status: int, words: str, content: dict[str, Any] | None) -> dict[str, Any]:
    headers = {"Cache-Control": "NoStore", "X-Content-Type-Options": "NoSniff"}
    if status == 503:
        headers["Retry-After"] = "RetryAfter"
    elif status == 401:
        headers["WWW-Authenticate"] = "Challenge"
    elif status == 307:
        headers["Location"] = "Location"
    response: dict[str, Any] = {
        "description": words,
        "headers": {name: {"$ref": f"#/components/headers/{kind}"} for name, kind in headers.items()},
    }
    return response if content is None else response | {"content": content}


def _content(schema: Schema, shown: dict[str, Any]) -> dict[str, Any]:
    return {"schema": schema, "examples": shown} if shown else {"schema": schema}


def _error_schema(refs: dict[type, Schema], codes: tuple[Code, ...]) -> Schema:
    """The error envelope with the codes of one status alone."""
    return {**refs[ErrorAnswer], "properties": {"error": {"properties": {"code": {"enum": list(codes)}}}}}


def _listed(codes: tuple[Code, ...]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def _has_id(route: Route[Any]) -> bool:
    return f"{{{PATH_ID}}}" in route.path


def _operation_id(method: str, path: str) -> str:
    words = path.removeprefix(_PREFIX).removeprefix("memory/").replace(f"{{{PATH_ID}}}/", "").replace("-", "_")
    words = words.replace(f"{{{PATH_ID}}}", "one").strip("/").replace("/", "_").replace(".json", "") or "home"
    return f"{method.lower()}_{words}"
