"""One server within a limit of the system, from its start or met while it serves; then the same store without it.

What must hold: a start that can't be is refused at once and in words; a server that starts answers everybody, with 503
or 500 where it lacks something, or (of memory alone) dies; nothing hangs, and nothing acknowledged is lost.
"""

from __future__ import annotations

import os
import resource
import shutil
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from random import Random
from signal import SIGTERM
from typing import Final, Literal

from msgspec import Struct

from crash_tests.limits.limited_process import CGROUP
from crash_tests.limits.workload import Shift, require_states
from crash_tests.oracle import Verdict
from crash_tests.part import Run
from crash_tests.server import START_SECONDS_MAX, STOP_SECONDS_MAX, Server, module
from crash_tests.store_case import Site
from crash_tests.template import Template
from crash_tests.violation import Violation, require
from relatum.limits import KIB, MIB

Kind = Literal["descriptors at start", "descriptors", "address space", "memory", "size of a file"]
KINDS: Final[tuple[Kind, ...]] = ("descriptors at start", "descriptors", "address space", "memory", "size of a file")

MEMORY_CGROUPS: Final = Path("/sys/fs/cgroup/memory")
"""Where groups lie that bound memory, of the first version of cgroups; another machine goes without."""

WORK_SECONDS_MAX: Final = 60.0
ACCEPTED: Final = 150
CROWD: Final = 30
OUT_OF_MEMORY: Final = frozenset({(500, "internal_error"), (503, "storage_unavailable")})

_RANGES: Final[dict[Kind, tuple[int, int]]] = {
    "descriptors at start": (8, 700),
    "descriptors": (0, 8),
    "address space": (60 * MIB, 900 * MIB),
    "memory": (24 * MIB, 120 * MIB),
    "size of a file": (4 * KIB, 600 * KIB),
}
# Of "descriptors" the value is how many more than it has a server may have once it is at work.
_NAMES: Final[dict[Kind, str | None]] = {
    "descriptors at start": "nofile",
    "descriptors": None,
    "address space": "as",
    "memory": CGROUP,
    "size of a file": "fsize",
}
_DEADLY: Final = ("address space", "memory")
"""Limits of which a process may die: the system ends it, or what it is made of does."""


class Case(Struct, frozen=True, kw_only=True):
    """A case, drawn from its number."""

    directory: Path
    seed: int
    number: int
    kind: Kind
    value: int
    killed: bool
    template: Template
    launch: tuple[str, ...] = ()
    control: str | None = None

    @classmethod
    def of(cls, given: Run, number: int, template: Template, launch: tuple[str, ...]) -> Case:
        """The case with a number; kinds take turns."""
        random = given.random(number)
        kind = KINDS[number % len(KINDS)]
        if kind == "memory" and not os.access(MEMORY_CGROUPS, os.W_OK):
            kind = "address space"
        return cls(
            directory=given.directory,
            seed=given.seed,
            number=number,
            kind=kind,
            value=random.randrange(*_RANGES[kind]),
            killed=random.random() < 0.5,
            template=template,
            launch=launch,
            control=given.control,
        )

    def __str__(self) -> str:
        """For messages."""
        return f"case {self.number} ({self.kind}: {self.value})"


class Outcome(Struct, frozen=True, kw_only=True):
    """What a case came to."""

    kind: Kind
    started: bool
    died: bool
    acknowledged: int
    unavailable: int
    verdict: Verdict
    rows: int


def try_case(case: Case) -> Outcome:
    """Carries a case out. Raises Violation."""
    own = case.directory / f"case-{case.number}"
    own.mkdir()
    try:
        with Site(own, "store", launch=case.launch) as site, _limit(case) as wrapper:
            case.template.copy(site, Random(f"{case.seed}/{case.number}/oracle"))
            outcome = _carried_out(site, case, wrapper)
    except Violation as violation:
        raise Violation(f"{case}: {violation}") from violation
    shutil.rmtree(own)
    return outcome


def _carried_out(site: Site, case: Case, wrapper: list[str]) -> Outcome:
    random = Random(f"{case.seed}/{case.number}/work")
    with Server(site.store, site.log, wrapper=wrapper, launch=site.launch, doomed=case.kind in _DEADLY) as server:
        started = _started(server, case)
        shift = _work(site, server, case, random) if started else None
        died = server.ended
        if started and not died:
            _end(server, case)
    if case.control == "rollback":
        shutil.rmtree(site.store)
        shutil.copytree(case.template.store, site.store)
    free = site.serve()
    require_states(free, ready=200)
    verdict = site.judge(free)
    site.drain(free)
    return Outcome(
        kind=case.kind,
        started=started,
        died=died,
        acknowledged=shift.accepted if shift else 0,
        unavailable=shift.unavailable if shift else 0,
        verdict=verdict,
        rows=site.inspect().rows,
    )


def _started(server: Server, case: Case) -> bool:
    """Whether it serves; else it must have said why not, unless the limit is one that a process dies of."""
    line = server.read_line(START_SECONDS_MAX)
    if line is not None:
        server.port = int(line.rpartition(":")[2])
        return True
    require(server.silent, f"a start within a limit hangs{server.log_tail()}")
    status, said = server.wait(STOP_SECONDS_MAX), server.log_tail()
    explained = status == 1 and "Error: " in said and "Traceback" not in said
    require(explained or case.kind in _DEADLY, f"a start within a limit ended with {status}{said}")
    return False


def _work(site: Site, server: Server, case: Case, random: Random) -> Shift:
    tolerated = OUT_OF_MEMORY if case.kind in _DEADLY else frozenset[tuple[int, str]]()
    shift = Shift(site.ground, server, random, tolerated)
    shift.wait_for(lambda: shift.accepted >= ACCEPTED // 2 or shift.unavailable > 0, WORK_SECONDS_MAX)
    with _crowd_without_descriptors(server, case) if case.kind == "descriptors" else nullcontext():
        shift.wait_for(lambda: shift.accepted >= ACCEPTED or shift.unavailable > 20, WORK_SECONDS_MAX)
        shift.finish()
    if case.kind not in _DEADLY:
        require_states(server, ready=503 if shift.unavailable else 200)
    return shift


@contextmanager
def _crowd_without_descriptors(server: Server, case: Case) -> Iterator[None]:
    """The server may open hardly anything more, and connections that say nothing take what there is.

    Both are over after the block; what the server has to do about it may go on.
    """
    few = len(list(Path(f"/proc/{server.process_id}/fd").iterdir())) + case.value
    usual = resource.prlimit(server.process_id, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process_id, resource.RLIMIT_NOFILE, (few, usual[1]))
    try:
        with ExitStack() as crowd:
            for _ in range(CROWD):
                with suppress(OSError):
                    crowd.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=1.0))
            yield
    finally:
        if not server.ended:
            resource.prlimit(server.process_id, resource.RLIMIT_NOFILE, usual)


def _end(server: Server, case: Case) -> None:
    server.stopping = True
    if case.killed:
        server.kill()
        return
    server.signal(SIGTERM)
    status = server.wait(STOP_SECONDS_MAX)
    orderly = status == 0 or case.kind in _DEADLY
    require(orderly, f"a server within a limit that was told to stop ended with {status}{server.log_tail()}")


@contextmanager
def _limit(case: Case) -> Iterator[list[str]]:
    """What a command line begins with that runs within the limit."""
    name = _NAMES[case.kind]
    if name is None:
        yield []
        return
    if name != CGROUP:
        yield [*module("crash_tests.limits.limited_process", name, str(case.value)), "--"]
        return
    group = MEMORY_CGROUPS / f"relatum-{os.getpid()}-{case.number}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(case.value))
        yield [*module("crash_tests.limits.limited_process", name, str(group)), "--"]
    finally:
        group.rmdir()
