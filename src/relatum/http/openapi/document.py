"""The document itself, from a table of routes: every path, every status a route can answer, every schema closed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from relatum import __version__
from relatum.core.answers.errors import ErrorAnswer, Problem
from relatum.core.answers.graphs import DerivedEdge
from relatum.core.answers.schemas import REF
from relatum.core.receipts import JudgmentReceipt
from relatum.http.openapi import descriptions
from relatum.http.openapi.descriptions import Schema
from relatum.http.openapi.docstrings import restore_docstrings
from relatum.http.openapi.operations import Operations
from relatum.http.routes import AnyRoute, PublicRoute

OPENAPI_VERSION: Final = "3.1.0"

_SECURITY: Final = "secret"

_ALSO: Final = (JudgmentReceipt, DerivedEdge)
"""Types that are no body or answer of their own, but one of several that a member may be."""

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
    "judgments": "Pairs of records to be judged, verdicts on them, and what follows for the records.",
    "views": "What follows from records and relations at one instant, and curated links.",
    "derived": "Mined edges, apart from everything authored.",
    "graphs": "Neighbourhoods of records, along relations and along derivations.",
    "feeds": "Changes in the order in which they were committed, and how far a consumer has come.",
    "receipts": "Receipts of accepted commands.",
    "access": "Credentials of a company.",
    "company": "A company's whole memory, for its administrators.",
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
    restore_docstrings()
    refs, schemas = _schemas(routes)
    operations = Operations(refs, schemas)
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for route in routes:
        if isinstance(route, PublicRoute):
            paths[route.path]["get"] = operations.public(route)
        else:
            paths[route.path][route.method.lower()] = operations.operation(route)
    return Document(
        openapi=OPENAPI_VERSION,
        info={
            "title": "relatum",
            "version": __version__,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        servers=[{"url": "/"}],
        tags=[{"name": name, "description": _TAGS.get(name, "")} for name in dict.fromkeys(one.tag for one in routes)],
        security=[{_SECURITY: []}],
        paths=dict(paths),
        components={
            "schemas": dict(sorted(schemas.items())),
            "responses": dict(sorted(operations.shared.items())),
            "headers": _HEADERS,
            "securitySchemes": {
                _SECURITY: {"type": "http", "scheme": "bearer", "description": "The secret of a credential."}
            },
        },
    )


def _schemas(routes: Iterable[AnyRoute]) -> tuple[dict[type, Schema], dict[str, Schema]]:
    """A reference for each type that a route takes or answers, and the schemas of all of them."""
    kinds: dict[type, None] = dict.fromkeys((ErrorAnswer, Problem, *_ALSO))
    for route in routes:
        found = route.answers.values() if isinstance(route, PublicRoute) else (route.takes, route.answers)
        kinds |= {kind: None for kind in found if isinstance(kind, type) and issubclass(kind, Struct)}
    schemas, components = msgspec.json.schema_components(list(kinds), ref_template=REF)
    descriptions.refine(components)
    return dict(zip(kinds, schemas, strict=True)), components
