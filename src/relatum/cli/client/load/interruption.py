"""The first interruption lets a load finish the batch in flight; the second ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Whether somebody asked for an end. While `waiting` for a line, the first one ends the wait."""

    def __init__(self) -> None:
        self.asked = False
        self._waiting = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Nothing is in flight within the block: an interruption ends it by `KeyboardInterrupt`."""
        if self.asked:
            raise KeyboardInterrupt
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if again or self._waiting:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes interruptions within the block; for the main thread, elsewhere nothing is changed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._stop) for number in _ENDING if _is_heeded(number)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _is_heeded(number: int) -> bool:
    return signal.getsignal(number) is not signal.SIG_IGN
