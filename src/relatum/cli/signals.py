"""An end that is asked for from outside, which a command takes as it takes Ctrl-C: what it started is stopped first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stoppable() -> Iterator[None]:
    """Lets a termination or a closed terminal end the block as Ctrl-C does; for the main thread.

    The first one counts: others do not disturb the end. What is ignored stays so, as with nohup.
    """
    ending = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal ending
        if not ending:
            ending = True
            raise KeyboardInterrupt

    taken = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
