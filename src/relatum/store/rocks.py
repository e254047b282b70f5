"""RocksDB, and the only module that knows it.

What lives here: `RocksStore`, the settings of the engine, and the translation of its errors. What must not: anything
about the meaning of rows. docs/storage-engine.md tells what the engine really does; tests/store pins it.

What always holds:

* one column family, raw bytes, one opener: two families would be cut at different moments;
* a cut is a snapshot for gets and an iterator for scans, both opened between two writes, since a snapshot of this
  binding is stable for gets only;
* a scan ends by asking for the iterator's status, without which a damaged block looks like the end of the data;
* other threads run while the disk is waited for: a sync goes through `flush_wal`, and no write stalls in the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Final, Self

from rocksdict import (
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    DbClosedError,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
    WriteOptions,
)

from relatum import failpoints
from relatum.errors import Failure, StorageFailure, StorageInconsistency, StoreUnavailable
from relatum.limits import KIB, MIB
from relatum.store.directory import require_store, require_store_or_room, watchdog
from relatum.store.lock import DirectoryLock
from relatum.store.publication import Chunk, Publication, PublishedView, Row, scan_chunks
from relatum.store.wal import TornTail, repair_logs

OPEN_SECONDS_MAX: Final = 300.0
"""Opening replays at most a few write buffers; one that takes longer than this hangs."""

BLOCK_CACHE_BYTES: Final = 64 * MIB
WRITE_BUFFER_BYTES: Final = 16 * MIB
WRITE_BUFFERS_MAX: Final = 4
OPEN_FILES_MAX: Final = 256
CHUNK_BYTES: Final = 128 * KIB
"""A chunk of a scan ends early once its values are this large, so that large values can't make it a heap of memory."""

STALL_PAUSE_SECONDS: Final = 0.001
STALL_SECONDS_MAX: Final = 60.0


class RocksStore:
    """A `KeyValue` on RocksDB."""

    def __init__(self, engine: Rdict, lock: DirectoryLock, torn_tails: list[TornTail]) -> None:
        """Take over an open engine; callers use `open`."""
        self.torn_tails = tuple(torn_tails)
        """What opening cut off the write-ahead log: the remains of a batch that a power cut interrupted."""
        self._engine = engine
        self._lock = lock
        self._unsynced = False
        self._failed = False
        self._closed = False
        self._live: _EngineCut | None = None  # as of the last write, opened when asked for
        self._publication = Publication(self._live_cut())

    @classmethod
    def open(cls, directory: Path, *, create: bool, open_seconds_max: float = OPEN_SECONDS_MAX) -> Self:
        """Open the store in `directory`; if there is none and `create` is set, make one.

        Raises `StoreUnavailable` if it is missing, in use, damaged, or not a store. Ends the process if the engine
        hangs for `open_seconds_max`.

        IMPORTANT: a process must not fork after this. The child could write through the parent's open files.
        """
        (require_store_or_room if create else require_store)(directory)
        with ExitStack() as undo:
            lock = DirectoryLock.acquire(directory)
            undo.callback(lock.release)
            failpoints.reach("open.locked")
            torn_tails = repair_logs(directory)
            failpoints.reach("open.scanned")
            with watchdog(open_seconds_max):
                engine = _open_engine(directory, create)
            failpoints.reach("open.engine")
            undo.pop_all()
        return cls(engine, lock, torn_tails)

    def get(self, key: bytes) -> bytes | None:
        """The value stored under `key`, published or not."""
        try:
            value: bytes | None = self._engine.get(key)
        except Exception as error:
            raise _translated(error) from error
        return value

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with `start <= key < stop`, published or not; see `Reader.scan`."""
        return scan_chunks(self._live_chunk, start, stop, reverse)

    def write(self, rows: Mapping[bytes, bytes | None]) -> None:
        """See `KeyValue.write`."""
        self.sync()
        self._live = None
        self._unsynced = True
        try:
            self._write_when_not_stalled(rows)
        except Exception as error:
            raise self._poisoned_by(error) from error

    def sync(self) -> None:
        """See `KeyValue.sync`."""
        self._require_unfailed()
        if not self._unsynced:
            return
        try:
            self._engine.flush_wal(True)
        except Exception as error:
            raise self._poisoned_by(error) from error
        self._unsynced = False

    def publish(self, position: object = None) -> None:
        """See `KeyValue.publish`."""
        self._require_unfailed()
        if self._unsynced:
            raise RuntimeError("rows are published only after they have been synced")
        self._publication.replace(self._live_cut(), position)

    def view(self) -> PublishedView:
        """See `KeyValue.view`."""
        return self._publication.view()

    def close(self, *, wait_seconds: float = 10.0) -> None:
        """See `KeyValue.close`."""
        self._publication.close(wait_seconds)
        if self._closed:
            return
        self._closed = True
        self._live = None  # the engine keeps its directory locked as long as an iterator is open
        try:
            self._engine.close()
        except Exception as error:
            if not self._failed:  # else this is the old news: what is on disk is found out on reopening
                raise _translated(error) from error
        finally:
            self._lock.release()

    def _live_cut(self) -> _EngineCut:
        if self._live is None:
            self._live = _EngineCut(self._engine)
        return self._live

    def _live_chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        if self._closed:
            raise StorageFailure("the store is closed")
        return self._live_cut().chunk(start, stop, reverse, limit)

    def _write_when_not_stalled(self, rows: Mapping[bytes, bytes | None]) -> None:
        """Write, waiting outside the engine while flushes or compactions lag behind.

        Inside, it would wait with the interpreter lock held, and every reader with it.
        """
        deadline = monotonic() + STALL_SECONDS_MAX
        while True:
            try:
                self._engine.write(_batch(rows), _WITHOUT_STALL)  # which consumes the batch, even if it fails
            except Exception as error:
                if not str(error).startswith(_STALLED) or monotonic() > deadline:
                    raise
            else:
                return
            sleep(STALL_PAUSE_SECONDS)

    def _require_unfailed(self) -> None:
        if self._closed:
            raise StorageFailure("the store is closed")
        if self._failed:
            raise StorageFailure("the store takes no writes after one has failed; reopen it")

    def _poisoned_by(self, error: Exception) -> Failure:
        self._failed = True
        return _translated(error)


class _EngineCut:
    """The store between two writes. Any number of readers share it, one chunk of a scan at a time.

    Sharing one iterator costs no parallelism: the binding holds the interpreter lock while it moves one.
    """

    __slots__ = ("_iterator", "_moving", "_snapshot")

    def __init__(self, engine: Rdict) -> None:
        # IMPORTANT: both now. Opened later, either would show the state of that time.
        self._snapshot = engine.snapshot()
        self._iterator = engine.iter(_ITERATION)
        self._moving = Lock()

    def get(self, key: bytes) -> bytes | None:
        try:
            value: bytes = self._snapshot[key]
        except Exception as error:
            if error.args == _NOT_FOUND:
                return None
            raise _translated(error) from error
        return value

    def chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        try:
            with self._moving:
                return self._chunk(start, stop, reverse, limit)
        except Exception as error:
            raise _translated(error) from error

    def _chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        iterator = self._iterator
        valid, current_key, current_value = iterator.valid, iterator.key, iterator.value
        move = iterator.prev if reverse else iterator.next
        if reverse:
            iterator.seek_for_prev(stop)
            if valid() and current_key() == stop:
                move()
        else:
            iterator.seek(start)
        rows: list[Row] = []
        room = CHUNK_BYTES
        while valid():
            key = current_key()
            if not start <= key < stop:
                return rows, True
            if len(rows) == limit or room <= 0:
                return rows, False
            value = current_value()
            rows.append((key, value))
            room -= len(value)
            move()
        iterator.status()  # raises if it was an error that ended the rows
        return rows, True


def _open_engine(directory: Path, create: bool) -> Rdict:
    options = _options(create)
    try:
        # IMPORTANT: the family is named. Without it an existing store is opened with the settings of tables that a file
        # of the last run holds. The block cache is not among them: it would be the engine's own, of 8 MiB.
        return Rdict(str(directory), options, column_families={"default": options})
    except Exception as error:
        raise StoreUnavailable(f"the engine can't open the store in {directory}: {error}") from error


def _options(create: bool) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(create)
    # Loud about any damage but a torn end. The engine's own default, point in time, silently drops all that follows.
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    options.set_paranoid_checks(True)
    _bound_memory(options)
    _bound_files(options)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_max_background_jobs(2)
    return options


def _bound_memory(options: Options) -> None:
    table = BlockBasedOptions()
    table.set_block_cache(Cache(BLOCK_CACHE_BYTES))
    table.set_cache_index_and_filter_blocks(True)
    table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    table.set_bloom_filter(10, block_based=False)
    # In parts: the cache is divided, and the whole index of a large file fits into no part of it. It would be read and
    # decompressed again for every get.
    table.set_index_type(BlockBasedIndexType.two_level_index_search())
    table.set_partition_filters(True)
    table.set_pin_top_level_index_and_filter(True)
    options.set_block_based_table_factory(table)
    options.set_write_buffer_size(WRITE_BUFFER_BYTES)
    options.set_max_write_buffer_number(WRITE_BUFFERS_MAX)
    options.set_max_open_files(OPEN_FILES_MAX)


def _bound_files(options: Options) -> None:
    """Bound what is no data: the engine's diary, its statistics, its manifest."""
    options.set_max_log_file_size(4 * MIB)
    options.set_keep_log_file_num(4)
    options.set_stats_dump_period_sec(0)
    options.set_stats_persist_period_sec(0)
    options.set_max_manifest_file_size(64 * MIB)


def _iteration() -> ReadOptions:
    options = ReadOptions()
    # Whoever closes the last view on an old state may be a reader in a hurry: let files be removed behind its back.
    options.set_background_purge_on_iterator_cleanup(True)
    return options


def _without_stall() -> WriteOptions:
    options = WriteOptions()
    options.no_slowdown = True
    return options


def _batch(rows: Mapping[bytes, bytes | None]) -> WriteBatch:
    batch = WriteBatch(raw_mode=True)
    for key, value in rows.items():
        if value is None:
            batch.delete(key)
        else:
            batch.put(key, value)
    return batch


def _translated(error: Exception) -> Failure:
    """The failure that stands for an exception of the binding, which has text but no types."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, DbClosedError):
        return StorageFailure("the store is closed")
    if str(error).startswith("Corruption"):
        return StorageInconsistency("the storage engine met damaged bytes")
    return StorageFailure("the storage engine failed")


_ITERATION: Final = _iteration()
_WITHOUT_STALL: Final = _without_stall()
_NOT_FOUND: Final = ("key not found",)
_STALLED: Final = "Result incomplete: Write stall"
