"""Room that is held back on the disk, and given back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from relatum.limits import MIB
from relatum.store.ballast import Ballast
from relatum.store.layout import BALLAST_NAME


class Usage(NamedTuple):
    free: int


def blocks_of(path: Path) -> int:
    """The bytes that a file really takes."""
    return path.stat().st_blocks * 512


def test_a_ballast_takes_real_room_and_gives_it_back(tmp_path: Path) -> None:
    ballast = Ballast(tmp_path)
    ballast.take(3 * MIB)
    assert 3 * MIB == ballast.held_bytes
    assert blocks_of(tmp_path / BALLAST_NAME) >= 3 * MIB
    for _ in range(2):
        ballast.let_go()
        assert 0 == ballast.held_bytes
        assert [] == list(tmp_path.iterdir())


def test_a_ballast_of_nothing_is_no_file(tmp_path: Path) -> None:
    ballast = Ballast(tmp_path)
    ballast.take(0)
    assert (0, []) == (ballast.held_bytes, list(tmp_path.iterdir()))


@pytest.mark.parametrize(("free", "held"), [(2 * MIB, MIB), (2 * MIB - 1, 0)])
def test_a_ballast_is_taken_where_as_much_again_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, held: int
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(free))
    ballast = Ballast(tmp_path)
    ballast.take(MIB)
    assert held == ballast.held_bytes
    assert bool(held) == (tmp_path / BALLAST_NAME).exists()


def test_a_place_that_can_not_be_written_to_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ballast = Ballast(tmp_path / "file")
    ballast.take(MIB)
    assert 0 == ballast.held_bytes
    ballast.let_go()


def test_what_another_process_left_is_let_go(tmp_path: Path) -> None:
    Ballast(tmp_path).take(MIB)
    Ballast(tmp_path).let_go()
    assert [] == list(tmp_path.iterdir())
