"""An event loop without a clock, without I/O and without an order of its own.

What always holds: of all callbacks that could run now, the dice choose one; when none could, time jumps to the next
timer. So whatever order the dice can bring about a real loop and its threads could have brought about too, and the same
dice bring it about again.

A step may run another step: while the writer waits for the disk in the middle of a commit, everybody else goes on.
Whoever does that must itself be a plain callback and not a task, as tasks can't be nested.
"""

from __future__ import annotations

import asyncio
from asyncio import _set_running_loop  # its documentation says: for event loops
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Args = TypeVarTuple("Args")


class _Call(asyncio.TimerHandle):
    """A callback that waits for its turn. It runs in the context of whoever steps, since contexts can't be nested."""

    def __init__(self, callback: Callable[[Unpack[Args]], object], args: tuple[*Args]) -> None:
        self.run: Callable[[], object] = partial(callback, *args)
        self.is_cancelled = False

    def cancel(self) -> None:
        """It is not to run any more; it is passed over when its time comes."""
        self.is_cancelled = True


class SimulatedLoop(asyncio.AbstractEventLoop):
    """As much of an event loop as futures, tasks, `sleep` and `wait` need. Raises what a callback raises."""

    def __init__(self, random: Random) -> None:
        self.steps = 0
        self._random = random
        self._now = 0.0
        self._ready: list[_Call] = []
        self._timers: list[tuple[float, int, _Call]] = []
        self._numbers = count()
        self._tasks: list[asyncio.Task[Any]] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Inside the block this is the running loop of the thread; all tasks end with it."""
        _set_running_loop(self)
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            try:
                self._run_out()
            finally:
                _set_running_loop(None)

    def _run_out(self) -> None:
        """Runs every callback that needs no time to pass, whatever one of them raises; the first of that is raised."""
        raised: Exception | None = None
        while self._ready:
            try:
                self.step()
            except Exception as error:  # noqa: BLE001 - the others are to end, too
                raised = raised or error
        if raised is not None:
            raise raised

    def step(self) -> bool:
        """Runs one callback; False if there is none and never will be."""
        ready = self._ready
        while not ready:
            if not self._timers:
                return False
            self._now, _, call = heappop(self._timers)
            if not call.is_cancelled:
                ready.append(call)
        chosen = int(self._random.random() * len(ready)) if len(ready) > 1 else 0
        ready[chosen], ready[-1] = ready[-1], ready[chosen]
        call = ready.pop()
        self.steps += 1
        if not call.is_cancelled:
            call.run()
        return True

    def step_now(self) -> bool:
        """Runs one callback that needs no time to pass; False if there is none."""
        return bool(self._ready) and self.step()

    # What asyncio asks of a loop

    def time(self) -> float:
        """Seconds since the case began."""
        return self._now

    def get_debug(self) -> bool:
        """Never."""
        return False

    def is_running(self) -> bool:
        """Always."""
        return True

    def call_soon(
        self, callback: Callable[[Unpack[Args]], object], *args: *Args, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Lets a callback run at any moment from now on."""
        call = _Call(callback, args)
        self._ready.append(call)
        return call

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Args]], object], *args: *Args, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """The same; all threads of a case are this one."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Args]], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Lets a callback run once `delay` seconds have passed."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Args]], object],
        *args: *Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Lets a callback run once it is `when`."""
        call = _Call(callback, args)
        heappush(self._timers, (when, next(self._numbers), call))
        return call

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, T], **_options: Any) -> asyncio.Task[T]:  # type: ignore[override]  # of the one kind that is used here
        """A task of this loop."""
        task = asyncio.Task(coro, loop=self)
        self._tasks.append(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """A failure that nobody waits for: it must not be lost."""
        raise RuntimeError(context["message"]) from context.get("exception")
