"""Many threads at once, each with a bounded wait."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from tests.support.polling import WAIT_SECONDS

T = TypeVar("T")


def at_once(works: list[Callable[[], T]]) -> list[T]:
    """What each work answers, all started at the same moment in threads of their own."""
    start = Barrier(len(works))

    def run(work: Callable[[], T]) -> T:
        start.wait(WAIT_SECONDS)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        futures = [pool.submit(run, work) for work in works]
        return [future.result(WAIT_SECONDS) for future in futures]
