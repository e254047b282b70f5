"""A data directory as a whole: the engine's store, its format, its position, and its watermark.

    DIRECTORY/engine      the engine's files
    DIRECTORY/watermark   how far the store had come when it last answered: the proof that nothing is lost

Opening refuses, with a message for the operator, a directory that is missing, in use, of another format, or behind
its watermark.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from relatum import failpoints
from relatum.entropy import Entropy, SystemEntropy
from relatum.errors import StorageInconsistency, StoreUnavailable
from relatum.store import keys, rows
from relatum.store.kv import KeyValue, View
from relatum.store.memory import MemoryStore
from relatum.store.rocks import RocksStore
from relatum.store.view import store_body
from relatum.store.wal import TornTail
from relatum.store.watermark import WatermarkFile

FORMAT_VERSION = 1
ENGINE_NAME = "engine"
WATERMARK_NAME = "watermark"

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
    ) -> None:
        self.torn_tails = torn_tails
        """What opening cut off the write-ahead log: remains of a group that nobody was told of."""
        self.store = store
        self.store_key = form.store_key
        self.position = position
        self._watermark = watermark
        store.publish(position)

    @classmethod
    def open(cls, directory: Path, *, create: bool) -> Self:
        """Opens the database in `directory`; if there is none and `create` is set, makes one.

        Raises StoreUnavailable with a message for the operator.
        """
        if create:
            _make(directory)
        elif not (directory / ENGINE_NAME).is_dir():
            raise StoreUnavailable(f"no relatum store in {directory}; make one with: relatum init {directory}")
        store = RocksStore.open(directory / ENGINE_NAME, create=create)
        try:
            form = _format(store, create=create)
            failpoints.reach("open.formatted")
            position = _position(store)
            watermark = WatermarkFile.open(directory / WATERMARK_NAME, create=position.position == 0)
            _require_nothing_lost(position, watermark)
            failpoints.reach("open.marked")
            opened = cls(store, watermark, form, position, store.torn_tails)
            failpoints.reach("open.published")
            return opened
        except StorageInconsistency as error:
            store.close()
            raise StoreUnavailable(f"the store in {directory} is damaged: {error}; restore a backup") from error
        except BaseException:
            store.close()
            raise

    @classmethod
    def in_memory(cls, entropy: Entropy | None = None) -> Self:
        """A database that lives as long as the process. Its key is drawn from `entropy`, the system's by default."""
        store = MemoryStore()
        return cls(store, None, _format(store, create=True, entropy=entropy), START)

    def commit(self, staged: Mapping[bytes, bytes | None], position: rows.Position) -> None:
        """Makes a group durable, then visible. Raises StorageFailure, after which the outcome is unknown.

        IMPORTANT: durable before visible before answered. The caller answers after this has returned.
        """
        position_row = rows.seal(keys.POSITION, rows.POSITION.encode(position))
        self.store.write({**staged, keys.POSITION: position_row})
        failpoints.reach("commit.written")
        self.store.sync()
        failpoints.reach("commit.synced")
        if self._watermark is not None:
            self._watermark.write(position.position, position.digest)
        failpoints.reach("commit.marked")
        self.store.publish(position)
        self.position = position
        failpoints.reach("commit.published")

    def view(self) -> View:
        """A cut of what was last published."""
        return self.store.view()

    def close(self) -> None:
        """Closes the store. Raises StorageFailure while views are open."""
        try:
            self.store.close()
        finally:
            if self._watermark is not None:
                self._watermark.close()


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / ENGINE_NAME).is_dir() and any(directory.iterdir()):
            raise StoreUnavailable(f"{directory} is not empty and holds no relatum store")
        (directory / ENGINE_NAME).mkdir(exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"can't make {directory}: {error.strerror}") from error


def _format(store: KeyValue, *, create: bool, entropy: Entropy | None = None) -> rows.Format:
    try:
        body = store_body(store, keys.FORMAT)
        found = None if body is None else rows.FORMAT.decode(body)
    except StorageInconsistency as error:
        raise StoreUnavailable("the store's format row is damaged or of another format") from error
    if found is not None:
        if found.version != FORMAT_VERSION:
            raise StoreUnavailable(
                f"the store has format {found.version}, this version of relatum reads format {FORMAT_VERSION}"
            )
        return found
    if not create:
        raise StoreUnavailable("the directory holds no relatum store")
    made = rows.Format(version=FORMAT_VERSION, store_key=(entropy or SystemEntropy()).draw(32))
    store.write({keys.FORMAT: rows.seal(keys.FORMAT, rows.FORMAT.encode(made))})
    store.sync()
    return made


def _position(store: KeyValue) -> rows.Position:
    body = store_body(store, keys.POSITION)
    return START if body is None else rows.POSITION.decode(body)


def _require_nothing_lost(position: rows.Position, watermark: WatermarkFile) -> None:
    mark = watermark.read()
    if mark is None:
        return
    if position.position < mark.position:
        raise StoreUnavailable(
            f"acknowledged commands are lost: the store had come to position {mark.position}, found is "
            f"{position.position}. Do not serve it; restore a backup, or the missing write-ahead log, and open again"
        )
    if position.position == mark.position and position.digest != mark.head:
        raise StoreUnavailable(
            f"the store's history at position {position.position} is not the one that was acknowledged; "
            "restore a backup"
        )
