"""Files that were damaged while nobody used them: a byte changed at many places, an end missing, a stretch of zeros."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random  # noqa: TID251 - the same places on every run
from shutil import copy

ZEROED_BYTES = 512


def decayed(data: bytes, seed: str, places: int) -> Iterator[bytes]:
    """A file's bytes, damaged in one way each: at so many places, and at half as many ends and stretches."""
    random = Random(seed)
    for number in range(places):
        at = random.randrange(len(data))
        yield data[:at] + bytes([data[at] ^ random.randrange(1, 256)]) + data[at + 1 :]
        if number % 4 == 0:
            yield data[:at]
        elif number % 4 == 1:
            zeroed = data[:at] + bytes(ZEROED_BYTES) + data[at + ZEROED_BYTES :]
            if zeroed != data:
                yield zeroed


def put_back(kept: Path, directory: Path) -> None:
    """Puts the files that were kept in the place of all that a directory has by now."""
    for left in directory.iterdir():
        left.unlink()
    for file in kept.iterdir():
        copy(file, directory)
