"""A lock that goes to whoever has waited longest, so that work in slices lets others in between."""

from __future__ import annotations

from collections import deque
from threading import Event, Lock
from types import TracebackType


class FairLock:
    """A context manager. Not for the thread that holds it already."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._waiting: deque[Event] = deque()
        self._held = False

    def acquire(self, timeout: float = -1) -> bool:
        """Whether it was had, within so many seconds; a negative number waits for ever."""
        with self._changing:
            if not self._held:
                self._held = True
                return True
            turn = Event()
            self._waiting.append(turn)
        if turn.wait(None if timeout < 0 else timeout):
            return True
        with self._changing:
            if not turn.is_set():
                self._waiting.remove(turn)
            return turn.is_set()

    def release(self) -> None:
        """Hands it to the next, if somebody waits."""
        with self._changing:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
