"""A directory on a disk, as its user sees it and as a crash may find it: what is durable, and what is still pending.

What lives here: `Disk`, which follows the records of a life. What a crash makes of it is drawn in `crash_outcomes.py`.

What always holds: a file's bytes are certain up to its last sync, its names up to the last sync of the directory that
holds them, and nothing else is. That is all that POSIX promises; each file system keeps more of it, each another part.
The engine's diary is followed by name only: no byte of it is ever read back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crash_tests.system_calls.records import Kind, Record
from crash_tests.violation import require

DIARY_PREFIX = "LOG"


class Patch(NamedTuple):
    """Bytes that were written at an offset."""

    offset: int
    data: bytes


class Resize(NamedTuple):
    """A file that was cut, or grown by zeros, to a size."""

    size: int


class File:
    """Contents: those that are durable, and what was done to them since."""

    __slots__ = ("durable", "is_diary", "pending")

    def __init__(self, durable: bytes = b"", *, is_diary: bool = False) -> None:
        self.durable = durable
        self.pending: list[Patch | Resize] = []
        self.is_diary = is_diary

    def do(self, step: Patch | Resize) -> None:
        """Something is done to it."""
        if not self.is_diary:
            self.pending.append(step)

    def sync(self) -> None:
        """What was done so far is durable."""
        self.durable = self.contents()
        self.pending.clear()

    def contents(self, steps: int | None = None) -> bytes:
        """The durable bytes after the first so many pending steps, or after all of them: what its user sees."""
        if not self.pending:
            return self.durable
        after = bytearray(self.durable)
        for step in self.pending[:steps]:
            do(after, step)
        return bytes(after)


def do(contents: bytearray, step: Patch | Resize) -> None:
    """Carry out a step."""
    if isinstance(step, Resize):
        del contents[step.size :]
        contents.extend(bytes(step.size - len(contents)))
    else:
        contents.extend(bytes(max(0, step.offset - len(contents))))
        contents[step.offset : step.offset + len(step.data)] = step.data


class Folder:
    """A directory."""


class Link(NamedTuple):
    """A symbolic link."""

    target: Path


Entry = File | Folder | Link
Names = dict[Path, Entry]


class Move(NamedTuple):
    """One change of the names in a folder: a name goes, a name comes, or both at once."""

    folder: Path
    gone: Path | None
    come: Path | None
    entry: Entry

    def do(self, names: Names) -> None:
        """Carry it out."""
        if self.gone is not None:
            names.pop(self.gone, None)
        if self.come is not None:
            names[self.come] = self.entry


class Lie(NamedTuple):
    """A drive that answers syncs and does nothing: of files with this suffix (all, if it is empty), or of folders."""

    suffix: str = ""
    folders: bool = False

    def is_told_about(self, entry: File | Path, path: Path | None) -> bool:
        """Whether the sync of a file, or of the folder with that path, is a lie."""
        if isinstance(entry, Path):
            return self.folders
        return not self.folders and path is not None and path.name.endswith(self.suffix)


class Disk:
    """Everything below a directory, which is itself certain. All of it is durable at first."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lie: Lie | None = None
        """From when this is set the drive lies."""
        self.certain: Names = {}
        """The names that a crash leaves."""
        self.names: Names = {}
        """The names that its user sees."""
        self.pending: list[Move] = []
        self._by_inode: dict[int, File | Path] = {root.stat().st_ino: root}
        for path in sorted(root.rglob("*")):
            self._find(path)

    def follow(self, record: Record) -> None:
        """The next call of its user."""
        match record.kind:
            case Kind.WRITTEN:
                self._file(record).do(Patch(record.offset, record.data))
            case Kind.RESIZED:
                self._file(record).do(Resize(record.offset))
            case Kind.SYNCED:
                self._sync(record.inode)
            case Kind.OPENED:
                self._opened(record)
            case Kind.MADE:
                self._by_inode[record.inode] = record.paths[0]
                self._move(None, record.paths[0], Folder())
            case Kind.MARK:
                pass
            case _:
                self._change_names(record)

    def _change_names(self, record: Record) -> None:
        *before, path = record.paths
        match record.kind:
            case Kind.RENAMED:
                self._move(before[0], path, self.names[before[0]])
            case Kind.LINKED:
                self._move(None, path, self.names[before[0]])
            case Kind.LINKED_SYMBOLICALLY:
                self._move(None, path, Link(before[0]))
            case _:
                self._move(path, None, self.names[path])

    def files(self) -> Iterator[tuple[Path, File]]:
        """Those that its user sees."""
        for path, entry in self.names.items():
            if isinstance(entry, File):
                yield path, entry

    def is_diary(self, inode: int) -> bool:
        """Whether an inode is that of a file whose bytes are not followed."""
        found = self._by_inode.get(inode)
        return isinstance(found, File) and found.is_diary

    def require_followed(self) -> None:
        """Raise `Violation` unless this is what is really there: else calls were missed that the recorder can't see."""
        found = set(self.root.rglob("*"))
        require(found == set(self.names), f"the recorder missed names: {sorted(found ^ set(self.names))}")
        for path, file in self.files():
            require(file.is_diary or path.read_bytes() == file.contents(), f"the recorder missed a change of {path}")

    def _find(self, path: Path) -> None:
        if path.is_symlink():
            self.names[path] = self.certain[path] = Link(path.readlink())
        elif path.is_dir():
            self.names[path] = self.certain[path] = Folder()
            self._by_inode[path.stat().st_ino] = path
        else:
            file = _file_at(path, b"" if _is_diary(path) else path.read_bytes())
            self.names[path] = self.certain[path] = self._by_inode[path.stat().st_ino] = file

    def _opened(self, record: Record) -> None:
        (path,) = record.paths
        if path not in self.names:
            file = self._by_inode[record.inode] = _file_at(path)
            self._move(None, path, file)

    def _file(self, record: Record) -> File:
        found = self._by_inode[record.inode]
        assert isinstance(found, File), "only files have contents"
        return found

    def _path_of(self, entry: File | Path) -> Path | None:
        return next((path for path, other in self.names.items() if other is entry), None)

    def _sync(self, inode: int) -> None:
        found = self._by_inode[inode]
        if self.lie is not None and self.lie.is_told_about(found, self._path_of(found)):
            return
        if isinstance(found, File):
            found.sync()
            return
        for move in self.pending:
            if move.folder == found:
                move.do(self.certain)
        self.pending = [move for move in self.pending if move.folder != found]

    def _move(self, gone: Path | None, come: Path | None, entry: Entry) -> None:
        folders = {path.parent for path in (gone, come) if path is not None}
        require(len(folders) == 1, f"a name went from one directory to another: {gone} to {come}")
        move = Move(folders.pop(), gone, come, entry)
        move.do(self.names)
        self.pending.append(move)


def _is_diary(path: Path) -> bool:
    return path.name.startswith(DIARY_PREFIX)


def _file_at(path: Path, durable: bytes = b"") -> File:
    return File(durable, is_diary=_is_diary(path))
