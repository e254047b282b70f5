"""Power cuts, snapshots and the lossy file system: nothing is lost without a bug, and each bug or lie is noticed."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest

from crash_tests import disk
from crash_tests.part import Part, Run, Summary, Unavailable
from crash_tests.power.lossy_fs import LOSSY_FS, LYING_SYNC
from crash_tests.power.moments import PLACES, draw_moment
from crash_tests.power.power_cuts import LOSE_WATERMARK, POWER_CUTS, ROLLBACK
from crash_tests.power.snapshots import SNAPSHOTS, TOO_LATE
from crash_tests.random_draws import seeded
from crash_tests.violation import Violation
from tests.crash.noticing import noticed
from tests.support.matrix import first_of

PARTS = (POWER_CUTS, SNAPSHOTS, LOSSY_FS)
OCCASIONS_MAX = 40
"""What comes before a cut is up to the threads. A run ends with the first violation, so most take a few cases."""


def run(
    part: Part,
    directory: Path,
    *,
    cases: int,
    at: str | None = None,
    bug: str | None = None,
    control: str | None = None,
) -> Summary:
    """A part, or a skipped test where the machine lacks what it needs."""
    directory.mkdir(exist_ok=True)
    given = Run(
        seed=7,
        cases=cases,
        directory=directory,
        tell=lambda _: None,
        bug=bug,
        control=control,
        options=Namespace(at=at),
    )
    try:
        return part.run(given)
    except Unavailable as lacking:
        pytest.skip(str(lacking))


@pytest.mark.parametrize("part", first_of(PARTS), ids=lambda part: part.name)
def test_nothing_is_lost_and_nothing_stays_mounted(part: Part, tmp_path: Path) -> None:
    assert run(part, tmp_path, cases=6).cases == 6
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
    backing = [path.read_text() for path in Path("/sys/block").glob("loop*/loop/backing_file")]
    assert not any(str(tmp_path) in name for name in backing)
    assert not list(tmp_path.glob("case-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "bug", "at"),
    [
        (POWER_CUTS, "unsynced-commit", "commit.published"),
        (POWER_CUTS, "watermark-ahead", "commit.marked"),
        (POWER_CUTS, "split-command", "commit.synced"),
        (SNAPSHOTS, "publish-before-sync", "commit.published"),
        (LOSSY_FS, "receipt-before-sync", "group.answered"),
    ],
    ids=lambda value: value.name if isinstance(value, Part) else value,
)
def test_a_bug_is_noticed_when_the_power_goes_at_the_wrong_place(part: Part, bug: str, at: str, tmp_path: Path) -> None:
    with noticed():
        run(part, tmp_path, cases=OCCASIONS_MAX, at=at, bug=bug)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "control"),
    [
        (POWER_CUTS, ROLLBACK),
        (POWER_CUTS, LOSE_WATERMARK),
        (SNAPSHOTS, TOO_LATE),
        (LOSSY_FS, LYING_SYNC),
        (LOSSY_FS, LOSE_WATERMARK),
    ],
    ids=lambda value: value.name if isinstance(value, Part) else value,
)
def test_a_lie_of_the_disk_is_noticed(part: Part, control: str, tmp_path: Path) -> None:
    with noticed():
        run(part, tmp_path, cases=OCCASIONS_MAX, control=control)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_run_for_a_change_comes_several_times_to_each_place_of_a_commit(part: Part) -> None:
    moments = [draw_moment(seeded(7, number)) for number in range(part.cases_ci)]
    reached = Counter(moment.place for moment in moments)
    assert [] == [place for place in PLACES if place.startswith("commit.") and reached[place] < 4]


@pytest.mark.slow
def test_a_violation_tells_the_case_and_leaves_its_disk(tmp_path: Path) -> None:
    with pytest.raises(Violation, match=r"case 1: a store that is .* on (ext4|xfs).* cut.* at commit.published"):
        run(POWER_CUTS, tmp_path, cases=1, at="commit.published", control=LOSE_WATERMARK)
    assert (tmp_path / "case-1" / "image").is_file()


def test_whoever_is_not_root_is_told_what_is_lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Unavailable, match="root"):
        POWER_CUTS.run(Run(seed=1, cases=1, directory=tmp_path, tell=lambda _: None))


def test_a_machine_without_loop_devices_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def attach(image: Path) -> tuple[str, int]:
        raise FileNotFoundError(2, "no such file", "/dev/loop-control")

    monkeypatch.setattr(disk, "make_image", lambda image, kind: image.touch())
    monkeypatch.setattr(disk, "attach_loop", attach)
    with pytest.raises(Unavailable, match=r"no ext4 can be mounted here through a loop device.*/dev/loop-control"):
        disk.require_disk(tmp_path, "ext4")
