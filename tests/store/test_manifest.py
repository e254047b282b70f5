"""Manifests that lost their end: a store that lacks a file its manifest no longer names is refused and left alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from google_crc32c import value as crc32c

from relatum.errors import StoreUnavailable
from relatum.limits import MIB
from relatum.store import log_format
from relatum.store.log_format import HEADER_BYTES, Verdict
from relatum.store.manifest import Manifest, read_manifest
from relatum.store.preflight import repair_logs
from relatum.store.rocks import RocksStore, reading
from relatum.store.wal import scan_log
from tests.store.helpers import EVERYTHING, commit, rows_of
from tests.store.log_bytes import FULL, batch, fragment

ROWS = {b"%d-%d" % (number, row): b"%d" % row * 50 for number in range(6) for row in range(20)}
LAST = b"last"
"""Written with every batch, as the store's position is: of all rows it alone is always in the last file."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a process leaves that was killed: some batches in table files, written one after another, one in the log."""
    directory = tmp_path_factory.mktemp("killed")
    lived, left = directory / "lived", directory / "left"
    store = RocksStore.open(lived, create=True)
    for number in range(6):
        rows = {key: row for key, row in ROWS.items() if key.startswith(b"%d-" % number)}
        commit(store, {**rows, LAST: b"%d" % number})
        if number in (1, 3, 4):
            store.flush()
    shutil.copytree(lived, left)
    store.close()
    return left


@pytest.fixture
def damaged(killed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(killed, tmp_path / "store")


def manifest_of(directory: Path) -> Manifest:
    found = read_manifest(directory)
    assert found is not None
    return found


def content_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != "relatum.lock"}


def opened_rows(directory: Path) -> dict[bytes, bytes]:
    store = RocksStore.open(directory, create=False)
    try:
        return rows_of(store)
    finally:
        store.close()


def cuts(size: int) -> Iterator[int]:
    seeded = Random(3)
    yield from (0, 1, size - 1)
    yield from (seeded.randrange(size) for _ in range(40))


def test_a_manifest_says_where_table_files_end_and_logs_begin(killed: Path) -> None:
    manifest = manifest_of(killed)
    (log,) = (path for path in killed.glob("*.log") if path.stat().st_size)
    assert 5 * 21 == manifest.last_row
    assert manifest.first_log == int(log.stem)


def test_a_store_without_the_end_of_its_manifest_is_refused_and_left_as_it_was(killed: Path, tmp_path: Path) -> None:
    whole = manifest_of(killed)
    for number, cut in enumerate(cuts(len(whole.content))):
        directory = shutil.copytree(killed, tmp_path / str(number))
        (directory / whole.path.name).write_bytes(whole.content[:cut])
        before = content_of(directory)
        try:
            assert {**ROWS, LAST: b"5"} == opened_rows(directory)
        except StoreUnavailable:
            assert before.items() <= content_of(directory).items()
        else:
            assert manifest_of(killed).scan.intact_bytes - cut < 30, "only an edit that says nothing new may be missing"


def test_the_refusal_says_which_rows_are_missing(damaged: Path) -> None:
    manifest = manifest_of(damaged)
    content = manifest.content[: len(manifest.content) * 2 // 3]
    manifest.path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match=r"begins with row 106, and the files before it end with row \d+"):
        RocksStore.open(damaged, create=False)
    with pytest.raises(StoreUnavailable, match="acknowledged data is lost"), reading(damaged):
        pass


@pytest.mark.parametrize("tail", [bytes(5_000), Random(1).randbytes(5_000), b"\1" * 300], ids=["zeros", "junk", "ones"])
def test_a_manifest_whose_last_edit_a_power_cut_tore_is_cut_and_opened(damaged: Path, tail: bytes) -> None:
    manifest = manifest_of(damaged)
    with manifest.path.open("ab") as file:
        file.write(tail)
    with reading(damaged) as view:
        assert {**ROWS, LAST: b"5"} == dict(view.scan(*EVERYTHING))
    assert [(manifest.path, len(tail))] == [(torn.log, torn.tail_bytes) for torn in repair_logs(damaged)]
    assert {**ROWS, LAST: b"5"} == opened_rows(damaged)


def test_a_manifest_with_a_bad_byte_before_its_end_is_refused(damaged: Path) -> None:
    manifest = manifest_of(damaged)
    content = bytearray(manifest.content)
    content[len(content) // 2] ^= 1
    manifest.path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match=r"the manifest .* is intact up to byte"):
        RocksStore.open(damaged, create=False)


def test_a_log_that_is_missing_before_another_one_is_noticed(damaged: Path) -> None:
    """The engine counts on from one log to the next; the log between these two would have had ten rows."""
    (log,) = (path for path in damaged.glob("*.log") if path.stat().st_size)
    following = scan_log(log.read_bytes())[1].following
    assert following is not None
    later = log.with_name("999999.log")
    later.write_bytes(fragment(FULL, batch(following) + b"\0\1a"))
    assert [] == repair_logs(damaged)
    later.write_bytes(fragment(FULL, batch(following + 10) + b"\0\1a"))
    with pytest.raises(StoreUnavailable, match=rf"begins with row {following + 10}, .* end with row {following - 1}"):
        repair_logs(damaged)


@pytest.mark.parametrize("pattern", [b"\1", b"\2", b"\1\0", b"\0\2\1", b"\1\3", b"a\1", b"\2\xff"])
def test_a_long_tail_of_bytes_that_could_be_kinds_is_torn_and_few_checksums_are_computed(
    damaged: Path, pattern: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = manifest_of(damaged)
    tail = pattern * (MIB // len(pattern))
    whole.path.write_bytes(whole.content + tail)
    computed: list[int] = []

    def counted(data: bytes) -> int:
        computed.append(len(data))
        return int(crc32c(data))

    monkeypatch.setattr(log_format, "crc32c", counted)
    assert (Verdict.TORN, len(whole.content)) == manifest_of(damaged).scan
    assert len(computed) < len(tail) / 500


@pytest.mark.parametrize("filler", [b"\1", b"\0", b"\xff"])
def test_any_edit_that_the_engine_writes_is_found_behind_a_break(damaged: Path, filler: bytes) -> None:
    whole = manifest_of(damaged)
    edits = [whole.content[start - HEADER_BYTES : end] for _, start, end in log_format._fragments(whole.content)]
    assert len(edits) > 5
    for edit in [*edits, fragment(FULL, b"")]:
        whole.path.write_bytes(filler * 100 + edit + filler * 100)
        assert (Verdict.DAMAGED, 0) == manifest_of(damaged).scan


@pytest.mark.parametrize("edit", [bytes([77]), bytes([1, 200]), bytes([2, 0x80])], ids=["tag", "name", "number"])
def test_an_edit_that_can_not_be_read_is_refused(damaged: Path, edit: bytes) -> None:
    with manifest_of(damaged).path.open("ab") as file:
        file.write(fragment(FULL, edit))
    with pytest.raises(StoreUnavailable, match="unknown kind"):
        RocksStore.open(damaged, create=False)


def test_a_store_without_a_manifest_is_left_to_the_engine_to_refuse(damaged: Path) -> None:
    manifest_of(damaged).path.unlink()
    assert read_manifest(damaged) is None
    with pytest.raises(StoreUnavailable, match="can't open the store"):
        RocksStore.open(damaged, create=False)
