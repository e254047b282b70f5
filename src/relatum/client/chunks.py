"""Long lists in requests of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from relatum.core.text import utf8_length
from relatum.limits import KEY_BYTES_MAX

T = TypeVar("T")


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in order, at most `size` at a time; of none no chunk, so that nothing is asked."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def key_of_chunk(key: str, number: int) -> str:
    """The key of one of several commands that stand for one: of the first the key itself.

    Raises ValueError where a key is too long to have another made of it.
    """
    made = key if number == 0 else f"{key}/{number}"
    if utf8_length(made) > KEY_BYTES_MAX:
        raise ValueError("an idempotency key of a call that is sent in parts must leave room for their numbers")
    return made
