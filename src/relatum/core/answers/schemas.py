"""What the types of an answer can't say about its schema."""

from __future__ import annotations

from msgspec import Meta, Struct

REF = "#/components/schemas/{name}"


def one_of(*kinds: type[Struct]) -> Meta:
    """The schema of a member that holds one of several structs without a tag: msgspec has no type for such a union.

    Each of them must be described elsewhere in the document as well.
    """
    return Meta(extra_json_schema={"anyOf": [{"$ref": REF.format(name=kind.__name__)} for kind in kinds]})
