"""What must hold of a state that a crash left: cheaply of every state, and wholly of some.

Cheaply: the store opens, at a position that is not before anything told, and its rows are what they were when it was
there, none more, none less, each to the byte. Wholly: everything that `crash_tests.embedded.check` asks for.
"""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from crash_tests.embedded import Plan, check
from crash_tests.inspection.stored import same_rows
from crash_tests.system_calls.life_recorder import STORE_NAME, Point, Recording
from crash_tests.system_calls.reference import Rows, position_of
from crash_tests.violation import Violation, require
from relatum.errors import Failure
from relatum.store import keys, rocks
from relatum.store.database import Database
from relatum.store.keys import PREFIX_BYTES

_BEYOND_ALL = b"\xff" * (PREFIX_BYTES + 1)


class Refused(Violation):
    """The store could not be opened."""


def judge(root: Path, recording: Recording, point: Point) -> Rows:
    """The rows of the store in `root`, which must be those of one position, and not before what was told.

    The store is opened for writing and closed. Where nobody was told that it exists, it may have to be made.
    """
    found = _rows(root / STORE_NAME, recording.plan, create=not point.exists)
    position = position_of(found)
    require(point.floor <= position, f"the store is at position {position}, and {point.floor} was told of")
    if not point.exists and set(found) <= {keys.FORMAT}:
        return found
    expected = recording.reference.at.get(position)
    if expected is None:
        raise Violation(f"the store is at position {position}, at which it has never been")
    same_rows(f"the rows at position {position}", expected, found)
    return found


def judge_wholly(root: Path, recording: Recording, point: Point) -> None:
    """Everything that must hold of the store in `root`, which is worked on."""
    check(root / STORE_NAME, recording.past.acknowledged(point.told), recording.plan)


def _rows(directory: Path, plan: Plan, *, create: bool) -> Rows:
    try:
        with mock.patch.object(rocks, "WRITE_BUFFER_BYTES", plan.write_buffer_bytes):
            database = Database.open(directory, create=create)
    except Failure as refused:
        raise Refused(f"the store can't be opened: {refused}") from refused
    try:
        with database.view() as view:
            return dict(view.scan(b"", _BEYOND_ALL))
    finally:
        database.close()
