"""Queries page by page: a request when it is needed, each iteration from the beginning."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
PageT = TypeVar("PageT")


class AsyncPages(Generic[T]):
    """The entries of a query over all its pages, lazily; `pages()` yields the pages themselves.

    An empty page with a cursor goes on. Each iteration begins anew and sees what is there then.
    """

    def __init__(
        self,
        fetch: Callable[[Any], Awaitable[Any]],
        entries: Callable[[Any], Sequence[T]],
        after: Callable[[Any], Any],
        start: Any = None,
    ) -> None:
        self._fetch = fetch
        self._entries = entries
        self._after = after
        self._start = start

    async def pages(self) -> AsyncIterator[Any]:
        """The structs of the pages, with `stop_reason` and `next_cursor` where the route has them."""
        cursor = self._start
        while True:
            page = await self._fetch(cursor)
            yield page
            cursor = self._after(page)
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for entry in self._entries(page):
                yield entry


class Paged(Protocol):
    """A page that tells where the next one begins."""

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page."""
        ...


def next_cursor(page: Paged) -> str | None:
    """Where the next page begins."""
    return page.next_cursor
