"""Directories of runs: none is left by a run with a verdict, and what a killed one left goes with the next."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from crash_tests import leftovers
from crash_tests.leftovers import LOCK_NAME, claimed, in_memory
from crash_tests.violation import Violation


def test_what_a_killed_run_left_is_taken_away_and_nothing_else(tmp_path: Path) -> None:
    killed, violated, running, own = (tmp_path / f"relatum-x-{number}" for number in range(4))
    for directory in (killed, violated, running, own):
        directory.mkdir()
    (killed / LOCK_NAME).touch()
    with (running / LOCK_NAME).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with claimed(own, "x"):
            assert (own / LOCK_NAME).exists()
    assert sorted(tmp_path.iterdir()) == [violated, running, own]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands where files lie in memory."""
    monkeypatch.setattr(leftovers, "_MEMORY", tmp_path)
    return tmp_path


def test_of_what_lay_in_memory_nothing_is_left_whatever_the_verdict(memory: Path) -> None:
    with in_memory("x") as place:
        (place / "store").mkdir()
        assert [place] == list(memory.iterdir())
    assert [] == list(memory.iterdir())
    with pytest.raises(Violation), in_memory("x"):
        raise Violation("a promise does not hold")
    assert [] == list(memory.iterdir())


def test_what_a_killed_run_left_in_memory_is_taken_away_by_the_next(memory: Path) -> None:
    killed = memory / "relatum-x-killed"
    killed.mkdir()
    (killed / LOCK_NAME).touch()
    with in_memory("x") as place, in_memory("x") as other:
        assert {place, other} == set(memory.iterdir())


def test_where_no_files_can_lie_in_memory_they_lie_among_temporary_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "_MEMORY", tmp_path / "missing")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with in_memory("x") as place:
        assert tmp_path == place.parent
