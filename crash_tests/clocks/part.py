"""The part `clocks`."""

from __future__ import annotations

from crash_tests.clocks.case import draw_case
from crash_tests.clocks.trial import Outcome, Trial
from crash_tests.part import Part, Run, Summary
from crash_tests.template import Template
from crash_tests.violation import Violation


def run(given: Run) -> Summary:
    """One store for each case."""
    launch = () if given.bug is None else ("--bug", given.bug)
    template = Template.make(given.directory, launch)
    cases, total = 0, Outcome()
    for number in given.numbers():
        case = draw_case(given.seed, number)
        try:
            trial = Trial(
                case, given.seed, number, given.directory, template, launch, set_back=given.control == "rollback"
            )
            outcome = trial.run()
        except Violation as violation:
            raise Violation(f"case {number} ({case}): {violation}") from violation
        cases += 1
        total.add(outcome)
        given.tell(f"[{given.seconds:6.1f} s] case {number} ({case}): {outcome.acknowledged} acknowledged")
    return Summary(cases, f"{cases} stores with {total}")


PART = Part(
    name="clocks",
    help="put the server's clock wrong by up to years, let it jump while it runs, and start it again under another one",
    unit="stores",
    cases_ci=6,
    cases_release=500,
    run=run,
    controls=("rollback",),
    bugs=("clock-backwards",),
)
