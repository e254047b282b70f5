"""What is done to the files of a store while it is open and in use: ballast, images for backups, compaction.

What lives here: `Upkeep`. What must not: what becomes of an image (relatum.store.backup), or anything about rows.

What always holds: an image is the store at exactly one published position, watermark included, and is removed when it
is let go of, by the next opening at the latest. Readers and the writer go on meanwhile, but for the moment in which an
image's files are linked.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Final, NamedTuple

from relatum.errors import StorageFailure, StoreUnavailable
from relatum.store import failpoints
from relatum.store.ballast import Ballast
from relatum.store.files import make_directory, sync_directory
from relatum.store.layout import BALLAST_NAME, ENGINE_NAME, IMAGES_NAME, RESTORING_NAME, WATERMARK_NAME
from relatum.store.lock import DirectoryLock
from relatum.store.rocks import RocksStore
from relatum.store.rows import Position
from relatum.store.watermark import WatermarkFile

VIEWS_SECONDS_MAX: Final = 60.0
"""For readers to come to an end that began before a compaction."""

FILES_SECONDS_MAX: Final = 10.0
"""For superseded files to disappear once nobody reads them any more."""

_POLL_SECONDS: Final = 0.005


class Image(NamedTuple):
    """A store in a directory of its own, by hard links: `directory` holds the files as they were at `position`."""

    directory: Path
    position: Position

    def files(self) -> list[Path]:
        """Every file, in a fixed order; nobody changes them."""
        return sorted(path for path in self.directory.rglob("*") if path.is_file())


class Upkeep:
    """The upkeep of one open store. Any thread may ask for it; one thing is done at a time."""

    def __init__(self, directory: Path, store: RocksStore, committing: Lock, position: Callable[[], Position]) -> None:
        """`committing` is what the writer holds while it commits, `position` tells the one published last."""
        self.ballast = Ballast(directory)
        self._directory = directory
        self._store = store
        self._committing = committing
        self._position = position
        self._keeping = Lock()
        self._numbers = count(1)

    @contextmanager
    def image(self) -> Iterator[Image]:
        """The store's files as of what is published now, for as long as the block runs.

        Raises StorageFailure where the disk is full, or after a commit that has failed.
        """
        place = self._directory / IMAGES_NAME / str(next(self._numbers))
        try:
            yield Image(place, self._made(place))
        finally:
            shutil.rmtree(place, ignore_errors=True)
            with suppress(OSError):
                place.parent.rmdir()  # unless there are others

    def compact(self) -> tuple[int, int]:
        """Purge what was deleted or overwritten before the call from every file; their bytes before and after.

        Raises StorageFailure where the store is closed meanwhile, or where something still reads the old files: a view
        or an image.
        """
        engine = self._directory / ENGINE_NAME
        with self._keeping:
            if (self._directory / IMAGES_NAME).exists():
                raise StorageFailure("an image of the store is open, which keeps its old files")
            before = _sizes(engine)
            self._outlast_views()
            superseded = _sizes(engine)
            self._store.compact()
            self._outlast_views()
            _await_removal(superseded)
            for tail in engine.glob("*.log.torn-at-*"):
                tail.unlink()
            sync_directory(engine)  # else what was removed could be there again after a power cut
            return sum(before.values()), sum(_sizes(engine).values())

    def _made(self, place: Path) -> Position:
        try:
            make_directory(place.parent)
            make_directory(place)
            position = self._link(place / ENGINE_NAME)
            failpoints.reach("image.linked")
            watermark = WatermarkFile.open(place / WATERMARK_NAME, create=True)
        except (OSError, StoreUnavailable) as error:
            raise StorageFailure("no image of the store can be made on its disk") from error
        try:
            if position.position:
                watermark.write(position.position, position.digest)
        finally:
            watermark.close()
        return position

    def _link(self, place: Path) -> Position:
        with self._keeping:
            self._store.flush()  # so that little is left to flush while nobody can write
            with self._committing:
                self._store.link_files(place)
                return self._position()

    def _outlast_views(self) -> None:
        """Returns once no reader sees, and so keeps, anything older than what is published now."""
        with self._committing:
            self._store.republish(self._position())
        if not self._store.outlast_earlier_views(VIEWS_SECONDS_MAX):
            raise StorageFailure("readers that began before are still at work; nothing is lost, try again")


def was_left_open(directory: Path) -> bool:
    """Whether the last process that had a store open did not close it: it was killed, or the machine went down.

    An orderly end leaves nothing in the log, and no ballast.
    """
    leftovers = (directory / BALLAST_NAME, directory / IMAGES_NAME, *(directory / ENGINE_NAME).glob("*.log"))
    return any(path.is_dir() or (path.is_file() and path.stat().st_size > 0) for path in leftovers)


def clear_leftovers(directory: Path) -> None:
    """Remove what an earlier process left in a data directory that holds no rows of its own.

    Raises StoreUnavailable where another process has the store open.
    """
    images, restoring = directory / IMAGES_NAME, directory / RESTORING_NAME
    if not any(path.exists() for path in (images, restoring, directory / BALLAST_NAME)):
        return
    lock = DirectoryLock.acquire(directory / ENGINE_NAME)
    try:
        Ballast(directory).let_go()
        if images.exists():
            shutil.rmtree(images)
        if restoring.exists():
            restoring.rmdir()  # a restore that was interrupted when everything was in its place
    except OSError as error:
        raise StoreUnavailable(f"can't remove {error.filename or images}: {error.strerror}") from error
    finally:
        lock.release()


def _sizes(engine: Path) -> dict[Path, int]:
    """The files that hold rows, and how many bytes; they come and go meanwhile."""
    sizes = {}
    for path in (*engine.glob("*.sst"), *engine.glob("*.log")):
        with suppress(FileNotFoundError):
            sizes[path] = path.stat().st_size
    return {path: size for path, size in sizes.items() if size}


def _await_removal(files: Iterable[Path]) -> None:
    """The engine removes files behind the back of whoever closed the last view on them."""
    deadline = monotonic() + FILES_SECONDS_MAX
    nobody_tells = Event()
    while any(path.exists() for path in files):
        if monotonic() > deadline:
            raise StorageFailure("superseded files are still in use; nothing is lost, try again")
        nobody_tells.wait(_POLL_SECONDS)
