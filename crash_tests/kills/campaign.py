"""A campaign: store after store, round after round, until enough servers were killed.

What always holds: what is drawn is drawn from the seed and the numbers of store and round, so that a seed names the
same plans whatever the machine makes of them.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from msgspec import Struct, field

from crash_tests.inspection.inspect import Findings
from crash_tests.kills.plan import Aim, draw_plan
from crash_tests.kills.store_rounds import Rig, Round, Stage
from crash_tests.oracle import Verdict
from crash_tests.random_draws import seeded
from crash_tests.violation import Violation

ROUNDS_PER_STORE = 6
ROUNDS_PER_INSPECTION = 3

Tell = Callable[[str], None]


class Summary(Struct, kw_only=True):
    """What a campaign came to, if nothing was violated."""

    kills: int = 0
    stores: int = 0
    acknowledged: int = 0
    broken: int = 0
    total: Verdict = field(default_factory=Verdict)
    kills_with_doubt: int = 0
    """Those that left a checkpoint in doubt."""
    kills_with_breaks: int = 0
    """Those that broke a stream of events."""
    rows: int = 0
    searched: int = 0
    seconds: float = 0.0

    def add_round(self, result: Round) -> None:
        """Counts one round."""
        self.acknowledged += result.acknowledged
        self.broken += result.broken
        self.total.add(result.verdict)
        self.kills_with_doubt += result.verdict.saves_in_doubt > 0
        self.kills_with_breaks += result.broken > 0
        if result.findings is not None:
            self.add_findings(result.findings)

    def add_findings(self, findings: Findings) -> None:
        """Counts one inspection."""
        self.rows += findings.rows
        self.searched += findings.searched

    def __str__(self) -> str:
        """One line: the ledger, then the feeds."""
        total = self.total
        return (
            f"{self.kills} kills on {self.stores} stores: {self.acknowledged} commands acknowledged, "
            f"{total.present + total.absent} unacknowledged ({total.present} present, {total.absent} absent), "
            f"{total.replayed} replays, {total.objects} objects, {total.graphs} graphs, {total.changes} changes and "
            f"{self.rows} rows and {self.searched} searches compared; "
            f"{self.kills_with_doubt} kills met checkpoints on their way: {total.saves_in_doubt} in doubt "
            f"({total.saves_present} present, {total.saves_absent} absent); {self.kills_with_breaks} met open streams: "
            f"{self.broken} broken, {total.resumed} resumed; {total.saved} receipts of checkpoints, "
            f"{total.badges} credentials and {total.activated} activations compared"
        )


class Campaign:
    """Carries out kills under one seed and counts, from the store with the number `first_store` on."""

    def __init__(self, rig: Rig, seed: int, aim: Aim, tell: Tell, first_store: int = 1) -> None:
        self._rig = rig
        self._seed = seed
        self._aim: Aim = aim
        self._tell = tell
        self._first_store = first_store
        self._place = ""
        """For messages."""
        self._started = monotonic()
        self.summary = Summary()

    def run(self, kills: int, seconds_max: float) -> Summary:
        """At least so many kills, or as many as fit into the time.

        Raises `Violation` at the first thing that fails, with the numbers of store and round.
        """
        while self.summary.kills < kills and self._seconds < seconds_max:
            number = self._first_store + self.summary.stores
            self._place = f"store {number}"
            try:
                self._run_store(number, kills, seconds_max)
            except Violation as violation:
                raise Violation(f"{self._place}: {violation}") from violation
        if self.summary.kills < kills:
            self._tell(f"stopped after {self.summary.kills} of {kills} kills: the time is over")
        self.summary.seconds = self._seconds
        return self.summary

    @property
    def _seconds(self) -> float:
        return monotonic() - self._started

    def _run_store(self, number: int, kills: int, seconds_max: float) -> None:
        summary = self.summary
        before = summary.kills
        with Stage(self._rig, number, seeded(self._seed, number)) as stage:
            summary.stores += 1
            summary.kills = before + stage.kills
            for turn in range(1, ROUNDS_PER_STORE + 1):
                place = self._seed, number, turn
                plan = draw_plan(seeded(*place), self._aim)
                self._place = f"store {number}, round {turn}, {plan}"
                result = stage.round(plan, place, inspected=turn % ROUNDS_PER_INSPECTION == 0)
                summary.add_round(result)
                summary.kills = before + stage.kills
                self._tell(self._progress(result))
                if summary.kills >= kills or self._seconds >= seconds_max:
                    break
            self._place = f"store {number}, at its end"
            summary.add_findings(stage.end())

    def _progress(self, result: Round) -> str:
        verdict = result.verdict
        inspected = "" if result.findings is None else f", {result.findings.rows} rows inspected"
        return (
            f"[{self._seconds:6.1f} s] {self._place}, {self.summary.kills} kills: "
            f"{result.acknowledged} acknowledged, {verdict.present} unknown present, {verdict.absent} absent, "
            f"{verdict.replayed} replayed, {verdict.objects} objects compared; "
            f"{verdict.saves_in_doubt} checkpoints in doubt, {result.broken} streams broken{inspected}"
        )
