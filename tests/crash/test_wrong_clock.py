"""The clock that a server is told is never later than the harness takes it to have been."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from crash_tests.clocks import wrong_clock
from crash_tests.clocks.wrong_clock import WrongClock


def test_what_a_server_was_told_just_before_a_jump_back_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = count(1_000)
    monkeypatch.setattr(wrong_clock, "machine_millis", lambda: next(times))
    clock = WrongClock(tmp_path / "clock")
    clock.put_off(500)
    told: list[int] = []
    replace = Path.replace

    def asked_meanwhile(new: Path, place: Path) -> Path:
        told.append(wrong_clock.machine_millis() + int(place.read_text()))
        return replace(new, place)

    monkeypatch.setattr(Path, "replace", asked_meanwhile)
    clock.put_off(0)
    assert told[0] > clock.millis()
    assert told[0] <= clock.latest()
