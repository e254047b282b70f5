"""Recorded exchanges as examples of the document. The recording lies beside this module; `recording` makes it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec
from msgspec import Struct

FILE: Final = "examples.json"


class Exchange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request and its answer, both as JSON values; `name` is unique within a route."""

    method: str
    route: str
    name: str
    request: Any = None
    status: int
    response: Any


@cache
def recorded() -> tuple[Exchange, ...]:
    """Every recorded exchange, in the order of the recording."""
    raw = resources.files(__package__).joinpath(FILE).read_bytes()
    return msgspec.json.decode(raw, type=tuple[Exchange, ...])


def of(method: str, route: str) -> tuple[Exchange, ...]:
    """The recorded exchanges of one route."""
    return tuple(one for one in recorded() if (one.method, one.route) == (method, route))


def requests(exchanges: Iterable[Exchange]) -> dict[str, Any]:
    """Request bodies as the document shows them."""
    return {one.name: {"value": one.request} for one in exchanges if one.request is not None}


def responses(exchanges: Iterable[Exchange], status: int) -> dict[str, Any]:
    """Response bodies of one status as the document shows them."""
    return {one.name: {"value": one.response} for one in exchanges if one.status == status}
