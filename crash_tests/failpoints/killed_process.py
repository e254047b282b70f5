"""Programs that are to kill themselves at a place, and that they did."""

from __future__ import annotations

from signal import SIGKILL

from crash_tests.server import START_SECONDS_MAX, STOP_SECONDS_MAX, Child
from crash_tests.violation import require
from relatum.store.failpoints import Name


def failpoint(name: Name, reached: int = 1) -> tuple[str, str]:
    """The options of `crash_tests.relatum_process` that make a program die at a place."""
    return "--failpoint", f"{name}:{reached}"


def require_killed_on_its_way(child: Child, name: Name) -> None:
    """Before it has said anything, as it does when it is ready or done."""
    told = child.read_line(START_SECONDS_MAX)
    require(told is None, f"a program that was to die at {name} went on{child.log_tail()}")
    require_killed(child, name)


def require_killed(child: Child, name: Name) -> None:
    """That it died at the place, and of nothing else."""
    status = child.wait(STOP_SECONDS_MAX)
    require(status == -SIGKILL, f"a program that was to die at {name} ended with {status}{child.log_tail()}")
