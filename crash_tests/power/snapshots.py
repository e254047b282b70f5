"""The part `snapshots`: the disk as it is at one moment, taken while the ledger and its file system work on it.

The image of the file system lies on another one, an xfs that lets files share blocks. A clone of it is what the disk
would hold if the power went at that moment and nothing were lost that had reached the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from crash_tests.disk import KINDS, Disk, copy_image, make_image
from crash_tests.embedded import Acknowledged, Checked
from crash_tests.kernel import clone
from crash_tests.part import Part, Run, Unavailable
from crash_tests.power.campaign import BUGS, Campaign, Outcome, Task, add_options
from crash_tests.power.case import Case
from crash_tests.power.forked import Forked
from crash_tests.power.moments import draw_moment, draw_plan
from crash_tests.power.stores import AGE_WEIGHTS, AGES, STORE, Beginning, DiskPreparation, judge, start
from relatum.limits import MIB

SHOTS = (1, 1, 2, 3)
"""Snapshots of one life."""
BETWEEN_SECONDS_MAX = 0.03
TOO_LATE = "too-late"
TOO_LATE_LINES = 40
_OUTER_BYTES = 4096 * MIB  # of which most are holes


class Shot(Struct, frozen=True):
    """One snapshot: what was told before it was begun, and from then until it surely was done."""

    image: Path
    before: bytes
    during: bytes


def do(task: Task) -> Outcome | None:
    """A worker's task."""
    if isinstance(task, Case):
        return _take_and_judge(task)
    task.prepare()
    return None


def _take_and_judge(case: Case) -> Outcome:
    dice, outer, checked = case.dice, _outer(case.directory), Checked()
    kind, age = dice.choice(KINDS), dice.choices(AGES, AGE_WEIGHTS)[0]
    moment = draw_moment(dice, case.at, new=age == "none")
    plan = draw_plan(dice, f"{case.seed}/{case.number}", moment, case.bug)
    beginning = Beginning(case.directory, kind, age)
    with case.story(f"a store that is {age} on {kind}, snapshots from {moment}"):
        image = outer / f"case-{case.number}"
        copy_image(beginning.image, image)
        with (
            Disk(image, kind, case.own / "mounted") as disk,
            start(disk.place / STORE, plan, case.log, Acknowledged.read(beginning.told)) as child,
        ):
            moment.wait_for(child)
            shots = list(_shots(case, image, child))
            child.kill()
            case.keep("told", child.told)
        image.unlink()
        for shot in shots:
            case.tell(f"snapshot {shot.image.name}")
            known = Acknowledged.read_split(shot.before, shot.during, [beginning.told])
            with Disk(shot.image, kind, case.own / "clone") as disk:
                checked.add(judge(disk.place / STORE, known, case.bug, case.log))
            shot.image.unlink()
    return Outcome(kind=kind, blows=len(shots), checked=checked)


def _shots(case: Case, image: Path, child: Forked) -> Iterator[Shot]:
    """Some snapshots of the disk, while the process works on it or has just stopped itself."""
    for number in range(case.dice.choice(SHOTS)):
        child.drain()
        before = len(child.told)
        taken = _clone(image, image.with_name(f"{image.name}-{number}"))
        if case.control == TOO_LATE:  # pass off as acknowledged before it what came afterwards
            child.wait_for_lines(child.told.count(b"\n") + TOO_LATE_LINES)
            before = len(child.told)
        child.drain()
        yield Shot(taken, child.told[:before], child.told[before:])
        child.wait(case.dice.uniform(0.0, BETWEEN_SECONDS_MAX))


def _clone(image: Path, copy: Path) -> Path:
    with image.open("rb") as source, copy.open("wb") as target:
        clone(source.fileno(), target.fileno())
    return copy


@cache
def _outer(directory: Path) -> Path:
    """The file system whose files can share blocks: one for each worker, which goes with it."""
    image, place = directory / f"outer-{os.getpid()}", directory / f"outer-{os.getpid()}.mounted"
    make_image(image, "xfs", _OUTER_BYTES)
    disk = Disk(image, "xfs", place)
    try:
        disk.mount()
        (place / "one").touch()
        _clone(place / "one", place / "other")
    except OSError as error:
        raise Unavailable(f"no file system with shared blocks can be had: {error}") from error
    return place


def _preparations(given: Run) -> list[DiskPreparation]:
    return [DiskPreparation(directory=given.directory, kind=kind, seed=given.seed) for kind in KINDS]


SNAPSHOTS = Part(
    name="snapshots",
    help="clone the disk under the working ledger, and see what the clone holds",
    unit="cases",
    cases_ci=100,
    cases_release=3_000,
    run=Campaign(part="snapshots", blow="snapshots", preparations=_preparations, do=do).run,
    controls=(TOO_LATE,),
    bugs=BUGS,
    add_options=add_options,
)
