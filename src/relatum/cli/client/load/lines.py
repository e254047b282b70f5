"""Lines of a file or pipe, one at a time and of a bounded length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final, NamedTuple

LINE_BYTES_MAX: Final = 4 * 1024 * 1024
"""Longer than any command may be, in whatever way it is spelled."""


class Line(NamedTuple):
    """A line without its end, and how many bytes were read up to its end. `too_long`: only its beginning was kept."""

    number: int
    content: bytes
    read_bytes: int
    too_long: bool = False


def lines(stream: IO[bytes]) -> Iterator[Line]:
    """The lines that are not blank, numbered from 1 with the blank ones counted."""
    number = read = 0
    while content := stream.readline(LINE_BYTES_MAX):
        number += 1
        read += len(content)
        too_long = False
        if len(content) == LINE_BYTES_MAX and not content.endswith(b"\n"):
            skipped = content
            while skipped and not skipped.endswith(b"\n"):
                skipped = stream.readline(LINE_BYTES_MAX)
                read += len(skipped)
                too_long = True
        if content.strip():
            yield Line(number, content.rstrip(b"\r\n"), read, too_long)
