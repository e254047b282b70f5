"""The watermark on a disk that fails: its writes are refused, torn, or cut off by an outage."""

from __future__ import annotations

import os
from random import Random

from crash_tests.simulation.disk import Disk, Outage
from crash_tests.simulation.plan import Plan
from relatum.errors import StorageFailure
from relatum.store.watermark import WatermarkFile


class FaultyMark(WatermarkFile):
    """The product's own file, which now and then gets only a part of a slot to the disk. `failed` once it has."""

    def __init__(self, disk: Disk, plan: Plan, random: Random) -> None:
        self.failed = False
        self._file = os.dup(disk.mark)
        self._plan = plan
        self._random = random
        super().__init__(self._file)

    def _overwrite(self, offset: int, slot: bytes) -> None:
        if not self.failed and self._random.random() < self._plan.mark_fault_rate:
            self.failed = True
            os.pwrite(self._file, slot[: self._random.randint(0, len(slot))], offset)
            if self._random.random() < 0.5:
                raise Outage
        if self.failed:
            raise StorageFailure("the high watermark can't be written")
        super()._overwrite(offset, slot)
