"""Tells whoever listens which partitions have just moved, right after a publication."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

Listener = Callable[[frozenset[str]], None]


class Announcer:
    """Listeners are called in the writer's thread with the workspace ids of a group, so they must return at once."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._changing = Lock()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` after every publication from now on, until the returned function is called."""
        with self._changing:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._changing:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return stop

    def announce(self, workspace_ids: frozenset[str]) -> None:
        """Tells every listener."""
        for listener in self._listeners:
            listener(workspace_ids)
