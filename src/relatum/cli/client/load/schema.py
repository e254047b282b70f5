"""The schemas of a served document: whether a JSON value keeps one.

As much of JSON Schema as the document uses; what it does not know it leaves to the server.
"""

from __future__ import annotations

import re
from typing import Any, Final

from relatum.core.wire import canonical_uuid

Schema = dict[str, Any]
Problem = str | None

_REFERENCE: Final = "#/components/schemas/"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class Schemas:
    """The named schemas of a document."""

    def __init__(self, document: Schema) -> None:
        self._named: Schema = document["components"]["schemas"]

    def problem(self, value: Any, name: str) -> Problem:
        """What is wrong with `value` as one of the schema `name`, and where; None if nothing is."""
        return self._check(value, {"$ref": _REFERENCE + name}, "$")

    def _check(self, value: Any, schema: Schema, where: str) -> Problem:
        if "$ref" in schema:
            return self._check(value, self._named[schema["$ref"].removeprefix(_REFERENCE)], where)
        for choices in ("anyOf", "oneOf"):
            if choices in schema:
                return self._choose(value, schema, schema[choices], where)
        return (
            _kind(value, schema, where)
            or _range(value, schema, where)
            or self._members(value, schema, where)
            or self._items(value, schema, where)
        )

    def _choose(self, value: Any, schema: Schema, choices: list[Schema], where: str) -> Problem:
        discriminator = schema.get("discriminator")
        if discriminator is not None and isinstance(value, dict):
            name = discriminator["propertyName"]
            chosen = discriminator["mapping"].get(value.get(name))
            if chosen is None:
                return f"{name} is none of those that are known, at {where}"
            return self._check(value, {"$ref": chosen}, where)
        problems = [self._check(value, choice, where) for choice in choices]
        return None if None in problems else next((one for one in problems if one is not None), None)

    def _members(self, value: Any, schema: Schema, where: str) -> Problem:
        if not isinstance(value, dict):
            return None
        members: Schema = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                return f"{name} is missing, at {where}"
        for name, member in value.items():
            if name in members:
                problem = self._check(member, members[name], f"{where}.{name}")
                if problem is not None:
                    return problem
            elif schema.get("additionalProperties") is False:
                return f"a member is unknown, at {where}"
        return None

    def _items(self, value: Any, schema: Schema, where: str) -> Problem:
        if not isinstance(value, list):
            return None
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return f"too few or too many items, at {where}"
        if schema.get("uniqueItems") and any(one in value[:n] for n, one in enumerate(value)):
            return f"items must be distinct, at {where}"
        items = schema.get("items")
        if items is None:
            return None
        problems = (self._check(one, items, f"{where}[{n}]") for n, one in enumerate(value))
        return next((one for one in problems if one is not None), None)


def _kind(value: Any, schema: Schema, where: str) -> Problem:
    wanted = schema.get("type")
    if wanted is not None:
        fits = isinstance(value, _TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
        if not fits:
            return f"this must be of type {wanted}, at {where}"
    if "enum" in schema and value not in schema["enum"]:
        return f"this must be one of {', '.join(map(str, schema['enum']))}, at {where}"
    if "const" in schema and value != schema["const"]:
        return f"this must be {schema['const']}, at {where}"
    return None


def _range(value: Any, schema: Schema, where: str) -> Problem:
    match value:
        case str():
            return _text(value, schema, where)
        case int() | float():
            fits = schema.get("minimum", value) <= value <= schema.get("maximum", value)
            return None if fits else f"this is out of range, at {where}"
    return None


def _text(value: str, schema: Schema, where: str) -> Problem:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return f"too short or too long, at {where}"
    pattern = schema.get("pattern")
    if pattern is not None and re.search(pattern, value) is None:
        return f"this does not have the form that it must have, at {where}"
    if schema.get("format") == "uuid":
        try:
            canonical_uuid(value)
        except ValueError:
            return f"this is not a UUID, at {where}"
    return None
