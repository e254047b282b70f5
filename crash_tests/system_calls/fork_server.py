"""Where children come from: a process that has everything imported and opens no store, so that it may fork.

Each case takes two children. The first works while the fault strikes it; the second, with nothing failing any more,
judges what the store has become. Whatever they do is bounded in time: what takes longer hangs.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from crash_tests.embedded.messages import Ended as Done
from crash_tests.embedded.messages import messages_in
from crash_tests.forks import Act, Ended, forked
from crash_tests.system_calls.faults import NO_FAULT, Call, Fault, Mode
from crash_tests.system_calls.native import preloaded
from crash_tests.system_calls.recovery_checks import judge_init, judge_store
from crash_tests.system_calls.session import WatchfulReporter
from crash_tests.system_calls.workloads import TEMPLATES, Known, Stage, Workload
from crash_tests.violation import require

CHILD_SECONDS_MAX = 60.0
"""A child takes a tenth of a second."""
_SHOWN_CHARACTERS = 2000

MISSED, KILLED = "missed", "killed"
"""What may come of a case besides the outcomes of recovery_checks.py: its call was never made; the child was killed."""


class Rehearsal(NamedTuple):
    """A workload in which nothing failed: how many calls of each kind it made, and what it told."""

    calls: dict[Call, int]
    told: bytes


class Zygote:
    """Tries cases of one seed, in a directory of its own."""

    def __init__(self, seed: int, place: Path) -> None:
        self._seed = str(seed)
        self._place = Path(tempfile.mkdtemp(prefix="sweep-", dir=place))
        self._errors = self._place / "errors"
        self._note = self._place / "note"
        self._injector = preloaded()
        self._templates: dict[str | None, tuple[Path | None, Known]] = {None: (None, Known())}
        self._rehearsals: dict[str, Rehearsal] = {}

    def rehearsal(self, workload: Workload) -> Rehearsal:
        """A workload with nothing failing; the same at each call."""
        if workload.name not in self._rehearsals:
            self._rehearsals[workload.name] = self._rehearsed(workload)
        return self._rehearsals[workload.name]

    def try_case(self, workload: Workload, fault: Fault, call: int, *, may_lose: bool) -> str:
        """What came of a fault at the `call`-th call of its kind, in a word. Raises `Violation`.

        Where it `may_lose` something, the store may refuse to be opened instead.
        """
        rehearsal = self.rehearsal(workload)
        root, known = self._fresh(workload)
        self._note.unlink(missing_ok=True)

        def act(descriptor: int) -> int:
            status = self._work(root, known, workload, (fault, call), descriptor)
            if self._injector.injector_struck():
                self._note.touch()
            if fault.mode is Mode.LIE:
                self._injector.injector_cut()
            return status

        ended = self._forked(act)
        if ended.status >= 0 and not self._note.exists():
            return MISSED
        if workload.name == "init":
            judge = partial(judge_init, root, ended, self._errors.read_text(errors="replace"))
        else:
            judge = partial(judge_store, root, known.told, ended.told, rehearsal.told)
        judged = self._forked(partial(judge, may_lose=may_lose))
        require(
            judged.status == 0, judged.told.decode() or f"the oracle ended with {judged.status}{self._error_tail()}"
        )
        return KILLED if ended.status < 0 else judged.told.decode()

    def _rehearsed(self, workload: Workload) -> Rehearsal:
        root, known = self._fresh(workload)

        def act(descriptor: int) -> int:
            status = self._work(root, known, workload, (NO_FAULT, 0), descriptor)
            self._note.write_text(" ".join(str(self._injector.injector_calls(call)) for call in Call))
            return status

        ended = self._forked(act)
        require(ended.status == 0, f"without a fault it ended with {ended.status}{self._error_tail()}")
        if workload.name != "init":
            last = list(messages_in(ended.told))[-1]
            require(isinstance(last, Done), f"without a fault it ended with {last}")
        calls = map(int, self._note.read_text().split())
        return Rehearsal(dict(zip(Call, calls, strict=True)), ended.told)

    def _work(self, root: Path, known: Known, workload: Workload, armed: tuple[Fault, int], descriptor: int) -> int:
        fault, call = armed
        tempfile.tempdir = str(root)  # what the product puts there may fail as well
        self._injector.injector_watch(os.fsencode(root))
        self._injector.injector_arm(fault.call, call, fault.mode, fault.error)
        reporter = WatchfulReporter(descriptor, self._injector)
        return workload.run(Stage(root, f"{self._seed}-{workload.name}", reporter), known)

    def _fresh(self, workload: Workload) -> tuple[Path, Known]:
        """A directory with what the workload begins with."""
        template, known = self._template(workload.template)
        root = self._place / "root"
        shutil.rmtree(root, ignore_errors=True)
        if template is None:
            root.mkdir()
        else:
            shutil.copytree(template, root)
        return root, known

    def _template(self, name: str | None) -> tuple[Path | None, Known]:
        if name not in self._templates:
            assert name is not None
            self._templates[name] = self._made(name)
        return self._templates[name]

    def _made(self, name: str) -> tuple[Path, Known]:
        root = self._place / name
        root.mkdir()

        def act(descriptor: int) -> int:
            known = TEMPLATES[name](Stage(root, self._seed, WatchfulReporter(descriptor, self._injector)))
            self._note.write_bytes(msgspec.msgpack.encode(known))
            return 0

        ended = self._forked(act)
        require(ended.status == 0, f"a store could not be made: {ended.status}{self._error_tail()}")
        known = msgspec.msgpack.decode(self._note.read_bytes(), type=Known)
        return root, msgspec.structs.replace(known, told=ended.told)

    def _forked(self, act: Act) -> Ended:
        ended = forked(act, self._errors, seconds_max=CHILD_SECONDS_MAX)
        require(not ended.hung, f"nothing came for {CHILD_SECONDS_MAX:.0f} s: it hangs{self._error_tail()}")
        clear = ended.status in (0, 1, -signal.SIGKILL)
        require(clear, f"the process ended with {ended.status}{self._error_tail()}")
        return ended

    def _error_tail(self) -> str:
        return f"\n{self._errors.read_text(errors='replace')[-_SHOWN_CHARACTERS:]}"
