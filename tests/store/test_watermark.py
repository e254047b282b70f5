"""The watermark file: two slots, the newest valid one counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from relatum.errors import StorageFailure, StorageInconsistency, StoreUnavailable
from relatum.store.watermark import NOTHING_ANSWERED, Watermark, WatermarkFile

SLOT_BYTES = 4096
HEAD = bytes(range(32))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "watermark"


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[[], WatermarkFile]]:
    with ExitStack() as stack:

        def open_again() -> WatermarkFile:
            file = WatermarkFile.open(path, create=True)
            stack.callback(file.close)
            return file

        yield open_again


def test_a_file_that_can_not_be_read_is_let_go_of(tmp_path: Path) -> None:
    """A directory can be opened and not read, like a file on a disk that fails."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(IsADirectoryError):
        WatermarkFile(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def overwrite(path: Path, offset: int, data: bytes | bytearray) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def test_a_new_watermark_says_so_and_has_its_full_size(opened: Callable[[], WatermarkFile], path: Path) -> None:
    assert NOTHING_ANSWERED == opened().read()
    assert NOTHING_ANSWERED == opened().read()
    assert 2 * SLOT_BYTES == path.stat().st_size
    assert ["watermark"] == [file.name for file in path.parent.iterdir()]


def test_the_last_write_is_read_by_this_and_by_the_next_opening(opened: Callable[[], WatermarkFile]) -> None:
    file = opened()
    for position in (1, 2, 7, 2**64 - 1):
        file.write(position, HEAD)
        assert Watermark(position, HEAD) == file.read()
        assert Watermark(position, HEAD) == opened().read()


def test_writing_goes_on_after_reopening_at_any_parity(opened: Callable[[], WatermarkFile], path: Path) -> None:
    for position in range(1, 6):
        file = opened()
        file.write(position, HEAD)
        overwrite(path, SLOT_BYTES if position % 2 else 0, b"torn")  # the slot just written
        assert (Watermark(position - 1, HEAD) if position > 1 else NOTHING_ANSWERED) == opened().read()
        opened().write(position, HEAD)


def test_the_file_never_grows(opened: Callable[[], WatermarkFile], path: Path) -> None:
    file = opened()
    for position in range(1, 50):
        file.write(position, HEAD)
    assert 2 * SLOT_BYTES == path.stat().st_size


@pytest.mark.parametrize("damage", [b"\xff" * 60, bytes(60), bytes(512)])
def test_a_torn_newest_slot_leaves_the_watermark_before(
    opened: Callable[[], WatermarkFile], path: Path, damage: bytes
) -> None:
    file = opened()
    file.write(1, HEAD)
    file.write(2, HEAD)
    overwrite(path, 0, damage)
    assert Watermark(1, HEAD) == opened().read()


def test_a_torn_very_first_write_is_no_damage(opened: Callable[[], WatermarkFile], path: Path) -> None:
    opened().write(1, HEAD)
    overwrite(path, SLOT_BYTES + 10, b"torn")
    assert NOTHING_ANSWERED == opened().read()


def test_every_flipped_bit_of_a_slot_is_noticed(opened: Callable[[], WatermarkFile], path: Path) -> None:
    opened().write(1, HEAD)
    slot = path.read_bytes()[SLOT_BYTES : SLOT_BYTES + 52]
    for bit in range(8 * len(slot)):
        flipped = bytearray(slot)
        flipped[bit // 8] ^= 1 << bit % 8
        overwrite(path, SLOT_BYTES, flipped)
        assert NOTHING_ANSWERED == opened().read()


def test_two_bad_slots_an_empty_and_a_shortened_file_are_damage(
    opened: Callable[[], WatermarkFile], path: Path
) -> None:
    file = opened()
    file.write(1, HEAD)
    file.write(2, HEAD)
    whole = path.read_bytes()
    for damaged in (b"x" + whole[1:SLOT_BYTES] + b"x" + whole[SLOT_BYTES + 1 :], whole[:-1], b"", bytes(len(whole))):
        path.write_bytes(damaged)
        with pytest.raises(StorageInconsistency):
            opened().read()
        with pytest.raises(StorageInconsistency):
            opened().write(9, HEAD)


def test_a_watermark_only_rises(opened: Callable[[], WatermarkFile]) -> None:
    file = opened()
    file.write(5, HEAD)
    for position in (5, 4, 0):
        with pytest.raises(ValueError, match="only rises"):
            file.write(position, HEAD)
    assert Watermark(5, HEAD) == opened().read()


def test_a_head_of_another_length_is_refused(opened: Callable[[], WatermarkFile]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        opened().write(1, HEAD[:-1])


def test_a_missing_watermark_is_refused_unless_one_is_to_be_made(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="missing"):
        WatermarkFile.open(path, create=False)
    assert not path.exists()


def test_a_directory_in_its_place_is_refused(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreUnavailable, match="can't open"):
        WatermarkFile.open(path, create=True)


def test_an_interrupted_creation_is_finished_by_the_next(opened: Callable[[], WatermarkFile], path: Path) -> None:
    path.with_name("watermark.new").write_bytes(b"half")
    assert NOTHING_ANSWERED == opened().read()


def test_after_a_failed_write_no_other_is_tried(path: Path) -> None:
    WatermarkFile.open(path, create=True).close()
    descriptor = os.open(path, os.O_RDONLY)  # which can't be written through
    file = WatermarkFile(descriptor)
    with pytest.raises(StorageFailure, match="can't be written"):
        file.write(1, HEAD)
    with pytest.raises(StorageFailure, match="closed, or"):
        file.write(2, HEAD)
    file.close()


def test_a_closed_watermark_refuses_writes_and_may_be_closed_again(opened: Callable[[], WatermarkFile]) -> None:
    file = opened()
    file.close()
    file.close()
    with pytest.raises(StorageFailure, match="closed"):
        file.write(1, HEAD)
