"""A data directory is verified as it lies there: nothing in it changes, and what can't be read is refused."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from shutil import copy2, copytree

import pytest
from msgspec.structs import replace

from relatum.core import digests
from relatum.errors import StoreUnavailable
from relatum.ledger import Ledger
from relatum.store import keys, rows
from relatum.store.database import FORMAT_VERSION
from relatum.store.keys import Table, beyond
from relatum.store.rocks import RocksStore, reading
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.report import Report
from relatum.store.watermark import WatermarkFile
from tests.support.builders import PARTITION

Files = dict[str, tuple[int, int, int, bytes]]


def files_of(directory: Path) -> Files:
    """Every file and directory by name: mode, size, time of change, content."""
    found = {}
    for path in (directory, *directory.rglob("*")):
        status = path.stat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, content)
    return found


def altered(directory: Path, key: bytes, body: bytes) -> None:
    """Writes one row of a store that nobody has open."""
    store = RocksStore.open(directory / "engine", create=False)
    store.write({key: rows.seal(key, body)})
    store.sync()
    store.close()


def findings(report: Report) -> list[tuple[str, str]]:
    return [(finding.family, finding.message) for finding in report.findings]


def test_a_sound_store_is_clean_and_stays_as_it_is(store: Path) -> None:
    before = files_of(store)
    report = verify_directory(store)
    assert report.clean, report.findings
    assert before == files_of(store)


def test_two_verifications_give_the_same_report_and_may_run_at_once(store: Path) -> None:
    nested: list[Report] = []

    def once(_part: float) -> None:
        if not nested:
            nested.append(verify_directory(store))

    assert [verify_directory(store, progress=once)] == nested


def test_progress_rises_from_0_to_1(store: Path) -> None:
    parts: list[float] = []
    verify_directory(store, progress=parts.append)
    assert sorted(parts) == parts
    assert 1.0 == parts[-1]
    assert all(0 <= part <= 1 for part in parts)


def test_a_store_whose_files_are_read_only_is_verified(store: Path) -> None:
    for path in (*store.rglob("*"), store):
        path.chmod(stat.S_IREAD | (stat.S_IXUSR if path.is_dir() else 0))
    before = files_of(store)
    try:
        assert verify_directory(store).clean
        assert before == files_of(store)
    finally:
        for path in (store, *store.rglob("*")):
            path.chmod(0o700)


def test_a_copy_that_nobody_has_ever_opened_is_verified(store: Path) -> None:
    (store / "engine" / "relatum.lock").unlink()
    before = files_of(store)
    assert verify_directory(store).clean
    assert before == files_of(store)


@pytest.fixture
def killed(store: Path, tmp_path: Path) -> Path:
    """What a kill leaves: a store with rows that only the log holds."""
    left = tmp_path / "killed"
    with Ledger.open(store) as ledger:
        for number in range(3):
            ledger.bootstrap(f"company {number}", "root")
        copytree(store, left, copy_function=copied_if_there)
    return left


def copied_if_there(source: str, destination: str) -> None:
    """The engine goes on removing files that no longer belong to the store."""
    with suppress(FileNotFoundError):
        copy2(source, destination)


def log_of(directory: Path) -> Path:
    return max(directory.glob("engine/*.log"), key=lambda path: path.stat().st_size)


def test_rows_that_only_the_log_holds_are_verified_and_stay_there(killed: Path) -> None:
    before = files_of(killed)
    report = verify_directory(killed)
    assert report.clean
    assert 5 == report.families["company"].rows
    assert before == files_of(killed)


def test_a_torn_end_of_the_log_is_passed_over_and_not_cut_off(killed: Path) -> None:
    with log_of(killed).open("ab") as file:
        file.write(b"\x07" * 11)
    before = files_of(killed)
    assert verify_directory(killed).clean
    assert before == files_of(killed)


def test_a_log_that_is_damaged_in_its_middle_is_refused(killed: Path) -> None:
    content = bytearray(log_of(killed).read_bytes())
    content[20] ^= 1
    log_of(killed).write_bytes(content)
    before = files_of(killed)
    with pytest.raises(StoreUnavailable, match="intact up to byte 0"):
        verify_directory(killed)
    assert before == files_of(killed)


def test_a_store_that_is_open_is_refused(store: Path) -> None:
    with Ledger.open(store), pytest.raises(StoreUnavailable, match=f"is open in process {os.getpid()}"):
        verify_directory(store)


def test_a_store_that_is_being_verified_can_not_be_opened(store: Path) -> None:
    refusals: list[str] = []

    def once(_part: float) -> None:
        if not refusals:
            with pytest.raises(StoreUnavailable) as refused:
                Ledger.open(store)
            refusals.append(str(refused.value))

    verify_directory(store, progress=once)
    assert "is being read" in refusals[0]
    Ledger.open(store).close()


@pytest.mark.parametrize("name", ["missing", "empty", "file", "other"])
def test_what_is_no_store_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "other" / "engine").mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match=r"no .*store in"):
        verify_directory(tmp_path / name)
    assert {"empty", "file", "other"} == {path.name for path in tmp_path.iterdir()}


def test_a_store_of_another_format_is_refused(store: Path) -> None:
    altered(store, keys.FORMAT, rows.FORMAT.encode(rows.Format.of(FORMAT_VERSION + 1, bytes(32))))
    with pytest.raises(StoreUnavailable, match=f"format {FORMAT_VERSION + 1}"):
        verify_directory(store)


def test_a_store_behind_its_watermark_has_lost_acknowledged_commands(store: Path) -> None:
    position = verify_directory(store).position
    mark = WatermarkFile.open(store / "watermark", create=False)
    mark.write(position + 1, bytes(32))
    mark.close()
    ((family, message),) = findings(verify_directory(store))
    assert ("watermark", True) == (family, "acknowledged commands are lost" in message)


def test_another_history_than_that_of_the_watermark_is_found(store: Path) -> None:
    with reading(store / "engine") as view:
        position = rows.POSITION.decode(rows.unseal(keys.POSITION, view.get(keys.POSITION) or b""))
    altered(store, keys.POSITION, rows.POSITION.encode(replace(position, digest=bytes(32))))
    assert [("watermark", "the history is not the one that was acknowledged")] == findings(verify_directory(store))


def test_a_damaged_watermark_is_found(store: Path) -> None:
    (store / "watermark").write_bytes(b"\x01" * 8192)
    assert [("watermark", "the high watermark is damaged")] == findings(verify_directory(store))


def test_a_missing_watermark_is_found(store: Path) -> None:
    (store / "watermark").unlink()
    assert [("watermark", "the watermark is missing")] == findings(verify_directory(store))


@pytest.mark.parametrize("place", [1, 3, 5, 7])
def test_a_damaged_block_of_a_table_file_is_found(store: Path, place: int) -> None:
    (table,) = store.glob("engine/*.sst")
    content = bytearray(table.read_bytes())
    content[place * len(content) // 10] ^= 1
    table.write_bytes(content)
    before = files_of(store)
    assert not verify_directory(store).clean
    assert before == files_of(store)


def test_rows_that_differ_are_named(store: Path) -> None:
    with reading(store / "engine") as view:
        prefix = bytes.fromhex(digests.workspace_id(PARTITION))[:16] + bytes([Table.DEPENDENT])
        lost, altered_one = [key for key, _ in view.scan(prefix, beyond(prefix))][:2]
    engine = RocksStore.open(store / "engine", create=False)
    engine.write({lost: None, altered_one: rows.seal(altered_one, rows.pack_u64(9))})
    engine.sync()
    engine.close()
    assert [
        ("dependent", f"the row {lost.hex()} is missing"),
        ("dependent", f"the row {altered_one.hex()} is not the one that the events imply"),
    ] == [found for found in findings(verify_directory(store)) if found[0] != "header"]
