"""Base classes of the wire and storage structs, and the field types they share.

`Closed` refuses unknown members and writes every member: requests' envelopes and answers.
`Sparse` refuses unknown members and leaves out members equal to their default: everything that is stored or digested,
so that a new optional member never changes the digest of an old value.

Ranges and UUID syntax are checked in `__post_init__`, which msgspec runs on decode and reports with the member's path.
"""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta, Struct

from relatum import limits

U64 = Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": limits.U64_MAX})]
Revision = Annotated[
    int, Meta(extra_json_schema={"minimum": 0, "maximum": limits.U64_MAX}, description="From 1; 0 is refused.")
]
Millis = Annotated[
    int,
    Meta(extra_json_schema={"minimum": limits.I64_MIN, "maximum": limits.I64_MAX}, description="Unix milliseconds."),
]
Uuid = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
DigestHex = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{64}$"})]

_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HYPHENATED = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_PLAIN = re.compile(r"[0-9a-fA-F]{32}")


class Closed(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A wire value whose members are all written."""


class Sparse(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A stored or digested value: members equal to their default are left out."""


def canonical_uuid(text: str) -> str:
    """`text` as 36 lower-case characters; hyphenated, plain hex and `urn:uuid:` spellings are accepted.

    Raises ValueError for anything else.
    """
    if _CANONICAL.fullmatch(text):
        return text
    plain = text[9:] if text[:9].lower() == "urn:uuid:" else text
    if _HYPHENATED.fullmatch(plain):
        return plain.lower()
    if _PLAIN.fullmatch(plain):
        digits = plain.lower()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    raise ValueError("not a UUID")


def check_uuid(text: str) -> None:
    """Raises ValueError for anything but 36 lower-case characters."""
    if _CANONICAL.fullmatch(text) is None:
        raise ValueError("not a UUID")


def check_u64(value: int) -> None:
    """Raises ValueError outside the unsigned 64-bit range."""
    if not 0 <= value <= limits.U64_MAX:
        raise ValueError("outside the unsigned 64-bit range")


def check_i64(value: int | None) -> None:
    """Raises ValueError outside the signed 64-bit range; None passes."""
    if value is not None and not limits.I64_MIN <= value <= limits.I64_MAX:
        raise ValueError("outside the signed 64-bit range")
