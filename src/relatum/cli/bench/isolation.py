"""Steps that are done whole: between a start and the note of how to stop it, nobody may end the program.

Always holds: what would have ended it does so at the end of the block.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that end a program wait until the block is over. For the main thread, and what takes seconds at most."""
    held: list[int] = []
    taken = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _: held.append(number)) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for come in held:
            signal.raise_signal(come)
