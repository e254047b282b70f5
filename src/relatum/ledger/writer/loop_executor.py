"""Work of the writer in the thread of an event loop, in turns with whatever else the loop does.

Two threads that both need the interpreter hand its lock to each other at every read, write and wait of the loop, and
each handing over costs more than many a command. So what needs hardly anything but the interpreter goes to the loop;
writing and syncing stay in the writer's own thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from math import inf
from threading import Event, Lock, get_ident
from time import perf_counter
from typing import Final

TURN_SECONDS: Final = 0.002
"""After so long a turn ends with the step that it is at, and the loop goes on with what has come meanwhile."""

Steps = Iterator[None]
"""Work that can be interrupted between any two of its steps."""


class Turns:
    """Of one loop, for one writer: a second piece of work is brought when the one before it is through."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """To be made in the loop's thread."""
        self._loop = loop
        self._thread = get_ident()
        self._changing = Lock()
        self._over = False
        self._work: _Work | None = None
        self._coming = False  # whether a turn is asked for

    def here(self) -> bool:
        """Whether the calling thread is the loop's."""
        return get_ident() == self._thread

    def carry_out(self, steps: Steps, when: Callable[[], bool] = lambda: True) -> None:
        """All the steps, while the calling thread waits, which is not the loop's. Raises what a step raises.

        The first turn comes when `when` holds; whoever makes it hold calls `wake`. Once the turns are over the calling
        thread carries the steps out by itself, at once.
        """
        work = _Work(steps)
        with self._changing:
            over = self._over
            if not over:
                self._work = work
                self._coming = when()
                if self._coming:
                    self._loop.call_soon_threadsafe(self._turn)
        if over:
            work.proceed()
            work.finish()
        work.wait()

    def wake(self) -> None:
        """From any thread: what work waits for may hold now."""
        with self._changing:
            if self._work is None or self._coming:
                return
            self._coming = True
            if self.here():
                self._loop.call_soon(self._turn)
            else:
                self._loop.call_soon_threadsafe(self._turn)

    def end(self) -> None:
        """From the loop's thread, while the loop lives: no more turns. Work that is not through is finished."""
        with self._changing:
            self._over = True
            work, self._work = self._work, None
        if work is not None:
            work.proceed()
            work.finish()
            work.raise_interruption()

    def _turn(self) -> None:
        work = self._work
        if work is None:
            return  # `end` has finished it
        if not work.proceed(TURN_SECONDS):
            self._loop.call_soon(self._turn)
            return
        with self._changing:
            self._work = None  # IMPORTANT: first; whoever waits for it may bring the next at once
        work.finish()
        work.raise_interruption()


class _Work:
    """Steps that one thread waits for and another carries out."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._finished = Event()
        self._error: BaseException | None = None

    def proceed(self, seconds: float = inf) -> bool:
        """Carries out steps for about so long; whether none is left."""
        until = perf_counter() + seconds
        try:
            for _ in self._steps:
                if perf_counter() >= until:
                    return False
        except BaseException as error:  # noqa: BLE001 - it is for the thread that waits
            self._error = error
        return True

    def finish(self) -> None:
        """Lets the thread go on that waits."""
        self._finished.set()

    def wait(self) -> None:
        """Until it is finished. Raises what a step raised; RuntimeError where the loop's thread was interrupted."""
        self._finished.wait()
        if isinstance(self._error, Exception):
            raise self._error
        if self._error is not None:
            raise RuntimeError("the thread of the event loop was interrupted") from self._error

    def raise_interruption(self) -> None:
        """What came to the loop's thread meanwhile and is no failure of a step, an interrupt for one, is its own."""
        if self._error is not None and not isinstance(self._error, Exception):
            raise self._error
