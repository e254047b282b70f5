"""Files and directories as they are, and what would be left of them if the power went.

What always holds: what was synced is left, whatever the loss. Of what was not, a `Loss` says what becomes:

* of a file's writes since its last sync some first ones are left, in the order in which they were made;
* the next one is left in part: up to a sector or in some sectors, or to zeros as where a file system had made room for
  the data and not written it yet;
* names that came, went or changed since their directory was synced are left in order too, as far as they are left.

A file that was synced keeps its name only if its directory was synced after it got it: POSIX promises no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Final, Literal

Loss = Literal["all", "torn", "scattered", "zeros", "some", "nothing"]

LOSSES: Final[tuple[Loss, ...]] = ("all", "torn", "scattered", "zeros", "some", "nothing")
SECTOR_BYTES: Final = 512

Change = tuple[int, bytes]
"""A write: where, and what; or a new length, with no bytes."""
Renaming = tuple[bytes, "Node | None"]
"""A name, and what it stands for from now on."""


class File:
    """A file: its bytes, its bytes as of its last sync, and what was done since."""

    def __init__(self) -> None:
        self.content = bytearray()
        self._synced = b""
        self._changes: list[tuple[int, bytes | None]] = []

    def write(self, offset: int, data: bytes) -> None:
        """Bytes from `offset` on; a gap is filled with zeros."""
        _write(self.content, offset, data)
        self._changes.append((offset, data))

    def resize(self, length: int) -> None:
        """Cut to a length, or lengthened with zeros."""
        _resize(self.content, length)
        self._changes.append((length, None))

    def sync(self) -> None:
        """What it holds now is safe."""
        if self._changes:
            self._synced = bytes(self.content)
            self._changes.clear()

    def lose(self, loss: Loss, dice: Random) -> None:
        """The power went."""
        content = bytearray(self._synced)
        left = _left(len(self._changes), loss, dice)
        for offset, data in self._changes[:left]:
            _apply(content, offset, data)
        for offset, data in self._changes[left : left + 1]:
            _apply_in_part(content, offset, data, loss, dice)
        self.content = content
        self._synced = bytes(content)
        self._changes.clear()


class Link:
    """A symbolic link, which is what it is from the beginning: only its name can be lost."""

    def __init__(self, target: bytes) -> None:
        self.target = target

    def sync(self) -> None:
        """There is nothing that is not safe."""

    def lose(self, loss: Loss, dice: Random) -> None:
        """Nothing is lost."""


class Directory:
    """A directory: what its names stand for, as of now and as of its last sync, and what was done since."""

    def __init__(self) -> None:
        self.names: dict[bytes, Node] = {}
        self._synced: dict[bytes, Node] = {}
        self._changes: list[list[Renaming]] = []

    def change(self, *renamings: Renaming) -> None:
        """Names come, go, or stand for something else, all at once."""
        _rename(self.names, renamings)
        self._changes.append(list(renamings))

    def sync(self) -> None:
        """Its names are safe."""
        self._synced = dict(self.names)
        self._changes.clear()

    def lose(self, loss: Loss, dice: Random) -> None:
        """The power went, here and below."""
        names = dict(self._synced)
        for renamings in self._changes[: _left(len(self._changes), loss, dice)]:
            _rename(names, renamings)
        self.names = names
        self.sync()
        for node in names.values():
            node.lose(loss, dice)


Node = File | Link | Directory


def _left(changes: int, loss: Loss, dice: Random) -> int:
    """How many of so many changes are left as they were made."""
    if loss == "nothing":
        return changes
    return 0 if loss == "all" else dice.randint(0, changes)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        _resize(content, offset)
    else:
        _write(content, offset, data)


def _apply_in_part(content: bytearray, offset: int, data: bytes | None, loss: Loss, dice: Random) -> None:
    if data is None or loss in ("all", "some", "nothing"):
        return
    if loss == "zeros":
        _write(content, offset, bytes(len(data)))
        return
    for sector in _sectors(offset, data, loss, dice):
        _write(content, *sector)


def _sectors(offset: int, data: bytes, loss: Loss, dice: Random) -> list[Change]:
    """The sectors of a write that got to the disk: the first ones, or any."""
    first = SECTOR_BYTES - offset % SECTOR_BYTES
    starts = [0, *range(first, len(data), SECTOR_BYTES)]
    sectors = [(offset + start, data[start:end]) for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
    if loss == "torn":
        return sectors[: dice.randint(0, len(sectors))]
    return [sector for sector in sectors if dice.random() < 0.5]


def _write(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def _resize(content: bytearray, length: int) -> None:
    del content[length:]
    content.extend(bytes(length - len(content)))


def _rename(names: dict[bytes, Node], renamings: Iterable[Renaming]) -> None:
    for name, node in renamings:
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node
