"""Stores to begin with: file systems that hold none, a young one, or one that has grown and been compacted."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from crash_tests.disk import Disk, Kind, make_image, require_disk
from crash_tests.embedded import Acknowledged, Checked, Plan, Reporter, check, live
from crash_tests.embedded.messages import Sent
from crash_tests.power.forked import Forked
from crash_tests.power.moments import SMALL_BUFFER_BYTES
from crash_tests.violation import Violation, require

Age = Literal["none", "young", "grown"]

AGES: Final[tuple[Age, ...]] = ("none", "young", "grown")
STORE: Final = "store"
LIFE_SECONDS_MAX: Final = 60.0
AGE_WEIGHTS: Final = (20, 60, 20)
"""How many of a hundred cases begin with which."""
COMMANDS: Final[dict[Age, int]] = {"none": 0, "young": 40, "grown": 240}
_ENCODER: Final = msgspec.json.Encoder()


class Beginning:
    """An image with a store of an age on a file system of a kind, and what was told while it was made."""

    def __init__(self, directory: Path, kind: Kind, age: Age) -> None:
        self.kind = kind
        self.age = age
        self.image = directory / f"{age}.{kind}"
        self._told = directory / f"{age}.{kind}.told"

    def make(self, seed: int) -> None:
        """Makes it. Raises `Unavailable`, and `Violation` if not even that works."""
        make_image(self.image, self.kind)
        told = b""
        if self.age != "none":
            plan = Plan(
                seed=f"{self.age} of {seed}", commands=COMMANDS[self.age], write_buffer_bytes=SMALL_BUFFER_BYTES
            )
            log, place = self.image.with_suffix(".log"), self.image.parent / f"making-{self.kind}"
            with (
                Disk(self.image, self.kind, place) as disk,
                start(disk.place / STORE, plan, log, Acknowledged()) as child,
            ):
                told = child.finish()
            Acknowledged.read(told)
        self._told.write_bytes(told)

    @property
    def told(self) -> bytes:
        """What was told while it was made."""
        return self._told.read_bytes()


class Preparation(Protocol):
    """What a worker does before there are cases."""

    def prepare(self) -> None:
        """Does it. Raises `Unavailable`."""
        ...


class DiskPreparation(Struct, frozen=True, kw_only=True):
    """All stores to begin with on file systems of one kind."""

    directory: Path
    kind: Kind
    seed: int

    def prepare(self) -> None:
        """Makes them. Raises `Unavailable`."""
        require_disk(self.directory, self.kind)
        for age in AGES:
            Beginning(self.directory, self.kind, age).make(self.seed)


def start(store: Path, plan: Plan, log: Path, known: Acknowledged) -> Forked:
    """A life on a store, which is made only if nobody has ever opened it; it settles first what was in doubt."""
    plan = replace(plan, create=not known.exists)
    doubtful = [one.sent for one in known.doubtful()]
    return Forked(lambda output: _live(store, plan, output, doubtful), log, LIFE_SECONDS_MAX)


def judge(store: Path, known: Acknowledged, bug: str | None, log: Path) -> Checked:
    """What the oracle says, in a process of its own. Raises `Violation`."""
    plan = Plan(seed="the oracle", commands=0, bug=bug, write_buffer_bytes=SMALL_BUFFER_BYTES)
    with Forked(lambda output: _check(store, known, plan, log.parent, output), log, LIFE_SECONDS_MAX) as child:
        said = child.finish()
        require(bool(said), f"the oracle's process ended without a word{child.log_tail()}")
    verdict, _, rest = said.partition(b"\n")
    if verdict == b"violation":
        raise Violation(rest.decode())
    return msgspec.json.decode(rest, type=Checked)


def _live(store: Path, plan: Plan, output: int, doubtful: list[Sent]) -> None:
    live(store, plan, Reporter(output), doubtful)


def _check(store: Path, known: Acknowledged, plan: Plan, scratch: Path, output: int) -> None:
    tempfile.tempdir = str(scratch)  # or what a killed oracle leaves would stay
    try:
        said = b"checked\n" + _ENCODER.encode(check(store, known, plan))
    except Violation as violation:
        said = b"violation\n" + str(violation).encode()
    os.write(output, said)
