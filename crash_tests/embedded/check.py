"""The oracle: what a store holds, against what the lives of the process were told.

    open       it opens, without a word about lost data; a store whose making was interrupted can be made
    shown      whatever a reader was shown is there: every event up to the head it saw
    judge      every row agrees with every other, with every receipt, and with nothing that was never sent
    resolve    every command in doubt is wholly there or not at all, and sending it again settles it
    replay     everything acknowledged, sent again, is answered with the same bytes, and nothing comes of it
    verify     `relatum verify` finds nothing in the closed store

A planted bug is there while the store is opened, as it would be in the next life, and not while it is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest import mock

from msgspec import Struct

from crash_tests.bugs import BUGS
from crash_tests.embedded.acknowledged import Acknowledged
from crash_tests.embedded.plan import Plan
from crash_tests.embedded.recovery import resolve, tell_again
from crash_tests.embedded.seeded_environment import AGES, CountingClock, SeededEntropy
from crash_tests.inspection.inspect import inspect
from crash_tests.inspection.stored import StoredRows
from crash_tests.violation import Violation, require
from relatum.core import digests
from relatum.errors import Failure, StoreUnavailable
from relatum.ledger import Ledger
from relatum.store import keys, rocks, rows
from relatum.store.database import Database
from relatum.store.keys import PREFIX_BYTES, PartitionKeys
from relatum.store.verify.directory import verify_directory

_BEYOND_ALL = b"\xff" * (PREFIX_BYTES + 1)
_FINDINGS_SHOWN = 3


class Checked(Struct, kw_only=True):
    """How much was compared."""

    position: int = 0
    """The store's, as it was found."""
    rows: int = 0
    replayed: int = 0
    present: int = 0
    """Commands in doubt that were there, and those that were not."""
    absent: int = 0
    torn_tails: int = 0
    """So many torn ends were cut off the logs now."""

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows, {self.replayed:,} acknowledged told again, of those in doubt {self.present:,} there "
            f"and {self.absent:,} not, {self.torn_tails} torn logs"
        )

    def add(self, other: Checked) -> None:
        """Counts another one in."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def check(directory: Path, acknowledged: Acknowledged, plan: Plan, *, verify: bool = True) -> Checked:
    """Everything that must hold of a store after whatever ended the last life; raises `Violation`.

    Opens the store for writing and leaves it closed. `plan` says under which settings. `acknowledged` has no command
    in doubt afterwards.
    """
    try:
        with _as_planned(plan):
            database = Database.open(directory, create=not acknowledged.exists)
        checked = _check_open(database, acknowledged, plan)
        if verify:
            _verify(directory)
    except StoreUnavailable as refused:
        raise Violation(f"the store can't be opened: {refused}") from refused
    except Failure as failure:
        raise Violation(f"the store fails: {failure!r}") from failure
    return checked


@contextmanager
def _as_planned(plan: Plan) -> Iterator[None]:
    with (
        mock.patch.object(rocks, "WRITE_BUFFER_BYTES", plan.write_buffer_bytes),
        BUGS[plan.bug].planted() if plan.bug else nullcontext(),
    ):
        yield


def _check_open(database: Database, acknowledged: Acknowledged, plan: Plan) -> Checked:
    entropy = SeededEntropy(f"the oracle after {plan.seed}")
    checked = Checked(position=database.position.position, torn_tails=len(database.torn_tails))
    with Ledger(database, clock=CountingClock(), entropy=entropy, ages=AGES) as ledger:
        stored = _rows(database)
        _require_shown(stored, acknowledged, database.position.position)
        checked.rows = _judge(stored, acknowledged)
        for known in list(acknowledged.doubtful()):
            present = resolve(ledger, acknowledged, known)
            checked.present += present
            checked.absent += not present
        settled = database.position.position
        checked.replayed = tell_again(ledger, acknowledged)
        require(database.position.position == settled, "a command that was acknowledged was carried out once more")
    return checked


def _rows(database: Database) -> StoredRows:
    with database.view() as view:
        return StoredRows(dict(view.scan(b"", _BEYOND_ALL)))


def _judge(stored: StoredRows, acknowledged: Acknowledged) -> int:
    """Every row; how many there are. A store in which nothing was ever accepted has no position yet."""
    claims = list(acknowledged.claims())
    if set(stored.rows) == {keys.FORMAT} and not any(claim.settled for claim in claims):
        return len(stored.rows)
    return inspect(stored.rows, claims).rows


def _require_shown(stored: StoredRows, acknowledged: Acknowledged, position: int) -> None:
    """Every reader's view is still the truth, if no longer all of it."""
    for shown in acknowledged.shown:
        require(shown.position <= position, f"a reader was shown position {shown.position}, the store is at {position}")
    heads = {(workspace_id, *head) for shown in acknowledged.shown for workspace_id, head in shown.heads.items()}
    for workspace_id, sequence, digest in heads:
        if sequence == 0:
            continue
        key = PartitionKeys(workspace_id).event(sequence)
        row = stored.rows.get(key)
        found = None if row is None else digests.event_digest(rows.unseal(key, row)).hex()
        require(digest == found, f"a reader was shown event {sequence} of {workspace_id[:8]}, which is not there")


def _verify(directory: Path) -> None:
    report = verify_directory(directory)
    found = "; ".join(f"{one.family}: {one.message}" for one in report.findings[:_FINDINGS_SHOWN])
    require(report.clean, f"verification finds: {found}")
