"""What outlives a process, and what a power cut leaves of it: the rows of a store, and the bytes of its watermark.

What always holds: batches reach the platter whole and in order. A process that dies loses nothing that was written; a
power cut loses what was not synced, from some batch on. After a sync that failed for good nothing written meanwhile or
later is kept, whatever later syncs say.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from random import Random

from relatum.store.watermark import NOTHING_ANSWERED, file_of

NEW_MARK = file_of(NOTHING_ANSWERED)

Batch = Mapping[bytes, bytes | None]


class Outage(BaseException):
    """The machine dies here: nothing of the program runs any more. No handler for failures may catch it."""


class Disk:
    """One disk. Its watermark lies in an anonymous file, so that the product's own code reads and writes it."""

    def __init__(self) -> None:
        self.durable: dict[bytes, bytes] = {}
        self.mark = os.memfd_create("watermark")
        os.pwrite(self.mark, NEW_MARK, 0)
        self._unsynced: list[Batch] = []
        self._holed = False
        self.replaced: dict[bytes, bytes | None] = {}
        """What lay under the keys of the batch that became durable last."""

    @property
    def unsynced(self) -> int:
        """How many batches a power cut could take back."""
        return len(self._unsynced)

    def rows(self) -> dict[bytes, bytes]:
        """What a process finds that opens the store now."""
        found = dict(self.durable)
        for batch in self._unsynced:
            _put(found, batch)
        return found

    def append(self, batch: Batch) -> None:
        """A batch is written."""
        self._unsynced.append(dict(batch))

    def sync(self, *, up_to: int | None = None) -> None:
        """What was written becomes durable; only the first `up_to` batches if that is given."""
        for batch in self._unsynced[:up_to]:
            if self._holed:
                break
            self.replaced = {key: self.durable.get(key) for key in batch}
            _put(self.durable, batch)
        self._unsynced = []

    def lose_unsynced(self) -> None:
        """A sync fails for good: what was to be synced never reaches the platter, and neither does what follows."""
        self._holed = True

    def cut_power(self, random: Random) -> None:
        """Some of the unsynced batches have reached the platter, the others are gone."""
        self.sync(up_to=random.randint(0, len(self._unsynced)))
        self._holed = False

    def kill(self) -> None:
        """Only the process dies; what it had written is found by the next one, if the disk ever had it."""
        self.sync()
        self._holed = False

    def forget_last(self) -> bool:
        """Takes the batch back that became durable last, as if its log had been lost; False where none can be."""
        if not self.replaced:
            return False
        _put(self.durable, self.replaced)
        self.replaced = {}
        return True

    def close(self) -> None:
        """Lets go of the anonymous file."""
        os.close(self.mark)


def _put(rows: dict[bytes, bytes], batch: Batch) -> None:
    for key, value in batch.items():
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value
