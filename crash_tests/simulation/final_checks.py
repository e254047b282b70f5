"""The last judgement on a case: everything that can be asked, and every row that is left."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from crash_tests.inspection.inspect import inspect
from crash_tests.simulation.administration import check_administration
from crash_tests.simulation.answers import Answers
from crash_tests.simulation.machine import Machine
from crash_tests.simulation.observations import Story
from crash_tests.simulation.store import FaultyStore
from crash_tests.simulation.watermark import FaultyMark
from crash_tests.violation import Violation, require
from relatum.errors import StoreUnavailable
from relatum.store.database import Database
from relatum.store.view import LedgerView

_RECEIPTS_ASKED_MAX = 8


def check_answers(view: LedgerView, story: Story, random: Random) -> None:
    """Everything that the ledger can be asked, when nothing is in doubt any more."""
    story.look(view)
    for chapter in story.chapters.values():
        answers = Answers(view, chapter, random)
        answers.check_all()
        answers.check_judgments()
        own = [command for key, command in story.seen.items() if key[0] == chapter.partition]
        for command in random.sample(own, min(_RECEIPTS_ASKED_MAX, len(own))):
            answers.check_receipt(command)
    check_administration(view, story)


def check_erasure(story: Story, rows: Mapping[bytes, bytes]) -> None:
    """What a deletion erases is nowhere among the rows."""
    found = b"\n".join(rows.values())
    for chapter in story.chapters.values():
        for record_id, revisions in chapter.model.records.items():
            if revisions[-1]["state"] == "deleted":
                texts = {one["input"]["content"].split(" x")[0] for one in revisions if one["input"]}
                require(
                    not any(text.encode() in found for text in texts), f"the text of {record_id} outlived its deletion"
                )


def check_every_row(story: Story, rows: Mapping[bytes, bytes]) -> None:
    """The rows as the inspection judges them, which shares nothing with the ledger but the format."""
    inspect(rows, (claim for command in story.seen.values() for claim in command.claims()))


def check_rollback(machine: Machine, random: Random) -> None:
    """A store that has lost what it acknowledged last is not opened."""
    if not machine.disk.forget_last():
        return
    store = FaultyStore(machine.disk, machine.plan, random)
    try:
        Database.on(store, lambda _blank: FaultyMark(machine.disk, machine.plan, random), create=False)
    except StoreUnavailable:
        return
    raise Violation("a store that has lost acknowledged commands was opened")
