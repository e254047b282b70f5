"""One full disk: a store on a small file system that fills up under the server, a restart meanwhile, and room again.

What must hold: commands that find no room get 503 and a server that is not ready, reads go on, nothing hangs; whatever
was acknowledged is there once there is room again, and whatever is in doubt is settled by its key.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from signal import SIGTERM
from typing import Final

from msgspec import Struct

from crash_tests.disk import Disk, make_image
from crash_tests.kernel import mount, unmount
from crash_tests.limits.workload import Shift, require_reads, require_states
from crash_tests.oracle import Verdict
from crash_tests.part import Run
from crash_tests.server import START_SECONDS_MAX, STOP_SECONDS_MAX, Server
from crash_tests.store_case import Site
from crash_tests.template import Template
from crash_tests.violation import Violation, require
from relatum.limits import KIB, MIB

NOTICED_SECONDS_MAX: Final = 60.0
UNAVAILABLE_MIN: Final = 20
"""So many commands are refused before the server goes."""
SIZE_BYTES: Final = 64 * MIB
BALLASTS_MIB: Final = (0, 4, 16)
_STEP_BYTES: Final = 64 * KIB


class Case(Struct, frozen=True, kw_only=True):
    """A case, drawn from its number.

    If `left_bytes` is given, others leave so much of the disk when the work begins, and the work itself fills it;
    otherwise they fill all of it after `accepted` acknowledgements.
    """

    directory: str
    seed: int
    number: int
    kind: str
    ballast_mib: int
    left_bytes: int | None
    accepted: int
    killed: bool
    restarted_full: bool
    template: Template
    launch: tuple[str, ...] = ()
    control: str | None = None

    @classmethod
    def of(cls, given: Run, number: int, template: Template, launch: tuple[str, ...]) -> Case:
        """The case with a number."""
        random = given.random(number)
        slowly = random.random() < 0.5
        return cls(
            directory=str(given.directory),
            seed=given.seed,
            number=number,
            kind=random.choice(("tmpfs", "tmpfs", "ext4")),
            ballast_mib=random.choice(BALLASTS_MIB),
            left_bytes=random.randrange(64 * KIB, 4 * MIB) if slowly else None,
            accepted=random.randrange(1, 200),
            killed=random.random() < 0.6,
            restarted_full=random.random() < 0.6,
            template=template,
            launch=launch,
            control=given.control,
        )

    def __str__(self) -> str:
        """For messages."""
        filled = "others fill it" if self.left_bytes is None else f"{self.left_bytes} bytes are left"
        end = "killed" if self.killed else "stopped"
        again = ", restarted while it is full" if self.restarted_full else ""
        return f"case {self.number} ({self.kind}, ballast of {self.ballast_mib} MiB, {filled}; {end}{again})"


class Outcome(Struct, frozen=True, kw_only=True):
    """What a case came to."""

    acknowledged: int
    unavailable: int
    reads: int
    served_full: bool | None
    """Whether the restart while the disk was full served, if there was one."""
    verdict: Verdict
    rows: int


def try_case(case: Case) -> Outcome:
    """Carries a case out, in a namespace of mounts of its own. Raises Violation."""
    own = Path(case.directory) / f"case-{case.number}"
    own.mkdir()
    try:
        with _disk(own, case.kind) as disk, _site(own, disk, case) as site:
            outcome = _carried_out(site, disk, case)
    except Violation as violation:
        raise Violation(f"{case}: {violation}") from violation
    shutil.rmtree(own)
    return outcome


def _carried_out(site: Site, disk: Path, case: Case) -> Outcome:
    random = Random(f"{case.seed}/{case.number}/work")
    others = _Others(disk / "others")
    before = site.store.with_suffix(".before")
    shutil.copytree(site.store, before)
    server = site.serve()
    if case.left_bytes is not None:
        others.leave(case.left_bytes)
    shift = Shift(site.ground, server, random)
    if case.left_bytes is None:
        shift.wait_for(lambda: shift.accepted >= case.accepted, NOTICED_SECONDS_MAX)
        others.leave(0)
    noticed = shift.wait_for(lambda: shift.unavailable >= UNAVAILABLE_MIN, NOTICED_SECONDS_MAX)
    shift.finish()
    require_states(server, ready=503 if shift.unavailable else 200)
    require(noticed, f"a full disk was not noticed within {NOTICED_SECONDS_MAX:g} s{server.log_tail()}")
    reads = require_reads(site.ground, server, random)
    _end(server, killed=case.killed)
    others.leave(0)
    served = _restarted_full(site, random) if case.restarted_full else None
    others.go()
    if case.control == "rollback":
        shutil.rmtree(disk / "store")
        shutil.copytree(before, disk / "store")
    server = site.serve()
    require_states(server, ready=200)
    verdict = site.judge(server)
    again = Shift(site.ground, server, random)
    again.wait_for(lambda: again.accepted >= UNAVAILABLE_MIN, NOTICED_SECONDS_MAX)
    again.finish()
    require(again.unavailable == 0, "commands are unavailable though there is room again")
    site.drain(server)
    return Outcome(
        acknowledged=shift.accepted + again.accepted,
        unavailable=shift.unavailable,
        reads=reads,
        served_full=served,
        verdict=verdict,
        rows=site.inspect().rows,
    )


def _end(server: Server, *, killed: bool) -> None:
    server.stopping = True
    if killed:
        server.kill()
        return
    server.signal(SIGTERM)
    status = server.wait(STOP_SECONDS_MAX)
    require(status == 0, f"a server on a full disk that was told to stop ended with {status}{server.log_tail()}")


def _restarted_full(site: Site, random: Random) -> bool:
    """A start while there is no room: it serves what it can, or it says in one line why not. Whether it served."""
    told = site.log.stat().st_size
    with site.start() as server:
        line = server.read_line(START_SECONDS_MAX)
        if line is None:
            require(server.silent, "a start on a full disk hangs")
            status = server.wait(STOP_SECONDS_MAX)
            said = site.log.read_bytes()[told:].decode(errors="replace")
            explained = status == 1 and "Traceback" not in said and "Error: " in said
            require(explained, f"a start on a full disk ended with {status} and said {said[-600:]!r}")
            return False
        server.port = int(line.rpartition(":")[2])
        require_reads(site.ground, server, random)
        server.stopping = True
    return True


class _Others:
    """What other programs write to the same disk: one file, of any size."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def leave(self, left_bytes: int) -> None:
        """So much of the disk is free, and no more."""
        with self._path.open("ab") as file:
            while (size := min(_STEP_BYTES, self._free() - left_bytes)) > 0:
                try:
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
                except OSError:  # what is left is less than a block, or metadata
                    return

    def go(self) -> None:
        """They have removed it."""
        self._path.unlink(missing_ok=True)

    def _free(self) -> int:
        return shutil.disk_usage(self._path.parent).free


@contextmanager
def _disk(own: Path, kind: str) -> Iterator[Path]:
    """A small file system, mounted."""
    place = own / "disk"
    place.mkdir()
    if kind == "ext4":
        make_image(own / "image", "ext4", SIZE_BYTES)
        with Disk(own / "image", "ext4", place):
            yield place
        return
    mount("tmpfs", place, "tmpfs", f"size={SIZE_BYTES}")
    try:
        yield place
    finally:
        unmount(place)


@contextmanager
def _site(own: Path, disk: Path, case: Case) -> Iterator[Site]:
    """A store on the disk, with its log and its copies elsewhere."""
    options = ("--ballast-mib", str(case.ballast_mib))
    with Site(own, "store", options, case.launch) as site:
        shutil.copytree(case.template.store, disk / "store")
        site.store.symlink_to(disk / "store")
        site.inhabit(case.template.accounts, case.template.admin_secret, Random(f"{case.seed}/{case.number}/oracle"))
        yield site
