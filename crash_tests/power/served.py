"""Power cuts under the real server: `relatum serve`, its clients and consumers over HTTP, and the oracle over HTTP."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

from msgspec import Struct

from crash_tests.disk import KINDS, Disk, copy_image
from crash_tests.embedded import Checked
from crash_tests.inspection.claims import Claim
from crash_tests.inspection.inspect import inspect
from crash_tests.inspection.stored import read_store
from crash_tests.power.campaign import Outcome
from crash_tests.power.case import Case
from crash_tests.power.forked import Forked
from crash_tests.power.stores import LIFE_SECONDS_MAX, STORE, Beginning
from crash_tests.server import Server
from crash_tests.store_case import Site
from crash_tests.template import Template
from crash_tests.violation import Violation, require
from crash_tests.workload import Workload

EVERY = 10
"""One case in so many; it takes ten times as long as the others."""
ACCEPTED_MAX = 60
WORK_SECONDS_MAX = 60.0
CLIENTS = 4
CONSUMERS = 4


class ServerPreparation(Struct, frozen=True, kw_only=True):
    """A store with accounts, to copy for each case."""

    directory: Path

    @property
    def template(self) -> Path:
        """Where it is described."""
        return self.directory / "template.pickle"

    def made(self) -> Template:
        """The store, made."""
        made: Template = pickle.loads(self.template.read_bytes())
        return made

    def prepare(self) -> None:
        """Makes it."""
        self.template.write_bytes(pickle.dumps(Template.make(self.directory)))


def is_served(case: Case) -> bool:
    """Whether a case is one of these."""
    return case.number % EVERY == 0 and not (case.control or case.at)


def cut_server(case: Case) -> Outcome:
    """One case: work, a cut, a restart, the oracle, a drain, the inspection. Raises `Violation`."""
    dice, kind = case.dice, case.dice.choice(KINDS)
    template = ServerPreparation(directory=case.directory).made()
    launch = ("--bug", case.bug) if case.bug else ()
    accepted = dice.randrange(ACCEPTED_MAX)
    with case.story(f"the real server on {kind}, cut after {accepted} acknowledgements"):
        copy_image(Beginning(case.directory, kind, "none").image, case.own / "image")
        with (
            Disk(case.own / "image", kind, case.own / "mounted") as disk,
            Site(disk.place, STORE, launch=launch) as site,
        ):
            site.log = case.log  # else it would lie on the disk, and be cut off with it
            template.copy(site, dice)
            os.sync()
            server = site.serve()
            workload = Workload(site.ground, server, (case.seed, case.number), CLIENTS, CONSUMERS)
            workload.wait_for("accepted", accepted, WORK_SECONDS_MAX)
            _cut(server, disk)
            workload.finish()
            restarted = site.serve()
            verdict = site.judge(restarted)
            site.drain(restarted)
            rows = _inspect(site, case.log)
    checked = Checked(rows=rows, replayed=verdict.replayed, present=verdict.present, absent=verdict.absent)
    return Outcome(kind=kind, blows=1, checked=checked)


def _cut(server: Server, disk: Disk) -> None:
    require(not server.ended, f"the server ended by itself{server.log_tail()}")
    with server.paused():
        disk.cut_power()
        server.stopping = True
        server.kill()
    disk.unmount()
    disk.mount()


def _inspect(site: Site, log: Path) -> int:
    """Every row of the closed store, in a process of its own; how many there are."""
    claims = list(site.ground.claims())
    with Forked(lambda output: _tell_rows(site.store, claims, output), log, LIFE_SECONDS_MAX) as child:
        said = child.finish().decode()
    require(said.isdigit(), f"the stored rows do not hold: {said}{child.log_tail()}")
    return int(said)


def _tell_rows(store: Path, claims: list[Claim], output: int) -> None:
    try:
        said = str(inspect(read_store(store), claims).rows)
    except Violation as violation:
        said = str(violation)
    os.write(output, said.encode())
