"""What a crash leaves of a disk, drawn from dice: each pending thing is kept, lost, torn, or something in between.

What always holds: what is durable is left as it is. Names in a folder are lost from the last change backwards, as a
journal loses them; two folders may lose differently. Blocks of a file come to the disk in any order, as its pages are
written back in any order; within a block, sectors come in order. A block that did not come holds what it held before:
the file's old bytes, and zeros behind them, or junk if the file had grown over a block that was never written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from crash_tests.system_calls.disk import Disk, File, Folder, Link, Names, Patch, Resize, do

SECTOR_BYTES = 512
BLOCK_BYTES = 4096
SIZED = 0.5

State = dict[Path, bytes | Link | None]
"""The contents of each file by its path; the link where it is one; None for a folder."""

Fate = Callable[[File, Random], bytes]


class Crash(NamedTuple):
    """What is left, and in words what became of what was pending."""

    state: State
    told: str


def crash(disk: Disk, random: Random) -> Crash:
    """One of the many things that may be left of a disk."""
    style = random.choice(_STYLES)
    names, told = _names(disk, style, random)
    state: State = {}
    for path, entry in sorted(names.items()):
        if path.parent != disk.root and path.parent not in state:
            continue  # its folder is gone, and it with it
        if isinstance(entry, Folder):
            state[path] = None
            continue
        if isinstance(entry, Link):
            state[path] = entry
            continue
        fate = random.choice(style) if entry.pending else kept
        state[path] = fate(entry, random)
        if entry.pending:
            told.append(f"{path.name} {fate.__name__}")
    return Crash(state, ", ".join(told) or "nothing was pending")


def materialize(state: State, root: Path, place: Path) -> None:
    """Put a state of the disk below `root` into the directory `place`, which is empty."""
    for path, contents in state.items():
        there = place / path.relative_to(root)
        if contents is None:
            there.mkdir()
        elif isinstance(contents, Link):
            there.symlink_to(contents.target)
        else:
            there.write_bytes(contents)


# What becomes of a file that was not synced


def kept(file: File, _random: Random) -> bytes:
    """Everything, as after the end of a process."""
    return file.contents()


def lost(file: File, _random: Random) -> bytes:
    """Nothing that was not synced."""
    return file.durable


def torn(file: File, random: Random) -> bytes:
    """The first steps, and of the next one what came before some sector's end; perhaps the size came all the same."""
    whole = random.randrange(len(file.pending))
    contents = bytearray(file.contents(whole))
    size = len(file.contents(whole + 1))
    step = file.pending[whole]
    if isinstance(step, Patch):
        end = _begin(step.offset + random.randint(0, len(step.data)), SECTOR_BYTES)
        do(contents, Patch(step.offset, step.data[: max(0, end - step.offset)]))
        if random.random() < SIZED:
            do(contents, Resize(size))
    return bytes(contents)


def scattered(file: File, random: Random) -> bytes:
    """Some blocks came to the disk, the others are old, or zeros."""
    return _by_block(file, random, lambda old, _fresh: old)


def littered(file: File, random: Random) -> bytes:
    """Some blocks came to the disk; fresh ones that did not hold what they held for whoever had them before.

    What was being overwritten in place may have become junk too.
    """
    return _by_block(file, random, lambda old, fresh: random.randbytes(len(old)) if fresh else old)


_STYLES: tuple[tuple[Fate, ...], ...] = (
    (kept,),
    (lost,),
    (torn,),
    (scattered,),
    (kept, lost, torn, scattered, littered),
    (torn, littered),
)
"""From which fates the files of one crash draw; of the first two, names share the fate."""


def _names(disk: Disk, style: tuple[Fate, ...], random: Random) -> tuple[Names, list[str]]:
    folders = {move.folder: sum(move.folder == other.folder for other in disk.pending) for move in disk.pending}
    keep = {folder: _how_many(changes, style, random) for folder, changes in folders.items()}
    told = [
        f"{keep[folder]} of {changes} changes of names in {folder.name} kept" for folder, changes in folders.items()
    ]
    names = dict(disk.certain)
    for move in disk.pending:
        if keep[move.folder] > 0:
            move.do(names)
            keep[move.folder] -= 1
    return names, told


def _how_many(changes: int, style: tuple[Fate, ...], random: Random) -> int:
    if style == (kept,):
        return changes
    return 0 if style == (lost,) else random.randint(0, changes)


def _by_block(file: File, random: Random, unwritten: Callable[[bytes, bool], bytes]) -> bytes:
    """All steps, but some blocks' worth of what was written is replaced by what `unwritten` makes of its old bytes.

    It is told whether what lies there is nothing that a reader may ever have seen. The file may be of any size that it
    had at some time.
    """
    contents = bytearray(file.contents())
    durable = len(file.durable)
    old = file.durable.ljust(len(contents), b"\0")
    share = random.choice((0.2, 0.5, 0.9))
    came = defaultdict[int, bool](lambda: random.random() > share)  # by the block's beginning
    for step in file.pending:
        if isinstance(step, Resize):
            continue
        at, end = step.offset, min(step.offset + len(step.data), len(contents))
        in_place = end <= durable
        while at < end:
            block = _begin(at, BLOCK_BYTES)
            until = min(block + BLOCK_BYTES, end)
            if not came[block]:
                contents[at:until] = unwritten(old[at:until], in_place or block >= durable)
            at = until
    return bytes(contents[: random.choice((len(contents), *_sizes(file)))])


def _sizes(file: File) -> list[int]:
    """The sizes that it had after each step."""
    sizes: list[int] = []
    size = len(file.durable)
    for step in file.pending:
        size = step.size if isinstance(step, Resize) else max(size, step.offset + len(step.data))
        sizes.append(size)
    return sizes


def _begin(offset: int, unit_bytes: int) -> int:
    """Where the sector or block of a byte begins."""
    return offset - offset % unit_bytes
