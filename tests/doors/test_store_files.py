"""The files that are read before a store is opened, of any bytes: a judgement, or a refusal for the operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from relatum.errors import StorageInconsistency, StoreUnavailable
from relatum.store.log_format import BLOCK_BYTES, Verdict
from relatum.store.manifest import read_manifest
from relatum.store.preflight import torn_ends
from relatum.store.rocks import RocksStore
from relatum.store.wal import logs_in, scan_log
from relatum.store.watermark import WatermarkFile
from tests.doors.mutating import Mutator, bounded
from tests.fuzz.dice import Dice
from tests.store.helpers import commit

LOGS = 200
FILES = 300
JUNK_BYTES = 128 * 1024
LOG_TOKENS = (
    *(bytes(7), b"\0" * BLOCK_BYTES, b"\1", b"\2", b"\3", b"\4", b"\5", b"\x81", b"\xff" * 7, b"\xff\xff\1", b"\0\0\1"),
    *(b"\0\0\0\0\0\0\1", b"\0\0\0\0\xff\x7f\2", b"\x01\x7f" * 600, b"\2" * 4_000),
)


class Found(NamedTuple):
    """A directory of the engine as a killed process leaves it, and its files that are read beforehand."""

    directory: Path
    log: Path
    manifest: Path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A log of several blocks."""
    return made(tmp_path_factory.mktemp("long"), row_bytes=9_000).log.read_bytes()


@pytest.fixture
def found(tmp_path: Path) -> Found:
    return made(tmp_path, row_bytes=50)


def made(directory: Path, row_bytes: int) -> Found:
    source = directory / "source"
    store = RocksStore.open(source, create=True)
    for number in range(12):
        commit(store, {b"%d" % number: bytes([number]) * row_bytes})
    copy = directory / "copy"
    copy.mkdir()
    for path in source.iterdir():
        if path.is_file():
            (copy / path.name).write_bytes(path.read_bytes())
    store.close()
    [log], [manifest] = logs_in(copy), list(copy.glob("MANIFEST-*"))
    return Found(copy, log, manifest)


def test_a_log_of_any_bytes_is_judged_and_what_is_called_intact_is(log: bytes) -> None:
    seen: Counter[Verdict] = Counter()
    with bounded():
        for bent in Mutator([log], LOG_TOKENS, "logs").cases(LOGS):
            scan, batches = scan_log(bent)
            assert 0 <= scan.intact_bytes <= len(bent)
            assert (Verdict.CLEAN, batches) == (scan_log(bent[: scan.intact_bytes])[0].verdict, batches)
            assert batches == scan_log(bent[: scan.intact_bytes])[1]
            seen[scan.verdict] += 1
    assert {Verdict.TORN, Verdict.DAMAGED} <= set(seen)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "zeros": lambda: bytes(JUNK_BYTES),
    "beginnings": lambda: b"\1" * JUNK_BYTES,
    "beginnings that say they are long": lambda: b"\1\x7f" * (JUNK_BYTES // 2),
    "beginnings within beginnings": lambda: b"\xf0\x7f\2" * (JUNK_BYTES // 3),
    "chance": lambda: b"".join(Dice("junk", number).below(2**64).to_bytes(8) for number in range(JUNK_BYTES // 8)),
}


@pytest.mark.parametrize("junk", HOSTILE)
def test_junk_never_makes_the_scan_go_in_circles(junk: str) -> None:
    with bounded():
        scan, batches = scan_log(HOSTILE[junk]())
    assert (0, None) == (scan.intact_bytes, batches.first)


def outcome(look: Callable[[], object]) -> str:
    try:
        look()
    except StoreUnavailable:
        return "refused"
    return "judged"


@pytest.mark.parametrize("which", ["log", "manifest"])
def test_a_directory_with_a_bent_file_is_judged_or_refused_and_not_changed(which: str, found: Found) -> None:
    path = found.log if which == "log" else found.manifest
    sound = path.read_bytes()
    seen: Counter[str] = Counter()
    with bounded():
        for bent in Mutator([sound], LOG_TOKENS, "files", which).cases(FILES):
            path.write_bytes(bent)
            seen[outcome(lambda: torn_ends(found.directory))] += 1
            outcome(lambda: read_manifest(found.directory))
            assert bent == path.read_bytes()
    assert {"judged", "refused"} == set(seen)


def test_a_watermark_of_any_bytes_is_one_that_was_written_or_inconsistent(tmp_path: Path) -> None:
    path = tmp_path / "watermark"
    file = WatermarkFile.open(path, create=True)
    for position in (1, 2):
        file.write(position, bytes([position]) * 32)
    file.close()
    sound = path.read_bytes()
    seen: Counter[object] = Counter()
    with bounded():
        for bent in Mutator([sound, bytes(4096) + sound[4096:]], (bytes(4096), b"rltmark1"), "watermarks").cases(FILES):
            path.write_bytes(bent)
            seen[position_in(path)] += 1
    assert {1, 2, "inconsistent"} <= set(seen)
    assert set(seen) <= {0, 1, 2, "inconsistent"}


def position_in(path: Path) -> int | str:
    file = WatermarkFile.open(path, create=False)
    try:
        return file.read().position
    except StorageInconsistency:
        return "inconsistent"
    finally:
        file.close()
