"""What the engine does, promised by nobody: `relatum.store.rocks` is built on each of these.

A test that fails here after an upgrade names a sentence of docs/storage-engine.md that is no longer true. That may well
be good news, but the code that relies on it must be looked at first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree
from struct import pack
from threading import Thread
from time import sleep

import pytest
from rocksdict import (
    AccessType,
    DbClosedError,
    DBRecoveryMode,
    Options,
    Rdict,
    RdictIter,
    ReadOptions,
    WriteBatch,
    WriteOptions,
)

from tests.store import children
from tests.support.polling import WAIT_SECONDS

TOLERATE_TORN_TAIL = DBRecoveryMode.tolerate_corrupted_tail_records
POINT_IN_TIME = DBRecoveryMode.point_in_time
ABSOLUTE = DBRecoveryMode.absolute_consistency


def options(*, mode: Callable[[], DBRecoveryMode] = TOLERATE_TORN_TAIL, create: bool = True) -> Options:
    chosen = Options(raw_mode=True)
    chosen.create_if_missing(create)
    chosen.set_wal_recovery_mode(mode())
    return chosen


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Rdict]:
    opened = Rdict(str(tmp_path / "engine"), options())
    yield opened
    opened.close()


@pytest.fixture
def bad_block(tmp_path: Path) -> Iterator[Rdict]:
    """An engine over 2000 rows of which some lie in a block with a flipped bit."""
    directory = tmp_path / "engine"
    opened = Rdict(str(directory), options())
    for number in range(2000):
        opened[b"%05d" % number] = b"v" * 100
    opened.flush()
    opened.close()
    (table,) = directory.glob("*.sst")
    content = bytearray(table.read_bytes())
    content[len(content) // 3] ^= 1
    table.write_bytes(content)
    opened = Rdict(str(directory), options())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a process that was killed after 40 synced commits of a row each."""
    directory = tmp_path_factory.mktemp("killed") / "store"
    assert -9 == children.run("commit_and_die", directory, 40, 100).returncode
    return directory


@pytest.fixture
def damaged(killed: Path, tmp_path: Path) -> Path:
    copytree(killed, tmp_path / "damaged")
    return tmp_path / "damaged"


def log_of(directory: Path) -> Path:
    (path,) = [path for path in directory.glob("*.log") if path.stat().st_size]
    return path


def count(directory: Path, mode: Callable[[], DBRecoveryMode]) -> int:
    opened = Rdict(str(directory), options(mode=mode, create=False))
    try:
        return len(list(rows(opened.iter())))
    finally:
        opened.close()


def rows(iterator: RdictIter) -> Iterator[tuple[bytes, bytes]]:
    iterator.seek_to_first()
    while iterator.valid():
        yield iterator.key(), iterator.value()
        iterator.next()
    iterator.status()


# Snapshots and iterators


def test_a_snapshot_is_stable_for_gets_and_live_for_scans(engine: Rdict) -> None:
    engine[b"a"] = b"old"
    snapshot = engine.snapshot()
    engine[b"a"] = b"new"
    assert b"old" == snapshot[b"a"]
    assert [(b"a", b"new")] == list(snapshot.items()) == list(rows(snapshot.iter()))


def test_an_iterator_is_stable_for_scans_and_seeks(engine: Rdict) -> None:
    engine[b"a"] = b"old"
    iterator = engine.iter()
    engine[b"a"] = b"new"
    engine[b"b"] = b"new"
    engine.flush()
    engine.compact_range(None, None)
    assert [(b"a", b"old")] == list(rows(iterator))
    iterator.seek(b"a")
    assert b"old" == iterator.value()
    iterator.seek(b"b")
    assert not iterator.valid()


def test_a_snapshot_raises_a_bare_exception_for_a_missing_key(engine: Rdict) -> None:
    with pytest.raises(Exception, match=r"^key not found$") as raised:
        engine.snapshot()[b"missing"]
    assert Exception is raised.type
    assert ("key not found",) == raised.value.args
    assert engine.get(b"missing") is None


def test_the_lower_bound_of_an_iteration_is_set_as_its_upper_bound(engine: Rdict) -> None:
    for key in (b"a", b"b", b"c"):
        engine[key] = b""
    bounded = ReadOptions()
    bounded.set_iterate_lower_bound(b"b")
    assert [b"a"] == [key for key, _ in rows(engine.iter(bounded))]


def test_scans_without_status_end_silently_at_a_bad_block(bad_block: Rdict) -> None:
    for scan in (bad_block.items, bad_block.keys, bad_block.values):
        assert 0 < len(list(scan())) < 2000


def test_status_and_get_are_loud_about_a_bad_block(bad_block: Rdict) -> None:
    with pytest.raises(Exception, match=r"^Corruption: block checksum mismatch") as raised:
        list(rows(bad_block.iter()))
    assert Exception is raised.type
    with pytest.raises(Exception, match=r"^Corruption: block checksum mismatch"):
        list(map(bad_block.get, (b"%05d" % number for number in range(2000))))
    with pytest.raises(Exception, match=r"^Corruption: block checksum mismatch"):
        list(map(bad_block.snapshot().__getitem__, (b"%05d" % number for number in range(2000))))


# The interpreter lock


def turns_of_others(call: Callable[[], object], repetitions: int) -> int:
    """How often another thread got to run while `call` ran: only if `call` lets go of the lock."""
    turns = 0
    done = False

    def other() -> None:
        nonlocal turns
        while not done:
            turns += 1
            sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # nobody is made to let go of the lock; who waits for something does so
    thread = Thread(target=other)
    thread.start()
    try:
        seen = 0
        for _ in range(repetitions):
            before = turns
            call()
            seen += turns - before
            if seen:
                break
        return seen
    finally:
        done = True
        sys.setswitchinterval(interval)
        thread.join(WAIT_SECONDS)


def written(number_of_rows: int) -> WriteBatch:
    batch = WriteBatch(raw_mode=True)
    for number in range(number_of_rows):
        batch.put(b"%06d" % number, b"v" * 100)
    return batch


def test_a_synced_write_keeps_other_threads_from_running(engine: Rdict) -> None:
    synced = WriteOptions()
    synced.sync = True
    assert 0 == turns_of_others(lambda: engine.write(written(10), synced), repetitions=50)


def test_a_flush_of_the_log_lets_other_threads_run(engine: Rdict) -> None:
    def write_and_flush() -> None:
        engine.write(written(1000))
        engine.flush_wal(True)

    assert 0 < turns_of_others(write_and_flush, repetitions=1000)


def test_moving_an_iterator_keeps_other_threads_from_running(engine: Rdict) -> None:
    engine.write(written(1000))
    iterator = engine.iter()
    assert 0 == turns_of_others(lambda: list(rows(iterator)), repetitions=50)


# Writes


def test_a_batch_is_consumed_by_the_write_that_fails_or_succeeds(engine: Rdict) -> None:
    batch = written(1)
    engine.write(batch)
    with pytest.raises(Exception, match="already consumed"):
        engine.write(batch)


def test_a_write_that_must_not_wait_fails_by_this_text_and_leaves_nothing(tmp_path: Path) -> None:
    small = options()
    small.set_write_buffer_size(64 * 1024)
    small.set_max_write_buffer_number(2)
    engine = Rdict(str(tmp_path / "engine"), small)
    at_once = WriteOptions()
    at_once.no_slowdown = True
    written_keys: list[bytes] = []

    def write_without_end() -> None:
        for key in (b"%06d" % number for number in range(20_000)):
            batch = WriteBatch(raw_mode=True)
            batch.put(key, bytes(40_000))
            engine.write(batch, at_once)
            written_keys.append(key)

    with pytest.raises(Exception, match=r"^Result incomplete: Write stall$"):
        write_without_end()
    assert written_keys == [key for key, _ in rows(engine.iter())]
    engine.write(written(1))  # which waits
    engine.close()


# Opening and closing


def test_a_live_iterator_keeps_the_directory_locked_after_close(tmp_path: Path) -> None:
    engine = Rdict(str(tmp_path), options())
    engine[b"a"] = b"1"
    iterator = engine.iter()
    engine.close()
    with pytest.raises(DbClosedError):
        engine.get(b"a")
    with pytest.raises(Exception, match="lock hold by current process"):
        Rdict(str(tmp_path), options())
    del iterator
    Rdict(str(tmp_path), options()).close()


def test_an_engine_litters_a_directory_that_it_then_refuses(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="does not exist"):
        Rdict(str(tmp_path / "missing"), options(create=False))
    assert {"LOCK", "LOG"} < {path.name for path in (tmp_path / "missing").iterdir()}


def test_an_engine_that_is_opened_for_reading_writes_its_configuration(tmp_path: Path) -> None:
    Rdict(str(tmp_path), options()).close()
    configuration = tmp_path / "rocksdict-config.json"
    configuration.write_text("")
    reading = AccessType.read_only(error_if_log_file_exist=False)
    Rdict(str(tmp_path), options(create=False), column_families={"default": options()}, access_type=reading).close()
    assert configuration.read_text()


def test_opening_without_raw_mode_spoils_a_raw_store(tmp_path: Path) -> None:
    engine = Rdict(str(tmp_path), options())
    engine[b"a"] = b"1"
    engine.close()
    Rdict(str(tmp_path), Options()).close()
    assert json.loads((tmp_path / "rocksdict-config.json").read_text())["raw_mode"] is False
    with pytest.raises(Exception, match="comparator"):
        Rdict(str(tmp_path), options())


# Recovery of the write-ahead log


def test_one_flipped_bit_is_silent_loss_in_the_default_mode_and_loud_in_ours(damaged: Path, tmp_path: Path) -> None:
    log = bytearray(log_of(damaged).read_bytes())
    log[len(log) // 2] ^= 1
    log_of(damaged).write_bytes(log)
    copytree(damaged, tmp_path / "second")
    with pytest.raises(Exception, match=r"^Corruption"):
        count(damaged, TOLERATE_TORN_TAIL)
    assert 0 < count(tmp_path / "second", POINT_IN_TIME) < 40


def test_a_torn_tail_is_accepted_in_our_mode_and_refused_by_the_strictest(damaged: Path, tmp_path: Path) -> None:
    log_of(damaged).write_bytes(log_of(damaged).read_bytes()[:-1])
    copytree(damaged, tmp_path / "second")
    with pytest.raises(Exception, match=r"^Corruption"):
        count(damaged, ABSOLUTE)
    assert 39 == count(tmp_path / "second", TOLERATE_TORN_TAIL)


def test_junk_behind_the_last_record_is_refused_even_in_our_mode(damaged: Path) -> None:
    with log_of(damaged).open("ab") as log:
        log.write(pack("<IHB", 0, 5, 1) + b"junk!")
    with pytest.raises(Exception, match=r"^Corruption"):
        count(damaged, TOLERATE_TORN_TAIL)


@pytest.mark.parametrize("loss", ["emptied", "deleted", "shortened by whole records"])
@pytest.mark.parametrize("mode", [TOLERATE_TORN_TAIL, ABSOLUTE, POINT_IN_TIME], ids=lambda mode: mode.__name__)
def test_no_mode_notices_a_log_that_is_gone_or_ends_early(
    damaged: Path, loss: str, mode: Callable[[], DBRecoveryMode]
) -> None:
    path = log_of(damaged)
    log = path.read_bytes()
    if loss == "deleted":
        path.unlink()
    else:
        path.write_bytes(b"" if loss == "emptied" else log[: 10 * len(log) // 40])
    assert count(damaged, mode) == (10 if loss == "shortened by whole records" else 0)


def test_some_junk_makes_opening_spin_until_the_watchdog_ends_the_process(damaged: Path) -> None:
    with log_of(damaged).open("ab") as log:
        log.write(pack("<IHB", 0, 5, 5) + b"spins")
    child = children.run("open_engine", damaged, 0.5)
    assert 1 == child.returncode
    assert "Timeout" in child.stderr
    assert "open_engine" in child.stderr
    assert "opened" not in child.stdout


def test_a_manifest_cut_short_is_taken_for_a_whole_one(tmp_path: Path) -> None:
    engine = Rdict(str(tmp_path), options())
    for table in range(3):
        for number in range(100):
            engine[b"%d %d" % (table, number)] = b"v"
        engine.flush()
    engine.close()
    (manifest,) = tmp_path.glob("MANIFEST-*")
    manifest.write_bytes(manifest.read_bytes()[: 6 * manifest.stat().st_size // 10])
    assert 100 == count(tmp_path, TOLERATE_TORN_TAIL)
