"""The history, the timeline and the model notice what clients must never be told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crash_tests.history import Command, History
from crash_tests.timeline import Timeline
from crash_tests.violation import Violation
from tests.crash.told import DESK, RECORD_ID, accepted, create, receipt, revise

OTHER_ID = RECORD_ID[:-1] + "2"


def two_revisions() -> list[Command]:
    return [accepted(create(), 1), accepted(revise("key 2", 1), 2, revision=2, action="revised")]


def test_a_sound_history_leads_to_the_state_that_clients_must_be_shown() -> None:
    timeline = Timeline()
    first, second = two_revisions()
    assert [(first, RECORD_ID), (second, RECORD_ID)] == timeline.follow([second, first], {})
    assert [] == timeline.follow([first, second], {})
    model = timeline.model(DESK.partition)
    assert ("kept", "changed") == tuple(one["input"]["content"] for one in model.records[RECORD_ID])
    timeline.check_observed([(DESK, model.record_at(RECORD_ID, 1))])


UNSOUND: dict[str, tuple[Callable[[], list[Command]], str]] = {
    "a command in the middle is lost": (
        lambda: [accepted(create(), 1), accepted(create("key 2"), 3, record_id=OTHER_ID)],
        "commit sequence 2 is missing",
    ),
    "the first command is lost": (lambda: [accepted(create(), 2)], "commit sequence 1 is missing"),
    "two commands share a sequence": (
        lambda: [accepted(create(), 1), accepted(create("key 2"), 1, record_id=OTHER_ID)],
        "share commit sequence 1",
    ),
    "two commands made one record": (lambda: [accepted(create(), 1), accepted(create("key 2"), 2)], "the receipt of"),
    "a revision is skipped": (
        lambda: [accepted(create(), 1), accepted(revise("key 2", 1), 2, revision=3, action="revised")],
        "'revision': 2.*'revision': 3",
    ),
    "a stale command was accepted": (
        lambda: [*two_revisions(), accepted(revise("key 3", 1), 3, revision=3, action="revised")],
        "accepted at: expected 1, found 2",
    ),
    "a receipt names another key": (lambda: [accepted(create(), 1, idempotency_key="key 9")], "key 9"),
    "a receipt names another author": (lambda: [accepted(create(), 1, author={"subject_id": "eve"})], "eve"),
    "a receipt tells another action": (lambda: [accepted(create(), 1, action="derived")], "derived"),
}


@pytest.mark.parametrize(("commands", "told"), UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_history_is_noticed(commands: Callable[[], list[Command]], told: str) -> None:
    with pytest.raises(Violation, match=told):
        Timeline().follow(commands(), {})


EARLY, LATE = 3, 9
"""Before and after the instant at which all commands of these tests were committed."""

ACCOUNTED: dict[str, tuple[list[int], int]] = {
    "none, and the first command": ([], 1),
    "one before": ([EARLY], 2),
    "one before and two at its instant, one of them later": ([EARLY, 7, 7], 3),
    "one that came after": ([LATE], 1),
}


@pytest.mark.parametrize(("quiet", "sequence"), ACCOUNTED.values(), ids=ACCOUNTED)
def test_quiet_commands_take_numbers_at_their_time(quiet: list[int], sequence: int) -> None:
    timeline = Timeline()
    timeline.follow([accepted(create(), sequence)], {DESK.partition: quiet})
    assert sequence == timeline.model(DESK.partition).sequence


UNACCOUNTED: dict[str, tuple[list[int], int, str]] = {
    "a number is missing that no quiet command took": ([EARLY], 3, "commit sequence 1 is missing"),
    "the quiet command came later": ([LATE], 2, "commit sequence 1 is missing"),
    "a quiet command took no number": ([EARLY], 1, "1 quiet commands came before .* took 0 numbers"),
}


@pytest.mark.parametrize(("quiet", "sequence", "told"), UNACCOUNTED.values(), ids=UNACCOUNTED)
def test_numbers_that_quiet_commands_do_not_account_for_are_noticed(quiet: list[int], sequence: int, told: str) -> None:
    with pytest.raises(Violation, match=told):
        Timeline().follow([accepted(create(), sequence)], {DESK.partition: quiet})


def test_what_a_read_has_shown_must_not_be_taken_back() -> None:
    timeline = Timeline()
    timeline.follow(two_revisions(), {})
    shown = timeline.model(DESK.partition).record_at(RECORD_ID, 2)
    with pytest.raises(Violation, match="which is gone"):
        timeline.check_observed([(DESK, shown | {"revision": 3})])
    with pytest.raises(Violation, match="shown by a read"):
        timeline.check_observed([(DESK, shown | {"state": "deleted"})])


def test_a_record_that_expired_or_lost_a_source_is_not_eligible() -> None:
    timeline = Timeline()
    derivation = {"sources": [{"record_id": RECORD_ID, "revision": 1}], "method": "m"}
    derived = create("key 2")
    derived.operation |= {"type": "derive", "derivation": derivation}
    mortal = create("key 3")
    mortal.operation["record"]["valid_until_millis"] = 9
    third_id = RECORD_ID[:-1] + "3"
    timeline.follow(
        [
            accepted(create(), 1),
            accepted(derived, 2, record_id=OTHER_ID, action="derived"),
            accepted(mortal, 3, record_id=third_id),
        ],
        {},
    )
    model = timeline.model(DESK.partition)
    assert (True, True, False) == tuple(
        model.is_eligible(*one) for one in [(OTHER_ID, 9), (third_id, 8), (third_id, 9)]
    )
    timeline.follow([accepted(revise("key 4", 1), 4, revision=2, action="revised")], {})
    assert (True, False) == (model.is_eligible(RECORD_ID, 9), model.is_eligible(OTHER_ID, 9))


def test_a_history_takes_one_receipt_for_a_key_and_no_second_thought() -> None:
    history, command, other = History(), create(), create(content="something else")
    history.accept(command, receipt(command, 1))
    history.accept(command, receipt(command, 1))
    with pytest.raises(Violation, match="answered with two receipts"):
        history.accept(command, receipt(command, 2))
    with pytest.raises(Violation, match="accepted and then refused"):
        history.refuse(command)
    with pytest.raises(Violation, match="under a key that another had been accepted under"):
        history.accept(other, receipt(other, 2))


def test_a_refused_command_must_not_be_accepted_later() -> None:
    history, command = History(), create()
    history.refuse(command)
    with pytest.raises(Violation, match="was refused and then accepted"):
        history.accept(command, receipt(command, 1))


def test_claims_are_the_receipts_and_the_keys_of_unknown_outcome() -> None:
    history = History()
    told, unknown, refused, reused = create("key 1"), create("key 2"), create("key 3"), create("key 3", "again")
    for command in (told, unknown, refused, reused):
        history.enter(command)
    history.accept(told, receipt(told, 1))
    history.refuse(refused)
    claims = {claim.idempotency_key: claim.receipt for claim in history.claims()}
    assert {"key 1": receipt(told, 1).decode(), "key 2": None, "key 3": None} == claims
