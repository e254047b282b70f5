"""Who waits for which workspaces to move: long polls and streams, woken by the writer's publications.

Always holds: a watch that is taken before a view misses nothing that the view does not show. Nobody asks the store
whether something has changed. But for `_heard`, which the writer's thread calls, everything runs on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

from relatum.ledger import Ledger


class Watch:
    """What one waiter knows: whether something may have moved since it looked, and whether it is to stop waiting."""

    def __init__(self) -> None:
        self.ended = False
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Something may have moved."""
        self._rung.set()

    def end(self) -> None:
        """There is no point in waiting any longer."""
        self.ended = True
        self.ring()

    async def moved(self, seconds: float | None) -> bool:
        """Waits until something may have moved since the last call, at most so long if given; whether it did."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True


class Watches:
    """The watches of one server."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._watching: dict[str, set[Watch]] = {}
        self._ended = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_listening: Callable[[], None] = lambda: None

    @contextlib.contextmanager
    def watch(self, *workspace_ids: str) -> Iterator[Watch]:
        """A watch over some workspaces, as long as the context lasts."""
        self._listen()
        watch = Watch()
        if self._ended:
            watch.end()
        for workspace_id in workspace_ids:
            self._watching.setdefault(workspace_id, set()).add(watch)
        try:
            yield watch
        finally:
            for workspace_id in workspace_ids:
                self._watching[workspace_id].discard(watch)
                if not self._watching[workspace_id]:
                    del self._watching[workspace_id]

    def end(self) -> None:
        """The server stops: nobody waits any longer, nor will."""
        self._ended = True
        self._stop_listening()
        for watches in list(self._watching.values()):
            for watch in watches:
                watch.end()

    def _listen(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._stop_listening = self._ledger.follow(self._heard)

    def _heard(self, workspace_ids: frozenset[str]) -> None:
        """In the writer's thread, after a publication: so whoever is not watching yet will take a later view."""
        assert self._loop is not None
        if any(one in self._watching for one in workspace_ids):
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
                self._loop.call_soon_threadsafe(self._ring, workspace_ids)

    def _ring(self, workspace_ids: frozenset[str]) -> None:
        for workspace_id in workspace_ids:
            for watch in self._watching.get(workspace_id, ()):
                watch.ring()
