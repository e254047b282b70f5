"""Named places at which a crash is worth trying: `reach` says that the program has come to one.

Here: the names, and the one hook that a crash test may arm. Not here: what happens at a place, which is the hook's
affair (crash_tests/relatum_process.py kills the process there, the simulation throws the machine away). Nothing in the
product arms anything: neither a setting nor the environment can.

Always holds: a name that is reached stands in `NAMES`; an unarmed place costs a comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, get_args

Name = Literal[
    "make.directory",
    "examine.passed",
    "open.locked",
    "repair.kept",
    "repair.cut",
    "open.scanned",
    "open.engine",
    "make.format",
    "open.formatted",
    "make.watermark",
    "open.marked",
    "open.published",
    "group.decided",
    "commit.written",
    "commit.synced",
    "commit.marked",
    "commit.published",
    "group.answered",
    "close.drained",
    "close.closed",
    "image.linked",
    "restore.copied",
    "restore.settled",
]
"""In the order in which a process comes by them: opening, each group, closing; and then those of other commands.

Those called `make` are met where there is no store yet, `examine` where there is one, and `repair` where its
write-ahead log is torn; `image` where a backup is made, `restore` where one is restored.
"""

NAMES: Final[tuple[Name, ...]] = get_args(Name)

Hook = Callable[[Name], None]

_hook: Hook | None = None


def arm(hook: Hook | None) -> None:
    """Calls `hook` at every place from now on, in the thread that comes there; None calls nothing any more."""
    global _hook  # noqa: PLW0603 - one process, one hook
    _hook = hook


def reach(name: Name) -> None:
    """The program has come to `name`. What the hook raises goes on from here, as a failure at this place would."""
    if _hook is not None:
        _hook(name)
