"""Admission slots: how many requests may be worked on at once (transport.md, admission slots).

Always holds: nobody waits for a slot, and a lease gives back what it took, once. Event loop only; no lock.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from prometheus_client import Gauge


class Slots:
    """A pool of `slots_max` slots; with 0 there is none to take."""

    def __init__(self, slots_max: int, in_use: Gauge) -> None:
        self._slots_max = slots_max
        self.taken = 0
        in_use.set_function(lambda: self.taken)

    def lease(self) -> Lease:
        """What one request may take a slot through; leaving its context gives the slot back."""
        return Lease(self)

    def take(self) -> bool:
        """Take a slot if one is free."""
        if self.taken >= self._slots_max:
            return False
        self.taken += 1
        return True

    def give_back(self) -> None:
        """Return a slot that was taken."""
        assert self.taken > 0, "a slot is given back once"
        self.taken -= 1


class Lease:
    """At most one slot of a pool, for one request."""

    __slots__ = ("_held", "_slots")

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._held = False

    def take(self) -> bool:
        """Take a slot unless none is free."""
        assert not self._held, "a request takes one slot"
        self._held = self._slots.take()
        return self._held

    def give_back(self) -> None:
        """Return the slot, if one is held: another may be taken later."""
        if self._held:
            self._held = False
            self._slots.give_back()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()
