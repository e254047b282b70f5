"""The document (openapi/openapi.json): up to date, closed, complete, and the same as what is served."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from relatum import __version__
from relatum.errors import STATUS
from relatum.http.openapi import __main__ as generator
from relatum.http.openapi.document import document
from relatum.http.openapi.examples import FILE, recorded
from relatum.http.openapi.operations import codes_of
from relatum.http.route_table import METRICS_ROUTE, ROUTES
from relatum.http.routes import PublicRoute
from tests.http.client import Api

ROOT = Path(__file__).parents[2]
DOCUMENT = document((*ROUTES, METRICS_ROUTE))
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
REMAKE = "run: python -m relatum.http.openapi"


def test_the_committed_document_is_what_the_code_makes() -> None:
    assert (ROOT / "openapi" / "openapi.json").read_bytes() == DOCUMENT.as_json(), REMAKE


def test_the_committed_examples_are_what_the_code_answers_and_no_run_differs() -> None:
    committed = Path(generator.__file__).with_name(FILE).read_bytes()
    assert committed == generator.record() == generator.record(), REMAKE


def test_the_served_document_is_the_committed_one(api: Api) -> None:
    assert (ROOT / "openapi" / "openapi.json").read_bytes() == api.send("GET", "/openapi.json").content


def test_the_document_names_its_version_and_the_servers() -> None:
    assert ("3.1.0", __version__) == (DOCUMENT["openapi"], DOCUMENT["info"]["version"])


def test_every_route_of_the_table_is_described_and_nothing_else() -> None:
    table = {
        (route.path, "get" if isinstance(route, PublicRoute) else route.method.lower())
        for route in (*ROUTES, METRICS_ROUTE)
    }
    assert table == {(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods}


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from nodes(member)
    elif isinstance(value, list):
        for item in value:
            yield from nodes(item)


def without_examples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_examples(member) for name, member in value.items() if name != "examples"}
    return [without_examples(item) for item in value] if isinstance(value, list) else value


def test_every_reference_leads_somewhere() -> None:
    for node in nodes(without_examples(DOCUMENT)):
        if "$ref" in node:
            place: Any = DOCUMENT
            for part in node["$ref"].removeprefix("#/").split("/"):
                assert part in place, node["$ref"]
                place = place[part]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_closed_and_every_member_says_what_it_may_be(name: str) -> None:
    schema = SCHEMAS[name]
    assert schema["additionalProperties"] is False
    assert schema["description"]
    for member, described in schema.get("properties", {}).items():
        for node in nodes(described):
            match node.get("type"):
                case "integer":
                    assert "const" in node or {"minimum", "maximum"} <= node.keys(), member
                case "string":
                    assert {"format", "pattern", "description", "enum"} & node.keys(), member
                case "number":
                    assert {"minimum", "maximum"} <= node.keys(), member


def test_operation_ids_are_unique() -> None:
    ids = [one["operationId"] for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("route", [one for one in ROUTES if not isinstance(one, PublicRoute)], ids=lambda one: one.path)
def test_every_code_stands_under_its_status(route: Any) -> None:
    for status, codes in codes_of(route).items():
        for code in codes:
            assert status == STATUS[code] or (status, code) == (413, "invalid_request")


def test_every_example_is_valid_for_its_schema() -> None:
    for operation in (one for methods in DOCUMENT["paths"].values() for one in methods.values()):
        contents = [("", operation["requestBody"])] if "requestBody" in operation else []
        contents += list(operation["responses"].items())
        for status, held in contents:
            for content in held.get("content", {}).values():
                validator = jsonschema_rs.Draft202012Validator(
                    {**content["schema"], "components": DOCUMENT["components"]}, validate_formats=True
                )
                for name, example in content.get("examples", {}).items():
                    deliberate = name in {"unknown_member", "one_refused"} and not status
                    assert deliberate or validator.is_valid(example["value"]), (operation["operationId"], status, name)


def test_no_two_examples_of_a_route_share_a_name_with_different_requests() -> None:
    seen: dict[tuple[str, str, str], bytes] = {}
    for one in recorded():
        key = (one.method, one.route, one.name)
        assert key not in seen, key
        seen[key] = msgspec.json.encode(one.request)


def test_the_document_mentions_no_file_of_the_contract() -> None:
    assert b".md" not in DOCUMENT.as_json()


def test_the_page_on_generated_clients_names_every_integer_of_64_bits() -> None:
    page = (ROOT / "docs" / "generated-clients.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)`", page.partition("| Members | Range |")[2].partition("| integers anywhere")[0]))
    found: set[str] = set()
    for schema in SCHEMAS.values():
        for name, member in schema.get("properties", {}).items():
            options = (member, *member.get("anyOf", ()))
            wide = any(one.get("type") == "integer" and one.get("maximum", 0) > 2**53 for one in options)
            if wide and name.endswith(("revision", "sequence", "_millis")):
                found.add(name)
    assert found == told
