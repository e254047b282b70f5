"""The reference page: the document for people, as one HTML page that needs nothing but itself.

No script and nothing to load, so the page is as safe as it is small, prints, and reads well in any browser. Every text
of the document is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from importlib import resources
from typing import Any, Final

Node = dict[str, Any]

_STYLE: Final = "page.css"


def page(document: Node) -> bytes:
    """The page of an OpenAPI document."""
    info = document["info"]
    title = f"{escape(info['title'])} {escape(info['version'])}"
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{resources.files(__package__).joinpath(_STYLE).read_text(encoding='utf-8')}</style></head><body>",
        *_navigation(document),
        f"<main><header><h1>{title}</h1>",
        *(f"<p>{_prose(text)}</p>" for text in info["description"].split("\n\n")),
        '<p>The same as data: <a href="/openapi.json">openapi.json</a></p></header>',
        *_operations(document),
        '<section><h2 id="schemas">Schemas</h2>',
        *(part for name, schema in document["components"]["schemas"].items() for part in _schema(name, schema)),
        "</section></main></body></html>",
    ]
    return "\n".join(parts).encode()


def _navigation(document: Node) -> Iterator[str]:
    yield "<nav>"
    for tag in document["tags"]:
        yield f'<h2><a href="#tag-{escape(tag["name"])}">{escape(tag["name"])}</a></h2><ul>'
        for _, path, operation in _tagged(document, tag["name"]):
            yield f'<li><a href="#{escape(operation["operationId"])}">{escape(_short(path))}</a></li>'
        yield "</ul>"
    yield '<h2><a href="#schemas">schemas</a></h2></nav>'


def _operations(document: Node) -> Iterator[str]:
    for tag in document["tags"]:
        yield f'<section><h2 id="tag-{escape(tag["name"])}">{escape(tag["name"])}</h2>'
        yield f"<p>{_prose(tag['description'])}</p>"
        for method, path, operation in _tagged(document, tag["name"]):
            shared = document["components"]["responses"]
            responses = {status: _resolved(shared, one) for status, one in operation["responses"].items()}
            yield from _operation(method, path, operation | {"responses": responses})
        yield "</section>"


def _tagged(document: Node, tag: str) -> Iterator[tuple[str, str, Node]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag in operation["tags"]:
                yield method.upper(), path, operation


def _resolved(shared: Node, response: Node) -> Node:
    found: Node = shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
    return found


def _operation(method: str, path: str, operation: Node) -> Iterator[str]:
    yield f'<article id="{escape(operation["operationId"])}"><h3><b class="{method.lower()}">{method}</b> '
    yield f"<code>{escape(path)}</code></h3><p>{_prose(operation['summary'])}.</p>"
    yield f"<p>{_prose(operation.get('description', ''))}</p>"
    if "parameters" in operation:
        yield "<h4>Parameters</h4>"
        rows = ((one["name"], one["schema"], one["required"]) for one in operation["parameters"])
        yield from _members(rows)
    body = operation.get("requestBody", {}).get("content", {})
    if body:
        yield f"<h4>Body</h4><p>{_kind(body['application/json']['schema'])}</p>"
        yield from _examples(body["application/json"])
    yield "<h4>Answers</h4><table><tr><th>Status</th><th>Codes, or what it holds</th></tr>"
    for status, response in operation["responses"].items():
        held = ", ".join(_held(media, content) for media, content in response.get("content", {}).items())
        words = held if int(status) < 400 or not response["description"].startswith("`") else ""
        yield f"<tr><td>{status}</td><td>{_prose(response['description'])} {words}</td></tr>"
    yield "</table>"
    for status, response in operation["responses"].items():
        for content in response.get("content", {}).values():
            yield from _examples(content, f"{status} ")
    yield "</article>"


def _held(media: str, content: Node) -> str:
    return _kind(content["schema"]) if "$ref" in content["schema"] else f"<code>{escape(media)}</code>"


def _examples(content: Node, prefix: str = "") -> Iterator[str]:
    for name, example in content.get("examples", {}).items():
        text = json.dumps(example["value"], indent=2, ensure_ascii=False)
        yield f"<details><summary>Example: {prefix}{escape(name)}</summary><pre>{escape(text)}</pre></details>"


def _schema(name: str, schema: Node) -> Iterator[str]:
    yield f'<article id="schema-{escape(name)}"><h3><code>{escape(name)}</code></h3>'
    yield f"<p>{_prose(schema.get('description', ''))}</p>"
    required = schema.get("required", ())
    yield from _members((member, each, member in required) for member, each in schema.get("properties", {}).items())
    yield "</article>"


def _members(members: Iterable[tuple[str, Node, bool]]) -> Iterator[str]:
    yield "<table><tr><th>Member</th><th>Type</th><th>Meaning and bounds</th></tr>"
    for name, schema, required in members:
        mark = "" if required else " <small>optional</small>"
        yield f"<tr><td><code>{escape(name)}</code>{mark}</td><td>{_kind(schema)}</td><td>{_meaning(schema)}</td></tr>"
    yield "</table>"


def _kind(schema: Node) -> str:
    """The type of a schema in a few words, its references as links."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if schema.get("type") == "array":
        items = schema.get("items")
        return f"array of {_kind(items)}" if isinstance(items, dict) else "array"
    return escape(" ".join(filter(None, (schema.get("format"), schema.get("type", "any")))))


def _meaning(schema: Node) -> str:
    found = [schema, *schema.get("anyOf", ())]
    if isinstance(schema.get("items"), dict):
        found.append(schema["items"])
    return " ".join(filter(None, (_prose(each.get("description", "")) + _bounds(each) for each in found)))


def _bounds(schema: Node) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f" {schema['minimum']} to {schema['maximum']}."
    if "maxItems" in schema:
        return f" {schema.get('minItems', 0)} to {schema['maxItems']} of them."
    return ""


def _prose(text: str) -> str:
    """Escaped text, with `code` as code."""
    parts = escape(text).split("`")
    return "".join(part if number % 2 == 0 else f"<code>{part}</code>" for number, part in enumerate(parts))


def _short(path: str) -> str:
    return path.removeprefix("/api/v1/").removeprefix("memory/")
