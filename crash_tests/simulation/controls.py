"""Disks that do what no disk may: whatever the ledger does, a run on one of them must fail.

What the product promises rests on two things: what was synced stays, and a batch is kept whole or not at all. Each of
these disks breaks one of them, or loses something while the machine is down.
"""

from __future__ import annotations

import os
from random import Random

from crash_tests.simulation.disk import NEW_MARK, Disk


class LyingDisk(Disk):
    """A power cut takes back what was synced last."""

    def cut_power(self, random: Random) -> None:
        """See `Disk.cut_power`."""
        super().cut_power(random)
        self.forget_last()


class RewindingDisk(Disk):
    """A power cut takes back what was synced last, and the watermark with it, so that nothing gives it away."""

    def __init__(self) -> None:
        super().__init__()
        self._mark_before = NEW_MARK

    def sync(self, *, up_to: int | None = None) -> None:
        """See `Disk.sync`."""
        if self.unsynced:
            self._mark_before = os.pread(self.mark, len(NEW_MARK), 0)
        super().sync(up_to=up_to)

    def cut_power(self, random: Random) -> None:
        """See `Disk.cut_power`."""
        super().cut_power(random)
        if self.forget_last():
            os.pwrite(self.mark, self._mark_before, 0)


class TearingDisk(Disk):
    """A power cut keeps half of the batch that was being written."""

    def cut_power(self, random: Random) -> None:
        """See `Disk.cut_power`."""
        torn = [dict(list(batch.items())[: len(batch) // 2]) for batch in self._unsynced[:1]]
        super().cut_power(random)
        for half in torn:
            self.append(half)
        self.sync()


class LosingDisk(Disk):
    """A row is gone after a power cut."""

    def cut_power(self, random: Random) -> None:
        """See `Disk.cut_power`."""
        super().cut_power(random)
        if self.durable:
            del self.durable[random.choice(sorted(self.durable))]


CONTROLS: dict[str, type[Disk]] = {
    "lying-sync": LyingDisk,
    "rewind": RewindingDisk,
    "torn-batch": TearingDisk,
    "lost-row": LosingDisk,
}
