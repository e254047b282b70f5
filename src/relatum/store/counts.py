"""Which partitions were looked at as a whole: whether the rows that their heads count are there, and no others.

What lives here: `Recounts`, what a process has seen so far. A row that nothing beside it witnesses can be missed by
nobody who looks for it alone; so all of a partition's are counted when the first of them is needed. What must not:
how they are counted.

What always holds: each partition is counted once, while it is remembered. From then on the head and the rows move
together in every commit, and what a disk does to them later the checksums tell. Any thread.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, Protocol

from relatum.core.row_counts import Tally
from relatum.errors import StorageInconsistency

REMEMBERED_MAX: Final = 100_000
"""Partitions; some 150 bytes each. One that is forgotten is counted again."""


class Uncounted(Exception):
    """A partition's rows would have to be counted, by somebody who may not wait for that."""


class Counting(Protocol):
    """Sees to it that a partition's rows are those that its head counts."""

    def require(self, prefix: bytes, told: Callable[[], Tally], found: Callable[[], Tally]) -> None:
        """Raises StorageInconsistency unless the rows `found` are those that its head has `told` of."""
        ...


class Recounts:
    """By the prefixes of partitions, whether their rows are those that their heads count."""

    def __init__(self, remembered_max: int = REMEMBERED_MAX) -> None:
        self._remembered_max = remembered_max
        self._sound: dict[bytes, bool] = {}
        self._lock = Lock()

    def knows(self, prefix: bytes) -> bool:
        """Whether a partition was counted, whatever came of it: asking for it takes no time."""
        return prefix in self._sound

    def require(self, prefix: bytes, told: Callable[[], Tally], found: Callable[[], Tally]) -> None:
        """See `Counting`. Counts where that is not known yet; two threads that come at once both count."""
        sound = self._sound.get(prefix)
        if sound is None:
            sound = self._counted(prefix, told(), found)
        if not sound:
            raise StorageInconsistency("the rows that the head of a partition counts are not those that are there")

    def _counted(self, prefix: bytes, told: Tally, found: Callable[[], Tally]) -> bool:
        sound = False
        try:
            sound = found() == told
        except StorageInconsistency:
            self._remember(prefix, sound=False)
            raise
        self._remember(prefix, sound=sound)
        return sound

    def _remember(self, prefix: bytes, *, sound: bool) -> None:
        with self._lock:
            while len(self._sound) >= self._remembered_max:
                del self._sound[next(iter(self._sound))]
            self._sound[prefix] = sound


class CountedOnly:
    """`Recounts` for whoever may not wait, such as an event loop: raises Uncounted where something is to be counted."""

    def __init__(self, recounts: Recounts) -> None:
        self._recounts = recounts

    def require(self, prefix: bytes, told: Callable[[], Tally], found: Callable[[], Tally]) -> None:
        """See `Counting`. Raises Uncounted besides."""
        if not self._recounts.knows(prefix):
            raise Uncounted
        self._recounts.require(prefix, told, found)
