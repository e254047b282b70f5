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

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Final, Self

from rocksdict import (
    AccessType,
    BlockBasedIndexType,
    BlockBasedOptions,
    BottommostLevelCompaction,
    Cache,
    Checkpoint,
    CompactOptions,
    DbClosedError,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
    WriteOptions,
)

from relatum.errors import Failure, StorageFailure, StorageInconsistency, StoreUnavailable
from relatum.limits import MIB
from relatum.store import failpoints
from relatum.store.directory import require_store, require_store_or_room, watchdog
from relatum.store.lock import DirectoryLock
from relatum.store.preflight import TornTail, repair_logs
from relatum.store.publication import Chunk, Publication, PublishedView, Row, scan_chunks
from relatum.store.read_only_open import shadowed
from relatum.store.snapshot import EngineCut

OPEN_SECONDS_MAX: Final = 300.0
"""Opening replays at most a few write buffers; one that takes longer than this hangs."""

BLOCK_CACHE_BYTES: Final = 64 * MIB
WRITE_BUFFER_BYTES: Final = 16 * MIB
WRITE_BUFFERS_MAX: Final = 4
RESTART_BYTES_MAX: Final = WRITE_BUFFERS_MAX * WRITE_BUFFER_BYTES
"""What an opening may have to write: the logs have as much in them as all buffers together."""
WRITE_BUFFER_FILTER: Final = 0.02
"""What part of a write buffer a filter of its keys may take. Most keys that a new command asks for are not there."""
OPEN_FILES_MAX: Final = 256

_FURTHER_SETTINGS: Final = Path(__file__).with_name("engine_options")
"""Holds a file of settings that the binding has no setter for."""

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
        self._keeping = Lock()  # held by upkeep at work, and by closing
        self._live: EngineCut | None = None  # as of the last write, opened when asked for
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
                engine = _open_engine(directory, _options(create), files=directory, access=_OWNER)
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

    # Upkeep: for any thread. Closing cuts a compaction short and waits for whatever else is at work.

    def flush(self) -> None:
        """Move all rows out of the log into table files, while others read and write."""
        with self._upkeep():
            self._engine.flush(True)

    def link_files(self, directory: Path) -> None:
        """Make `directory`, which must not exist, a store with the same rows, by hard links.

        Nobody may write meanwhile. Other threads stand still; the less there is to flush, the shorter.
        """
        self._require_unfailed()
        if self._unsynced:
            raise RuntimeError("files are linked only when everything in them has been synced")
        with self._upkeep():
            Checkpoint(self._engine).create_checkpoint(_spelled(directory))

    def compact(self) -> None:
        """Rewrite every table file without rows that are deleted or overwritten, while others read and write.

        What an open view still shows is kept.
        """
        with self._upkeep():
            self._engine.flush(True)
            self._engine.compact_range(None, None, _EVERY_FILE)

    def republish(self, position: object) -> None:
        """Publish the same rows by a cut of the files as they are now. Nobody may write meanwhile."""
        with self._upkeep():
            self._live = None
            self.publish(position)

    def outlast_earlier_views(self, wait_seconds: float) -> bool:
        """See `Publication.outlast_earlier_views`. After it nothing keeps superseded rows and files any more."""
        return self._publication.outlast_earlier_views(wait_seconds)

    @contextmanager
    def _upkeep(self) -> Iterator[None]:
        with self._keeping:
            self._require_open()
            try:
                yield
            except Exception as error:
                raise _translated(error) from error
            self._require_open()  # else the work was cut short

    def close(self, *, wait_seconds: float = 10.0) -> None:
        """See `KeyValue.close`."""
        self._publication.close(wait_seconds)
        if self._closed:
            return
        self._closed = True
        cut_short = self._keeping.locked()
        if cut_short:
            self._engine.cancel_all_background(False)  # after which closing complains: all rows are in the log still
        with self._keeping:
            self._live = None  # the engine keeps its directory locked as long as an iterator is open
            try:
                self._engine.close()
            except Exception as error:
                if not (self._failed or cut_short):  # else it is old news: what is on disk is found out on reopening
                    raise _translated(error) from error
            finally:
                self._lock.release()

    def _live_cut(self) -> EngineCut:
        if self._live is None:
            self._live = _cut(self._engine)
        return self._live

    def _live_chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        self._require_open()
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

    def _require_open(self) -> None:
        if self._closed:
            raise StorageFailure("the store is closed")

    def _require_unfailed(self) -> None:
        self._require_open()
        if self._failed:
            raise StorageFailure("the store takes no writes after one has failed; reopen it")

    def _poisoned_by(self, error: Exception) -> Failure:
        self._failed = True
        return _translated(error)


@contextmanager
def reading(
    directory: Path, *, shadow_in: Path | None = None, open_seconds_max: float = OPEN_SECONDS_MAX
) -> Iterator[PublishedView]:
    """The rows of the store in `directory`, read without changing a byte there; for as long as the block runs.

    Others may read it at the same time, and nobody may open it. A torn end of its log is passed over as if it had been
    cut off. What the engine writes all the same goes to a directory (`relatum.store.read_only_open`) in `shadow_in`, or
    among the temporary files. Raises `StoreUnavailable` if the store is missing, in use, unreadable, or damaged such
    that it can't be opened. Ends the process if the engine hangs for `open_seconds_max`.
    """
    require_store(directory)
    with ExitStack() as stack:
        lock = DirectoryLock.share(directory)
        stack.callback(lock.release)
        shadow = stack.enter_context(shadowed(directory, shadow_in))
        with watchdog(open_seconds_max):
            engine = _open_engine(directory, _options(create=False), files=shadow, access=_READER)
        stack.callback(engine.close)
        publication = Publication(_cut(engine))
        stack.callback(publication.close, 0.0)
        yield stack.enter_context(publication.view())


def _cut(engine: Rdict) -> EngineCut:
    # IMPORTANT: both now. Opened later, either would show the state of that time.
    return EngineCut(engine.snapshot(), engine.iter(_ITERATION), _translated)


def _open_engine(directory: Path, options: Options, *, files: Path, access: AccessType) -> Rdict:
    """The engine on the store in `directory`, whose files it is given in `files`."""
    try:
        # IMPORTANT: the family is named. Without it an existing store is opened with the settings of tables that a file
        # of the last run holds. The block cache is not among them: it would be the engine's own, of 8 MiB.
        return Rdict(_spelled(files), options, column_families={"default": options}, access_type=access)
    except Exception as error:
        told = " ".join(str(error).replace(str(files), str(directory)).split())  # in one line
        raise StoreUnavailable(f"the engine can't open the store in {directory}: {told}") from error


def _spelled(path: Path) -> str:
    """A path as the engine takes it, which reads every one as UTF-8, whatever the locale."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def _options(create: bool) -> Options:
    options, _ = Options.load_latest(str(_FURTHER_SETTINGS))
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
    options.set_memtable_prefix_bloom_ratio(WRITE_BUFFER_FILTER)
    options.set_memtable_whole_key_filtering(True)
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


def _every_file() -> CompactOptions:
    options = CompactOptions()
    options.set_bottommost_level_compaction(BottommostLevelCompaction.force())
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


_OWNER: Final = AccessType.read_write()
_READER: Final = AccessType.read_only(error_if_log_file_exist=False)
_ITERATION: Final = _iteration()
_EVERY_FILE: Final = _every_file()
_WITHOUT_STALL: Final = _without_stall()
_STALLED: Final = "Result incomplete: Write stall"
