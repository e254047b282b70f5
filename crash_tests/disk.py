"""A file system of its own: an image file, a loop device over it, a mount. And images to begin with."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from crash_tests.kernel import attach_loop, mount, shut_down, unmount
from crash_tests.part import Unavailable
from relatum.limits import MIB

Kind = Literal["ext4", "xfs"]

KINDS: Final[tuple[Kind, ...]] = ("ext4", "xfs")
PROGRAM_SECONDS_MAX: Final = 60.0
_BYTES: Final[dict[Kind, int]] = {"ext4": 96 * MIB, "xfs": 300 * MIB}  # of which most are holes; xfs takes no less
_MAKING: Final[dict[Kind, tuple[str, ...]]] = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-J", "size=4", "-E", "lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-m", "reflink=1"),
}
_OPTIONS: Final[dict[Kind, str]] = {"ext4": "", "xfs": "nouuid"}  # a clone has the uuid of the original


class Disk:
    """An image, mounted as long as the context lasts; it is left unmounted."""

    def __init__(self, image: Path, kind: Kind, place: Path, options: str = "") -> None:
        self.image = image
        self._options = ",".join(filter(None, (_OPTIONS[kind], options)))
        self.kind = kind
        self.place = place
        self._mounted = False

    def __enter__(self) -> Self:
        self.mount()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._mounted:
            self.unmount()

    def mount(self) -> None:
        """The file system comes up, and recovers by its log if it has to."""
        self.place.mkdir(exist_ok=True)
        name, device = attach_loop(self.image)
        try:
            mount(name, self.place, self.kind, self._options)
        finally:
            os.close(device)
        self._mounted = True

    def unmount(self) -> None:
        """Everything that was written is in the image, unless the power was cut before."""
        self._mounted = False  # before it is: whoever is told to end while it happens must not do it twice
        unmount(self.place)

    def cut_power(self, *, flush_log: bool = False) -> None:
        """Nothing gets from the file system to the image any more, except its log if it is to be flushed.

        It must be unmounted next.
        """
        shut_down(self.place, flush_log=flush_log)


def make_image(image: Path, kind: Kind, size_bytes: int | None = None) -> None:
    """A new file system in a sparse file. Raises `Unavailable` where it can't be made."""
    program = _MAKING[kind]
    if shutil.which(program[0]) is None:
        raise Unavailable(f"{program[0]} is missing: apt-get install e2fsprogs xfsprogs")
    with image.open("wb") as file:
        file.truncate(size_bytes or _BYTES[kind])
    _run(*program, str(image))


def copy_image(image: Path, copy: Path) -> None:
    """A copy that takes no more room than what was written, and less where the file system can share it."""
    _run("cp", "--reflink=auto", "--sparse=always", str(image), str(copy))


def require_disk(directory: Path, kind: Kind) -> None:
    """Raise `Unavailable`, and say why, unless a file system in an image can be made, mounted and cut off here."""
    image, place = directory / f"trial.{kind}", directory / f"trial-{kind}"
    make_image(image, kind)
    try:
        with Disk(image, kind, place) as disk:
            disk.cut_power()
    except OSError as error:
        raise Unavailable(f"no {kind} can be mounted here through a loop device: {error}") from error
    image.unlink()


def _run(*program: str) -> None:
    result = subprocess.run(program, check=False, capture_output=True, timeout=PROGRAM_SECONDS_MAX)
    if result.returncode != 0:
        raise Unavailable(f"{program[0]} failed: {result.stderr.decode(errors='replace').strip()[-300:]}")
