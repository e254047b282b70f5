"""The base of answers, and the form that enumerations take in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

from msgspec import Meta, Struct

T = TypeVar("T")

if TYPE_CHECKING:
    Open = Annotated[T, "may gain values"]
else:

    class Open:
        """`Open[Literal[...]]`: to a type checker the literal, to a decoder any text, in the schema an enumeration."""

        def __class_getitem__(cls, literal: object) -> object:
            """Text, with the values known today in its schema."""
            return Annotated[str, Meta(extra_json_schema={"enum": sorted(get_args(literal))})]


class Answer(Struct, frozen=True, gc=False):
    """A wire value whose members are all written; unknown ones are passed over when it is decoded."""
