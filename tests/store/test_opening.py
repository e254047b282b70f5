"""What opening a store accepts, refuses and leaves behind."""

from __future__ import annotations

import faulthandler
import json
import os
from pathlib import Path

import pytest

from relatum.errors import StoreUnavailable
from relatum.store.rocks import RocksStore
from tests.store import children
from tests.store.helpers import commit, rows_of


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_a_missing_directory_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="there is no store in"):
        RocksStore.open(tmp_path / "missing", create=False)
    assert set() == names(tmp_path)


def test_a_directory_without_a_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    for create in (False, True):
        with pytest.raises(StoreUnavailable, match=r"no store in|not empty"):
            RocksStore.open(tmp_path, create=create)
    assert {"letter"} == names(tmp_path)


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable):
        RocksStore.open(tmp_path / "file", create=True)
    with pytest.raises(StoreUnavailable):
        RocksStore.open(tmp_path / "file" / "below", create=True)


def test_a_store_is_made_with_the_directories_above_it_and_found_again(tmp_path: Path) -> None:
    directory = tmp_path / "some" / "where"
    store = RocksStore.open(directory, create=True)
    commit(store, {b"a": b"1"})
    store.close()
    for create in (False, True):
        store = RocksStore.open(directory, create=create)
        assert {b"a": b"1"} == rows_of(store)
        store.close()


def test_an_interrupted_creation_is_finished_by_the_next(tmp_path: Path) -> None:
    RocksStore.open(tmp_path, create=True).close()
    for path in (tmp_path / "CURRENT", *tmp_path.glob("*.log")):
        path.unlink()
    with pytest.raises(StoreUnavailable, match="no store in"):
        RocksStore.open(tmp_path, create=False)
    store = RocksStore.open(tmp_path, create=True)
    commit(store, {b"a": b"1"})
    store.close()


def test_a_store_that_lost_its_root_is_not_overwritten_by_a_new_one(tmp_path: Path) -> None:
    store = RocksStore.open(tmp_path, create=True)
    commit(store, {b"a": b"1"})
    store.close()  # which leaves the row in a table file
    (tmp_path / "CURRENT").unlink()
    before = names(tmp_path)
    with pytest.raises(StoreUnavailable, match="no whole store"):
        RocksStore.open(tmp_path, create=True)
    assert before == names(tmp_path)


def test_why_the_engine_refuses_is_told_in_one_line(tmp_path: Path) -> None:
    store = RocksStore.open(tmp_path, create=True)
    store.write({b"key": b"value" * 100})
    store.sync()
    store.flush()
    store.close()
    (table,) = tmp_path.glob("*.sst")
    os.truncate(table, table.stat().st_size - 1)
    with pytest.raises(StoreUnavailable, match=table.name) as refused:
        RocksStore.open(tmp_path, create=False)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("damaged", "reason"), [("CURRENT", "can't open the store"), ("MANIFEST", "the manifest")])
def test_files_that_the_engine_can_not_read_are_a_clear_refusal(tmp_path: Path, damaged: str, reason: str) -> None:
    store = RocksStore.open(tmp_path, create=True)
    commit(store, {b"a": b"1"})
    store.close()
    (path,) = tmp_path.glob(f"{damaged}*")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match=reason):
        RocksStore.open(tmp_path, create=False)


def test_a_directory_in_use_is_refused_within_one_process(tmp_path: Path) -> None:
    store = RocksStore.open(tmp_path, create=True)
    with pytest.raises(StoreUnavailable, match="directory in use"):
        RocksStore.open(tmp_path, create=False)
    commit(store, {b"a": b"1"})
    store.close()
    RocksStore.open(tmp_path, create=False).close()


def test_a_directory_in_use_by_another_process_is_refused_by_its_number(tmp_path: Path) -> None:
    with children.start("hold", tmp_path / "store") as holder:
        assert holder.stdout is not None
        assert "open\n" == holder.stdout.readline()
        with pytest.raises(StoreUnavailable, match=f"is open in process {holder.pid}$"):
            RocksStore.open(tmp_path / "store", create=False)
        holder.communicate(timeout=60)
    assert 0 == holder.returncode
    RocksStore.open(tmp_path / "store", create=False).close()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with children.start("hold", tmp_path / "store") as holder:
        assert holder.stdout is not None
        assert "open\n" == holder.stdout.readline()
        holder.kill()
        holder.communicate(timeout=60)
    RocksStore.open(tmp_path / "store", create=False).close()


def test_a_failed_opening_lets_go_of_the_lock(tmp_path: Path) -> None:
    RocksStore.open(tmp_path, create=True).close()
    current = (tmp_path / "CURRENT").read_bytes()
    (tmp_path / "CURRENT").write_bytes(b"junk")
    with pytest.raises(StoreUnavailable, match="can't open the store"):
        RocksStore.open(tmp_path, create=False)
    (tmp_path / "CURRENT").write_bytes(current)
    RocksStore.open(tmp_path, create=False).close()


@pytest.mark.parametrize("fails", [False, True])
def test_the_watchdog_over_the_engine_is_called_off_however_opening_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    calls: list[object] = []
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda seconds, **_: calls.append(seconds))
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: calls.append("off"))
    RocksStore.open(tmp_path, create=True, open_seconds_max=7).close()
    if fails:
        (tmp_path / "CURRENT").write_bytes(b"junk")
        with pytest.raises(StoreUnavailable):
            RocksStore.open(tmp_path, create=False, open_seconds_max=7)
    assert [7, "off"] * (2 if fails else 1) == calls


def test_every_acknowledged_commit_outlives_a_kill(tmp_path: Path) -> None:
    for _ in range(3):
        with children.start("commit_until_killed", tmp_path / "store") as writer:
            assert writer.stdout is not None
            lines = [writer.stdout.readline() for _ in range(50)]
            writer.kill()
            lines += writer.stdout.readlines()
        acknowledged = int([line for line in lines if line.endswith("\n")][-1])
        store = RocksStore.open(tmp_path / "store", create=False)
        last = int(store.get(b"last") or b"0")
        assert acknowledged <= last <= acknowledged + 1
        for table in (b"a", b"b"):
            numbers = [int(key[1:]) for key, _ in store.scan(table, table + b"\xff")]
            assert list(range(1, last + 1)) == numbers
        store.close()


@pytest.mark.parametrize("step", ["write", "sync"])
def test_after_a_write_or_sync_that_failed_on_disk_only_views_go_on(tmp_path: Path, step: str) -> None:
    child = children.run("fail_to", step, tmp_path / "store")
    assert (0, "as promised\n") == (child.returncode, child.stdout), child.stderr
    store = RocksStore.open(tmp_path / "store", create=False)
    assert b"1" == store.get(b"kept")
    assert store.get(b"later") is None
    store.close()


def test_the_settings_that_protect_data_are_in_force(tmp_path: Path) -> None:
    store = RocksStore.open(tmp_path, create=True)
    newest = max(tmp_path.glob("OPTIONS-*"), key=lambda path: path.name)
    settings = set(newest.read_text().split())
    assert {
        "wal_recovery_mode=kTolerateCorruptedTailRecords",
        "paranoid_checks=true",
        "recycle_log_file_num=0",
        "avoid_flush_during_recovery=false",
        "manual_wal_flush=false",
        "track_and_verify_wals_in_manifest=true",
        "unordered_write=false",
    } <= settings
    assert json.loads((tmp_path / "rocksdict-config.json").read_text())["raw_mode"] is True
    store.close()


def test_many_openings_leave_few_files(tmp_path: Path) -> None:
    for number in range(12):
        store = RocksStore.open(tmp_path, create=True)
        commit(store, {b"%d" % number: b""})
        store.close()
    assert 30 > len(names(tmp_path))
