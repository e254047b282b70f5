"""A watermark that lags by a group: commands are answered before it tells of them, and it tells of them then."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relatum.errors import WritesRefused
from relatum.ledger import Ledger
from relatum.store import failpoints, layout
from relatum.store.watermark import read_watermark
from relatum.telemetry import Log
from tests.support import builders
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.stores import published_rows


def opened(directory: Path, lag: int = 1, log: Log | None = None) -> Ledger:
    return Ledger.open(directory, create=True, watermark_lag=lag, log=log)


def marked(directory: Path) -> int:
    return read_watermark(directory / layout.WATERMARK_NAME).position


@contextmanager
def noted(*places: failpoints.Name, look: Callable[[], int]) -> Iterator[list[tuple[str, int]]]:
    """What `look` sees at these places, in the order of time."""
    seen: list[tuple[str, int]] = []
    failpoints.arm(lambda name: seen.append((name, look())) if name in places else None)
    try:
        yield seen
    finally:
        failpoints.arm(None)


@pytest.mark.parametrize(
    ("lag", "order"), [(0, ["commit.marked", "group.answered"]), (1, ["group.answered", "commit.marked"])]
)
def test_it_is_raised_before_the_answer_or_right_behind_it(tmp_path: Path, lag: int, order: list[str]) -> None:
    ledger = opened(tmp_path / "store", lag)
    desk = Desk(ledger)
    before = marked(tmp_path / "store")
    with noted("commit.marked", "group.answered", look=lambda: marked(tmp_path / "store")) as seen:
        desk.accept(builders.create("told"), "first")
        ledger.close()
    assert order == [name for name, _ in seen]
    assert {"group.answered": before + 1 - lag, "commit.marked": before + 1} == dict(seen)


def test_each_group_waits_for_the_mark_of_the_one_before_it(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "store")
    desk = Desk(ledger)
    before = marked(tmp_path / "store")
    with noted("commit.written", look=lambda: marked(tmp_path / "store") - before) as seen:
        for number in range(5):
            desk.accept(builders.create(f"number {number}"), str(number))
            desk.accept(builders.create(f"number {number}"), str(number))  # a replay moves nothing
    ledger.close()
    assert [("commit.written", number) for number in range(5)] == seen
    assert before + 5 == marked(tmp_path / "store")


def test_the_group_that_it_does_not_tell_of_is_there_after_a_crash_and_told_of_from_then_on(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "store")
    desk = Desk(ledger)
    old = (tmp_path / "store" / layout.WATERMARK_NAME).read_bytes()
    receipt = desk.accept(builders.create("told"), "first")
    ledger.close()
    (tmp_path / "store" / layout.WATERMARK_NAME).write_bytes(old)  # as if it had been killed before it was raised
    position = marked(tmp_path / "store")
    with opened(tmp_path / "store") as again:
        assert position + 1 == marked(tmp_path / "store")
        assert receipt == Desk(again).submit(builders.create("told"), "first")


def test_a_mark_that_fails_costs_nobody_an_answer_and_stops_whoever_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    ledger = opened(tmp_path / "store", log=Log(log, lambda: START_MILLIS, "warning"))
    desk = Desk(ledger)

    def fail(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        kept = desk.accept(builders.create("kept"), "kept")
        with pytest.raises(WritesRefused):
            desk.submit(builders.create("next"), "next")
    assert "poisoned" == ledger.readiness()
    assert 1 == log.getvalue().count("the watermark can't be raised")
    assert kept == desk.submit(builders.create("kept"), "kept")
    rows = published_rows(ledger)
    ledger.close()
    with opened(tmp_path / "store") as again:
        assert rows == published_rows(again)
