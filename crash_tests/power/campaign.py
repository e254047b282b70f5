"""What the parts of this package have in common: preparations, then cases two at a time, then one line."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from crash_tests.embedded import Checked
from crash_tests.part import Run, Summary
from crash_tests.power.case import Case
from crash_tests.power.moments import PLACES
from crash_tests.power.stores import Preparation
from crash_tests.processes import crew

BUGS = (
    "unsynced-commit",
    "publish-before-sync",
    "receipt-before-sync",
    "split-command",
    "watermark-ahead",
    "wrong-overlay-read",
    "clock-backwards",
    "missing-index-row",
    "lost-header-update",
    "missing-dependent",
    "missing-leaf",
    "log-not-grown",
    "lost-tally-update",
    "missing-journal-entry",
    "missing-receipt-witness",
    "missing-revision",
    "topic-slot-kept",
    "payload-kept",
    "replay-forgotten",
)
"""What each of the parts notices within its size for a change."""
TOLD_EVERY = 100
Task = Preparation | Case


class Outcome(Struct, frozen=True, kw_only=True):
    """What a case came to: on what kind of file system, by how many blows, and what was compared."""

    kind: str
    blows: int
    checked: Checked


class Campaign(Struct, frozen=True, kw_only=True):
    """A part's way of running: `do` does a task, in a worker; `blow` is the name of what befalls the store."""

    part: str
    blow: str
    preparations: Callable[[Run], Iterable[Preparation]]
    do: Callable[[Task], Outcome | None]

    def run(self, given: Run) -> Summary:
        """So many cases. Raises `Violation` and `Unavailable`."""
        kinds, blows, checked = Counter[str](), 0, Checked()
        with crew(self.do) as workers:
            for _ in workers.results(self.preparations(given)):
                pass
            for outcome in workers.results(Case.of(given, number) for number in given.numbers()):
                assert outcome is not None
                kinds[outcome.kind] += 1
                blows += outcome.blows
                checked.add(outcome.checked)
                if kinds.total() % TOLD_EVERY == 0:
                    given.tell(f"{kinds.total()} cases, {blows} {self.blow}, {given.seconds:.0f} s")
        on = ", ".join(f"{count} on {kind}" for kind, count in sorted(kinds.items()))
        return Summary(kinds.total(), f"{kinds.total()} cases ({on}), {blows} {self.blow}; {checked}")


def add_options(parser: ArgumentParser) -> None:
    """What the parts can be told besides."""
    parser.add_argument(
        "--at", choices=PLACES, help="interrupt every life at this failpoint (default: at moments of all kinds)"
    )
