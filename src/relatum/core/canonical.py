"""Canonical bytes: the one encoding under every digest (docs/digests.md).

MessagePack in its shortest forms, map keys in order of their UTF-8 bytes, floats as 64-bit doubles. Integers and
floats keep apart; members equal to their default are left out by the `Sparse` structs.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from relatum import limits

_ENCODER = msgspec.msgpack.Encoder(order="sorted")

encode = _ENCODER.encode


def normal_json(value: Any, depth: int = 1) -> Any:
    """Free JSON in normal form: -0.0 becomes 0.0, everything else is kept.

    Raises ValueError where an integer leaves 64 bits, a float isn't finite, nesting is too deep or a value isn't JSON.
    """
    if depth > limits.JSON_DEPTH_MAX:
        raise ValueError("nested too deeply")
    match value:
        case None | bool() | str():
            return value
        case int():
            if not limits.I64_MIN <= value <= limits.U64_MAX:
                raise ValueError("an integer outside 64 bits")
            return value
        case float():
            if not math.isfinite(value):
                raise ValueError("a number that is not finite")
            return value + 0.0  # -0.0 + 0.0 is 0.0
        case list() | tuple():
            return [normal_json(one, depth + 1) for one in value]
        case dict():
            if not all(isinstance(name, str) for name in value):
                raise ValueError("a member name that is not text")
            return {name: normal_json(one, depth + 1) for name, one in value.items()}
    raise ValueError("not JSON")
