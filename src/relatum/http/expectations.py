"""What a type permits at a place of a body: for messages that say what was expected (transport.md, error envelope).

Always holds: what is told is of the type. Of what was sent only the tags of operations are looked at, to know which of
several types is meant; nothing of it is repeated.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

_STEP: Final = re.compile(r"\.(\w+)|\[([0-9]+)\]", re.ASCII)
_JSON_TYPES: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}

Json = Any
"""A part of a JSON Schema, or of a body."""


class Expectations:
    """What one type permits. `names` are its member names, at any depth."""

    def __init__(self, kind: type[Any]) -> None:
        (self._root,), self._components = msgspec.json.schema_components([kind])
        self.names = frozenset(
            name for component in self._components.values() for name in component.get("properties", ())
        )

    def members_at(self, place: str, body: Json) -> tuple[str, ...]:
        """The members that an object may have at a place; none where that can't be told."""
        node = self._at(place, body)
        return tuple(node.get("properties", ()))

    def values_at(self, place: str, body: Json) -> tuple[str, ...]:
        """The values that are permitted at a place, where they are few words; else none."""
        node = self._at(place, body)
        values = (value for one in (node, *node.get("anyOf", ())) for value in one.get("enum", ()))
        return tuple(value for value in values if isinstance(value, str))

    def _at(self, place: str, body: Json) -> Json:
        """The schema at a place. `body` is what was sent, decoded as it stands."""
        node = self._chosen(self._root, body)
        for name, index in _STEP.findall(place):
            if name:
                body = body.get(name) if isinstance(body, dict) else None
                node = node.get("properties", {}).get(name, {})
            else:
                body = body[int(index)] if isinstance(body, list) and int(index) < len(body) else None
                node = node.get("items", {})
            node = self._chosen(node, body)
        return node

    def _chosen(self, node: Json, body: Json) -> Json:
        """A schema without references and alternatives: of several operations the one whose tag was sent."""
        while "$ref" in node:
            node = self._components[node["$ref"].rpartition("/")[2]]
        if "discriminator" in node:
            tag, mapping = node["discriminator"]["propertyName"], node["discriminator"]["mapping"]
            sent = body.get(tag) if isinstance(body, dict) else None
            if isinstance(sent, str) and sent in mapping:
                return self._chosen({"$ref": mapping[sent]}, body)
            return {"properties": {tag: {"enum": tuple(mapping)}}}
        options = [one for one in node.get("anyOf", ()) if one != {"type": "null"}]
        return self._chosen(options[0], body) if len(options) == 1 else node


def json_type(name: str) -> str:
    """What JSON calls a type that a decoder has named."""
    return " or ".join(_JSON_TYPES.get(one, one) for one in name.split(" | "))
