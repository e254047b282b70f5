"""Every value within a value, put in turn in the place of something that does not belong there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

HOSTILE: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 2**63, 2**64 - 1, -(2**63), 1.5, float("nan"), float("inf")),
    *("", "x", "0" * 32, "zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz", "0" * 64, "\0", "é" * 300),
    *(b"", b"\0" * 31, bytes(32), [], [None], {}, {"x": 1}, {1: 2}),
)


def replaced(value: Any) -> Iterator[Any]:
    """`value` with each of its parts replaced by each hostile value, with each member left out, with one too many."""
    yield from HOSTILE
    match value:
        case dict():
            for name, part in value.items():
                for other in replaced(part):
                    yield {**value, name: other}
                yield {each: one for each, one in value.items() if each != name}
            yield {**value, "unknown": 1}
        case list():
            for place, part in enumerate(value):
                for other in replaced(part):
                    yield [*value[:place], other, *value[place + 1 :]]
                yield value[:place] + value[place + 1 :]
            yield [*value, *value]
        case _:
            return
