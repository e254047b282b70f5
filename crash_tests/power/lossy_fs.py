"""The part `lossy-fs`: a file system keeps what was synced and loses, tears or blanks the rest.

It is crueller than a power cut on a real file system, where most of what was written long ago is left: here nothing
outlives the cut by luck, not even a name whose directory was not synced.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import copytree

from msgspec import Struct

from crash_tests.embedded import Acknowledged, Checked, Plan
from crash_tests.part import Part, Run, Unavailable
from crash_tests.power.campaign import BUGS, Campaign, Outcome, Task, add_options
from crash_tests.power.case import Case
from crash_tests.power.lossy.disk import LossyDisk
from crash_tests.power.lossy.tree import Loss
from crash_tests.power.moments import SMALL_BUFFER_BYTES, draw_moment, draw_plan
from crash_tests.power.stores import AGE_WEIGHTS, AGES, COMMANDS, STORE, Age, judge, start
from crash_tests.violation import Violation
from relatum.store.database import WATERMARK_NAME

LOSSES: tuple[Loss, ...] = ("all", "torn", "scattered", "zeros", "some")
LIVES_WEIGHTS = (70, 25, 5)
"""How many of a hundred cases have one life, two, three."""
LYING_SYNC, LOSE_WATERMARK = "lying-sync", "lose-watermark"


class TreePreparation(Struct, frozen=True, kw_only=True):
    """A tree with a store of an age, and what was told while it was made."""

    directory: Path
    age: Age
    seed: int

    @property
    def tree(self) -> Path:
        """Where it is saved."""
        return self.directory / f"{self.age}.tree"

    @property
    def told(self) -> Path:
        """Where it is written down."""
        return self.directory / f"{self.age}.told"

    def prepare(self) -> None:
        """Makes it. Raises `Unavailable`."""
        log = self.directory / f"{self.age}.log"
        plan = Plan(
            seed=f"{self.age} of {self.seed}", commands=COMMANDS[self.age], write_buffer_bytes=SMALL_BUFFER_BYTES
        )
        try:
            with LossyDisk(self.directory / f"making-{self.age}", log) as disk:
                if self.age != "none":
                    with start(disk.place / STORE, plan, log, Acknowledged()) as child:
                        self.told.write_bytes(child.finish())
                    Acknowledged.read(self.told.read_bytes())
                else:
                    self.told.touch()
                disk.save(self.tree)
        except OSError as error:
            raise Unavailable(f"no FUSE file system can be mounted here: {error}") from error


def do(task: Task) -> Outcome | None:
    """A worker's task."""
    if isinstance(task, Case):
        return _lose(task)
    task.prepare()
    return None


def _lose(case: Case) -> Outcome:
    dice = case.dice
    age, loss = dice.choices(AGES, AGE_WEIGHTS)[0], dice.choice(LOSSES)
    lives = dice.choices((1, 2, 3), LIVES_WEIGHTS)[0]
    beginning = TreePreparation(directory=case.directory, age=age, seed=case.seed)
    with case.story(f"a store that is {age}, loss {loss}"):
        lies = case.control == LYING_SYNC
        with LossyDisk(case.own / "mounted", case.log, tree=beginning.tree, lies=lies) as disk:
            told = [beginning.told.read_bytes()]
            for life in range(lives):
                told.append(_live(case, disk, told))
                case.keep(f"told-{life + 1}", told[-1])
                disk.cut_power(loss, f"{case.seed}/{case.number}/{life}")
            if case.control == LOSE_WATERMARK:
                (disk.place / STORE / WATERMARK_NAME).unlink(missing_ok=True)
            checked = _judge(case, disk, told)
    return Outcome(kind=loss, blows=lives, checked=checked)


def _live(case: Case, disk: LossyDisk, told: list[bytes]) -> bytes:
    """One life, and what it told before the power went."""
    moment = draw_moment(case.dice, case.at, new=not told[0], soon=len(told) > 1)
    plan = draw_plan(case.dice, f"{case.seed}/{case.number}/{len(told)}", moment, case.bug)
    case.tell(f"cut {moment}")
    with start(disk.place / STORE, plan, case.log, Acknowledged.read(*told)) as child:
        moment.wait_for(child)
        child.stop()
        child.kill()
    return child.told


def _judge(case: Case, disk: LossyDisk, told: list[bytes]) -> Checked:
    try:
        return judge(disk.place / STORE, Acknowledged.read(*told), case.bug, case.log)
    except Violation:
        with suppress(OSError):  # it is in memory, and would be gone
            copytree(disk.place / STORE, case.own / STORE)
        raise


def _preparations(given: Run) -> list[TreePreparation]:
    return [TreePreparation(directory=given.directory, age=age, seed=given.seed) for age in AGES]


LOSSY_FS = Part(
    name="lossy-fs",
    help="lose, tear or blank what the ledger had not synced",
    unit="cases",
    cases_ci=150,
    cases_release=3_000,
    run=Campaign(part="lossy-fs", blow="losses", preparations=_preparations, do=do).run,
    controls=(LYING_SYNC, LOSE_WATERMARK),
    bugs=BUGS,
    add_options=add_options,
)
