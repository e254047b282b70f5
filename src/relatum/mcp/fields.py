"""What a tool takes: members declared once, from which the listed schema is made and the arguments are read.

Always holds: a schema uses `type, properties, required, items, enum, description, default, minimum, maximum, minItems,
maxItems, minLength` and `additionalProperties` alone, since hosts drop a tool, or refuse the request, for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

Kind = Literal["string", "integer", "number", "boolean", "object", "array", "digits", "time"]
"""The types of JSON, and two that travel as texts: an unsigned integer of 64 bits, and an instant."""


class Field(Struct, frozen=True, kw_only=True):
    """One member, or an item of an array. An object without `members` is free JSON."""

    kind: Kind
    about: str = ""
    required: bool = False
    default: str | float | bool | None = None
    among: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    items: Field | None = None
    items_min: int | None = None
    items_max: int | None = None
    members: Mapping[str, Field] | None = None

    def schema(self) -> dict[str, Any]:
        """Its JSON schema in the permitted keywords."""
        given: dict[str, Any] = {"type": "string" if self.kind in ("digits", "time") else self.kind}
        if self.about:
            given["description"] = self.about
        if self.among:
            given["enum"] = list(self.among)
        if self.kind == "string" and self.required and not self.among:
            given["minLength"] = 1
        optional = {
            "default": self.default,
            "minimum": self.least,
            "maximum": self.most,
            "minItems": self.items_min,
            "maxItems": self.items_max,
        }
        given |= {keyword: value for keyword, value in optional.items() if value is not None}
        if self.items is not None:
            given["items"] = self.items.schema()
        if self.members is not None:
            given |= closed(self.members)
        return given


def closed(members: Mapping[str, Field]) -> dict[str, Any]:
    """The schema of an object that takes these members and no others."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: field.schema() for name, field in members.items()},
        "additionalProperties": False,
    }
    required = [name for name, field in members.items() if field.required]
    return {**schema, "required": required} if required else schema


def text(about: str = "", *, required: bool = False, default: str | None = None) -> Field:
    """A text."""
    return Field(kind="string", about=about, required=required, default=default)


def word(*among: str, about: str = "", required: bool = False, default: str | None = None) -> Field:
    """One of some words."""
    return Field(kind="string", about=about, among=among, required=required, default=default)


def whole(least: int, most: int, default: int | None = None, about: str = "") -> Field:
    """A small whole number."""
    return Field(kind="integer", about=about, least=least, most=most, default=default)


def share(about: str = "", *, required: bool = False, default: float | None = None) -> Field:
    """A number from 0 to 1."""
    return Field(kind="number", about=about, least=0, most=1, required=required, default=default)


def flag(about: str = "") -> Field:
    """True or false, false unless given."""
    return Field(kind="boolean", about=about, default=False)


def digits(about: str = "", *, required: bool = False) -> Field:
    """An unsigned integer of 64 bits, as decimal digits."""
    return Field(kind="digits", about=about, required=required)


def instant(about: str = "") -> Field:
    """An instant: RFC 3339 in UTC, or decimal milliseconds."""
    return Field(kind="time", about=about)


def free_object(about: str = "") -> Field:
    """Any JSON object."""
    return Field(kind="object", about=about)


def several(items: Field, least: int, most: int, about: str = "", *, required: bool = False) -> Field:
    """A list."""
    return Field(kind="array", about=about, items=items, items_min=least, items_max=most, required=required)


def of(members: Mapping[str, Field]) -> Field:
    """An object with these members alone."""
    return Field(kind="object", members=members)
