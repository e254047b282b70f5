"""A data directory as a whole (`relatum.store.layout`): the engine's store, its format, its position, its watermark.

Opening refuses, with a message for the operator, a directory that is missing, in use, of another format, or that lacks
anything that was acknowledged.

Always holds: a store that is refused is as it was. Whatever would refuse it is found out by reading, before the engine
is let at the files, so that files which an operator puts back are taken up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final, Self

from relatum.entropy import Entropy, SystemEntropy
from relatum.errors import StorageFailure, StorageInconsistency, StoreUnavailable
from relatum.store import failpoints, keys, layout, rows
from relatum.store.counts import Recounts
from relatum.store.directory import holds_store
from relatum.store.file_maintenance import Upkeep, clear_leftovers, was_left_open
from relatum.store.files import make_directory
from relatum.store.heads import verify_tips
from relatum.store.kv import KeyValue, Reader, View
from relatum.store.lock import making_store_in
from relatum.store.memory import MemoryStore
from relatum.store.preflight import TornTail
from relatum.store.rocks import RocksStore, reading
from relatum.store.view import store_body
from relatum.store.watermark import WatermarkFile, read_watermark
from relatum.telemetry import Log

FORMAT_VERSION = 4
ENGINE_NAME: Final = layout.ENGINE_NAME
WATERMARK_NAME: Final = layout.WATERMARK_NAME

START = rows.Position(position=0, committed_at_millis=0, digest=bytes(32))


class Database:
    """An open store. The writer alone calls `commit`; views may be taken by any thread."""

    def __init__(
        self,
        store: KeyValue,
        watermark: WatermarkFile | None,
        form: rows.Format,
        position: rows.Position,
        torn_tails: tuple[TornTail, ...] = (),
        directory: Path | None = None,
        watermark_lag: int = 0,
    ) -> None:
        self.torn_tails = torn_tails
        """What opening cut off the write-ahead log: remains of a group that the watermark does not tell of."""
        self.examined_wholly = True
        """Whether opening looked at the ends of all partitions; of a very large store it looks at the first ones."""
        self.recovered = False
        """Whether the process that had the store open before did not close it."""
        self.store = store
        self.store_key = form.store_key
        self.recounts = Recounts()
        self.position = position
        self._watermark = watermark
        self._watermark_lags = bool(watermark_lag)
        self._unmarked: rows.Position | None = None  # what was committed and the watermark does not tell of
        self._committing = Lock()
        self._doubtful = False  # whether a commit has failed
        self.upkeep: Upkeep | None = None
        """None where there are no files."""
        if directory is not None and isinstance(store, RocksStore):
            self.upkeep = Upkeep(directory, store, self._committing, self._certain_position)
        store.publish(position)

    @classmethod
    def open(cls, directory: Path, *, create: bool, watermark_lag: int = 0) -> Self:
        """Opens the database in `directory`; if there is none and `create` is set, makes one.

        `watermark_lag` is by how many groups the watermark may lag behind what is visible: by none or by one. Raises
        StoreUnavailable with a message for the operator; the store is then as it was.
        """
        try:
            wholly = True
            recovered = was_left_open(directory)
            if holds_store(directory / ENGINE_NAME):
                clear_leftovers(directory)
                wholly = _require_servable(directory)
            else:
                _require_not_restoring(directory)
                _require_no_trace(directory)
                if create:
                    _make(directory)
                elif not (directory / ENGINE_NAME).is_dir():
                    raise StoreUnavailable(f"no relatum store in {directory}; make one with: relatum init {directory}")
            return cls._open(
                directory, create=create, watermark_lag=watermark_lag, examined_wholly=wholly, recovered=recovered
            )
        except StorageInconsistency as error:
            raise StoreUnavailable(
                f"the store in {directory} is damaged: {error}. Nothing has been changed; restore a backup with: "
                "relatum restore"
            ) from error
        except StorageFailure as error:
            raise StoreUnavailable(f"the disk failed while the store in {directory} was opened: {error}") from error
        except OSError as error:
            raise StoreUnavailable(f"can't open the store in {directory}: {error.strerror}") from error

    @classmethod
    def _open(
        cls, directory: Path, *, create: bool, watermark_lag: int, examined_wholly: bool, recovered: bool
    ) -> Self:
        store = RocksStore.open(directory / ENGINE_NAME, create=create)

        def watermark(blank: bool) -> WatermarkFile:
            return WatermarkFile.open(directory / WATERMARK_NAME, create=blank)

        try:
            opened = cls.on(
                store,
                watermark,
                create=create,
                torn_tails=store.torn_tails,
                directory=directory,
                watermark_lag=watermark_lag,
            )
        except BaseException:
            store.close()
            raise
        opened.examined_wholly = examined_wholly
        opened.recovered = recovered
        return opened

    @classmethod
    def on(
        cls,
        store: KeyValue,
        open_watermark: Callable[[bool], WatermarkFile],
        *,
        create: bool,
        entropy: Entropy | None = None,
        torn_tails: tuple[TornTail, ...] = (),
        directory: Path | None = None,
        watermark_lag: int = 0,
    ) -> Self:
        """Opens the database that lies in `store`, whatever kind of store that is; all that `open` checks is checked.

        `open_watermark` is told whether the store is blank, so that its watermark may be made. Raises StoreUnavailable
        and StorageInconsistency; the store stays open.
        """
        form = _format(store, create=create, entropy=entropy)
        failpoints.reach("open.formatted")
        position = _position(store)
        watermark = open_watermark(position.position == 0)
        try:
            _require_nothing_lost(position, watermark)
            _raise_to(position, watermark)
            failpoints.reach("open.marked")
            opened = cls(store, watermark, form, position, torn_tails, directory, watermark_lag)
        except BaseException:
            watermark.close()
            raise
        failpoints.reach("open.published")
        return opened

    @classmethod
    def in_memory(cls, entropy: Entropy | None = None) -> Self:
        """A database that lives as long as the process. Its key is drawn from `entropy`, the system's by default."""
        store = MemoryStore()
        return cls(store, None, _format(store, create=True, entropy=entropy), START)

    def tell_of_opening(self, log: Log) -> None:
        """What an operator should know of how the store was found."""
        for tail in self.torn_tails:
            log.warning(
                "the write-ahead log ended in a torn group, which was cut off; nobody had been told of it, unless the "
                "watermark lagged (watermark_lag)",
                kept=str(tail.kept),
                tail_bytes=tail.tail_bytes,
            )
        if not self.examined_wholly:
            log.info(
                "the store is large: opening looked at the ends of its first partitions and credentials only; "
                "the others are looked at when they are used, by the scrub, and by: relatum verify"
            )

    def commit(self, staged: Mapping[bytes, bytes | None], position: rows.Position) -> None:
        """Makes a group durable, then visible. Raises StorageFailure, after which the outcome is unknown.

        IMPORTANT: durable before visible before answered. The caller answers after this has returned, and calls `mark`
        after that.
        """
        position_row = rows.seal(keys.POSITION, rows.POSITION.encode(position))
        with self._commit():
            self.store.write({**staged, keys.POSITION: position_row})
            failpoints.reach("commit.written")
            self.store.sync()
            failpoints.reach("commit.synced")
            if self._watermark_lags:
                self._unmarked = position
            else:
                self._raise_watermark(position)
            self.store.publish(position)
            self.position = position
            failpoints.reach("commit.published")

    def mark(self) -> None:
        """Raises the watermark to what was committed last, where it lags. Raises StorageFailure as `commit` does."""
        if self._unmarked is not None:
            with self._commit():
                self._raise_watermark(self._unmarked)
                self._unmarked = None

    def _raise_watermark(self, position: rows.Position) -> None:
        if self._watermark is not None:
            self._watermark.write(position.position, position.digest)
        failpoints.reach("commit.marked")

    @contextmanager
    def _commit(self) -> Iterator[None]:
        """No image is taken meanwhile. Where the disk fails, there is room on it again for an orderly stop."""
        with self._committing:
            try:
                yield
            except BaseException:
                self._doubtful = True
                self._make_room()
                raise

    def _make_room(self) -> None:
        if self.upkeep is not None:
            self.upkeep.ballast.let_go()

    def _certain_position(self) -> rows.Position:
        """What is published. Raises StorageFailure where more than that may be on disk, which no image may show."""
        if self._doubtful:
            raise StorageFailure("the outcome of the last commit is unknown until the store is opened again")
        return self.position

    def view(self) -> View:
        """A cut of what was last published."""
        return self.store.view()

    def close(self, wait_seconds: float = 10.0) -> None:
        """Closes the store. Raises StorageFailure where views are still open after `wait_seconds`."""
        self._make_room()
        try:
            self.store.close(wait_seconds=wait_seconds)
        finally:
            if self._watermark is not None:
                self._watermark.close()


def _make(directory: Path) -> None:
    try:
        make_directory(directory)
        if not (directory / ENGINE_NAME).is_dir():
            with making_store_in(directory):
                _make_engine(directory)
        failpoints.reach("make.directory")
    except OSError as error:
        raise StoreUnavailable(f"can't make {directory}: {error.strerror}") from error


def _make_engine(directory: Path) -> None:
    if not (directory / ENGINE_NAME).is_dir() and any(directory.iterdir()):
        raise StoreUnavailable(f"{directory} is not empty and holds no relatum store")
    make_directory(directory / ENGINE_NAME)


def _require_not_restoring(directory: Path) -> None:
    if (directory / layout.RESTORING_NAME).is_dir():
        raise StoreUnavailable(
            f"no relatum store in {directory}: a restore was interrupted there, or goes on. Begin it again, "
            "or delete the directory"
        )


def _require_no_trace(directory: Path) -> None:
    """Where a watermark says that something was acknowledged there was a store, and none may be made in its place."""
    try:
        mark = read_watermark(directory / WATERMARK_NAME)
    except (FileNotFoundError, NotADirectoryError):
        return
    if mark.position > 0:
        raise StoreUnavailable(
            f"the store in {directory} has lost its files: it had come to position {mark.position}, and there is no "
            f"whole store in {directory / ENGINE_NAME}. Nothing has been changed. Put them back, or restore a backup "
            "with: relatum restore"
        )


def _require_servable(directory: Path) -> bool:
    """Whatever would refuse the store, found out while nothing has been changed yet; whether all was looked at."""
    path = directory / WATERMARK_NAME
    with reading(directory / ENGINE_NAME, shadow_in=directory) as view:
        position = _position(view)
        _require_format(_stored_format(view), position)
        if position.position or path.exists():
            watermark = WatermarkFile.open(path, create=False)
            try:
                _require_nothing_lost(position, watermark)
            finally:
                watermark.close()
        wholly = verify_tips(view, position)
        failpoints.reach("examine.passed")
        return wholly


def of_another_format(version: int) -> StoreUnavailable:
    """Why a store of another format can't be read, for the operator."""
    message = f"the store has format {version}, this version of relatum reads format {FORMAT_VERSION}"
    if version < FORMAT_VERSION:
        message += (
            ". There is no upgrade from a format that came before the first release: export the store as text with the "
            "version of relatum that wrote it, and import that into a new one"
        )
    return StoreUnavailable(message)


def _stored_format(reader: Reader) -> rows.Format | None:
    try:
        body = store_body(reader, keys.FORMAT)
        if body is None:
            return None
        version = rows.STORE_VERSION.decode(body).version
        if version != FORMAT_VERSION:
            raise of_another_format(version)
        return rows.FORMAT.decode(body)
    except StorageInconsistency as error:
        raise StoreUnavailable("the store's format row is damaged; restore a backup") from error


def _require_format(found: rows.Format | None, position: rows.Position) -> None:
    """A store in which anything was accepted has its format row; another one would get other keys for its digests."""
    if found is None and position.position > 0:
        raise StoreUnavailable("the store's format row is missing; restore a backup with: relatum restore")


def _format(store: KeyValue, *, create: bool, entropy: Entropy | None = None) -> rows.Format:
    found = _stored_format(store)
    if found is not None:
        return found
    if not create:
        raise StoreUnavailable("the directory holds no relatum store")
    _require_format(found, _position(store))
    made = rows.Format.of(FORMAT_VERSION, (entropy or SystemEntropy()).draw(rows.STORE_KEY_BYTES))
    store.write({keys.FORMAT: rows.seal(keys.FORMAT, rows.FORMAT.encode(made))})
    failpoints.reach("make.format")
    store.sync()
    return made


def _position(store: Reader) -> rows.Position:
    body = store_body(store, keys.POSITION)
    return START if body is None else rows.POSITION.decode(body)


def _raise_to(position: rows.Position, watermark: WatermarkFile) -> None:
    """A group that was synced and not yet marked when a process died is shown from now on, so it may not be lost.

    Recovery has made durable whatever the store was found with.
    """
    if position.position > watermark.read().position:
        watermark.write(position.position, position.digest)


def _require_nothing_lost(position: rows.Position, watermark: WatermarkFile) -> None:
    mark = watermark.read()
    if position.position < mark.position:
        raise StoreUnavailable(
            f"acknowledged commands are lost: the store had come to position {mark.position}, and what its files hold "
            f"ends at position {position.position}. Nothing has been changed. Put back the files that are missing, the "
            "newest write-ahead logs (*.log) most likely, or restore a backup with: relatum restore"
        )
    if position.position == mark.position and position.digest != mark.head:
        raise StoreUnavailable(
            f"the store's history at position {position.position} is not the one that was acknowledged there. Nothing "
            "has been changed. Its files and its watermark are of two copies: put them together again, or restore a "
            "backup with: relatum restore"
        )
