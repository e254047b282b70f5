"""The part `power-cuts`: the power goes while the process works, and often once more while it recovers."""

from __future__ import annotations

from crash_tests.disk import KINDS, Disk, Kind, copy_image
from crash_tests.embedded import Acknowledged
from crash_tests.part import Part, Run
from crash_tests.power.campaign import BUGS, Campaign, Outcome, Task, add_options
from crash_tests.power.case import Case
from crash_tests.power.moments import draw_moment, draw_plan
from crash_tests.power.served import ServerPreparation, cut_server, is_served
from crash_tests.power.stores import (
    AGE_WEIGHTS,
    AGES,
    STORE,
    Beginning,
    DiskPreparation,
    Preparation,
    judge,
    start,
)
from relatum.store.database import WATERMARK_NAME

LIVES_WEIGHTS = (60, 30, 10)
"""How many of a hundred cases have one life, two, three."""
LOG_FLUSHED = 0.3
"""How often the file system's own log gets to the disk just before the cut."""
OPTIONS: dict[Kind, tuple[str, ...]] = {"ext4": ("", "data=writeback,nodelalloc"), "xfs": ("",)}
"""How file systems are mounted; such an ext4 may have room for data in its log before it has written them."""
KILLED_FIRST = 0.3
"""How often the first life of several is killed and the power stays: what it wrote is there, synced or not."""
ROLLBACK, LOSE_WATERMARK = "rollback", "lose-watermark"


def do(task: Task) -> Outcome | None:
    """A worker's task."""
    if isinstance(task, Case):
        return cut_server(task) if is_served(task) else _cut(task)
    task.prepare()
    return None


def _cut(case: Case) -> Outcome:
    dice = case.dice
    kind, age = dice.choice(KINDS), dice.choices(AGES, AGE_WEIGHTS)[0]
    lives = dice.choices((1, 2, 3), LIVES_WEIGHTS)[0]
    killed_first = lives > 1 and dice.random() < KILLED_FIRST
    options = dice.choice(OPTIONS[kind])
    beginning = Beginning(case.directory, kind, age)
    with case.story(f"a store that is {age} on {kind}{options and f' with {options}'}"):
        copy_image(beginning.image, case.own / "image")
        with Disk(case.own / "image", kind, case.own / "mounted", options) as disk:
            told = [beginning.told]
            for life in range(lives):
                told.append(_live(case, disk, told, killed=life == 0 and killed_first))
                case.keep(f"told-{life + 1}", told[-1])
            _lie(case, beginning, disk)
            checked = judge(disk.place / STORE, Acknowledged.read(*told), case.bug, case.log)
    return Outcome(kind=kind, blows=lives - killed_first, checked=checked)


def _live(case: Case, disk: Disk, told: list[bytes], *, killed: bool) -> bytes:
    """One life, and what it told before the power went, or before it was killed."""
    moment = draw_moment(case.dice, case.at, new=not told[0], soon=len(told) > 1)
    plan = draw_plan(case.dice, f"{case.seed}/{case.number}/{len(told)}", moment, case.bug)
    flush_log = case.dice.random() < LOG_FLUSHED
    case.tell(f"{'killed' if killed else 'cut, its log flushed,' if flush_log else 'cut'} {moment}")
    with start(disk.place / STORE, plan, case.log, Acknowledged.read(*told)) as child:
        moment.wait_for(child)
        if not killed:
            child.stop()  # or a sync that is on its way would return as if it had been carried out
            disk.cut_power(flush_log=flush_log)
        child.kill()
    if not killed:
        disk.unmount()
        disk.mount()
    return child.told


def _lie(case: Case, beginning: Beginning, disk: Disk) -> None:
    """The control, if there is one: a disk on which nothing since the beginning is left, or no watermark."""
    if case.control == ROLLBACK:
        disk.unmount()
        copy_image(beginning.image, disk.image)
        disk.mount()
    elif case.control == LOSE_WATERMARK:
        (disk.place / STORE / WATERMARK_NAME).unlink(missing_ok=True)


def _preparations(given: Run) -> list[Preparation]:
    disks = [DiskPreparation(directory=given.directory, kind=kind, seed=given.seed) for kind in KINDS]
    numbers = range(given.first_case, given.first_case + given.cases)
    served = any(is_served(Case.of(given, number)) for number in numbers)
    return [*disks, ServerPreparation(directory=given.directory)] if served else [*disks]


POWER_CUTS = Part(
    name="power-cuts",
    help="cut the power of ext4 and xfs under the working ledger, and again while it recovers",
    unit="cases",
    cases_ci=150,
    cases_release=5_000,
    run=Campaign(part="power-cuts", blow="power cuts", preparations=_preparations, do=do).run,
    controls=(ROLLBACK, LOSE_WATERMARK),
    bugs=BUGS,
    add_options=add_options,
)
