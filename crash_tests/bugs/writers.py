"""Bugs of the writer: what a group reads of itself, and what it does about clocks and failures."""

from __future__ import annotations

from crash_tests.bugs.bug import Bug, Patch
from relatum.clock import FloorClock
from relatum.ledger.writer.command_queue import Intake
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.group_builder import Deciding
from relatum.ledger.writer.submission import Ticket
from relatum.store import failpoints, rows
from relatum.store.staged_rows import Bodies

_body = Bodies.body


def read_published_only(overlay: Bodies, key: bytes) -> bytes | None:
    """What this group has staged is overlooked where something older is stored."""
    below = overlay._below(key)
    return _body(overlay, key) if below is None else rows.unseal(key, below)


def set_back(clock: FloorClock, millis: int) -> int:
    """The machine's clock as it is, even where it has been set back."""
    return millis


def keep_no_floor(clock: FloorClock, millis: int) -> None:
    """The last commit time is forgotten."""


_commit_group = Committer._commit


def commit_again(committer: Committer, decided: Deciding) -> None:
    """A failed commit is answered as if it had worked, and the writer goes on."""
    try:
        _commit_group(committer, decided)
    except Exception:  # noqa: BLE001 - that is the bug
        failpoints.reach("group.answered")
        for ticket in decided.tickets:
            committer._tell(ticket)


_take = Intake.take


def drop_the_queue(intake: Intake, commands_max: int) -> list[Ticket]:
    """What waits when the ledger closes is forgotten, and nobody is told."""
    tickets = _take(intake, commands_max)
    return [] if intake._closed else tickets


BUGS = (
    Bug(
        name="wrong-overlay-read",
        help="a command does not see what its own group has staged",
        patches=(Patch(Bodies, "body", read_published_only),),
    ),
    Bug(
        name="clock-backwards",
        help="commit times follow the machine's clock when it is set back",
        patches=(Patch(FloorClock, "not_before_floor", set_back), Patch(FloorClock, "raise_floor", keep_no_floor)),
    ),
    Bug(
        name="failed-commit-answered",
        help="a commit that failed is answered with success and the writer goes on",
        patches=(Patch(Committer, "_commit", commit_again),),
    ),
    Bug(
        name="queue-dropped-on-close",
        help="commands that wait when the ledger closes are never answered",
        patches=(Patch(Intake, "take", drop_the_queue),),
    ),
)
