"""The part `op-log`: every call of a recorded life is a place to crash, and much may be left of what was not synced."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from crash_tests.leftovers import in_memory
from crash_tests.part import Part, Run, Summary
from crash_tests.pool import work_off
from crash_tests.system_calls.native import compiled, environment
from crash_tests.system_calls.states import CASES_PER_RECORDING, LIES, Task

SILENCE_SECONDS_MAX = 60.0
"""A state takes milliseconds and a life less than a second, on a machine with nothing else to do."""


def run(given: Run) -> Summary:
    """So many crash states."""
    recorder = compiled("recorder", given.directory)
    counts: Counter[str] = Counter()
    with in_memory("op-log") as place:
        done = work_off(
            _tasks(given, place),
            (sys.executable, "-m", "crash_tests.system_calls.states"),
            {**environment(recorder), "TMPDIR": str(place)},
            given.directory,
            silence_seconds_max=SILENCE_SECONDS_MAX,
        )
        for message in done:
            counts.update(message.counts)
    return Summary(counts["states"], _line(counts, given.seconds))


def _tasks(given: Run, place: Path) -> Iterator[Task]:
    """The cases by recording."""
    case, end = given.first_case, given.first_case + given.cases
    while case < end:
        if given.seconds >= given.seconds_max:
            given.tell(f"stopped before case {case}: the time is over")
            return
        recording = (case - 1) // CASES_PER_RECORDING
        behind = min(end, (recording + 1) * CASES_PER_RECORDING + 1)
        yield Task(
            seed=given.seed,
            recording=recording,
            first_case=case,
            cases=behind - case,
            place=str(place),
            evidence=str(given.directory),
            control=given.control,
            bug=given.bug,
        )
        case = behind


def _line(counts: Counter[str], seconds: float) -> str:
    return (
        f"{counts['states']:,} crash states of {counts['calls']:,} calls in {counts['lives']:,} lives, "
        f"{counts['wholly']:,} judged wholly, {counts['refused']:,} of a lying drive refused; "
        f"{counts['states'] / seconds:,.0f} a second"
    )


PART = Part(
    name="op-log",
    help="crash between any two system calls of a recorded life, and lose what was not synced in many ways",
    unit="crash states",
    cases_ci=3_000,
    cases_release=100_000,
    run=run,
    controls=tuple(LIES),
    bugs=(
        "unsynced-commit",
        "publish-before-sync",
        "receipt-before-sync",
        "split-command",
        "watermark-ahead",
        "watermark-forgotten",
        "watermark-not-checked",
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
        "missing-candidate",
        "missing-standing",
        "promotion-not-counted",
        "missing-judgment-receipt",
        "link-at-one-end",
        "replay-forgotten",
        "preflight-skipped",
    ),
)
