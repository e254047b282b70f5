"""The time of day as the server under test is told it."""

from __future__ import annotations

from pathlib import Path
from time import time_ns


def machine_millis() -> int:
    """The machine's own clock, in Unix milliseconds."""
    return time_ns() // 1_000_000


class WrongClock:
    """An offset from the machine's clock, in a file that the server reads whenever it asks for the time.

    `highest_millis` is the latest time that the server can have been told so far.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.offset_millis = 0
        self.highest_millis = 0
        self.put_off(0)

    @property
    def launch(self) -> tuple[str, str]:
        """How a program is made to use it: options of crash_tests.relatum_process."""
        return "--clock", str(self._file)

    def millis(self) -> int:
        """What it shows."""
        return machine_millis() + self.offset_millis

    def put_off(self, offset_millis: int) -> None:
        """Jump to this far from the machine's clock."""
        new = self._file.with_suffix(".new")
        new.write_text(str(offset_millis))
        new.replace(self._file)
        self.latest()  # only now nobody is told any more what it was before
        self.offset_millis = offset_millis

    def put_to(self, millis: int) -> None:
        """Jump to an instant, and go on from there."""
        self.put_off(millis - machine_millis())

    def latest(self) -> int:
        """The latest time that the server can have been told so far."""
        self.highest_millis = max(self.highest_millis, self.millis())
        return self.highest_millis
