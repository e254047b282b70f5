"""The parts on system calls: sound code passes, and each control and planted bug that they are said to notice is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from crash_tests.__main__ import parser
from crash_tests.embedded.messages import Activation, CredentialChange, Judgment, Memory, Saving, Sent, messages_in
from crash_tests.part import Part, Run, Summary, Unavailable
from crash_tests.server import ROOT
from crash_tests.system_calls.faults import FAULTS, Call, Fault, Mode
from crash_tests.system_calls.fork_server import CHILD_SECONDS_MAX
from crash_tests.system_calls.native import compiled, environment
from crash_tests.system_calls.op_log import PART as OP_LOG
from crash_tests.system_calls.states import CASES_PER_RECORDING
from crash_tests.system_calls.sweep import Case
from crash_tests.system_calls.syscalls import MORE_CALLS, cases_of
from crash_tests.system_calls.syscalls import PART as SYSCALLS
from crash_tests.system_calls.workloads import SWEPT_WHOLLY, WORKLOADS
from crash_tests.violation import Violation
from tests.crash.noticing import noticed

pytestmark = pytest.mark.slow

SEED = 7
RECORDINGS_MAX = 12
"""Which commands a life of several threads gives, and when, is up to them. A run ends with the first violation."""


@pytest.fixture(scope="module", autouse=True)
def compiler(tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        compiled("recorder", tmp_path_factory.mktemp("compiled"))
    except Unavailable as lacking:
        pytest.skip(str(lacking))


def run(part: Part, directory: Path, cases: int, **told: str | int) -> Summary:
    return part.run(Run(seed=SEED, cases=cases, directory=directory, tell=print, **told))  # type: ignore[arg-type]


def first_case(workload: str, fault: Fault) -> int:
    """The number of the case in which a fault strikes the first call of a workload."""
    (chosen,) = (one for one in WORKLOADS if one.name == workload)
    return Case(chosen, fault, 1).number


# op-log


def test_a_crash_at_any_call_leaves_a_state_that_was_committed(tmp_path: Path) -> None:
    summary = run(OP_LOG, tmp_path, 60)
    assert 60 == summary.cases
    assert re.search(r"60 crash states of [\d,]+ calls in \d lives", summary.line)


HANGING = "preflight-skipped"
"""Without what this bug leaves out an opening may hang, which is a way in which it shows."""


@pytest.mark.parametrize("bug", sorted(OP_LOG.bugs))
def test_op_log_notices_a_bug(tmp_path: Path, bug: str) -> None:
    with pytest.raises(Violation) if bug == HANGING else noticed():
        run(OP_LOG, tmp_path, RECORDINGS_MAX * CASES_PER_RECORDING, bug=bug)


@pytest.mark.parametrize("control", OP_LOG.controls)
def test_op_log_notices_a_drive_that_lies(tmp_path: Path, control: str) -> None:
    with noticed():
        run(OP_LOG, tmp_path, RECORDINGS_MAX * CASES_PER_RECORDING, control=control)


# syscalls


@pytest.mark.parametrize(
    ("workload", "fault", "cases"),
    [
        ("init", Fault(Call.WRITE, Mode.TORN), 12),
        ("make", Fault(Call.SYNC, Mode.FOREVER, 5), 12),
        ("recover", Fault(Call.READ, Mode.FLIP_LAST), 50),
        ("brief", Fault(Call.WRITE, Mode.SHORT_ONCE, 28), 12),
    ],
)
def test_a_call_that_goes_wrong_costs_nothing_that_was_acknowledged(
    tmp_path: Path, workload: str, fault: Fault, cases: int
) -> None:
    summary = run(SYSCALLS, tmp_path, cases, first_case=first_case(workload, fault))
    assert cases == summary.cases
    assert "failed" in summary.line or "killed" in summary.line


def test_for_a_change_every_call_of_a_brief_life_fails_in_every_way() -> None:
    told = parser().parse_args([SYSCALLS.name, *SYSCALLS.short])
    assert SWEPT_WHOLLY == told.workload
    calls = {f"{SWEPT_WHOLLY} {call.name}": 50 for call in Call}
    given = Run(seed=SEED, cases=told.cases, directory=Path(), tell=print, options=told)
    cases = [Case.of(number) for number in cases_of(calls, given)]
    assert {(fault, call) for fault in FAULTS for call in range(1, 50 + MORE_CALLS + 1)} == {
        (case.fault, case.call) for case in cases
    }
    assert {SWEPT_WHOLLY} == {case.workload.name for case in cases}


REHEARSED = """
import sys
from pathlib import Path
from crash_tests.system_calls.workloads import WORKLOADS
from crash_tests.system_calls.fork_server import Zygote

zygote = Zygote(int(sys.argv[1]), Path(sys.argv[2]))
for workload in WORKLOADS:
    if workload.name != "init":
        sys.stdout.buffer.write(zygote.rehearsal(workload).told)
"""
"""Prints what each workload tells where nothing fails."""


def test_the_workloads_send_commands_of_every_family(tmp_path: Path) -> None:
    """Under the seed of continuous integration, as under any other that a release draws."""
    [seed] = re.findall(r"crash_tests short --seed (\d+)", (ROOT / ".ci" / "run").read_text())
    told = subprocess.run(
        [sys.executable, "-c", REHEARSED, seed, tmp_path],
        cwd=ROOT,
        env=environment(compiled("injector", tmp_path)),
        stdout=subprocess.PIPE,
        timeout=CHILD_SECONDS_MAX,
        check=True,
    ).stdout
    sent = [message.ask for message in messages_in(told) if isinstance(message, Sent)]
    families = {ask.family if isinstance(ask, Memory) else type(ask) for ask in sent}
    assert {"record", "relation", "link", Judgment, Saving, Activation, CredentialChange} == families


@pytest.mark.parametrize("bug", sorted(SYSCALLS.bugs))
def test_syscalls_notices_a_bug(tmp_path: Path, bug: str) -> None:
    fault = Fault(Call.SYNC, Mode.KILL_BEFORE) if bug == "watermark-ahead" else Fault(Call.SYNC, Mode.ONCE, 5)
    with noticed():
        run(SYSCALLS, tmp_path, 45, first_case=first_case(SWEPT_WHOLLY, fault), bug=bug)


@pytest.mark.parametrize("control", SYSCALLS.controls)
def test_syscalls_notices_a_drive_that_lies(tmp_path: Path, control: str) -> None:
    with noticed():
        run(SYSCALLS, tmp_path, SYSCALLS.cases_ci, control=control)
