"""How many items fit into one request: by their number, and by the bytes of its body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from relatum.core.ids import Scope
from relatum.core.view_queries import EdgeInput
from relatum.limits import BATCH_BODY_BYTES_MAX, COMMAND_BATCH_MAX, CONTRACT_VERSION, DERIVED_PAGE_MAX

ENVELOPE_BYTES: int = 8 * 1024
"""Room for what stands around the items of a request: the longest scope, escaped, and the names."""
ITEMS_BYTES_MAX: int = BATCH_BODY_BYTES_MAX - ENVELOPE_BYTES


def edge_pages(edges: Iterable[EdgeInput]) -> Iterator[tuple[list[EdgeInput], bool]]:
    """The pages of a run, each with whether it is the last; of no edges one empty page."""
    page: list[EdgeInput] = []
    size = 0
    for edge in edges:
        length = len(msgspec.json.encode(edge)) + 1
        if page and (len(page) == DERIVED_PAGE_MAX or size + length > ITEMS_BYTES_MAX):
            yield page, False
            page, size = [], 0
        page.append(edge)
        size += length
    yield page, True


class Item(NamedTuple):
    """A command of a batch, encoded once: all requests that carry it carry the same bytes."""

    key: str
    content: bytes
    too_large: bool


def item_of(key: str, operation: object) -> Item:
    """A command under its key."""
    content = msgspec.json.encode({"idempotency_key": key, "operation": operation})
    return Item(key, content, len(content) > ITEMS_BYTES_MAX)


class Batch:
    """Commands that go out together: as many as fit into a request."""

    def __init__(self, scope: Scope) -> None:
        self._room = BATCH_BODY_BYTES_MAX - len(self.body(scope, ()))
        self._items: list[Item] = []
        self._size = 0

    def takes(self, item: Item) -> bool:
        """Whether there is room for an item."""
        return len(self._items) < COMMAND_BATCH_MAX and self._size + _size(item) <= self._room

    def add(self, item: Item) -> None:
        """Take an item. One that is too large takes no room: it won't be sent."""
        self._items.append(item)
        self._size += _size(item)

    def taken(self) -> list[Item]:
        """The items, which are given away."""
        items, self._items, self._size = self._items, [], 0
        return items

    @staticmethod
    def body(scope: Scope, items: Sequence[Item]) -> bytes:
        """The body of a request with these items."""
        commands = [msgspec.Raw(item.content) for item in items]
        return msgspec.json.encode({"contract_version": CONTRACT_VERSION, "scope": scope, "commands": commands})


def _size(item: Item) -> int:
    return 0 if item.too_large else len(item.content) + 1
