"""The standing of a record: current, superseded or archived, and whether it is pinned (views.md).

It lies beside the record and not in it: a change of standing makes no revision, so relations to the record stay valid.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from msgspec.structs import replace

from relatum.core.answers.standings import Outcome, StandingAction, StandingState
from relatum.core.ids import Ref
from relatum.core.wire import Closed, Sparse, Uuid

StandingCommandAction = Literal["archived", "unarchived", "pinned", "unpinned"]
"""Those that a command asks for; the others follow from verdicts."""


class Supersession(Closed, frozen=True, kw_only=True):
    """Who superseded a record, and the relation that says so."""

    record_id: Uuid
    relation_id: Uuid


class StaleMark(Sparse, frozen=True, kw_only=True):
    """That a later record makes this one out of date; it counts as long as that record is not deleted."""

    because: Ref
    confidence: float | None = None


class Standing(Sparse, frozen=True, kw_only=True):
    """A record's standing as stored, with its last confirmations and what makes it out of date.

    The default is that of a record nobody touched.
    """

    superseded_by: Supersession | None = None
    archived: bool = False
    pinned_at_millis: int | None = None
    affirmed_at_millis: int | None = None
    refuted_at_millis: int | None = None
    stale_marks: tuple[StaleMark, ...] = ()

    @property
    def state(self) -> StandingState:
        """One word for it: a record that is both is superseded."""
        if self.superseded_by is not None:
            return "superseded"
        return "archived" if self.archived else "current"


class StandingChange(Sparse, frozen=True, kw_only=True):
    """One change of a record's standing. `by` goes with `superseded` alone."""

    record_id: Uuid
    action: StandingAction
    by: Supersession | None = None


class Confirmation(Sparse, frozen=True, kw_only=True):
    """Somebody looked at a record and found it true or false."""

    record_id: Uuid
    outcome: Outcome


def standing_after(before: Standing, change: StandingChange, at_millis: int) -> Standing:
    """The standing that a change leaves."""
    match change.action:
        case "superseded":
            return replace(before, superseded_by=change.by)
        case "reinstated":
            return replace(before, superseded_by=None)
        case "archived":
            return replace(before, archived=True)
        case "unarchived":
            return replace(before, archived=False)
        case "pinned":
            return replace(before, pinned_at_millis=at_millis)
        case "unpinned":
            return replace(before, pinned_at_millis=None)


def marked_stale(before: Standing, mark: StaleMark, lifted: Collection[str]) -> Standing:
    """The standing that a mark leaves: one for each later record, but for those of `lifted`."""
    gone = {mark.because.record_id, *lifted}
    others = tuple(one for one in before.stale_marks if one.because.record_id not in gone)
    return replace(before, stale_marks=(*others, mark))


def confirmed(before: Standing, outcome: Outcome, at_millis: int) -> Standing:
    """The standing that a confirmation leaves: an affirmation ends what a refutation before it has said."""
    if outcome == "affirmed":
        return replace(before, affirmed_at_millis=at_millis, refuted_at_millis=None)
    return replace(before, refuted_at_millis=at_millis)
