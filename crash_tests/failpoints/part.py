"""The part `failpoints`."""

from __future__ import annotations

from msgspec import Struct, field

from crash_tests.failpoints.case import draw_case
from crash_tests.failpoints.trial import Outcome, Trial
from crash_tests.oracle import Verdict
from crash_tests.part import Part, Run, Summary
from crash_tests.store_case import NOTICED
from crash_tests.template import Template
from crash_tests.violation import Violation
from relatum.store.failpoints import NAMES


class Totals(Struct):
    """What the cases came to."""

    cases: int = 0
    kills: int = 0
    acknowledged: int = 0
    rows: int = 0
    verdict: Verdict = field(default_factory=Verdict)

    def add(self, kills: int, outcome: Outcome) -> None:
        """Counts one case."""
        self.cases += 1
        self.kills += kills
        self.acknowledged += outcome.acknowledged
        self.rows += outcome.rows
        self.verdict.add(outcome.verdict)

    def __str__(self) -> str:
        """One line."""
        verdict = self.verdict
        return (
            f"{self.cases} cases with {self.kills} kills at {len(NAMES)} places: {self.acknowledged} commands "
            f"acknowledged, {verdict.present + verdict.absent} unacknowledged ({verdict.present} present, "
            f"{verdict.absent} absent), {verdict.replayed} replays, {verdict.objects} objects and {self.rows} rows "
            "compared"
        )


def run(given: Run) -> Summary:
    """One store for each case."""
    launch = () if given.bug is None else ("--bug", given.bug)
    template = Template.make(given.directory, launch)
    totals = Totals()
    for number in given.numbers():
        case = draw_case(given.seed, number)
        try:
            trial = Trial(
                case, given.seed, number, given.directory, template, launch, set_back=given.control == "rollback"
            )
            outcome = trial.run()
        except Violation as violation:
            raise Violation(f"case {number} ({case}): {violation}") from violation
        totals.add(case.kills, outcome)
        given.tell(f"[{given.seconds:6.1f} s] case {number} ({case}): {outcome.acknowledged} acknowledged")
    return Summary(totals.cases, str(totals))


PART = Part(
    name="failpoints",
    help="kill the real server and relatum init at every named place, again and again while they recover",
    unit="cases",
    cases_ci=len(NAMES),
    cases_release=100 * len(NAMES),
    run=run,
    controls=("rollback",),
    bugs=NOTICED,
)
