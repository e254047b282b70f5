"""One case of a part: its number, its dice, its directory, and its story for whoever has to understand a violation."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Self

from msgspec import Struct

from crash_tests.part import Run
from crash_tests.violation import Violation


class Case(Struct, frozen=True, kw_only=True, dict=True):
    """Case `number` of seed `seed`: the same whatever the others did."""

    directory: Path
    """Of the whole run."""
    seed: int
    number: int
    bug: str | None = None
    control: str | None = None
    at: str | None = None
    """The failpoint at which every life is interrupted."""

    @classmethod
    def of(cls, given: Run, number: int) -> Self:
        """A case of a run."""
        return cls(
            directory=given.directory,
            seed=given.seed,
            number=number,
            bug=given.bug,
            control=given.control,
            at=getattr(given.options, "at", None),
        )

    @cached_property
    def dice(self) -> Random:
        """Everything is drawn with these, in the order of the case."""
        return Random(f"{self.seed}/{self.number}")

    @property
    def own(self) -> Path:
        """The case's own directory."""
        return self.directory / f"case-{self.number}"

    @property
    def log(self) -> Path:
        """What its processes wrote to standard error."""
        return self.own / "log"

    def tell(self, step: str) -> None:
        """What is done next."""
        self._steps.append(step)

    def keep(self, name: str, content: bytes) -> None:
        """Something for whoever looks into a violation."""
        (self.own / name).write_bytes(content)

    @contextmanager
    def story(self, beginning: str) -> Iterator[None]:
        """Everything the case does, told with a violation. Its directory is there, and stays only if there was one."""
        self.tell(beginning)
        self.own.mkdir()
        try:
            yield
        except Violation as violation:
            raise Violation(f"case {self.number}: {', '.join(self._steps)}: {violation}") from violation
        shutil.rmtree(self.own)

    @cached_property
    def _steps(self) -> list[str]:
        return []
